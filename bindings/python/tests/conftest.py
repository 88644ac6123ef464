"""Fixtures and helpers of all tests. `cargo xtask test-python` runs the tests in an environment with the wheel."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import soundfile

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def tune():
    """Returns the demo tune, of shape (channels, frames), and its sample rate in Hz."""
    audio, rate = soundfile.read(ROOT / "assets/demo.wav", dtype="float32")
    return np.ascontiguousarray(audio.T), rate


@pytest.fixture(scope="session")
def command():
    """Returns a function that runs `tone-filter` with arguments."""
    program = os.environ["TONE_FILTER_COMMAND"]

    def run(*words):
        subprocess.run([program, *map(str, words), "--quiet"], check=True)

    return run


def sine(rate, seconds):
    """Returns a steady A4 with a peak of 0.2, in one channel."""
    return (0.2 * np.sin(2 * np.pi * 440 * np.arange(round(rate * seconds)) / rate)).astype("float32")


def same(a, b):
    """Returns whether two float32 arrays have the same shape and bits; -0 differs from 0."""
    assert a.dtype == b.dtype == np.float32
    return a.shape == b.shape and a.tobytes() == b.tobytes()
