"""Makes the expected results of the listener's tests by listen.py: reference.bin and songs.txt.

usage: make.py DIRECTORY                needs numpy; DIRECTORY has listen.py, full.npz, light.npz (the weights of the program) and reference.npz (a sound)

reference.bin   f32, little-endian: sound of the first FRAMES frames of reference.npz, then their logits by listen.py
songs.txt       a line `model look song` for each of the four songs of tests/decisions/songs.rs, then a line for each note that is
                held: its MIDI note, and the frames from which on it is on and off
"""

import os
import sys

import numpy as np

directory, here = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, directory)
import listen

RATE, SECONDS, FRAMES = 44100, 30, 80


class Random:
    """Knuth's linear congruential generator, as in tests/decisions/songs.rs."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        """Returns the next number from 0 to 1."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) / 2**31

    def below(self, n):
        return int(self.next() * n)


def song(number):
    """Returns song 0 to 3: chords of one to four notes, which last up to a beat; with vibrato in song 1, noise in song 2, one voice in song 3."""
    r, out = Random(number), np.zeros(RATE * SECONDS)
    beat = [0.5, 0.375, 0.25, 0.25][number]
    for k in range(int(SECONDS / beat)):
        root = 33 + r.below(24)
        notes = [root, root + 12 + r.below(5), root + 19 + r.below(12), root + 31 + r.below(12)]
        at, count = int(k * beat * RATE), int(beat * (0.5 + 0.5 * r.next()) * RATE)
        t = np.arange(count) / RATE
        for n, note in enumerate(notes[: 1 + r.below(1 if number == 3 else 4)]):
            f, wave, decay = 440 * 2 ** ((note - 69) / 12), (number + n) % 3, 4 * r.next()
            swing = 0.02 * f / (2 * np.pi * 5.5) * np.sin(2 * np.pi * 5.5 * t) if number == 1 else 0
            sound = np.zeros(count)
            for p in range(1, 13 if wave else 2, 2 if wave == 2 else 1):
                if p * f < 10000:
                    sound += np.sin(2 * np.pi * p * (f * t + swing)) / p
            out[at : at + count] += 0.15 * sound * np.exp(-decay * t) * np.minimum(1, (t[-1] - t) / 0.01)
    if number == 2:
        for k in range(len(out)):
            since = k / RATE % 0.5
            out[k] += (0.003 + 0.2 * np.exp(-40 * since)) * (2 * r.next() - 1)
    return out.astype(np.float32)


def twice(sound):
    """Returns the sound in two equal channels, for listen.py."""
    return np.stack([sound, sound], 1).astype(float)


def intervals(held):
    for n in range(held.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], held[:, n].astype(int), [0]])))
        for on, off in zip(edges[::2], edges[1::2]):
            yield f"{listen.FIRST + n} {on} {off}\n"


with np.load(f"{directory}/reference.npz") as z:
    sound, block = z["sound"], 512
    listener = listen.Listener(RATE, f"{directory}/full.npz")
    logits = [listener.logits(twice(sound[at : at + block])) for at in range(0, FRAMES * block, block)]
    with open(f"{here}/reference.bin", "wb") as f:
        f.write(sound[: FRAMES * block].astype("<f4").tobytes() + np.array(logits, "<f4").tobytes())

with open(f"{here}/songs.txt", "w") as f:
    for number in range(4):
        sound = twice(song(number))
        for model in ("full", "light"):
            z, _ = listen.logits_of(sound, RATE, f"{directory}/{model}.npz")
            for look in (0, 4):
                listener = listen.Listener(RATE, f"{directory}/{model}.npz", look)
                held = np.array([listener.decide(row) for row in z])
                f.write(f"{model} {look} {number}\n" + "".join(intervals(held)))
                print(model, look, number, held.sum(), "decisions are on")
