"""Chooses the thresholds that are best on the validation songs: for held notes by the F1 of frames, for beginnings by the F1 of onsets.

usage: choose.py NET.npz VALID.npz OUT.npz           on a GPU (needs torch)
"""
import json, multiprocessing, sys
import numpy as np
import torch
import pack
from events import AHEAD, FIRST, PERIOD, labels
from judge import compare
from listen import HELD, ONSET, decided, notes_of
from model import Network, SHAPE

HYSTERESIS, SHORTEST = 0.4, 0.07
TRIED = np.arange(-0.8, 0.81, 0.1)
LOWEST = (1.2, 0.9, 0.6, 0.3, 0.15)         # added to the log odds of held notes from E1 to G#1: otherwise half of these are missed, and E1 begins late
A5, HIGHER = 81 - FIRST, 0.6                # row of A5; added to the log odds of held notes from there on, in `full`: otherwise two fifths of these are missed in songs


def logits(net, sound, chunk=4):
    """Returns the logits, files x frames x 80 x 4, of sound, files x 2 x samples (int16)."""
    with torch.no_grad():
        return np.concatenate([net(net.features(torch.from_numpy(sound[a:a + chunk]).cuda().float() / 32768)).float().cpu().numpy() for a in range(0, len(sound), chunk)])


def frame_f1(z, held, low):
    """Returns the F1 of the decisions, thresholds x files. `z`, `held`: logits and truth, files x frames x notes."""
    z, held = z[..., low - FIRST:105 - FIRST], held[..., low - FIRST:105 - FIRST]
    (both, lit), now = np.zeros((2, len(TRIED), len(z))), np.zeros((len(TRIED), *z.shape[::2]), bool)
    for k in range(z.shape[1]):
        now = z[None, :, k] > TRIED[:, None, None] - HYSTERESIS * now
        both += (now & held[None, :, k]).sum(2); lit += now.sum(2)
    return 2 * both / np.maximum(lit + held.sum((1, 2)), 1)


def note_f1(job):
    z, notes, look, on, onset = job
    found = notes_of(decided(z, look, on, HYSTERESIS, onset), z[..., ONSET[look]] > onset, look, PERIOD, SHORTEST)
    return compare(found, notes)[2:]


def by_validation(net, path, beginnings=False):
    """Chooses thresholds. Those of beginnings take long, so they are defaults unless `beginnings`. Returns a line for the log, and the thresholds: on, hysteresis
    and begins for look 0, then for look 4."""
    with np.load(path) as f: sound, rows, names = f["sound"], f["notes"], f["names"]
    z = logits(net, sound)
    notes = [[(a, b, int(n)) for k, a, b, n, _ in rows if k == i] for i in range(len(sound))]
    y = np.stack([labels(n, z.shape[1]) & 1 > 0 for n in notes])
    plain = np.array([str(n).endswith("/fluid") for n in names])
    line, decide = {}, []
    for look in (0, 4):
        held = y[:, AHEAD + 1 - look:][:, :z.shape[1]]
        f = frame_f1(z[..., HELD[look]], held, 57)
        best = int(f.mean(1).argmax())
        on, begins = round(float(TRIED[best]), 2), {0: 0.0, 4: -0.5}[look]
        line[look] = {"fluid": round(float(f[best, plain].mean()), 4), "other": round(float(f[best, ~plain].mean()), 4),
                      "bass": round(float(frame_f1(z[..., HELD[look]], held, 28)[best].mean()), 4), "on": on}
        if beginnings:
            with multiprocessing.get_context("fork").Pool() as pool:
                scores = {o: np.mean(pool.map(note_f1, [(z[i], notes[i], look, on, o) for i in range(len(z))]), 0) for o in (-1.0, -0.5, 0.0, 0.5)}
            begins = max(scores, key=lambda o: scores[o][1])
            line[look] |= {"frames of notes": round(float(scores[begins][0]), 4), "notes": round(float(scores[begins][1]), 4), "begins": begins}
        decide += [on, HYSTERESIS, begins]
    return line, decide


if __name__ == "__main__":
    source, valid, out = sys.argv[1:]
    with np.load(source) as f: config = json.loads(str(f["config"]))
    net = Network({k: config[k] for k in ("c1", "c", "g", "lags", *SHAPE)}).cuda()
    net.load_state_dict(pack.state(source))
    with torch.no_grad():
        net.head.place[:len(LOWEST), :2] += torch.tensor(LOWEST, device="cuda")[:, None]
        if config["g"] == 32: net.head.place[A5:, :2] += HIGHER      # `light` loses by it
    line, decide = by_validation(net, valid, True)
    pack.save(out, net.config, net.state_dict(), decide)
    print(source, json.dumps(line), decide)
