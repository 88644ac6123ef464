"""A causal listener that names the notes of polyphonic music: which of MIDI 57 (A3) .. 104 (G#7) sound now?

usage: listener.py SONG [--look 0|4] [-o NOTES.csv]          needs numpy, numba, soundfile

An executable specification: `Detectors` turns sound into powers, `Network` turns a frame of powers into 48 logits, `Listener` decides.
All state is in these objects. ARCHITECTURE.md has the formulas, fit.py makes weights_LOOK.json. With --look 4 a decision is about
the moment 4 frames (46 ms) before, so delay the sound by as much; the times written are moments of decision.
"""
import argparse, json, math, os, sys
import numpy as np
from numba import njit

LOWEST, DETECTORS = 24, 87       # one detector per semitone, MIDI 24 .. 110
FIRST, BANDS = 57, 48            # decisions for MIDI 57 .. 104
HEARD = slice(FIRST - LOWEST, FIRST - LOWEST + BANDS)
FLOOR, QUIETEST = 1e-6, 1e-15    # added to power / reference before the logarithm; the least reference power
LOWEST_TEMPLATE = 7             # templates are applied from detector 7 (MIDI 31) up: 80 positions
LAG = 3                          # frames back to which a level is compared for rise and fall
CLIP = 4.0                       # candidates for the memories are kept within +-CLIP


@njit(fastmath=True)
def run_bank(x, samples, pole, gain, s1, s2):
    """All detectors over `x` (at the detectors' rate), states in place; their powers every `samples` samples, frames x DETECTORS."""
    n = len(pole)
    cos, sin = pole.real.copy(), pole.imag.copy()
    ar, ai, br, bi = s1.real.copy(), s1.imag.copy(), s2.real.copy(), s2.imag.copy()
    power = np.zeros((len(x) // samples, n))
    for k in range(len(power)):
        for v in x[k * samples:(k + 1) * samples]:
            for j in range(n):          # real numbers one by one: this loop vectorises, complex ones do not
                re = cos[j] * ar[j] - sin[j] * ai[j] + gain[j] * v
                ai[j] = cos[j] * ai[j] + sin[j] * ar[j]
                ar[j] = re
                re = cos[j] * br[j] - sin[j] * bi[j] + gain[j] * ar[j]
                bi[j] = cos[j] * bi[j] + sin[j] * br[j] + gain[j] * ai[j]
                br[j] = re
        for j in range(n): power[k, j] = 2 * (br[j] ** 2 + bi[j] ** 2) + 1e-20
    for j in range(n):
        s1[j], s2[j] = complex(ar[j], ai[j]), complex(br[j], bi[j])
    return power


class Detectors:
    """Sound -> power at each detector: decimation, then two complex one-poles in series per semitone."""
    def __init__(self, rate):
        self.decimation = max(1, round(rate / 11500))
        slow = rate / self.decimation                                     # Hz, the detectors' rate
        self.samples = round(512 / 44100 * slow)                          # of the detectors' rate, in a frame
        self.block = self.decimation * self.samples                       # input samples in a frame
        self.period = self.block / rate                                   # s
        taps = 12 * self.decimation
        fir = np.sinc(2 * 4700 / rate * (np.arange(taps) - (taps - 1) / 2)) * np.hamming(taps)
        self.fir, self.past = fir / fir.sum(), np.zeros(taps - 1)
        frequency = 440 * 2 ** ((np.arange(LOWEST, LOWEST + DETECTORS) - 69) / 12)
        self.pole = np.exp((-np.maximum(0.15 * frequency, 16) + 2j * np.pi * frequency) / slow)
        self.gain = 1 - np.abs(self.pole)
        self.s1, self.s2 = np.zeros(DETECTORS, complex), np.zeros(DETECTORS, complex)

    def __call__(self, sound):
        """Mono sound, whole frames -> frames x DETECTORS."""
        x = np.concatenate([self.past, sound])
        self.past = x[len(sound):]
        return run_bank(np.convolve(x, self.fir, "valid")[::self.decimation], self.samples, self.pole, self.gain, self.s1, self.s2)


def shifted(rows, offsets, first, count):
    """rows: channels x positions, 0 beyond them -> offsets x channels x count: what lies `offset` above each of `count` positions."""
    margin = max(map(abs, offsets))
    wide = np.pad(rows, ((0, 0), (margin, margin + count)))
    return np.stack([wide[:, margin + first + k:margin + first + k + count] for k in offsets])


class Network:
    """A frame of powers -> 48 logits. The weights are the same for all positions, but for one number per band."""
    def __init__(self, model, period):
        self.m = {k: np.array(v) if isinstance(v, list) else v for k, v in model.items()}
        self.up, self.down = 1 - math.exp(-period / 0.05), 1 - math.exp(-period / 3.0)
        self.keep = np.exp(-period / self.m["mean_seconds"])              # 2 x templates
        self.reference = QUIETEST
        self.past = [np.zeros(DETECTORS)] * LAG                           # u of the last LAG frames, oldest first
        self.means = np.zeros_like(self.keep)
        self.memory = np.zeros((self.m["memories"], BANDS))

    def __call__(self, power):
        m = self.m
        total = max(power.sum(), QUIETEST)
        self.reference += (self.up if total > self.reference else self.down) * (total - self.reference)
        u = np.log(power / self.reference + FLOOR) - math.log(FLOOR)      # 0 at the floor
        change = u - self.past.pop(0)
        self.past.append(u)
        h = m["template_bias"][:, None]
        for name, row in (("u", u), ("rise", np.maximum(change, 0)), ("fall", np.minimum(change, 0))):
            h = h + np.einsum("oc,oip->cp", m["template_" + name], shifted(row[None], m[name + "_offsets"], 0, DETECTORS))
        h = np.maximum(h, 0)                                              # templates x DETECTORS
        h[:, :LOWEST_TEMPLATE] = 0
        now = h.sum(axis=1) / (DETECTORS - LOWEST_TEMPLATE)
        self.means = self.keep * self.means + (1 - self.keep) * now
        whole = np.concatenate([now, *self.means, [u.mean(), u.max()]]) @ m["whole"]
        y = np.einsum("ocy,ocb->yb", m["combine"], shifted(h, m["combine_offsets"], HEARD.start, BANDS)) + (m["combine_bias"] + whole[:-1])[:, None]
        g = m["memories"]
        gate, candidate, direct = 1 / (1 + np.exp(-y[:g])), np.clip(y[g:2 * g], -CLIP, CLIP), np.maximum(y[2 * g:], 0)
        self.memory = self.memory + gate * (candidate - self.memory)
        seen = np.concatenate([self.memory, direct])
        return np.einsum("oc,ocb->b", m["out"], shifted(seen, m["out_offsets"], 0, BANDS)) + m["band_bias"] + whole[-1]


class Listener:
    def __init__(self, rate, model):
        self.detectors = Detectors(rate)
        self.block, self.period = self.detectors.block, self.detectors.period
        self.network = Network(model, self.period)
        self.on, self.off = model["threshold"], model["threshold"] - model["hysteresis"]
        self.held = np.zeros(BANDS, bool)

    def frame(self, block):
        """`self.block` samples of mono sound -> which of the 48 notes sound now."""
        self.held = self.network(self.detectors(block)[0]) > np.where(self.held, self.off, self.on)
        return self.held


def load(look):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), f"weights_{look}.json")) as f: return json.load(f)


def notes(sound, rate, model):
    """(on, off, MIDI note), in s, of a mono sound."""
    listener, began, out, now = Listener(rate, model), {}, [], 0.0
    for at in range(0, len(sound) - listener.block + 1, listener.block):
        held = listener.frame(sound[at:at + listener.block])
        now = (at + listener.block) / rate
        for band in range(BANDS):
            if held[band]: began.setdefault(band, now)
            elif band in began: out.append((began.pop(band), now, FIRST + band))
    return sorted(out + [(t, now, FIRST + band) for band, t in began.items()])


if __name__ == "__main__":
    import soundfile
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("song"); parser.add_argument("--look", choices=("0", "4"), default="0"); parser.add_argument("-o", "--out")
    args = parser.parse_args()
    samples, rate = soundfile.read(args.song, always_2d=True)
    with open(args.out, "w") if args.out else sys.stdout as f:
        f.write("on,off,note\n" + "".join(f"{on:.4f},{off:.4f},{note}\n" for on, off, note in notes(samples.mean(axis=1), rate, load(args.look))))
