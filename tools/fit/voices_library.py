"""Builds the library of spoken syllables that singer.py sings.

usage: voices_library.py OUT.npz          needs numpy, scipy, soundfile, pyworld; Debian: flite festival festvox-kdlpc16k festvox-us-slt-hts

Each word is spoken by a voice and analysed by WORLD, 5 ms a frame: the envelope's logarithm at POINTS mel-spaced frequencies and the aperiodicity in BANDS, from
70 ms before the loudest voiced part to its end.
"""
import os, subprocess, sys, tempfile
from multiprocessing import Pool
import numpy as np, pyworld, soundfile as sf
from scipy.signal import resample_poly

RATE, FRAME = 22050, 0.005
POINTS, BANDS = 80, 10
WORDS = ("la lo lee loo may moe nah nee new day doe sun love light heart night free blue you me go home star sea ah oh ooh eee hey yeah why sky time soul dream rain fire come one world "
         "gone know feel baby never ever over away river moon long high low fall call sing song do ray fa sol tea da dee hum mm noon").split()
VOICES = [("flite", v) for v in ("awb", "rms", "slt", "kal16")] + [("festival", v) for v in ("cmu_us_slt_arctic_hts", "ked_diphone")]


def hz_of_mel(m): return 700 * (10 ** (m / 2595) - 1)


def centres(count):
    """Returns `count` frequencies from 0 to RATE / 2, evenly spaced in mel."""
    return hz_of_mel(np.linspace(0, 2595 * np.log10(1 + RATE / 2 / 700), count))


def spoken(voice, word, path):
    kind, name = voice
    if kind == "flite": subprocess.run(["flite", "-voice", name, "-t", word, "-o", path], check=True, capture_output=True)
    else: subprocess.run(["text2wave", "-eval", f"(voice_{name})", "-o", path], input=word.encode(), check=True, capture_output=True)
    x, rate = sf.read(path, always_2d=True)
    return resample_poly(x[:, 0], RATE, rate)


def analysed(job):
    """Returns voice, envelope, aperiodicity, first voiced frame, first and last frame of the vowel's middle; None without a vowel."""
    voice, word = job
    try:
        with tempfile.TemporaryDirectory() as d: x = spoken(voice, word, d + "/w.wav")
        f, t = pyworld.dio(x, RATE, f0_floor=70, f0_ceil=400, frame_period=1000 * FRAME)
        f = pyworld.stonemask(x, f, t, RATE)
        sp, ap = pyworld.cheaptrick(x, f, t, RATE), pyworld.d4c(x, f, t, RATE)
    except Exception as fault: return print(job, repr(fault)[:80])
    power, best = sp.sum(1) * (f > 0), None
    edges = np.flatnonzero(np.diff(np.concatenate([[0], f > 0, [0]]).astype(int)))
    for a, b in zip(edges[::2], edges[1::2]):
        if b - a > 16 and (best is None or power[a:b].sum() > best[0]): best = power[a:b].sum(), a, b
    if best is None: return None
    a, b = best[1:]
    start = max(0, a - 14)
    loud = np.log(sp[a:b].sum(1) + 1e-12)
    peak = a - start + int(loud.argmax())
    hz = np.arange(sp.shape[1]) * RATE / 2 / (sp.shape[1] - 1)
    at = lambda rows, count: np.stack([np.interp(centres(count), hz, row) for row in rows]).astype(np.float16)
    log = np.log(sp[start:b] + 1e-14)
    return voice, at(log - log.max(), POINTS), at(ap[start:b], BANDS), a - start, max(a - start + 2, peak - 8), min(b - start - 3, peak + 8)


if __name__ == "__main__":
    with Pool(2) as pool: made = [m for m in pool.imap_unordered(analysed, [(v, w) for v in VOICES for w in WORDS], 4) if m]
    made.sort(key=lambda m: (m[0], m[3], len(m[1])))
    np.savez_compressed(sys.argv[1], voices=np.array([v for _, v in VOICES]), voice=np.array([VOICES.index(m[0]) for m in made]), envelope=np.concatenate([m[1] for m in made]),
                        air=np.concatenate([m[2] for m in made]), starts=np.cumsum([0] + [len(m[1]) for m in made]), marks=np.array([m[3:] for m in made]))
    print(len(made), "syllables", os.path.getsize(sys.argv[1]) / 1e6, "MB")
