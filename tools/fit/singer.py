"""Sings melodies by WORLD with the syllables of voices_library.py: continuous contours of pitch, consonants, breath; trained singers and amateurs."""
import numpy as np
import pyworld
from chip import CHIP as RATE
from voices_library import BANDS, FRAME, POINTS, centres

SIZE = pyworld.get_cheaptrick_fft_size(RATE)
HZ = np.arange(SIZE // 2 + 1) * RATE / SIZE


class Voices:
    """Syllables by voice."""
    def __init__(self, path):
        with np.load(path) as z: m = {k: z[k] for k in z.files}
        self.names, s = [str(v) for v in m["voices"]], m["starts"]
        self.of = [[(m["envelope"][s[k]:s[k + 1]].astype(np.float32), m["air"][s[k]:s[k + 1]].astype(np.float32), *m["marks"][k].tolist())
                    for k in np.flatnonzero(m["voice"] == v)] for v in range(len(self.names))]


def matrix(count, factor):
    """Returns the matrix, count x bins, that interpolates linearly between `centres` and moves formants by `factor`."""
    at = np.interp(np.minimum(HZ / factor, RATE / 2), centres(count), np.arange(count))
    k = np.minimum(at.astype(int), count - 2)
    out = np.zeros((count, len(HZ)), np.float32)
    out[k, np.arange(len(HZ))] = 1 - (at - k)
    out[k + 1, np.arange(len(HZ))] += at - k
    return out


def smooth(rng, n, seconds):
    """Returns a random curve with knots `seconds` apart and a standard deviation of about 1."""
    knots = rng.standard_normal(int(n * FRAME / seconds) + 3)
    return np.interp(np.arange(n) * FRAME / seconds, np.arange(len(knots)), knots)


class Singer:
    """Voice, range and style of one singer."""
    def __init__(self, voices, rng, amateur=None):
        self.rng, u, c = rng, rng.uniform, rng.choice
        v = int(rng.integers(len(voices.of)))
        self.syllables, female = voices.of[v], "slt" in voices.names[v]
        self.factor = (c([1.0, 1.12, 0.88, 1.25]) if female else c([1.0, 1.18, 0.9])) * u(0.96, 1.04)
        self.low = (53 if female else 40) + round(25 * np.log2(self.factor))
        self.high = min(86, self.low + 29)
        self.amateur = rng.random() < 0.5 if amateur is None else amateur
        a = self.amateur
        self.cents, self.uneven, self.wander = (u(-38, 38), u(5, 26), u(0, 14)) if a else (u(-10, 10), u(0, 9), u(0, 4))
        self.scoop, self.glide = u(0.3, 0.9), np.exp(u(np.log(0.012), np.log(0.09)))                       # share of notes; s
        self.vibrato = (u(8, 35) if rng.random() < 0.35 else 0.0) if a else (u(10, 60) if rng.random() < 0.8 else 0.0)
        self.rate, self.delay = u(4.2, 6.6), u(0.05, 0.4)
        self.legato, self.melisma, self.jitter = c([0.2, 0.6, 0.9]), c([0.0, 0.1, 0.4, 0.9]), u(1, 5) * (2 if a else 1)
        self.tilt, self.formant = rng.normal(0, 0.25), (u(2400, 3300), u(4, 12) / 4.34) if rng.random() < (0.15 if a else 0.5) else None
        self.breath, self.few = c([0, 0, u(0, 0.35)]), self.syllables if rng.random() < 0.6 else [self.syllables[k] for k in rng.integers(len(self.syllables), size=int(c([1, 2, 5])))]

    def sing(self, notes, seconds):
        """Sings the notes of one voice, (on, off, MIDI note, ..) in order. Returns sound of `seconds` at RATE, and the notes as sung, (on, off, note)."""
        rng, n = self.rng, int(seconds / FRAME)
        pitch, voiced, level = np.zeros(n), np.zeros(n, bool), np.zeros(n)
        envelope, air = np.full((n, POINTS), -25.0, np.float32), np.ones((n, BANDS), np.float32)
        out, last = [], None
        ref = self.cents + self.wander * smooth(rng, n, 2.5)
        loudness = 0.25 * smooth(rng, n, 1.5) + 0.1 * smooth(rng, n, 0.3)
        for j, (on, off, note, *_) in enumerate(notes):
            follows = j + 1 < len(notes) and notes[j + 1][0] - off < 0.15
            if follows and rng.random() < self.legato: off = notes[j + 1][0]
            if j + 1 < len(notes): off = min(off, notes[j + 1][0])
            a, b = int(on / FRAME), min(int(off / FRAME), n - 1)
            if b - a < 8 or a < 20: continue
            joined = last is not None and a - last[1] <= 2
            melisma = joined and rng.random() < self.melisma
            if not melisma: syllable = self.few[int(rng.integers(len(self.few)))]
            env, ap, first, c0, c1 = syllable
            lead = 0 if melisma else int(rng.integers(0, min(first, 14) + 1))               # the consonant, before the note
            lead = min(lead, max(0, a - (last[1] - 6 if last else 0)))
            rise = 0 if melisma else min(c0 - first, max(2, (b - a) // 3))
            count = b - a
            middle = count - rise
            walk = (c0 + c1) / 2 + (c1 - c0) / 2 * np.clip(0.8 * smooth(rng, middle, 0.25), -1, 1)
            walk = c0 + (walk - c0) * np.minimum(1, np.arange(middle) / 15) if not melisma else walk
            at = np.concatenate([np.arange(first - lead, first), np.linspace(first, c0, rise, endpoint=False), walk])
            i = np.clip(at.astype(int), 0, len(env) - 2)
            w = (at - i).clip(0, 1)[:, None]
            span = slice(a - lead, b)
            new, newair = env[i] * (1 - w) + env[i + 1] * w, ap[i] * (1 - w) + ap[i + 1] * w
            if joined:                                                                       # from vowel to vowel, or into the consonant
                k = np.minimum(1, (1 + np.arange(len(new))) / 8)[:, None]
                new, newair = envelope[span.start - 1] * (1 - k) + new * k, air[span.start - 1] * (1 - k) + newair * k
            envelope[span], air[span] = new, newair
            # Pitch: from the note before, or a scoop; vibrato; uneven tuning.
            off_by = rng.normal(0, self.uneven)
            target = note + (ref[a:b] + off_by) / 100
            t = np.arange(count) * FRAME
            if joined: bend = (last[2] - target[0]) * np.exp(-np.maximum(0, t + rng.uniform(-0.01, 0.03)) / self.glide)
            elif rng.random() < self.scoop: bend = rng.choice([-1, -1, -1, 0.3]) * rng.uniform(0.4, 3) * np.exp(-t / rng.uniform(0.02, 0.09))
            else: bend = 0 * t
            ramp = np.clip((t - self.delay) / rng.uniform(0.1, 0.4), 0, 1) * self.vibrato / 100 * rng.uniform(0.4, 1.2)
            turn = 2 * np.pi * np.cumsum(self.rate * (1 + 0.06 * smooth(rng, count, 0.3))) * FRAME + rng.uniform(0, 6)
            pitch[a:b] = target + np.clip(bend, -14, 14) + ramp * np.sin(turn) + self.jitter / 100 * smooth(rng, count, 0.04)
            voiced[a:b] = True
            if joined and lead <= 4: pitch[a - lead:a], voiced[a - lead:a] = pitch[a], True
            accent = rng.normal(0, 0.15)
            level[span] = loudness[span] + accent
            if not follows or not (j + 1 < len(notes) and notes[j + 1][0] <= off + 0.01):
                tail = min(count // 2, int(rng.uniform(0.03, 0.16) / FRAME))
                level[b - tail:b] += np.linspace(0, -4, tail)
            if not joined:
                head = min(count // 2, int(rng.uniform(0.01, 0.07) / FRAME))
                level[a:a + head] += np.linspace(-3, 0, head)
            out.append((a * FRAME, b * FRAME, int(np.floor(np.mean(target) + 0.5))))
            last = (a, b, pitch[b - 1])
        hz = HZ / 1000
        shape = self.tilt * np.log2(np.maximum(hz, 0.1))
        if self.formant: shape = shape + self.formant[1] * np.exp(-0.5 * ((HZ - self.formant[0]) / 350) ** 2)
        spectrum = np.exp(envelope @ matrix(POINTS, self.factor) + shape + 2 * level[:, None].clip(-6, 2)).astype(float)
        quiet = ~(voiced | (envelope[:, 0] > -24.9))
        spectrum[quiet] = 1e-12
        aperiodic = np.clip(air @ matrix(BANDS, 1.0) + self.breath * (hz / 5).clip(0, 1), 1e-3, 1 - 1e-9).astype(float)
        f0 = np.where(voiced, 440 * 2 ** ((pitch - 69) / 12), 0.0)
        y = pyworld.synthesize(f0, spectrum, aperiodic, RATE, 1000 * FRAME)[:int(seconds * RATE)]
        y = np.pad(y, (0, int(seconds * RATE) - len(y)))
        for (_, b, *_), (a, *_) in zip(out, out[1:]):                                        # breath between phrases
            if a - b > 0.35 and rng.random() < 0.5:
                k = slice(int((a - 0.3) * RATE), int((a - 0.05) * RATE))
                noise = np.convolve(rng.standard_normal(k.stop - k.start), [1, -0.6], "same") * np.hanning(k.stop - k.start)
                y[k] += noise * np.std(y) * 10 ** rng.uniform(-2, -0.9)
        return y, out
