"""Compares detected notes (on, off, pitch) with the true notes of a recording."""
import mir_eval
import numpy as np

FRAME = 0.01                     # s
LOWEST, HIGHEST = 28, 104        # E1 to G#7, the notes that the filter plays
# Tolerances of onsets in s and of pitches in cents: this project's, which allows singers more than a quarter tone, and mir_eval's.
OURS, MIR_EVAL = (0.1, 70), (0.05, 50)


def in_range(notes, seconds):
    """Returns the notes from E1 to G#7 that begin within the first `seconds`, cut at their end."""
    return [(on, min(off, seconds), pitch) for on, off, pitch in notes if LOWEST - 0.5 <= pitch < HIGHEST + 0.5 and on < min(off, seconds)]


def held(notes, seconds):
    """Returns whether each note is held in each frame of 10 ms, frames x notes. A pitch between two notes counts as the nearer one."""
    grid = np.zeros((int(np.ceil(seconds / FRAME)), HIGHEST - LOWEST + 1), bool)
    for on, off, pitch in notes:
        grid[int(on / FRAME):max(int(off / FRAME), int(on / FRAME) + 1), round(pitch) - LOWEST] = True
    return grid


def f1(hits, found, real):
    return 2 * hits / (found + real) if found + real else 1.0


def frame_f1(found, real, seconds):
    a, b = held(found, seconds), held(real, seconds)
    return f1((a & b).sum(), a.sum(), b.sum())


def onset_f1(found, real, tolerances):
    """Returns the F1 of notes with the right onset and pitch; each note matches once."""
    if not found or not real:
        return f1(0, len(found), len(real))
    onset, cents = tolerances
    split = lambda notes: (np.array([n[:2] for n in notes]), 440 * 2 ** ((np.array([n[2] for n in notes]) - 69) / 12))
    pairs = mir_eval.transcription.match_notes(*split(real), *split(found), onset_tolerance=onset, pitch_tolerance=cents, offset_ratio=None)
    return f1(len(pairs), len(found), len(real))


def scores(found, real, seconds):
    """Returns frame F1, onset F1 (100 ms), onset F1 by mir_eval's convention (50 ms), number of detected notes, number of true notes."""
    found, real = in_range(found, seconds), in_range(real, seconds)
    return frame_f1(found, real, seconds), onset_f1(found, real, OURS), onset_f1(found, real, MIR_EVAL), len(found), len(real)
