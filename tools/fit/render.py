"""Renders training sounds: songs and scores by soundfonts, by recorded notes, by singers and by a synthesiser of its own, music made at
random, tones, plain tones, drums, noise.

usage: render.py SONGS.npz FONTS_FOLDER OUT_FOLDER --notes NOTES.npz --voices VOICES.npz [--workers N] [--seconds S] [--files K] [--first SEED]
needs numpy, scipy, numba, soundfile, pyworld; libfluidsynth

Each worker writes OUT/chunk-WORKER-NUMBER.npz until S seconds are over: sound (files x 2 x samples, int16, about 11 kHz: decimated as the
listener does), labels (files x frames x 80, events.py), sources (bits RECORDED and SUNG). The validation songs go to OUT/valid.npz first. A full
folder makes workers wait.
"""
import argparse, glob, multiprocessing, os, time
import numpy as np
from chip import CHIP, Voice, chip, hum, noises, plain_tones, steady_tones
from events import DRUMS, OFF, ON, PERIOD, PROGRAM, excerpt, labels, lasting, notes_of, ordered, random_chords, random_drums, random_music, score_events, varied
from fluid import RATE, Fluid
from mixing import compress, decimate, distorted, halved, mixed
from sampler import Samples, sampled, solo, with_lead
from singer import Voices

FRAMES = 3445                                    # of 128 samples: 40 s
SECONDS = FRAMES * PERIOD
FONTS, FONT_SHARE = ("fluid", "muse", "csound"), (0.5, 0.3, 0.2)
KINDS = ("song", "mma", "score", "music", "chords", "tones", "plain", "drums", "noise", "sampled", "lead", "solo")
KIND_SHARE = (0.28, 0.07, 0.10, 0.07, 0.02, 0.02, 0.12, 0.015, 0.015, 0.14, 0.08, 0.07)
RECORDED, SUNG = 1, 2
GUITARS = range(24, 32)


class Library:
    """Songs and scores of songs.py."""
    def __init__(self, path):
        with np.load(path) as z: self.z = {k: z[k] for k in z.files}
        self.names, self.row_names = [str(n) for n in self.z["names"]], [str(n) for n in self.z["row_names"]]
        pick = lambda names, *starts: [k for k, n in enumerate(names) if n.startswith(starts)]
        self.openmsx, self.games = pick(self.names, "train/openmsx"), pick(self.names, "train/doom", "train/simutrans", "train/freedoom", "train/blasphemer")
        self.mma, self.valid = pick(self.names, "train/mma"), pick(self.names, "valid/")
        self.lieder, self.quartets, self.valid_scores = pick(self.row_names, "train/lieder"), pick(self.row_names, "train/quartets"), pick(self.row_names, "valid/")
        self.scores = pick(self.row_names, "train/corpus")

    def song(self, k):
        s = slice(self.z["starts"][k], self.z["starts"][k + 1])
        return list(zip((np.cumsum(self.z["event_steps"][s]) / 2000).tolist(), *(self.z["event_" + n][s].tolist() for n in ("kind", "channel", "a", "b"))))

    def score(self, k):
        s = slice(self.z["row_starts"][k], self.z["row_starts"][k + 1])
        return np.stack([self.z["row_part"][s], np.cumsum(self.z["row_steps"][s]) / 480, self.z["row_length"][s] / 480, self.z["row_note"][s]], 1)


def random_events(library, rng, kind):
    """Draws varied events for one file of a musical kind."""
    if kind == "music": events = random_music(rng, SECONDS)
    elif kind == "chords": events = random_chords(rng, SECONDS) + (random_drums(rng, SECONDS) if rng.random() < 0.5 else [])
    elif kind == "score":
        which = (library.lieder, library.quartets, library.scores)[rng.choice(3, p=[0.55, 0.2, 0.25])]
        events = score_events(library.score(int(rng.choice(which))), rng, SECONDS)
    else: events = library.song(int(rng.choice(library.mma if kind == "mma" else library.openmsx if rng.random() < 0.33 else library.games)))
    speed = rng.uniform(0.85, 1.2) if kind in ("song", "mma") else 1.0
    if kind in ("song", "mma"):
        length = events[-1][0] / speed
        start = rng.uniform(0, max(0.1, length - SECONDS - 2)) * speed if rng.random() < 0.85 else 0
        events = excerpt(events, start, SECONDS * speed)
    else: events = ordered(events)
    if rng.random() < 0.15: events = lasting(events, rng.choice([0.3, 0.6, 1.5, 2.5, 4.0]))
    events = varied(events, rng, rng.choice([0, 0.5, 1]) if kind in ("song", "mma") else 0, int(rng.choice([0, 0, 0, *range(-9, 13)])),
                    rng.choice([0, 0, rng.uniform(-20, 20)]), rng.choice([0, 5, 15]), rng.choice([0, 0.3, 0.7, 1, 1, 1.2]), speed)
    return ordered(events)


def overdriven(events, rng):
    """Draws the channels with an overdriven amplifier: guitars, rarely others."""
    programs = {c: a for _, kind, c, a, _ in events if kind == PROGRAM}
    guitars = [c for c, p in programs.items() if p in GUITARS and c != DRUMS]
    if guitars and rng.random() < 0.15: return set(guitars)
    return {int(rng.integers(9))} if rng.random() < 0.03 else set()


def by_soundfont(events, font, rng):
    """Returns 2 x samples at RATE, or at CHIP if a part has an amplifier."""
    reverb = None if rng.random() < 0.5 else False if rng.random() < 0.3 else (rng.uniform(0.1, 0.9), rng.uniform(0, 0.6), 0.5, rng.uniform(0.1, 0.9))
    chorus, loud = rng.random() < 0.7, overdriven(events, rng)
    part = lambda chosen: [e for e in events if e[1] not in (ON, OFF) or (e[2] in loud) == chosen]
    if not any(e[1] == ON and e[2] in loud for e in events): return font.render(events, SECONDS, reverb, chorus), RATE
    clean, amplified = (halved(font.render(part(c), SECONDS, reverb if not c else False, chorus and not c).astype(np.float64)) for c in (False, True))
    amplified = distorted(amplified, rng)
    level = np.std(clean) + 1e-3
    return clean + amplified * level * rng.uniform(0.3, 1.2) / (np.std(amplified) + 1e-9), CHIP


def accompaniment(events, fonts, rng):
    """Returns 2 x samples at CHIP, played by a soundfont or, rarely, by chip.py."""
    if rng.random() < 0.15: return chip(events, rng, SECONDS)
    sound, rate = by_soundfont(events, fonts[str(rng.choice(FONTS, p=FONT_SHARE))], rng)
    return (halved(sound.astype(np.float64)) if rate == RATE else sound)[:, :int(SECONDS * CHIP)]


def performed(library, fonts, real, voices, rng, kind):
    """Returns 2 x samples at CHIP, played by recorded notes or singers; notes; sources."""
    if kind == "sampled":
        events = random_events(library, rng, str(rng.choice(["score", "music", "chords", "mma", "song"], p=[0.6, 0.17, 0.08, 0.05, 0.1])))
        if rng.random() < 0.8: events = [e for e in events if e[1] not in (ON, OFF) or e[2] != DRUMS]
        sound, notes, singing = sampled(events, real, voices, rng, SECONDS)
        return sound, notes, RECORDED | SUNG * singing
    for _ in range(9):
        events = random_events(library, rng, str(rng.choice(["score", "mma", "song", "music"], p=[0.55, 0.2, 0.1, 0.15])))
        try:
            if kind == "solo": sound, notes, singing = solo(events, real, voices, rng, SECONDS)
            else: sound, notes, singing = with_lead(events, lambda e: accompaniment(e, fonts, rng), real, voices, rng, SECONDS)
            return sound, notes, SUNG if singing else RECORDED
        except LookupError: pass
    raise LookupError("no lead")


def make(library, fonts, real, voices, seed):
    """Makes one file. Returns sound (2 x samples, int16), labels, sources."""
    rng = np.random.default_rng([13, seed])
    kind = str(rng.choice(KINDS, p=KIND_SHARE))
    rate, sources = CHIP, 0
    if kind == "tones": sound, notes = steady_tones(rng, SECONDS)
    elif kind == "plain": sound, notes = plain_tones(rng, SECONDS)
    elif kind == "noise":
        sound, notes = np.stack([noises(rng, SECONDS)] * 2), []
        if rng.random() < 0.3: sound += 0.1 * hum(rng, sound.shape[1]) * 10 ** rng.uniform(-1, 0.5)
    elif kind in ("sampled", "lead", "solo"): sound, notes, sources = performed(library, fonts, real, voices, rng, kind)
    else:
        events = ordered(random_drums(rng, SECONDS)) if kind == "drums" else random_events(library, rng, kind)
        notes = notes_of(events)
        if kind != "drums" and rng.random() < 0.22: sound = chip(events, rng, SECONDS)
        else: sound, rate = by_soundfont(events, fonts[str(rng.choice(FONTS, p=FONT_SHARE))], rng)
    if kind not in ("noise", "tones") and rng.random() < (0.1 if kind == "plain" else 0.35): sound, rate = mixed(halved(sound) if rate == RATE else sound, rng), CHIP
    slow = decimate(np.asarray(sound, np.float64), rate)[:, :FRAMES * 128]
    slow = np.pad(slow, ((0, 0), (0, FRAMES * 128 - slow.shape[1])))
    if not np.isfinite(slow).all(): raise ValueError("not finite")
    return (slow / (np.abs(slow).max() + 1e-9) * 32000).astype(np.int16), labels(notes, FRAMES), sources


def valid(library, fonts):
    """Renders 60 s of each validation song without variation: all with FluidR3, some with other soundfonts, too."""
    sounds, rows, names, seconds = [], [], [], 60.0
    frames = int(seconds / PERIOD)
    todo = [("s", k, "fluid") for k in library.valid] + [("r", k, f) for k, f in zip(library.valid_scores, ("fluid", "muse", "fluid", "csound", "fluid", "csound"))]
    todo += [("s", k, f) for k, f in zip(library.valid[::3], ("muse", "csound", "csound", "muse", "muse", "csound"))]
    for i, (what, k, font) in enumerate(todo):
        rng = np.random.default_rng(k)
        events = ordered(excerpt(library.song(k), 0, seconds) if what == "s" else score_events(library.score(k), rng, seconds, True))
        x = decimate(fonts[font].render(events, seconds).astype(np.float64), RATE)[:, :frames * 128]
        sounds.append((x / np.abs(x).max() * 32000).astype(np.int16))
        rows += [(i, a, b, n, v) for a, b, n, c, v in notes_of(events)]
        names.append((library.names if what == "s" else library.row_names)[k][6:] + "/" + font)
    return np.stack(sounds), np.array(rows, np.float32), np.array(names)


def save(path, **arrays):
    np.savez(path + ".tmp.npz", **arrays)
    os.replace(path + ".tmp.npz", path)


def worker(args, library, fonts, real, voices, me, end):
    os.nice(10)
    seed, number = args.first + me, 0
    if me == 0 and not os.path.exists(args.out + "/valid.npz"):
        sound, rows, names = valid(library, fonts)
        save(args.out + "/valid.npz", sound=sound, notes=rows, names=names)
    while time.time() < end and seed < args.first + args.files:
        made = []
        while len(made) < 8 and seed < args.first + args.files:
            try: made.append(make(library, fonts, real, voices, seed))
            except Exception as fault: print("seed", seed, repr(fault), flush=True)
            seed += args.workers
        while len(glob.glob(args.out + "/chunk-*")) > 600 and time.time() < end: time.sleep(1)
        if made: save(f"{args.out}/chunk-{me:02d}-{number:04d}.npz", sound=np.stack([m[0] for m in made]), labels=np.stack([m[1] for m in made]), sources=np.array([m[2] for m in made], np.uint8))
        number += 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("songs"); parser.add_argument("fonts"); parser.add_argument("out")
    parser.add_argument("--notes", required=True, help="of notes_library.py"); parser.add_argument("--voices", required=True, help="of voices_library.py")
    parser.add_argument("--workers", type=int, default=os.cpu_count()); parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--files", type=int, default=10 ** 9); parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    began = time.time()
    library = Library(args.songs)
    fonts = {k: Fluid(f"{args.fonts}/{k}.sf3") for k in FONTS}
    real, voices = Samples(args.notes), Voices(args.voices)
    Voice(np.random.default_rng(0)).play(np.zeros((2, 30000)), 0, 0.5, 60, 100)            # compiles
    compress(np.zeros((2, 9)), 0.5, 2.0, 0.1, 0.1)
    print(f"fonts {time.time() - began:.1f} s", flush=True)
    end = began + args.seconds
    context = multiprocessing.get_context("fork")
    team = [context.Process(target=worker, args=(args, library, fonts, real, voices, k, end)) for k in range(args.workers)]
    for p in team: p.start()
    for p in team: p.join()
    print(f"done after {time.time() - began:.0f} s", flush=True)
