"""Judges a listener on songs that are in no training set.

usage: judge.py render FOLDER                                  the test sounds, their notes (Debian packages: README.md)
       judge.py weights FOLDER NET.npz                         by listen.py
       judge.py program FOLDER COMMAND ..                      by a built program: COMMAND bands SONG.wav --midi NOTES.mid
       judge.py basic-pitch FOLDER                             by basic-pitch, for comparison (pip install basic-pitch onnxruntime)

Prints a row for each group of songs and each way to detect notes: causal, with lookahead, live. It is about the first minute without drums: precision, recall and
F1 of frames (10 ms) and F1 of onsets (+-100 ms) for MIDI 57 .. 104; F1 of frames for MIDI 28 .. 104. Then, for each note-on of the score: note-ons, and
note-ons within 100 ms after the same note's end.
"""
import glob, os, shutil, subprocess, sys, tempfile
from multiprocessing import Pool
import mido, numpy as np

GROUPS = ("openmsx-fluid", "openmsx-timgm", "heldout", "recordings")
FONTS = dict(fluid="/usr/share/sounds/sf2/FluidR3_GM.sf2", timgm="/usr/share/sounds/sf2/TimGM6mb.sf2")
HOP, SECONDS = 0.01, 60
OPENMSX, BLUPI = "/usr/share/games/openttd/baseset/openmsx/*.mid", "/usr/share/planetblupi/music/*.mid"


def notes_of(mid):
    """Returns (on, off, MIDI note) of the first minute, without drums."""
    on, out, t = {}, [], 0.0
    for m in mido.MidiFile(mid):
        t += m.time
        if m.type not in ("note_on", "note_off") or m.channel == 9: continue
        key = (m.channel, m.note)
        if key in on:
            t0 = on.pop(key)
            if t0 < SECONDS: out.append((t0, min(t, SECONDS), m.note))
        if m.type == "note_on" and m.velocity > 0: on[key] = t
    return out


def keep(sound, rate, base):
    import soundfile as sf
    sound = sound[:SECONDS * rate]
    sf.write(base + ".wav", sound / np.abs(sound).max() * 10 ** (-12 / 20), rate, subtype="FLOAT")


def render(folder):
    """FOLDER/GROUP--SONG.wav and .mid"""
    import soundfile as sf
    os.makedirs(folder, exist_ok=True)
    jobs = [(f"openmsx-{f}", mid, font) for f, font in FONTS.items() for mid in sorted(glob.glob(OPENMSX))[:12]] + [("heldout", mid, FONTS["fluid"]) for mid in sorted(glob.glob(BLUPI))]
    for group, mid, font in jobs:
        base = f"{folder}/{group}--{os.path.basename(mid)[:-4]}"
        if os.path.exists(base + ".wav"): continue
        subprocess.run(["fluidsynth", "-ni", "-q", "-F", base + ".raw.wav", "-r", "44100", "-g", "0.5", font, mid], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        keep(*sf.read(base + ".raw.wav", always_2d=True), base)
        os.unlink(base + ".raw.wav")
        shutil.copy(mid, base + ".mid")
    for mid in sorted(glob.glob(BLUPI)):
        base = f"{folder}/recordings--{os.path.basename(mid)[:-4]}"
        keep(*sf.read(mid[:-4] + ".ogg", always_2d=True), base)
        shutil.copy(mid, base + ".mid")


def by_weights(job):
    """Returns the notes that listen.py detects in a song, by way."""
    import soundfile as sf, listen
    base, (weights,) = job
    x, rate = sf.read(base + ".wav", always_2d=True)
    return dict(zip(("causal", "lookahead"), listen.transcribed(listen.stereo(x), rate, weights, (0, 4))))


def by_program(job):
    """Returns the notes that the program writes for a song, by way."""
    base, command = job
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for way, flags in {"causal": ["--lookahead=off"], "lookahead": [], "live": ["--live", "--lookahead=off"]}.items():
            subprocess.run([*command, "bands", base + ".wav", "--midi", f"{folder}/{way}.mid", *flags], check=True, stdout=subprocess.DEVNULL)
            out[way] = notes_of(f"{folder}/{way}.mid")
    return out


def by_basic_pitch(job):
    """Returns the notes that basic-pitch detects in a song, which it knows as a whole."""
    from basic_pitch import FilenameSuffix, build_icassp_2022_model_path, inference
    return {"whole": [note[:3] for note in inference.predict(job[0] + ".wav", build_icassp_2022_model_path(FilenameSuffix.onnx))[2]]}


def frames(notes, low, count):
    held = np.zeros((int(SECONDS / HOP), count), bool)
    for a, b, n in notes:
        if 0 <= n - low < count: held[int(a / HOP):int(b / HOP) + 1, n - low] = True
    return held


def f1(tp, fp, fn):
    p, r = tp / max(tp + fp, 1), tp / max(tp + fn, 1)
    return p, r, 2 * p * r / max(p + r, 1e-9)


def compare(found, real, low=57, high=104):
    """Compares lists of notes (on, off, MIDI note; s). Returns frame precision, recall, F1 (10 ms), onset F1 (+-100 ms)."""
    found, real = [[x for x in v if low <= x[2] <= high] for v in (found, real)]
    a, h = frames(found, low, high - low + 1), frames(real, low, high - low + 1)
    left, hit = {}, 0
    for t, _, n in sorted(found): left.setdefault(n, []).append(t)
    for t, _, n in sorted(real):
        k = next((i for i, u in enumerate(left.get(n, ())) if abs(u - t) <= 0.1), None)
        if k is not None: hit += 1; left[n].pop(k)
    return (*f1((a & h).sum(), (a & ~h).sum(), (~a & h).sum()), f1(hit, len(found) - hit, len(real) - hit)[2])


def flicker(notes):
    """Counts note-ons, and note-ons within 100 ms after a note-off of the same note; MIDI 57 .. 104."""
    ends, again = {}, 0
    for on, off, n in (x for x in sorted(notes) if 57 <= x[2] <= 104):
        again += n in ends and on - ends[n] < 0.1
        ends[n] = off
    return np.array([sum(57 <= n <= 104 for _, _, n in notes), again])


def table(folder, found_of, extra, workers):
    for group in GROUPS:
        bases = [p[:-4] for p in sorted(glob.glob(f"{folder}/{group}--*.wav"))]
        if not bases: continue
        with Pool(workers) as pool: found = pool.map(found_of, [(b, extra) for b in bases], 1)
        real = [notes_of(b + ".mid") for b in bases]
        for name in found[0]:
            rows = []
            for base, f, r in zip(bases, found, real):
                rows.append((*compare(f[name], r), compare(f[name], r, 28)[2]))
                print(f"  {name:9s} {os.path.basename(base):44s} P {rows[-1][0]:.3f} R {rows[-1][1]:.3f} F1 {rows[-1][2]:.3f} onset {rows[-1][3]:.3f} | 28..104 F1 {rows[-1][4]:.3f}")
            ours, score = (sum(flicker(n) for n in v) for v in ([f[name] for f in found], real))
            m = np.mean(rows, 0)
            print(f"{name:9s} {group:14s} {len(bases)} songs: P {m[0]:.3f} R {m[1]:.3f} F1 {m[2]:.3f} onset {m[3]:.3f} | 28..104 F1 {m[4]:.3f} | note-ons {ours[0] / score[0]:.2f}, re-ons {ours[1] / max(score[1], 1):.2f} of the score's", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    what, folder, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    if what == "render": render(folder)
    else: table(folder, {"weights": by_weights, "program": by_program, "basic-pitch": by_basic_pitch}[what], rest, 1 if what == "program" else os.cpu_count())
