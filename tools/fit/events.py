"""Lists of MIDI events (t in s, kind, channel, a, b): excerpts and variations of songs, random music, and the labels of their frames."""
import numpy as np

DRUMS = 9
OFF, ON, CONTROL, PROGRAM, BEND = 0x80, 0x90, 0xB0, 0xC0, 0xE0
PERIOD = 512 / 44100                        # s, length of a frame
FIRST, NOTES = 28, 80                       # MIDI 28 .. 107
AHEAD = 16                                  # number of frames before a file's start for which there are labels, too
HELD, ONSET = 1, 2                          # bits of a label
COMMON = [0, 4, 8, 9, 10, 11, 12, 13, 24, 25, 26, 27, 29, 30, 33, 38, 45, 46, 48, 52, 54, 56, 61, 65, 73, 80, 81, 88, 89, 91, 95, 104, 108]


def excerpt(events, start, seconds):
    """Returns the events of an excerpt, with times from its start. It begins with the settings of that time; notes that began earlier are left out."""
    before, out, sounding = {}, [], set()
    for t, kind, channel, a, b in events:
        if t >= start + seconds: break
        if kind in (ON, OFF):
            if kind == ON:
                if t < start: continue
                sounding.add((channel, a))
            elif (channel, a) in sounding: sounding.discard((channel, a))
            else: continue
        elif t < start:
            before[kind, channel, a if kind == CONTROL else None] = (0.0, kind, channel, a, b)
            continue
        out.append((t - start, kind, channel, a, b))
    return list(before.values()) + out + [(seconds - 1e-3, OFF, c, n, 0) for c, n in sounding]


def tuning(channel, cents):
    value = int(8192 + cents / 100 * 8192)
    return [(0.0, CONTROL, channel, c, v) for c, v in ((101, 0), (100, 1), (6, value >> 7), (38, value & 127))]


def program(rng):
    """Draws an instrument. Those in COMMON are more frequent; percussion and effects (112 and up) are rare."""
    p = int(rng.integers(112)) if rng.random() < 0.97 else int(rng.integers(112, 119))
    return int(rng.choice(COMMON)) if rng.random() < 0.35 else p


def lasting(events, factor):
    """Makes each note `factor` times as long, at most until the next note of its pitch: longer for plucked sounds, which fade while they are held; shorter for staccato."""
    settings = [e for e in events if e[1] not in (ON, OFF) or e[2] == DRUMS]
    notes, following = notes_of(events), {}
    for on, off, n, channel, velocity in reversed(notes):
        off = min(on + max(0.06, factor * (off - on)), following.get((channel, n), 1e9) - 0.01)
        following[channel, n] = on
        if off > on: settings += [(on, ON, channel, n, velocity), (off, OFF, channel, n, 0)]
    return ordered(settings)


def varied(events, rng, shuffle, semitones, cents, spread, drums, speed):
    """Varies events: instruments of a fraction `shuffle` of the channels, transposition, tuning, loudness of channels (drums times `drums`), speed."""
    swap = {c: program(rng) for c in range(16) if c != DRUMS and rng.random() < shuffle}
    loud = rng.uniform(0.5, 1.35, 16); loud[DRUMS] *= drums
    mute = rng.integers(16) if rng.random() < 0.15 else -1
    octave = rng.choice([0, 0, 0, -12, 12], 16) if rng.random() < 0.2 else np.zeros(16, int)
    out = [e for c in range(16) for e in tuning(c, cents + rng.uniform(-spread, spread))] if cents or spread else []
    out += [(0.0, PROGRAM, c, p, 0) for c, p in swap.items()]
    if rng.random() < 0.25: out += [(0.0, CONTROL, c, 10, int(rng.integers(128))) for c in range(16)]
    for t, kind, channel, a, b in events:
        if kind == PROGRAM and channel in swap: continue
        if kind in (ON, OFF):
            if channel == mute: continue
            if channel != DRUMS:
                a = int(a + semitones + octave[channel])
                if not 0 <= a <= 127: continue
            if kind == ON:
                b = min(127, int(b * loud[channel]))
                if b < 1: continue
        out.append((t / speed, kind, channel, a, b))
    return out


def notes_of(events):
    """Returns (on, off, note, channel, velocity) of all notes except drums, by onset."""
    began, out = {}, []
    for t, kind, channel, a, b in events:
        if kind not in (ON, OFF) or channel == DRUMS: continue
        if (channel, a) in began:
            t0, v = began.pop((channel, a))
            if t > t0: out.append((t0, t, a, channel, v))
        if kind == ON: began[channel, a] = (t, b)
    return sorted(out)


def note(out, channel, t, lasts, n, velocity):
    if 0 <= n <= 127 and lasts > 0.01: out += [(t, ON, channel, int(n), int(min(127, max(1, velocity)))), (t + lasts, OFF, channel, int(n), 0)]


def random_drums(rng, seconds):
    kit, beat = rng.choice([35, 36, 38, 40, 42, 42, 44, 46, 49, 51, 57, 45, 48, 41, 50, 39, 54, 56, 60, 62, 64, 70, 76], 8), rng.uniform(0.1, 0.35)
    out = []
    if rng.random() < 0.5:                      # a pattern that repeats
        pattern = [(k, rng.choice(kit)) for k in range(16) for _ in range(2) if rng.random() < 0.4]
        for bar in range(int(seconds / beat / 16) + 1):
            for k, n in pattern: note(out, DRUMS, (16 * bar + k) * beat, 0.1, n, rng.integers(50, 120))
    else:
        for i, n in enumerate(rng.choice(kit, int((seconds - 1) / beat))):
            if rng.random() < 0.8: note(out, DRUMS, 0.3 + beat * i, 0.1, n, rng.integers(40, 120))
    return [e for e in out if e[0] < seconds - 0.2]


def random_chords(rng, seconds):
    """Draws events of four instruments: random notes, chords and octaves; the last instrument plays low notes."""
    out = [(0.0, PROGRAM, c, program(rng), 0) for c in range(4)]
    for channel, size in enumerate((3, 1, 2, 1)):
        t = rng.random() + (rng.random() < 0.3) * seconds * rng.random()
        while t < seconds - 2:
            lasts = rng.choice([rng.uniform(0.07, 0.4), rng.uniform(0.3, 1.2), rng.uniform(1.5, 5)], p=[0.4, 0.45, 0.15])
            notes = rng.choice(np.arange(46, 106) if channel < 3 else np.arange(28, 57), size, replace=False)
            if channel == 2 and rng.random() < 0.5: notes[1] = notes[0] + 12
            for n in notes: note(out, channel, t, 0.93 * lasts, n, rng.integers(40, 118))
            t += lasts + (rng.random() < 0.2) * rng.random()
    return out


def random_music(rng, seconds):
    """Draws a chord progression in a key, with parts of several styles: block chords, arpeggios, bass, melodies, repeated notes, runs, pads."""
    key, minor, beat = int(rng.integers(12)), rng.random() < 0.5, rng.uniform(0.28, 0.85)
    scale = np.array([0, 2, 3, 5, 7, 8, 10] if minor else [0, 2, 4, 5, 7, 9, 11])
    pitches = np.array([n for n in range(24, 108) if (n - key) % 12 in scale])
    bars = int(seconds / (4 * beat)) + 1
    degrees = [int(rng.integers(7)) for _ in range(int(rng.choice([2, 4, 4, 8])))]
    chord = lambda bar: {int((key + scale[(degrees[bar % len(degrees)] + s) % 7]) % 12) for s in ((0, 2, 4) if sevenths < 0.6 else (0, 2, 4, 6))}
    sevenths = rng.random()
    habits = [str(h) for h in rng.choice(["block", "arpeggio", "bass", "melody", "repeat", "run", "pad", "octaves", "random", "melody", "bass", "arpeggio"], int(rng.choice([1, 2, 3, 4, 5, 6, 7])))]
    out = []
    for k, habit in enumerate(habits):
        channel = k if k < DRUMS else k + 1
        out.append((0.0, PROGRAM, channel, int(rng.integers(32, 40)) if habit == "bass" and rng.random() < 0.6 else program(rng), 0))
        level, held = rng.uniform(50, 115), rng.choice([0.4, 0.7, 0.9, 0.97, 1.0])
        low = int(rng.integers(48, 80)); step = beat * rng.choice([0.25, 0.5, 0.5, 1, 1, 2])
        at, rest, shape = int(rng.integers(len(pitches))), rng.choice([0, 0.1, 0.3]), rng.permutation(6)
        for bar in range(bars):
            start, inside = bar * 4 * beat, sorted(chord(bar))
            tones = [n for n in range(low - 6, low + 18) if n % 12 in inside]
            v = lambda: level + rng.normal(0, 8)
            if habit == "pad":
                long = (1, 1, 2, 4)[shape[1] % 4]                     # bars
                for n in tones[:int(rng.integers(2, 5))] if bar % long == 0 else []: note(out, channel, start, 4 * beat * held * long, n, v())
            elif habit == "bass":
                root = 28 + (key + scale[degrees[bar % len(degrees)]] - 28) % 12
                for i in range(max(1, int(4 * beat / step))):
                    if rng.random() > rest: note(out, channel, start + i * step, step * held, root + int(rng.choice([0, 0, 0, 7, 12, 12, 5])), v())
            else:
                for i in range(max(1, int(4 * beat / step))):
                    if rng.random() < rest: continue
                    t, d = start + i * step, step * held
                    if habit == "block":
                        for n in tones[:4]: note(out, channel, t, d, n, v())
                    elif habit == "arpeggio": note(out, channel, t, d * (1 if shape[0] % 2 else 2.5), tones[shape[i % 6] % len(tones)], v())
                    elif habit == "repeat": note(out, channel, t, d, tones[(i // 4 + bar) % len(tones)], v())
                    elif habit == "random": note(out, channel, t, d * rng.uniform(0.3, 2), rng.integers(36, 105), v())
                    else:
                        move = {"melody": rng.integers(-3, 4), "run": 1 if (bar + (i // 8)) % 2 else -1, "octaves": rng.integers(-3, 4)}[habit]
                        at = int(np.clip(at + move, 12, len(pitches) - 3))
                        note(out, channel, t, d, pitches[at], v())
                        if habit == "octaves": note(out, channel, t, d, pitches[at] + 12, v())
    if rng.random() < 0.5: out += random_drums(rng, seconds)
    return [e for e in out if e[0] < seconds - 0.05 or e[1] == OFF]


def score_events(rows, rng, seconds, plain=False):
    """Converts a score, rows (part, onset, length in quarters, note), to events, with an instrument per part or one for all parts."""
    quarter = 0.5 if plain else rng.uniform(0.3, 1.0)
    start = 0 if plain else rng.uniform(0, max(0.01, rows[-1, 1] - seconds / quarter)) * (rng.random() < 0.7)
    parts, one, held = {}, rng.random() < 0.5, 1.0 if plain else rng.choice([0.6, 0.85, 0.95, 1.0, 1.0])
    first, out = program(rng), []
    for part, t, lasts, n in rows:
        t = (t - start) * quarter
        if t < 0 or t > seconds - 0.1: continue
        if part not in parts:
            parts[part] = (len(parts) % 15, rng.uniform(60, 110))
            c = parts[part][0] + (parts[part][0] >= DRUMS)
            out.append((0.0, PROGRAM, c, first if one else program(rng), 0))
        c, level = parts[part]
        note(out, c + (c >= DRUMS), t, min(lasts * quarter * held, seconds - t - 1e-3), n, 80 if plain else level + rng.normal(0, 6))
    if not plain and rng.random() < 0.2: out += random_drums(rng, seconds)
    return out


def ordered(events):
    return sorted(events, key=lambda e: (e[0], e[1] in (ON,), e[1]))       # at one time, settings and note-offs come before note-ons


def labels(notes, frames):
    """Returns the labels of notes (on and off in s, note, ..): (AHEAD + frames + 2) x NOTES, with the bits HELD and ONSET."""
    y = np.zeros((AHEAD + frames + 2, NOTES), np.uint8)
    for on, off, n, *_ in notes:
        k = int(n) - FIRST
        if 0 <= k < NOTES:
            a, b = int(on / PERIOD), int(off / PERIOD) + 1
            y[AHEAD + a:AHEAD + b, k] |= HELD
            if a < frames: y[AHEAD + a, k] |= ONSET
    return y
