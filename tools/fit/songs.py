"""Makes the sounds to learn from, and what they hold: MIDI songs by soundfonts and by a chip-like synthesiser, chords, tones, drums, noise."""
import functools, glob, math, os, struct, subprocess, tempfile
import mido, numpy as np, soundfile as sf
from numba import njit
from listener import DETECTORS, LOWEST, Detectors

RATE, DRUMS, PERIOD = 44100, 9, 512 / 44100     # Hz; the MIDI channel that is not notes; s
FILES, MORE_FILES = 329, 110                     # random files, and files without soundfonts
FONTS = {"fluid": "/usr/share/sounds/sf2/FluidR3_GM.sf2", "muse": "/usr/share/sounds/sf2/MuseScore_General_Full.sf2",
         "opl3": "/usr/share/sounds/sf2/OPL-3_FM_128M.sf2", "csound": "/usr/share/sounds/sf2/sf_GMbank.sf2",
         "a320": "/usr/share/sounds/sf2/A320U.sf2", "timgm": "/usr/share/sounds/sf2/TimGM6mb.sf2"}
OPENMSX, SIMUTRANS, BLUPI = ("/usr/share/games/openttd/baseset/openmsx/*.mid", "/usr/share/games/simutrans/music/*.mid", "/usr/share/planetblupi/music/*.mid")


def doom_songs(directory):
    """The MIDI songs inside Freedoom's archives, as files; one of each where several archives hold the same."""
    os.makedirs(directory, exist_ok=True)
    known, paths = set(), []
    for wad in ("freedoom1", "freedoom2", "freedm"):
        with open(f"/usr/share/games/doom/{wad}.wad", "rb") as f: data = f.read()
        count, at = struct.unpack("<ii", data[4:12])
        for k in range(count):
            start, size, name = struct.unpack("<ii8s", data[at + 16 * k:at + 16 * k + 16])
            song = data[start:start + size]
            if song[:4] == b"MThd" and song not in known:
                known.add(song)
                paths.append(os.path.join(directory, f"{wad}-{name.rstrip(bytes(1)).decode().lower()}.mid"))
                with open(paths[-1], "wb") as f: f.write(song)
    return sorted(paths)


@functools.lru_cache(4)
def read(path):
    """All events of a MIDI file: (s, message). Some songs have faults that mido does not forgive: they are left out."""
    out, t = [], 0.0
    try:
        for m in mido.MidiFile(path, clip=True):
            t += m.time
            if not m.is_meta and m.type != "sysex": out.append((t, m))
    except mido.KeySignatureError as fault:
        print(f"{path}: {fault}")
        return []
    return out


def excerpt(events, start, seconds):
    """Events of a part, from 0 s on; settings from before apply, notes from before are left out, notes at the end are ended."""
    before, out, sounding = {}, [], set()
    for t, m in events:
        if t >= start + seconds: break
        if m.type in ("note_on", "note_off"):
            key = (m.channel, m.note)
            if m.type == "note_on" and m.velocity:
                if t < start: continue
                sounding.add(key)
            elif key in sounding: sounding.discard(key)
            else: continue
        elif t < start:
            before[m.type, m.channel, getattr(m, "control", None)] = m
            continue
        out.append((t - start, m))
    return [(0.0, m) for m in before.values()] + out + [(seconds, mido.Message("note_off", channel=c, note=n)) for c, n in sounding]


def tuning(channel, cents):
    value = int(8192 + cents / 100 * 8192)
    return [(0.0, mido.Message("control_change", channel=channel, control=c, value=v)) for c, v in ((101, 0), (100, 1), (6, value >> 7), (38, value & 127))]


def varied(events, rng, shuffle, semitones, cents, spread, drums):
    """Other instruments on a part `shuffle` of the channels; transposed; tuned by cents +- spread; velocities of drums times `drums`, of channels a bit."""
    swap = {c: int(rng.integers(96)) for c in range(16) if c != DRUMS and rng.random() < shuffle}
    loud = rng.uniform(0.7, 1.25, 16); loud[DRUMS] *= drums
    out = [e for c in range(16) for e in tuning(c, cents + rng.uniform(-spread, spread))]
    out += [(0.0, mido.Message("program_change", channel=c, program=p)) for c, p in swap.items()]
    for t, m in events:
        if m.type == "program_change" and m.channel in swap: continue
        if m.type in ("note_on", "note_off"):
            if m.channel != DRUMS:
                if not 0 <= m.note + semitones <= 127: continue
                m = m.copy(note=m.note + semitones)
            if m.type == "note_on" and m.velocity:
                velocity = int(m.velocity * loud[m.channel])
                if velocity < 1: continue
                m = m.copy(velocity=min(127, velocity))
        out.append((t, m))
    return out


def random_chords(rng, seconds):
    """Three instruments play random chords, notes and octaves, a fourth low notes, most with drums."""
    out = [(0.0, mido.Message("program_change", channel=c, program=int(rng.integers(96)))) for c in range(4)]
    for channel, size in enumerate((3, 1, 2, 1)):
        t = rng.random() + (rng.random() < 0.3) * seconds * rng.random()
        while t < seconds - 2:
            lasts = rng.choice([rng.uniform(0.1, 0.4), rng.uniform(0.3, 1.2), rng.uniform(1.5, 5)], p=[0.4, 0.45, 0.15])
            notes = rng.choice(np.arange(50, 104) if channel < 3 else np.arange(28, 57), size, replace=False)
            if channel == 2 and rng.random() < 0.5: notes[1] = notes[0] + 12
            for note in notes:
                out += [(t, mido.Message("note_on", channel=channel, note=int(note), velocity=int(rng.integers(50, 115)))),
                        (t + 0.93 * lasts, mido.Message("note_off", channel=channel, note=int(note)))]
            t += lasts + (rng.random() < 0.2) * rng.random()
    if rng.random() < 0.6: out += random_drums(rng, seconds)
    return sorted(out, key=lambda event: event[0])


def random_drums(rng, seconds):
    kit, beat = rng.choice([35, 36, 38, 40, 42, 42, 44, 46, 49, 51, 57, 45, 48, 41, 50, 39, 54, 56, 60, 62, 64, 70, 76], 8), rng.uniform(0.1, 0.35)
    return [(0.3 + beat * i, mido.Message("note_on", channel=DRUMS, note=int(n), velocity=int(rng.integers(40, 120))))
            for i, n in enumerate(rng.choice(kit, int((seconds - 1) / beat))) if rng.random() < 0.8]


def notes_of(events):
    """(on, off, note, channel, velocity, program) of all notes but drums, by onset."""
    began, out, program = {}, [], [0] * 16
    for t, m in events:
        if m.type == "program_change": program[m.channel] = m.program
        if m.type not in ("note_on", "note_off") or m.channel == DRUMS: continue
        key = (m.channel, m.note)
        if m.type == "note_on" and m.velocity: began[key] = (t, m.velocity)
        elif key in began:
            t0, v = began.pop(key)
            out.append((t0, t, m.note, m.channel, v, program[m.channel]))
    return sorted(out)


def truth(notes, frames):
    """frames x detectors: does the score hold the note in the frame that begins at frame * PERIOD?"""
    held = np.zeros((frames, DETECTORS), bool)
    for on, off, note, *_ in notes:
        if 0 <= note - LOWEST < DETECTORS: held[int(on / PERIOD):int(off / PERIOD) + 1, note - LOWEST] = True
    return held


def save_midi(events, path):
    track, last = mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=500_000)]), 0
    for t, m in sorted(events, key=lambda e: e[0]):
        tick = round(t * 960)
        track.append(m.copy(time=tick - last)); last = tick
    f = mido.MidiFile(ticks_per_beat=480); f.tracks.append(track); f.save(path)


def fluidsynth(mid, font, options=()):
    """Mono sound at RATE."""
    with tempfile.TemporaryDirectory() as d:
        subprocess.run(["fluidsynth", "-ni", "-q", "-F", d + "/s.wav", "-r", str(RATE), "-g", "0.5", "-o", "synth.dynamic-sample-loading=1", *options, FONTS[font], mid],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return sf.read(d + "/s.wav", always_2d=True)[0].mean(axis=1)


def events_sound(events, font, options=()):
    with tempfile.TemporaryDirectory() as d:
        save_midi(events, d + "/song.mid")
        return fluidsynth(d + "/song.mid", font, options)


@njit
def add_tone(out, at, n, table, f, vib_cents, vib_hz, attack, decay, release, amp):
    """A wavetable tone with vibrato; linear attack, exponential decay and release; n samples held."""
    size, phase = len(table), 0.0
    for k in range(min(n + int(3 * release * 44100), len(out) - at)):
        t = k / 44100
        level = min(1.0, t / attack) * math.exp(-t / decay)
        if k > n: level *= math.exp(-(k - n) / 44100 / release)
        out[at + k] += amp * level * table[int(phase * size)]
        phase += f / 44100 * 2 ** (vib_cents / 1200 * math.sin(2 * math.pi * vib_hz * t))
        phase -= math.floor(phase)


SHAPES = ("saw", "square", "pulse25", "pulse12", "triangle", "sine", "organ", "formant")


def table(shape, f):
    h = np.arange(1, max(2, int(min(16000, RATE / 2.1) / f) + 1))
    amplitude = {"saw": 1 / h, "square": (h % 2) / h, "pulse25": np.sin(np.pi * h / 4) / h, "pulse12": np.sin(np.pi * h / 8) / h,
                 "triangle": (h % 2) / h ** 2, "sine": (h == 1) * 1.0, "organ": np.isin(h, (1, 2, 3, 4, 6, 8)) * 0.4,
                 "formant": np.exp(-((h * f - 900) / 600) ** 2) + 0.3 / h}[shape]
    x = 2 * np.pi * np.outer(np.arange(2048) / 2048, h)
    wave = np.sin(x) @ amplitude
    return wave / np.sqrt(np.mean(wave ** 2) + 1e-12) * 0.5


_tables = {}


def wave(shape, f):
    key = shape, round(12 * math.log2(f / 440))
    if key not in _tables: _tables[key] = table(shape, 440 * 2 ** (key[1] / 12))
    return _tables[key]


def voice(rng, shapes=SHAPES):
    """A random synthesiser voice."""
    return {"shape": str(rng.choice(shapes)), "cents": rng.uniform(-15, 15), "attack": rng.choice([0.002, 0.01, 0.05]), "decay": rng.choice([0.15, 0.5, 2, 1e3]),
            "release": rng.choice([0.005, 0.03, 0.15]), "vib": rng.choice([0, 0, 0, 10, 25, 45]), "vib_hz": rng.uniform(4, 7), "amp": 10 ** rng.uniform(-1, 0)}


def chip(notes, drums, rng, seconds):
    """Notes played by simple waveforms; drums are noise bursts."""
    out, voices = np.zeros(int((seconds + 1) * RATE)), {}
    for on, off, note, channel, velocity, _ in notes:
        v = voices.setdefault(channel, voice(rng))
        f = 440 * 2 ** ((note - 69 + v["cents"] / 100) / 12)
        if f > 12000: continue
        add_tone(out, int(on * RATE), int((off - on) * RATE), wave(v["shape"], f), f, v["vib"], v["vib_hz"], v["attack"], v["decay"], v["release"], v["amp"] * velocity / 127)
    level = 10 ** rng.uniform(-1.5, 0)
    for t, m in drums:
        n = int(rng.choice([0.03, 0.08, 0.2]) * RATE)
        burst = rng.standard_normal(3 * n) * np.exp(-np.arange(3 * n) / n)
        if m.note < 38: burst = np.sin(2 * np.pi * np.cumsum(50 + 150 * np.exp(-np.arange(3 * n) / 1500)) / RATE) * np.exp(-np.arange(3 * n) / n) * 3
        elif m.note % 2: burst = np.diff(burst, prepend=0)
        at = int(t * RATE); part = burst[:len(out) - at]
        out[at:at + len(part)] += 0.3 * level * part
    return out[:int(seconds * RATE)]


def steady_tones(rng, seconds):
    """One to three held tones at a time, off pitch or with vibrato, octave doublings, silence between; some have noise below."""
    out, notes, t = np.zeros(int((seconds + 1) * RATE)), [], 0.2
    while t < seconds - 1:
        lasts = rng.choice([rng.uniform(0.15, 0.6), rng.uniform(0.6, 3)])
        count = rng.choice([1, 2, 3], p=[0.7, 0.2, 0.1])
        chosen = rng.integers(36, 105, count)
        if count == 2 and rng.random() < 0.5: chosen[1] = chosen[0] + rng.choice([12, 12, 19, 24, 7])
        for note in chosen:
            v = voice(rng, SHAPES + ("saw", "sine", "square"))
            v["vib"] = rng.choice([0, 0, 20, 40])
            cents = rng.choice([0.0, rng.uniform(-25, 25), rng.uniform(-48, 48)])
            f = 440 * 2 ** ((note - 69 + cents / 100) / 12)
            decay = rng.choice([1.0, 1e3, 1e3])
            add_tone(out, int(t * RATE), int(lasts * RATE), wave(v["shape"], f), f, v["vib"], v["vib_hz"], v["attack"], decay, v["release"], v["amp"])
            notes.append((t, t + lasts, int(note), 0, 100, 0))
        t += lasts + rng.choice([0.0, 0.0, rng.uniform(0, 1)])
    return out[:int(seconds * RATE)], notes


def noise(rng, n, tilt):
    """Noise whose power falls with f^-tilt."""
    spectrum = np.fft.rfft(rng.standard_normal(n))
    f = np.maximum(np.fft.rfftfreq(n, 1 / RATE), 20)
    out = np.fft.irfft(spectrum * (f / 1000) ** (-tilt / 2), n)
    return out / np.std(out)


def noises(rng, seconds):
    """Noise of one or two colours and changing level, band-limited now and then, with gaps."""
    n = int(seconds * RATE)
    out = noise(rng, n, rng.choice([0, 0, 1, 2]))
    if rng.random() < 0.4:
        spectrum, f = np.fft.rfft(out), np.maximum(np.fft.rfftfreq(n, 1 / RATE), 1)
        out = np.fft.irfft(spectrum * np.exp(-0.5 * (np.log2(f / rng.uniform(200, 5000)) / rng.uniform(0.7, 3)) ** 2), n)
    knots = np.arange(0, n + RATE, RATE // 4)
    level = np.interp(np.arange(n), knots, rng.choice([0, -6, -12, -40], len(knots), p=[0.6, 0.2, 0.15, 0.05])) if rng.random() < 0.6 else 0
    return 0.1 * out * 10 ** (level / 20)


def make(job):
    """Renders one file of sound and keeps log powers (float16) and the truth: job = dict(out, kind, seed, song, font, seconds, plain)."""
    if os.path.exists(job["out"]): return
    rng, kind, seconds = np.random.default_rng([ord(c) for c in job["kind"]] + [job["seed"]]), job["kind"], job["seconds"]
    options, notes = [], []
    if kind in ("song", "chip"):
        events = read(job["song"])
        if not events: return
        if job.get("plain"): events = excerpt(events, 0, seconds)
        else:
            length = events[-1][0]
            events = excerpt(events, rng.uniform(0, max(0.1, length - seconds - 2)) if rng.random() < 0.8 else 0, seconds)
            events = varied(events, rng, rng.choice([0, 0.5, 1]), int(rng.choice([0, 0, 0, *range(-7, 13)])), rng.choice([0, 0, rng.uniform(-20, 20)]),
                            rng.choice([0, 5, 15]), rng.choice([0, 0.3, 0.7, 1, 1, 1.2]))
    elif kind == "chords": events = random_chords(rng, seconds)
    elif kind == "drums": events = random_drums(rng, seconds)
    if kind in ("song", "chords", "drums"):
        if not job.get("plain"):
            options = ["-R", str(int(rng.random() < 0.8)), "-C", str(int(rng.random() < 0.7)), "-o", f"synth.reverb.level={rng.uniform(0.1, 0.9):.2f}", "-o", f"synth.reverb.room-size={rng.uniform(0.1, 0.9):.2f}"]
        sound = (fluidsynth(job["song"], job["font"]) if job.get("plain") else events_sound(events, job["font"], options))[:int(seconds * RATE)]
        notes = [] if kind == "drums" else notes_of(events)
    elif kind == "chip":
        notes = notes_of(events)
        sound = chip(notes, [(t, m) for t, m in events if m.type == "note_on" and m.velocity and m.channel == DRUMS], rng, seconds)
    elif kind == "tones": sound, notes = steady_tones(rng, seconds)
    elif kind == "noise": sound = noises(rng, seconds)
    if not job.get("plain") and kind != "noise":
        if rng.random() < 0.2: sound = sound + noise(rng, len(sound), rng.choice([0, 1, 2])) * np.std(sound) * 10 ** (rng.uniform(-50, -15) / 20)
        sound = sound * 10 ** (rng.uniform(-30, 6) / 20)
    bank = Detectors(RATE)
    sound = sound[:len(sound) // bank.block * bank.block]
    power = bank(sound)
    held = truth(notes, len(power) + 1)
    np.savez(job["out"] + ".tmp.npz", logp=np.log(power).astype(np.float16), held=np.packbits(held, axis=0), frames=len(power))
    os.replace(job["out"] + ".tmp.npz", job["out"])


def split(directory):
    """Songs by use: test (the 12 first of openmsx), check (another package), valid, train."""
    openmsx, simutrans, doom = sorted(glob.glob(OPENMSX)), sorted(glob.glob(SIMUTRANS)), doom_songs(directory + "/doom")
    rest = openmsx[12:]
    valid = rest[::3][:6] + simutrans[4::9] + doom[5::19]
    return {"test": openmsx[:12], "check": sorted(glob.glob(BLUPI)), "valid": valid, "train": [s for s in rest + simutrans + doom if s not in valid], "rest": rest}


def jobs(directory):
    """Everything to be rendered, by use."""
    s = split(directory)
    def plain(use, song, font): return {"out": f"{directory}/{use}-{font}-{os.path.basename(song)}.npz", "kind": "song", "seed": 0, "song": song, "font": font, "seconds": 60, "plain": True}
    out = {"test": [plain("test", x, "fluid") for x in s["test"]], "test-timgm": [plain("test", x, "timgm") for x in s["test"]],
           "check": [plain("check", x, "fluid") for x in s["check"]], "check-timgm": [plain("check", x, "timgm") for x in s["check"]],
           "valid": [plain("valid", x, "fluid") for x in s["valid"]], "valid-opl3": [plain("valid", x, "opl3") for x in s["valid"][::3]],
           "valid-muse": [plain("valid", x, "muse") for x in s["valid"][1::3]]}
    train = [plain("train", x, "fluid") for x in s["train"] if x in s["rest"]]
    fonts = ["fluid"] * 9 + ["muse"] * 4 + ["opl3"] * 3 + ["csound"] * 2 + ["a320"] * 2
    rng = np.random.default_rng(1)
    for k in range(FILES):
        kind = str(rng.choice(["song", "chip", "chords", "tones", "drums", "noise"], p=[0.66, 0.12, 0.09, 0.08, 0.03, 0.02]))
        song = str(rng.choice(s["train"] if rng.random() < 0.7 else [x for x in s["train"] if x in s["rest"]])) if kind in ("song", "chip") else None
        train.append({"out": f"{directory}/train-{k:04d}-{kind}.npz", "kind": kind, "seed": k, "song": song, "font": str(rng.choice(fonts)), "seconds": 40})
    rng = np.random.default_rng(5)
    for k in range(MORE_FILES):
        kind, song = ("tones", "chip", "tones", "noise", "chip", "tones")[k % 6], str(rng.choice(s["train"]))
        train.append({"out": f"{directory}/train-x{k:03d}-{kind}.npz", "kind": kind, "seed": 5000 + k, "song": song, "font": None, "seconds": 40})
    out["train"] = train
    return out
