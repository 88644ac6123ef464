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


def latencies(held, real, look, period, first=28):
    """Returns the latency from each onset (MIDI 57 .. 104) to its decision, lookahead included; the number of notes that were on before their onset; the
    number of notes that were off for 0.5 s after it. `held` is frames x notes from `first`."""
    late, lit, dark = [], 0, 0
    for on, off, n in real:
        if not 57 <= n <= 104: continue
        k = int(on / period)                                  # decisions before frame k ends know nothing of it
        if k >= len(held): continue
        col = held[:, n - first]
        start = k if look == 0 else k + look - 2              # with lookahead the decisions about the last two frames before may be early
        if 0 < start <= len(col) and col[start - 1]: lit += 1; continue
        at = np.flatnonzero(col[start:k + look + int(0.5 / period)])
        if len(at): late.append((start + at[0] + 1) * period - on)
        else: dark += 1
    return late, lit, dark
