"""Plays events with recorded notes (notes_library.py) and singers (singer.py)."""
import io
from multiprocessing.pool import ThreadPool
import numpy as np, soundfile as sf
from chip import CHIP, chip, hum
from events import DRUMS, ON, OFF, notes_of
from mixing import compress, room
from singer import Singer

REACH = 3                                   # semitones that a recorded note is moved at most
PLUCKED = ("guitar", "harp", "piano", "bass-", "xylophone")


class Samples:
    """Decoded notes of a library, by instrument."""
    def __init__(self, path):
        with np.load(path) as z: m = {k: z[k] for k in z.files}
        self.names, self.note, self.cents = [str(n) for n in m["names"]], m["note"], m["cents"]
        decoded = lambda k: (sf.read(io.BytesIO(m["ogg"][m["starts"][k]:m["starts"][k + 1]].tobytes()))[0] * 32767).astype(np.int16)
        with ThreadPool() as pool: self.sound = pool.map(decoded, range(len(self.note)), 32)
        self.of = [np.flatnonzero(m["instrument"] == k) for k in range(len(self.names))]
        self.reach = [np.unique((self.note[i][:, None] + np.arange(-REACH, REACH + 1)).ravel()) for i in self.of]

    def fitting(self, notes, rng, share=0.9):
        """Draws one of the instruments that can play at least a fraction `share` of the pitches. If there is none, returns the one that can play most."""
        covers = np.array([np.isin(notes, r).mean() for r in self.reach])
        good = np.flatnonzero(covers >= share)
        return int(rng.choice(good)) if len(good) else int((covers + 0.05 * rng.random(len(covers))).argmax())


class Player:
    """Player of one part: instrument, tuning, release, stereo position."""
    def __init__(self, samples, instrument, rng, count=1):
        self.s, self.k, self.rng, self.count = samples, instrument, rng, count
        self.cents, self.spread, self.release = rng.uniform(-12, 12), rng.choice([2, 5, 10]), rng.uniform(0.03, 0.08)
        self.ragged, self.ring = rng.choice([0, 0.01, 0.03]) if count > 1 else 0.0, samples.names[instrument].startswith(PLUCKED) and rng.random() < 0.4

    def play(self, out, t, lasts, n, velocity):
        """Adds a note to mono `out` at CHIP. Returns the time at which it ends or has died away; None if the instrument lacks the pitch."""
        rng, at, end = self.rng, self.s.of[self.k], None
        near = at[np.abs(self.s.note[at] - n) <= REACH]
        if not len(near): return None
        for one in range(self.count):
            lengths = np.array([len(self.s.sound[i]) for i in near]) / CHIP
            i = int(near[(np.abs(self.s.note[near] - n) * 0.8 + 2.0 * np.maximum(0, np.log(lasts / lengths)) + 2.0 * rng.random(len(near))).argmin()])
            x = self.s.sound[i]
            ratio = 2 ** ((n - self.s.note[i] + (self.cents - self.s.cents[i] + rng.normal(0, self.spread)) / 100) / 12)
            sounds = len(x) / ratio / CHIP
            tail = 0.6 if self.ring else self.release
            start = int((t + (rng.uniform(0, self.ragged) if one else 0)) * CHIP)
            size = min(int(min(sounds, lasts + tail) * CHIP) - 2, len(out) - start)
            if size < 200: continue
            y = np.interp(np.arange(size) * ratio, np.arange(len(x)), x) / 32767
            held = int(lasts * CHIP)
            if size > held: y[held:] *= np.exp(-np.arange(size - held) / CHIP / tail * 3.5) if self.ring else 0.5 + 0.5 * np.cos(np.pi * np.arange(size - held) / (tail * CHIP))
            out[start:start + size] += (velocity / 127) ** 1.2 / np.sqrt(self.count) * y
            died = t + min(lasts, max(0.05, sounds - 0.075 / ratio))
            end = died if end is None else max(end, died)
        return end


def by_channel(events):
    parts = {}
    for note in notes_of(events): parts.setdefault(note[3], []).append(note)
    return parts


def octave(notes, low, high):
    """Returns the transposition in octaves that brings most notes between low and high."""
    return max((0, 12, -12, 24, -24), key=lambda o: (np.mean([low <= n + o <= high for n in notes]), -abs(o)))


def line(notes):
    """Returns the top line: the highest of simultaneous notes, each until the next one begins."""
    out = []
    for on, off, n, *rest in sorted(notes, key=lambda x: (x[0], -x[2])):
        if out and on - out[-1][0] < 0.03: continue
        if out and out[-1][1] > on: out[-1] = (out[-1][0], on, *out[-1][2:])
        out.append((on, off, n, *rest))
    return [x for x in out if x[1] - x[0] > 0.05]


def played(notes, real, rng, seconds, move=True):
    """Plays a part by one recorded instrument. Returns mono sound at CHIP, and the notes as they sound."""
    pitches, out = np.array([n[2] for n in notes]), np.zeros(int((seconds + 1) * CHIP))
    k = real.fitting(pitches, rng) if not move or rng.random() < 0.5 else int(rng.integers(len(real.names)))
    shift = octave(pitches, real.reach[k].min(), real.reach[k].max()) if move else 0
    player, found, legato = Player(real, k, rng, int(rng.choice([1, 1, 1, 1, 2]))), [], rng.random() < 0.3
    for j, (on, off, n, channel, velocity) in enumerate(notes):
        if legato and j + 1 < len(notes) and 0 < notes[j + 1][0] - off < 0.12: off = notes[j + 1][0]
        end = player.play(out, on, off - on, n + shift, velocity)
        if end is not None and end > on + 0.02: found.append((on, end, n + shift))
    return out[:int(seconds * CHIP)], found


def sung(notes, voices, rng, seconds, count=1, amateur=None):
    """Plays a part by singers. Returns mono sound at CHIP, and the notes as the first singer sings them."""
    notes, out, found = line(notes), 0, None
    for _ in range(count):
        singer = Singer(voices, rng, amateur if count == 1 else False)
        if found is None: shift = octave([n[2] for n in notes], singer.low, singer.high)
        late = rng.uniform(0, 0.03) * (found is not None)
        y, own = singer.sing([(a + late, b + late, n + shift) for a, b, n, *_ in notes], seconds)
        out = out + y / (np.std(y) + 1e-9)
        found = own if found is None else found
    return out, found


def placed(sound, rng, wide=0.8):
    """Places mono sound in the stereo image. Returns 2 x samples."""
    pan = rng.uniform(-wide, wide) * (rng.random() < 0.7)
    return np.array([[np.sqrt(1 + pan)], [np.sqrt(1 - pan)]]) * sound


def level_of(x):
    """Returns the RMS of the parts that are not silent."""
    active = np.abs(x) > 1e-3 * (np.abs(x).max() + 1e-12)
    return np.sqrt(np.mean(x[active] ** 2)) + 1e-9 if active.any() else 1.0


def sampled(events, real, voices, rng, seconds):
    """Plays all parts by recorded instruments, or some by singers. Returns 2 x samples at CHIP, notes, and whether there is singing."""
    out, notes, singing = np.zeros((2, int(seconds * CHIP))), [], rng.random() < 0.2
    for channel, mine in by_channel(events).items():
        voice = singing and rng.random() < 0.6 and len(line(mine)) > 2
        y, own = sung(mine, voices, rng, seconds, int(rng.choice([1, 1, 2, 3]))) if voice else played(mine, real, rng, seconds, rng.random() < 0.5)
        out, notes = out + placed(y / level_of(y) * 10 ** rng.uniform(-0.5, 0), rng), notes + own
    drums = [e for e in events if e[1] in (ON, OFF) and e[2] == DRUMS]
    if drums: out = out + chip(drums, rng, seconds) * rng.uniform(0.1, 0.8) * 5
    return out, sorted(notes), singing


def lead_channel(events):
    """Returns the channel that is most like a melody: one note at a time, high, busy. Raises LookupError if there is none."""
    scores = {}
    for channel, notes in by_channel(events).items():
        if len(notes) < 12: continue
        total = sum(off - on for on, off, *_ in notes)
        grid = np.zeros(int(max(n[1] for n in notes) * 50) + 2)
        for on, off, *_ in notes: grid[int(on * 50):int(off * 50) + 1] = 1
        alone = grid.sum() / 50 / (total + 1e-9)
        if alone > 0.85: scores[channel] = min(alone, 1) + 0.02 * (np.mean([n[2] for n in notes]) - 60) + 0.2 * min(total / 20, 1)
    if not scores: raise LookupError("no lead")
    return max(scores, key=scores.get)


def treated(out, rng):
    """Adds a room and a compressor, each with some probability."""
    if rng.random() < 0.4: out = room(out, rng)
    if rng.random() < 0.4:
        out = out / (np.abs(out).max() + 1e-9)
        compress(out, 10 ** rng.uniform(-1.3, -0.5), rng.choice([2.0, 4.0, 8.0]), 0.005, 0.0006)
    return out


def with_lead(events, accompany, real, voices, rng, seconds):
    """Plays a lead line by a singer or an instrument over accompany(events), 2 x samples at CHIP. Returns sound, notes, and whether there is singing."""
    channel = lead_channel(events)
    lead = [n for n in notes_of(events) if n[3] == channel]
    others = [e for e in events if e[1] not in (ON, OFF) or e[2] != channel]
    voice = rng.random() < 0.65
    y, notes = sung(lead, voices, rng, seconds, int(rng.choice([1, 1, 1, 2]))) if voice else played(lead, real, rng, seconds)
    out = treated(placed(y, rng, 0.3), rng)
    back = accompany(others)
    return back + out * level_of(back) / level_of(out) * 10 ** (rng.uniform(-1, 11) / 20), sorted(notes + [n[:3] for n in notes_of(others)]), voice


def solo(events, real, voices, rng, seconds):
    """Plays a single line by a singer or an instrument, over quiet noise and hum. Returns sound, notes, and whether there is singing."""
    channel = lead_channel(events)
    lead, voice = line([n for n in notes_of(events) if n[3] == channel]), rng.random() < 0.8
    slow = rng.choice([1.0, 1.0, 1.4, 1.8]) if voice else 1.0
    lead = [(0.2 + a * slow, 0.2 + b * slow, *x) for a, b, *x in lead if 0.2 + b * slow < seconds]
    y, notes = sung(lead, voices, rng, seconds) if voice else played(lead, real, rng, seconds)
    out = treated(np.stack([y, y]), rng)
    level = level_of(out)
    if rng.random() < 0.5: out = out + hum(rng, out.shape[1]) * level * 10 ** rng.uniform(-2.7, -0.9)
    return out + rng.standard_normal(out.shape) * level * 10 ** rng.uniform(-4, -1.7), notes, voice
