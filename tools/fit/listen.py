"""A causal listener, which detects the held notes of polyphonic music: MIDI 28 (E1) .. 107 (B7).

usage: listen.py SONG.wav [--look 0|4] --weights full.npz [--shortest 0.07] [-o NOTES.csv]          needs numpy, soundfile

An executable specification in NumPy, frame by frame; docs/listening.md has the formulas. `Detectors` turns sound into the states of two filters
per detector, `Network` turns these into 80 x 4 logits, `Decider` decides. All state is in these objects. With --look 4 a decision refers to the
sound 4 frames (46 ms) earlier. The times written are those of the sound.
"""
import argparse, json, math, sys
import numpy as np

LOWEST, DETECTORS = 24, 87                 # detectors of each bank: MIDI 24 .. 110
FIRST, NOTES = 28, 80                      # notes: MIDI 28 .. 107
FLOOR, QUIETEST = 1e-6, 1e-15
HELD, ONSET = {0: 0, 4: 1}, {0: 2, 4: 3}   # columns of the logits, by lookahead
AGAIN = 6                                  # minimum number of frames between two beginnings of a held note
SURE, APART = 2.0, 2                       # minimum logit of a note that counts as a voice; distance in semitones up to which two of these are one voice
ONE, UNKNOWN = 1.4, 1.45                   # mean number of voices: there is one voice while it is below ONE; UNKNOWN at the start
MORE, FEWER = 0.02, 0.006                  # part of the way to a frame's number of voices that the mean goes, if the number is above the mean, or below
RAISE = 1.0                                # added to the threshold of a note that starts without a beginning while there is one voice


def centres(banks):
    """Returns MIDI notes, frequencies (Hz) and decays (1/s) of all detectors: the fast bank, then the sharp banks."""
    sharp = banks - 1
    notes = LOWEST + np.concatenate([np.arange(DETECTORS) + shift for shift in [0.0, *((k - (sharp - 1) / 2) / sharp for k in range(sharp))]])
    hz = 440 * 2 ** ((notes - 69) / 12)
    fast = np.arange(len(notes)) < DETECTORS
    return notes, hz, np.where(fast, np.maximum(0.15 * hz, 16), np.maximum(0.05 * hz, 7))


class Detectors:
    """Filters sound frame by frame: decimation, then for each detector two complex one-poles in series, with the states s1 and s2."""
    def __init__(self, rate, banks):
        self.decimation = max(1, round(rate / 11500))
        slow = rate / self.decimation                                     # Hz, the detectors' rate
        self.samples = n = round(512 / 44100 * slow)                      # of the detectors' rate, in a frame
        self.block = self.decimation * n                                  # input samples in a frame
        self.period = self.block / rate                                   # s
        taps = 12 * self.decimation
        cut = min(4700, 0.45 * rate)
        fir = np.sinc(2 * cut / rate * (np.arange(taps) - (taps - 1) / 2)) * np.hamming(taps)
        self.fir, self.past = fir / fir.sum(), np.zeros((taps - 1, 2))
        _, at, decay = centres(banks)
        p = np.exp((-decay + 2j * np.pi * at) / slow)
        g, k = 1 - np.abs(p), np.arange(n)[:, None]
        self.c1, self.c2 = g * p ** (n - 1 - k), (n - k) * g ** 2 * p ** (n - 1 - k)
        self.c1[:, at > 0.45 * slow] = self.c2[:, at > 0.45 * slow] = 0     # too high for this rate
        self.kernel = np.concatenate([self.c1.real, self.c1.imag, self.c2.real, self.c2.imag], 1)
        self.q, self.w = p ** n, n * g * p ** n
        self.s1 = self.s2 = np.zeros((2, len(at)), complex)

    def __call__(self, block):
        """Filters a frame, `self.block` samples x 2 channels. Returns s1 and s2 at its end, each 2 channels x detectors."""
        x = np.concatenate([self.past, block])
        self.past = x[len(block):]
        x = np.stack([np.convolve(c, self.fir, "valid")[::self.decimation] for c in x.T])
        a, b, c, d = np.split(x @ self.kernel, 4, axis=1)
        self.s2 = self.q * self.s2 + self.w * self.s1 + c + 1j * d         # the whole frame at once: n steps of s1 = p s1 + g x, s2 = p s2 + g s1
        self.s1 = self.q * self.s1 + a + 1j * b
        return self.s1, self.s2


def sigmoid(x):
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def zones_of(starts, rows):
    """Returns the slices of all zones. `starts`: first rows of all zones except the lowest."""
    return [slice(a, b) for a, b in zip([0, *starts], [*starts, rows])]


def by_zone(x, matrices, zones):
    """Multiplies each row of x by the matrix of its zone."""
    return np.concatenate([x[zone] @ matrix for zone, matrix in zip(zones, matrices)])


class Layer:
    """out[q] = bias[q] + sum over k of in[q + base + offsets[k]] @ weight[zone of q][k]; rows beyond the ends are 0."""
    def __init__(self, weight, bias, offsets, base, rows_in, zones):
        at = np.arange(len(bias))[:, None] + base + np.array(offsets)
        self.index = np.where((at >= 0) & (at < rows_in), at, rows_in)     # rows_in: a row of zeros
        self.weight, self.bias, self.zones = weight.reshape(len(weight), -1, weight.shape[3]), bias, zones_of(zones, len(bias))
        self.wide = np.zeros((rows_in + 1, weight.shape[2]), np.float32)

    def __call__(self, x):
        self.wide[:-1] = x
        return by_zone(self.wide[self.index].reshape(len(self.bias), -1), self.weight, self.zones) + self.bias


class Cell:
    """A GRU with the same weights for each row of a zone: reset, update, candidate."""
    def __init__(self, m, name, rows, zones=()):
        self.input, self.hidden, bias, bn = (m[f"{name}_{k}"] for k in ("input", "hidden", "bias", "bn"))
        self.zones, self.size = zones_of(zones, rows), bn.shape[1]
        self.bias, self.bn = (np.concatenate([np.repeat(row[None], zone.stop - zone.start, 0) for zone, row in zip(self.zones, rows_of)]) for rows_of in (bias, bn))
        self.h = np.zeros((rows, self.size), np.float32)

    def __call__(self, x):
        n = self.size
        a, b = by_zone(x, self.input, self.zones) + self.bias, by_zone(self.h, self.hidden, self.zones)
        gates = sigmoid(a[:, :2 * n] + b[:, :2 * n])
        r, z = gates[:, :n], gates[:, n:]
        c = np.tanh(a[:, 2 * n:] + r * (b[:, 2 * n:] + self.bn))
        self.h = (1 - z) * c + z * self.h
        return self.h


class Network:
    """Converts states of the detectors to logits, NOTES x 4: held now, held 4 frames ago, begun in the last 6 frames, begun 4 +- 1 frames ago."""
    def __init__(self, m, config, period):
        self.m, self.c = m, config
        self.banks = 1 + config["sharp"]
        self.up, self.down = 1 - math.exp(-period / 0.05), 1 - math.exp(-period / 3.0)
        self.reference = QUIETEST
        self.past = [np.zeros((DETECTORS, 3 * self.banks), np.float32)] * (max(config["lags"]) + 1)       # features, newest last
        zones = config["zones"]
        self.near = Layer(m["near_weight"], m["near_bias"], config["near"], 0, DETECTORS, config["near_zones"])
        self.harmonic = Layer(m["harmonic_weight"], m["harmonic_bias"], config["harmonic"], FIRST - LOWEST, DETECTORS, zones)
        self.mix = Layer(m["mix_weight"], m["mix_bias"], config["mix"], 0, NOTES, zones)
        self.head = Layer(m["head_weight"], m["head_bias"], config["head"], 0, NOTES, zones)
        self.first, self.second, self.whole = Cell(m, "first", NOTES, zones), Cell(m, "second", NOTES, zones), Cell(m, "whole", 1)
        self.zones = zones_of(zones, NOTES)

    def features(self, s1, s2):
        square = (s2.real ** 2 + s2.imag ** 2).mean(0) + 1e-20             # both channels add up
        power = 2 * square
        total = max(power[:DETECTORS].sum(), QUIETEST)                     # of the fast bank
        self.reference += (self.up if total > self.reference else self.down) * (total - self.reference)
        u = (np.log(power / self.reference + FLOOR) - math.log(FLOOR)) / 4
        ratio = (s1 * s2.conj()).mean(0) / square
        sure = np.minimum(u, 1)
        shift, growth = np.clip(ratio.imag, -2, 2) * sure, np.clip(ratio.real - 1, -2, 2) * sure
        shape = lambda x: x.reshape(self.banks, DETECTORS)
        return np.stack([shape(u), shape(shift), shape(growth)], 1).reshape(3 * self.banks, DETECTORS).T.astype(np.float32)

    def __call__(self, s1, s2):
        m = self.m
        self.past = self.past[1:] + [self.features(s1, s2)]
        x = np.concatenate([self.past[-1 - lag] for lag in self.c["lags"]], 1)
        near = np.maximum(self.near(x), 0)
        a = np.maximum(self.harmonic(near), 0)
        pooled = np.concatenate([a.mean(0), a.max(0)])
        w = self.whole(np.maximum(pooled @ m["whole_in"] + m["whole_in_bias"], 0)[None])[0]
        h = self.first(a)
        y = np.maximum(self.mix(h) + by_zone(a, m["skip"], self.zones) + w @ m["whole_mix"], 0)
        return self.head(self.second(y)) + by_zone(y, m["direct"], self.zones) + w @ m["whole_out"]


class Voices:
    """Slow mean of the number of voices. A voice is a note whose logit `held` is above SURE. Of such notes, each at most APART semitones above another adds no voice."""
    def __init__(self):
        self.mean = UNKNOWN

    def __call__(self, z):
        """Takes the logits of a frame. Returns whether there is one voice."""
        sure = np.flatnonzero(z[:, HELD[4]] > SURE)
        if len(sure):
            count = 1 + (np.diff(sure) > APART).sum()
            self.mean += (MORE if count > self.mean else FEWER) * (count - self.mean)
        return self.mean < ONE


class Decider:
    """Decides from the logits of each frame, NOTES x 4, which notes are held. While there is one voice, a note that starts without a beginning has a higher threshold."""
    def __init__(self, look, on, hysteresis, onset):
        self.look, self.on, self.off, self.onset = look, on, on - hysteresis, onset
        self.voices, self.held = Voices(), np.zeros(NOTES, bool)

    def __call__(self, z):
        raised = self.voices(z) & (z[:, ONSET[self.look]] <= self.onset)
        self.held = z[:, HELD[self.look]] > np.where(self.held, self.off, self.on + RAISE * raised)
        return self.held


def decided(z, look, on, hysteresis, onset):
    """Returns the held notes, frames x notes. `z`: logits, frames x notes x 4."""
    return np.array(list(map(Decider(look, on, hysteresis, onset), z)))


def notes_of(held, begun, look, period, shortest=0.0):
    """Returns the notes (on, off, MIDI note), with times in s of the sound. `held`: decisions, frames x notes. `begun`: whether the logits of onsets are above their threshold."""
    out = []
    for n in range(held.shape[1]):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], held[:, n], [False]]).astype(int)))
        for a, b in zip(edges[::2], edges[1::2]):
            starts, armed = [a], False
            for k in range(a + 1, b):
                if not begun[k, n]: armed = True
                elif armed and k - starts[-1] >= AGAIN: starts.append(k); armed = False
            for s, e in zip(starts, starts[1:] + [b]):
                if (e - s) * period >= shortest: out.append((max(0.0, (s + 1 - look) * period), (e + 1 - look) * period, FIRST + n))
    return sorted(out)


def stereo(samples):
    """Returns left and right, or mono twice, samples x 2. `samples`: samples x channels, as soundfile reads them."""
    return samples[:, [0, min(1, samples.shape[1] - 1)]]


def logits_of(sound, rate, weights):
    """Returns the logits of sound (samples x 2), frames x 80 x 4; the thresholds by lookahead; the length of a frame in s."""
    with np.load(weights) as z:
        m = {k: z[k] for k in z.files if k != "config"}
        config = json.loads(str(z["config"]))
    detectors = Detectors(rate, 1 + config["sharp"])
    network = Network(m, config, detectors.period)
    blocks = (sound[at:at + detectors.block] for at in range(0, len(sound) - detectors.block + 1, detectors.block))
    return np.array([network(*detectors(block)) for block in blocks]), config["decide"], detectors.period


def transcribed(sound, rate, weights, looks, shortest=0.07):
    """Returns the notes of sound (samples x 2), of at least `shortest` s, for each lookahead in `looks`."""
    (z, decide, period), out = logits_of(sound, rate, weights), []
    for look in looks:
        on, hysteresis, onset = decide[str(look)]
        out.append(notes_of(decided(z, look, on, hysteresis, onset), z[..., ONSET[look]] > onset, look, period, shortest))
    return out


if __name__ == "__main__":
    import soundfile
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("song"); parser.add_argument("--look", type=int, choices=(0, 4), default=0); parser.add_argument("-o", "--out")
    parser.add_argument("--shortest", type=float, default=0.07, help="notes shorter than this, in s, are left out")
    parser.add_argument("--weights", required=True)
    args = parser.parse_args()
    samples, rate = soundfile.read(args.song, always_2d=True)
    (notes,) = transcribed(stereo(samples), rate, args.weights, [args.look], args.shortest)
    with open(args.out, "w") if args.out else sys.stdout as f:
        f.write("on,off,note\n" + "".join(f"{on:.4f},{off:.4f},{note}\n" for on, off, note in notes))
