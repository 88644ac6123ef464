"""Builds the library of recorded notes that sampler.py plays.

usage: notes_library.py FOLDER OUT.npz [PER_PITCH]      needs numpy, scipy, soundfile
FOLDER/INSTRUMENT/**: sound files (WAV, FLAC, Ogg, MP3), one note each, whose names contain the note: C#3, cs3, db3, "FF A#2", ab3_f_rr1

Draws up to PER_PITCH notes per instrument and pitch. A note is trimmed from its attack to its end, and stored at 22.05 kHz, mono, in Ogg Vorbis. Sources
name octaves differently, so an instrument's octave is measured; so is the tuning of each note (peak of the normalised autocorrelation). Notes
whose pitch is neither the one in the name nor an octave off are left out.
"""
import glob, io, os, re, sys
from multiprocessing import Pool
import numpy as np, soundfile as sf
from scipy.signal import resample_poly

RATE = 22050
NAME = re.compile(r"(?<![A-Za-z])([A-Ga-g])(#|s|b)?(\d)(?!\d)")
STEPS = dict(c=0, d=2, e=4, f=5, g=7, a=9, b=11)
LONG = 2.6                                  # s of a note that are kept at most


def note_of(path):
    """Returns the MIDI note in the file's name, or None."""
    m = NAME.search(os.path.splitext(os.path.basename(path))[0])
    return m and STEPS[m[1].lower()] + {None: 0, "b": -1}.get(m[2], 1) + 12 * (int(m[3]) + 1)


def clearness(x, notes):
    """Returns for each note the peak of the normalised autocorrelation of x within +-90 cents: cents from the note, and height."""
    at = int(0.06 * RATE) if len(x) > 0.3 * RATE else 0
    x = x[at:at + int(0.5 * RATE)]
    size = 1 << int(np.ceil(np.log2(2 * len(x))))
    r = np.fft.irfft(np.abs(np.fft.rfft(x, size)) ** 2)[:len(x)]
    e = np.concatenate([[0], np.cumsum(x ** 2)])
    lags = np.arange(len(x))
    r = 2 * r / (e[len(x) - lags] + e[-1] - e[lags] + 1e-12)
    cents, out = np.arange(-90, 91, 2), []
    for n in notes:
        lag = RATE / (440 * 2 ** ((n + cents / 100 - 69) / 12))
        v = np.interp(lag, lags, r) if lag.max() < 0.7 * len(x) else np.zeros(len(lag))
        out.append((int(cents[v.argmax()]), float(v.max())))
    return out


def cut(path):
    """Returns the samples of a note from its attack to its end; None for silence."""
    try: x, rate = sf.read(path, always_2d=True)
    except Exception: return None
    x = x.mean(1)
    x = resample_poly(x, 1, 2) if rate == 44100 else resample_poly(x, RATE, rate)
    hop = 110
    level = np.sqrt(np.convolve(x ** 2, np.ones(2 * hop) / 2 / hop, "same"))[::hop]
    loud = np.flatnonzero(level > level.max() * 10 ** (-26 / 20))
    if not len(loud) or level.max() < 1e-3: return None
    a = max(0, loud[0] * hop - int(0.01 * RATE))
    x = x[a:min(len(x), loud[-1] * hop + int(0.08 * RATE), a + int(LONG * RATE))].copy()
    if len(x) < 0.08 * RATE: return None
    fade = min(len(x) // 4, int(0.03 * RATE))
    x[-fade:] *= np.linspace(1, 0, fade)
    return x / np.abs(x).max() * 0.9


def one(path):
    """Returns of a file: the clearness at -1, 0, 1 and 2 octaves from the note in its name, its samples, and its bytes as Ogg."""
    x = cut(path)
    if x is None: return None
    f = io.BytesIO()
    with sf.SoundFile(f, "w", RATE, 1, format="OGG", subtype="VORBIS", compression_level=0.72) as w:
        for k in range(0, len(x), 8192): w.write(x[k:k + 8192])
    return clearness(x, [note_of(path) + o for o in (-12, 0, 12, 24)]), len(x), f.getvalue()


if __name__ == "__main__":
    folder, out, per, rng, kept = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 6, np.random.default_rng(1), []
    for name in sorted(os.listdir(folder)):
        by = {}
        for path in sorted(glob.glob(f"{folder}/{name}/**/*", recursive=True)):
            if path.endswith((".wav", ".flac", ".ogg", ".mp3")) and note_of(path) is not None: by.setdefault(note_of(path), []).append(path)
        paths = [p for n in sorted(by) for p in rng.permutation(by[n])[:per]]
        with Pool(2) as pool: made = [(note_of(p), m) for p, m in zip(paths, pool.map(one, paths, 8)) if m]
        clear = np.median([[c for _, c in m[0]] for _, m in made], 0)
        octave = int(np.flatnonzero(clear[:3] > 0.93 * clear[:3].max())[-1])           # the highest clear octave; 0 is an octave below the name
        good = [(name, n + 12 * (octave - 1), *m[0][octave][:1], *m[1:]) for n, m in made if m[0][octave][1] > 0.55 and not (m[0][octave + 1][1] > 0.97 * m[0][octave][1] and m[0][octave + 1][1] > 0.9 and n < 84)]
        good = [g for g in good if 24 <= g[1] <= 108]
        kept += good
        print(f"{name:18s} {len(made):4d} kept {len(good):4d} octave {octave - 1:+d} notes {min((g[1] for g in good), default=0)}..{max((g[1] for g in good), default=0)} clear {clear.round(2)}", flush=True)
    names = sorted({k[0] for k in kept})
    np.savez(out, names=np.array(names), instrument=np.array([names.index(k[0]) for k in kept], np.int16), note=np.array([k[1] for k in kept], np.int16), cents=np.array([k[2] for k in kept], np.int16),
             starts=np.cumsum([0] + [len(k[4]) for k in kept]), ogg=np.frombuffer(b"".join(k[4] for k in kept), np.uint8))
    print(len(kept), "notes", os.path.getsize(out) / 1e6, "MB")
