"""Compares lists of notes (on, off, MIDI note; s)."""
import numpy as np

HOP, SECONDS = 0.01, 60


def frames(notes, low, count):
    held = np.zeros((int(SECONDS / HOP), count), bool)
    for a, b, n in notes:
        if 0 <= n - low < count: held[int(a / HOP):int(b / HOP) + 1, n - low] = True
    return held


def f1(tp, fp, fn):
    p, r = tp / max(tp + fp, 1), tp / max(tp + fn, 1)
    return p, r, 2 * p * r / max(p + r, 1e-9)


def compare(found, real, low=57, high=104):
    """Frame precision, recall, F1 (10 ms), onset F1 (+-100 ms)."""
    found, real = [[x for x in v if low <= x[2] <= high] for v in (found, real)]
    a, h = frames(found, low, high - low + 1), frames(real, low, high - low + 1)
    left, hit = {}, 0
    for t, _, n in sorted(found): left.setdefault(n, []).append(t)
    for t, _, n in sorted(real):
        k = next((i for i, u in enumerate(left.get(n, ())) if abs(u - t) <= 0.1), None)
        if k is not None: hit += 1; left[n].pop(k)
    return (*f1((a & h).sum(), (a & ~h).sum(), (~a & h).sum()), f1(hit, len(found) - hit, len(real) - hit)[2])
