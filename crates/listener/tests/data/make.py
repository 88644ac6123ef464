"""Makes the expected results of the listener's tests by listen.py: reference.bin.

usage: make.py DIRECTORY                needs numpy; DIRECTORY has listen.py, full.npz (the weights of the program) and reference.npz (a sound)

reference.bin   f32, little-endian: sound of the first FRAMES frames of reference.npz, then their logits by listen.py
"""

import os
import sys

import numpy as np

directory, here = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, directory)
import listen

RATE, FRAMES = 44100, 80


def twice(sound):
    """Returns the sound in two equal channels, for listen.py."""
    return np.stack([sound, sound], 1).astype(float)


with np.load(f"{directory}/reference.npz") as z:
    sound, block = z["sound"], 512
    logits = listen.logits_of(twice(sound[: FRAMES * block]), RATE, f"{directory}/full.npz")[0]
    with open(f"{here}/reference.bin", "wb") as f:
        f.write(sound[: FRAMES * block].astype("<f4").tobytes() + np.array(logits, "<f4").tobytes())
