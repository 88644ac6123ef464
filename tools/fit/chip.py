"""A synthesiser of wavetable tones in stereo at 22.05 kHz; steady tones; plain tones; noise."""
import math
import numpy as np
from numba import njit
from events import DRUMS, ON, notes_of

CHIP = 22050


@njit(fastmath=True)
def add_tone(out, left, right, at, n, bright, dark, blend, f, vib, vib_hz, vib_delay, attack, decay, sustain, release, amp, detune, second, glide, trem):
    """A wavetable tone: from table `bright` to `dark`, a second detuned oscillator, vibrato, glide at the start, tremolo."""
    size, p1, p2 = len(bright), 0.0, 0.37
    for k in range(min(n + int(4 * release * 22050), out.shape[1] - at)):
        t = k / 22050
        level = min(1.0, t / attack) * (sustain + (1 - sustain) * math.exp(-t / decay))
        if k > n: level *= math.exp(-(k - n) / 22050 / release)
        if trem > 0: level *= 1 + trem * math.sin(6.283185 * vib_hz * 0.8 * t)
        w = math.exp(-t / blend)
        cents = glide * math.exp(-t / 0.03)
        if vib > 0 and t > vib_delay: cents += vib * math.sin(6.283185 * vib_hz * (t - vib_delay))
        step = f / 22050 * 2 ** (cents / 1200)
        i = int(p1 * size)
        y = w * bright[i] + (1 - w) * dark[i]
        if second > 0:
            i = int(p2 * size)
            y += second * (w * bright[i] + (1 - w) * dark[i])
            p2 += step * detune; p2 -= math.floor(p2)
        out[0, at + k] += left * amp * level * y
        out[1, at + k] += right * amp * level * y
        p1 += step; p1 -= math.floor(p1)


SHAPES = ("saw", "square", "pulse", "triangle", "sine", "organ", "formant", "random", "random", "fm", "fm", "weak")


def spectrum(v, f, dark):
    """Amplitudes of the harmonics of a voice at a fundamental of f Hz."""
    h = np.arange(1, max(2, min(96, int(9500 / f)) + 1))
    x, s = v["x"], v["shape"]
    if s == "saw": a = 1 / h
    elif s == "square": a = (h % 2) / h
    elif s == "pulse": a = np.sin(np.pi * h * (0.06 + 0.4 * x[0])) / h
    elif s == "triangle": a = (h % 2) / h ** 2
    elif s == "sine": a = (h == 1) * 1.0 + 1e-3
    elif s == "organ": a = np.interp(h, [1, 2, 3, 4, 5, 6, 8, 9], [x[0], x[1], x[2], x[3], 0, x[4], x[5], 0]) * np.isin(h, (1, 2, 3, 4, 6, 8))
    elif s == "formant": a = sum(np.exp(-((h * f - 300 - 3000 * x[k]) / (80 + 400 * x[k + 3])) ** 2) for k in range(3)) + 0.2 / h
    elif s == "weak": a = h ** -(0.3 + x[0]) * np.where(h == 1, 0.02 + 0.3 * x[1], 1)
    elif s == "random": a = h ** -(0.2 + 2.5 * x[0]) * 10 ** (v["ripple"][:len(h)] * 0.5) * np.where(h % 2, 1, v["even"])
    else: a = 1 / h
    return a * h ** -v["dark"] if dark else a


def table(v, f, dark):
    if v["shape"] == "fm":
        phase = 2 * np.pi * np.arange(1024) / 1024
        index = min(v["index"] * (v["fade"] if dark else 1), 9000 / f / v["ratio"][1])
        wave = np.sin(v["ratio"][0] * phase + index * np.sin(v["ratio"][1] * phase))
    else:
        a = spectrum(v, f, dark)
        bins = np.zeros(513, complex)
        bins[1:len(a) + 1] = a * np.exp(1j * v["phase"][:len(a)])
        wave = np.fft.irfft(bins, 1024)
    return wave / np.sqrt(np.mean(wave ** 2) + 1e-12) * 0.5


class Voice:
    """Timbre, envelope and place of one part; a tenth sing: formants, vibrato, glides from note to note."""
    def __init__(self, rng, shapes=SHAPES):
        c = rng.choice
        self.sings = rng.random() < 0.1
        self.v = {"shape": "formant" if self.sings else str(c(shapes)), "x": rng.random(6), "ripple": rng.standard_normal(96), "even": c([1, 1, 1, 0.3, 0.05]),
                  "phase": rng.uniform(0, 2 * np.pi, 96) * (rng.random() < 0.5), "dark": c([0, 0.5, 1, 2]), "index": rng.uniform(0.3, 5), "fade": rng.uniform(0.05, 0.9),
                  "ratio": [(1, 1), (1, 2), (1, 3), (2, 1), (1, 4), (3, 1), (1, 7)][rng.integers(7)]}
        self.cents, self.attack, self.decay = rng.uniform(-15, 15), c([0.002, 0.005, 0.015, 0.05]), c([0.08, 0.2, 0.5, 1.5, 4])
        self.sustain, self.release, self.blend = c([0, 0, 0, 0.3, 0.7, 1, 1]), c([0.005, 0.03, 0.1, 0.3]), c([0.05, 0.2, 0.6, 2])
        self.vib, self.vib_hz, self.vib_delay = c([0, 0, 0, 10, 25, 45]), rng.uniform(4, 7), c([0, 0.15, 0.3])
        self.amp, self.detune, self.second = 10 ** rng.uniform(-1, 0), 2 ** (rng.uniform(-18, 18) / 1200), c([0, 0, 0.5, 1])
        self.glide, self.trem, self.tables, self.last = c([0, 0, 0, 0, -60, -200, 30]), c([0, 0, 0, 0.2, 0.4]), {}, None
        self.pan = rng.uniform(-0.8, 0.8) * (rng.random() < 0.7)
        if self.sings: self.attack, self.sustain, self.release, self.vib, self.second = c([0.03, 0.06, 0.1]), 0.9, 0.06, c([20, 40, 60]), 0

    def play(self, out, t, lasts, n, velocity, cents=0.0):
        """Adds a note to `out`, 2 x samples."""
        f = 440 * 2 ** ((n - 69 + (self.cents + cents) / 100) / 12)
        if f > 9000: return
        key = int(n) // 2
        if key not in self.tables: self.tables[key] = table(self.v, f * 1.06, False), table(self.v, f * 1.06, True)
        glide = float(np.clip(50 * (self.last - n), -300, 300)) if self.sings and self.last is not None else float(self.glide)
        self.last = n
        add_tone(out, np.sqrt(1 + self.pan), np.sqrt(1 - self.pan), int(t * CHIP), int(lasts * CHIP), *self.tables[key], self.blend, f, self.vib, self.vib_hz, self.vib_delay,
                 self.attack, self.decay, self.sustain, self.release, self.amp * (velocity / 127) ** 1.5, self.detune, self.second, glide, self.trem)


def chip(events, rng, seconds, drums=True):
    """Events played by random voices; drums are noise bursts. 2 x samples at CHIP."""
    out, voices = np.zeros((2, int((seconds + 1) * CHIP))), {}
    for on, off, n, channel, velocity in notes_of(events):
        if channel not in voices: voices[channel] = Voice(rng)
        voices[channel].play(out, on, off - on, n, velocity)
    level = 10 ** rng.uniform(-1.5, 0) * (np.std(out) + 1e-3) * 5
    length, pan = rng.choice([0.03, 0.08, 0.2], 128) * CHIP, rng.uniform(-0.5, 0.5, 128)
    for t, kind, channel, a, b in events:
        if channel != DRUMS or kind != ON or not drums: continue
        n = int(length[a])
        burst = rng.standard_normal(3 * n) * np.exp(-np.arange(3 * n) / n)
        if a < 38: burst = np.sin(2 * np.pi * np.cumsum(50 + 150 * np.exp(-np.arange(3 * n) / 700)) / CHIP) * np.exp(-np.arange(3 * n) / n) * 3
        elif a % 2: burst = np.diff(burst, prepend=0)
        at = int(t * CHIP); part = burst[:max(0, out.shape[1] - at)]
        out[:, at:at + len(part)] += 0.3 * level * np.array([[1 + pan[a]], [1 - pan[a]]]) * part * b / 127
    return out[:, :int(seconds * CHIP)]


def steady_tones(rng, seconds):
    """One to three held tones at a time, off pitch or with vibrato, octave doublings, silence between."""
    out, notes, t = np.zeros((2, int((seconds + 1) * CHIP))), [], 0.2
    while t < seconds - 1:
        lasts = rng.choice([rng.uniform(0.1, 0.6), rng.uniform(0.6, 3)])
        count = rng.choice([1, 2, 3], p=[0.7, 0.2, 0.1])
        chosen = rng.integers(28, 108, count)
        if count == 2 and rng.random() < 0.5: chosen[1] = min(chosen[0] + rng.choice([12, 12, 19, 24, 7]), 110)
        for n in set(chosen.tolist()):
            v = Voice(rng, SHAPES + ("saw", "sine", "square"))
            v.vib, v.cents, v.glide, v.sings = rng.choice([0, 0, 20, 40]), 0.0, 0.0, False
            v.detune, v.sustain = 2 ** (rng.uniform(-8, 8) / 1200), rng.choice([0.0, 1.0, 1.0])
            v.decay = max(v.decay, 0.5)
            v.play(out, t, lasts, n, 127, rng.choice([0.0, rng.uniform(-25, 25), rng.uniform(-45, 45)]))
            notes.append((t, t + lasts, n, 0, 100))
        t += lasts + rng.choice([0.0, 0.0, rng.uniform(0, 1)])
    return out[:, :int(seconds * CHIP)], notes


PLAIN = ("sine", "triangle", "saw", "square", "pulse")
CHORDS = ((0, 12), (0, 12, 24), (0, 7, 12), (0, 12, 19), (0, 24), (0, 3, 7), (0, 4, 7), (0, 5, 9), (0, 5, 8), (0, 4, 7, 10), (0, 3, 7, 12, 15, 19), (0, 4, 7, 12, 16, 19))


def plain_wave(shape, f, n, duty, phase):
    """n samples of a tone with all the harmonics up to the Nyquist frequency."""
    h = np.arange(1, int(0.48 * CHIP / f) + 1)
    a = {"sine": (h == 1) * 1.0, "triangle": (h % 2) * (-1.0) ** (h // 2) / h ** 2, "saw": 1 / h, "square": (h % 2) / h, "pulse": np.sin(np.pi * h * duty) / h}[shape]
    bins = np.zeros(2049, complex)
    bins[h] = -1j * a
    wave = np.fft.irfft(bins, 4096)
    return np.interp((phase + f / CHIP * np.arange(n)) % 1 * 4096, np.arange(4097), np.append(wave, wave[0])) / np.std(wave)


def plain_notes(rng):
    """One note, a chord, or up to 8 notes. Two tones in unison with the first partials of one, so high that no others are heard, are left out."""
    kind, root = rng.random(), int(rng.integers(28, 108))
    if kind < 0.4: return [root]
    if kind < 0.65: notes = rng.choice(np.arange(28, 108), rng.integers(2, 9), replace=False)
    else:
        chord = CHORDS[rng.integers(len(CHORDS))]
        notes = np.array(chord) + rng.integers(28, 108 - chord[-1])
    notes = sorted(notes.tolist())
    return [n for n in notes if not any(n - m in (12, 19, 24) and m > 80 for m in notes)]


def plain_tones(rng, seconds):
    """Steady sines, triangles, saws, squares and pulses, in tune or nearly: notes, chords, octaves; together or one by one."""
    out, notes, t = np.zeros((2, int((seconds + 1) * CHIP))), [], rng.choice([0.0, rng.uniform(0, 1)])
    wide, free, sounding = rng.random() < 0.5, rng.random() < 0.3, {}
    while t < seconds - 0.2:
        lasts, chosen = min(np.exp(rng.uniform(np.log(0.1), np.log(5))), seconds - t - 0.05), plain_notes(rng)
        shape, duty, equal, level = str(rng.choice(PLAIN)), rng.uniform(0.05, 0.45), rng.random() < 0.5, 10 ** rng.uniform(-0.6, 0)
        cents, apart = rng.choice([0.0, 0.0, rng.uniform(-15, 15)]), rng.random() < 0.25
        octaves, unlike = any((a - b) % 12 == 0 for a in chosen for b in chosen if a != b), rng.random() < 0.3
        for n in chosen:
            on = t + (rng.uniform(0, 0.5 * lasts) if apart and len(chosen) > 1 else 0.0)
            if sounding.get(n, -1) > on - 0.03: continue
            if unlike and not octaves: shape = str(rng.choice(PLAIN))
            off = t + lasts
            f = 440 * 2 ** ((n - 69 + (cents + (apart and rng.uniform(-5, 5))) / 100) / 12)
            attack, release = rng.uniform(0.001, 0.02), rng.uniform(0.002, 0.06)
            k = np.arange(int((off - on + release) * CHIP)) / CHIP
            y = plain_wave(shape, f, len(k), duty, rng.random()) * np.clip(np.minimum(k / attack, (off - on + release - k) / release), 0, 1)
            y *= level * (1 if equal else 10 ** rng.uniform(-0.3 if octaves else -0.6, 0))
            pan, at = rng.uniform(-0.7, 0.7) * wide, int(on * CHIP)
            y = y[:out.shape[1] - at]
            out[:, at:at + len(y)] += np.array([[np.sqrt(1 + pan)], [np.sqrt(1 - pan)]]) * y
            notes.append((on, off, n, 0, 100))
            sounding[n] = off + release
        t += lasts * (rng.uniform(0.2, 1) if free else 1) + rng.choice([0.0, 0.06, rng.uniform(0, 0.8)])
    return out[:, :int(seconds * CHIP)], notes


def noise(rng, n, tilt, rate=CHIP):
    """Noise whose power falls with f^-tilt."""
    f = np.maximum(np.fft.rfftfreq(n, 1 / rate), 20)
    out = np.fft.irfft(np.fft.rfft(rng.standard_normal(n)) * (f / 1000) ** (-tilt / 2), n)
    return out / np.std(out)


def noises(rng, seconds):
    """Noise of one colour and changing level, band-limited now and then, with gaps."""
    n = int(seconds * CHIP)
    out = noise(rng, n, rng.choice([0, 0, 1, 2]))
    if rng.random() < 0.4:
        f = np.maximum(np.fft.rfftfreq(n, 1 / CHIP), 1)
        out = np.fft.irfft(np.fft.rfft(out) * np.exp(-0.5 * (np.log2(f / rng.uniform(200, 5000)) / rng.uniform(0.7, 3)) ** 2), n)
    knots = np.arange(0, n + CHIP, CHIP // 4)
    level = np.interp(np.arange(n), knots, rng.choice([0, -6, -12, -40], len(knots), p=[0.6, 0.2, 0.15, 0.05])) if rng.random() < 0.6 else 0
    return 0.1 * out * 10 ** (level / 20)
