"""Labels of the frames: notes that are held, and notes that begin."""
import numpy as np

PERIOD = 512 / 44100                        # s
FIRST, NOTES = 28, 80                       # MIDI 28 .. 107
AHEAD = 16                                  # frames before a file's start, in the labels
HELD, ONSET = 1, 2


def labels(notes, frames):
    """Notes (on and off in s, note, ..) -> labels, (AHEAD + frames + 2) x NOTES, with the bits HELD and ONSET."""
    y = np.zeros((AHEAD + frames + 2, NOTES), np.uint8)
    for on, off, n, *_ in notes:
        k = int(n) - FIRST
        if 0 <= k < NOTES:
            a, b = int(on / PERIOD), int(off / PERIOD) + 1
            y[AHEAD + a:AHEAD + b, k] |= HELD
            if a < frames: y[AHEAD + a, k] |= ONSET
    return y
