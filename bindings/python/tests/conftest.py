"""Fixtures and functions of all tests. `cargo xtask test-python` runs the tests, in an environment that has the wheel."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import soundfile

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def tune():
    """The demo tune, (channels, frames), and its rate."""
    audio, rate = soundfile.read(ROOT / "assets/demo.wav", dtype="float32")
    return np.ascontiguousarray(audio.T), rate


@pytest.fixture(scope="session")
def command():
    """Runs `tone-filter` with some words."""
    program = os.environ["TONE_FILTER_COMMAND"]

    def run(*words):
        subprocess.run([program, *map(str, words), "--quiet"], check=True)

    return run


def sine(rate, seconds):
    """A steady A4 with a peak of 0.2, as one channel."""
    return (0.2 * np.sin(2 * np.pi * 440 * np.arange(round(rate * seconds)) / rate)).astype("float32")


def bits(array):
    """The bits of an array of float32, which tell -0 from 0."""
    assert array.dtype == np.float32
    return np.ascontiguousarray(array).view(np.uint32)


def same(a, b):
    return a.shape == b.shape and np.array_equal(bits(a), bits(b))
