"""Collects songs and scores for render.py into one file.

usage: songs.py OUT.npz SCORES.npz MIDI_FOLDER ..            needs mido; Debian: openttd-openmsx simutrans-data freedoom freedm planetblupi-music-midi

MIDI_FOLDER: more songs (accompaniments.py's, other projects'); MIDI or MUS files, a group per folder.
OUT.npz: events of all songs in columns (steps in time in 1/2000 s, kind, channel, a, b), where each song starts, its name; rows of all scores
(scores.py) likewise (part, steps of the onset and length in 1/480 quarter, note). It is not compressed: xz does that better.
Names begin with train/ or valid/. The first 12 songs of openttd-openmsx and all of planetblupi are test songs, and never collected. A song or score
that shares more than a tenth of its melodies (12 intervals in a row of one channel) with a test song or a validation song is left out, too.
"""
import glob, io, os, struct, sys
from multiprocessing import Pool
import mido, numpy as np
from events import BEND, CONTROL, DRUMS, OFF, ON, PROGRAM

EVENT = np.dtype([("t", "f4"), ("kind", "u1"), ("channel", "u1"), ("a", "u1"), ("b", "i2")])
OPENMSX = "/usr/share/games/openttd/baseset/openmsx/*.mid"
TESTS = 12


def midi_events(data):
    out, t = [], 0.0
    for m in mido.MidiFile(file=io.BytesIO(data), clip=True):
        t += m.time
        if m.type == "note_on": out.append((t, ON if m.velocity else OFF, m.channel, m.note, m.velocity))
        elif m.type == "note_off": out.append((t, OFF, m.channel, m.note, 0))
        elif m.type == "control_change": out.append((t, CONTROL, m.channel, m.control, m.value))
        elif m.type == "program_change": out.append((t, PROGRAM, m.channel, m.program, 0))
        elif m.type == "pitchwheel": out.append((t, BEND, m.channel, 0, m.pitch))
    return out


def mus_events(data):
    """Reads a MUS file, the format of Doom and games like it: 140 ticks a second, percussion on channel 15."""
    controls = {1: 0, 2: 1, 3: 7, 4: 10, 5: 11, 6: 91, 7: 93, 8: 64, 9: 67}
    at, t, level, out = struct.unpack("<H", data[6:8])[0], 0.0, [100] * 16, []
    while at < len(data):
        head, at = data[at], at + 1
        kind, channel = head >> 4 & 7, {15: 9, 9: 15}.get(head & 15, head & 15)
        if kind == 6: break
        a, at = data[at], at + 1
        if kind == 0: out.append((t, OFF, channel, a & 127, 0))
        elif kind == 1:
            if a & 128: level[channel], at = data[at] & 127, at + 1
            out.append((t, ON if level[channel] else OFF, channel, a & 127, level[channel]))
        elif kind == 2: out.append((t, BEND, channel, 0, (a - 128) * 64))
        elif kind == 4:
            b, at = data[at] & 127, at + 1
            if a == 0: out.append((t, PROGRAM, channel, b, 0))
            elif a in controls: out.append((t, CONTROL, channel, controls[a], b))
        if head & 128:
            ticks = 0
            while True:
                v, at = data[at], at + 1
                ticks = ticks << 7 | v & 127
                if not v & 128: break
            t += ticks / 140
    return out


def events_of(data):
    """Converts the bytes of a MIDI or MUS file to an array of EVENT. Returns None if the file is invalid."""
    try: return np.array(mus_events(data) if data[:3] == b"MUS" else midi_events(data), EVENT)
    except Exception as fault:
        print("left out:", repr(fault)[:80])
        return None


def doom_songs():
    """Returns the songs inside Freedoom's archives: bytes by name."""
    songs = {}
    for wad in ("freedoom1", "freedoom2", "freedm"):
        with open(f"/usr/share/games/doom/{wad}.wad", "rb") as f: data = f.read()
        count, at = struct.unpack("<ii", data[4:12])
        for k in range(count):
            start, size, name = struct.unpack("<ii8s", data[at + 16 * k:at + 16 * k + 16])
            song = data[start:start + size]
            if song[:4] == b"MThd" and song not in songs.values(): songs[f"doom/{wad}-{name.rstrip(bytes(1)).decode().lower()}"] = song
    return dict(sorted(songs.items()))


def melodies(pairs):
    """Returns all runs of 12 intervals within a channel, without drums. `pairs`: (channel, note) in order of time."""
    by, out = {}, set()
    for c, n in pairs:
        if c != DRUMS: by.setdefault(c, []).append(int(n))
    for notes in by.values():
        steps = np.diff(notes).astype(np.int8).tobytes()
        out |= {steps[k:k + 12] for k in range(len(steps) - 11)}
    return {m for m in out if len(set(m)) > 3}


def read(path):
    with open(path, "rb") as f: return f.read()


def song(data):
    """Returns events and melodies of a file; None, None if it is invalid or short."""
    e = events_of(data)
    return (None, None) if e is None or len(e) < 40 else (e, melodies((c, a) for _, kind, c, a, _ in e.tolist() if kind == ON))


def score(rows): return melodies((int(p) % 8, n) for p, _, _, n in rows)


if __name__ == "__main__":
    out, scores, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    openmsx, named = sorted(glob.glob(OPENMSX)), {}
    simutrans = sorted(glob.glob("/usr/share/games/simutrans/music/*.mid"))
    for p in openmsx[TESTS:]: named["openmsx/" + os.path.basename(p)] = read(p)
    for p in simutrans: named["simutrans/" + os.path.basename(p)] = read(p)
    doom = doom_songs()
    named.update(doom)
    for folder in folders:
        for p in sorted(glob.glob(folder + "/*")): named[os.path.basename(folder.rstrip("/")) + "/" + os.path.basename(p)] = read(p)
    valid = {"openmsx/" + os.path.basename(p) for p in openmsx[TESTS::3][:6]} | {"simutrans/" + os.path.basename(p) for p in simutrans[4::9]} | set(list(doom)[5::19])
    like = lambda mine: next((t for t, theirs in tests if len(mine & theirs) > 0.1 * min(len(mine), len(theirs)) + 3), None)
    events, starts, names, known = [], [0], [], set()
    rows, row_starts, row_names = [], [0], []
    with Pool() as pool:
        held = openmsx[:TESTS] + sorted(glob.glob("/usr/share/planetblupi/music/*.mid"))
        tests = [(p, m) for p, (_, m) in zip(held, pool.map(song, map(read, held)))]
        print(len(tests), "test songs")
        order = sorted(named, key=lambda n: n not in valid)                    # validation songs first
        for name, (e, mine) in zip(order, pool.imap(song, (named[n] for n in order), 4)):
            if e is None or named[name] in known: continue
            known.add(named[name])
            if like(mine): print("left out:", name, "is like", like(mine)); continue
            if name in valid: tests.append((name, mine))
            events.append(e); starts.append(starts[-1] + len(e)); names.append(("valid/" if name in valid else "train/") + name)
        with np.load(scores) as s: every = {n: s[n][:6000] for n in s.files}
        chosen = {n: k for kind in ("lieder", "quartets") for k, n in enumerate(f for f in every if f.startswith(kind))}
        for (name, r), mine in zip(every.items(), pool.imap(score, every.values(), 8)):
            if like(mine): print("left out:", name, "is like", like(mine)); continue
            rows.append(r); row_starts.append(row_starts[-1] + len(r))
            row_names.append(("valid/" if chosen.get(name, -1) in (10, 40, 70) else "train/") + name)
    steps = lambda lists, unit: np.concatenate([np.diff(np.round(x * unit).astype(np.int64), prepend=0) for x in lists]).clip(0).astype(np.int32)
    column = lambda lists, k, kind: np.concatenate([np.asarray(x[k] if isinstance(k, str) else x[:, k], np.float64).round().astype(kind) for x in lists])
    np.savez(out, event_steps=steps([e["t"] for e in events], 2000), event_kind=column(events, "kind", np.uint8), event_channel=column(events, "channel", np.uint8),
             event_a=column(events, "a", np.uint8), event_b=column(events, "b", np.int16), starts=np.array(starts), names=np.array(names),
             row_part=column(rows, 0, np.uint8), row_steps=steps([r[:, 1] for r in rows], 480), row_length=column([r * 480 for r in rows], 2, np.int32).clip(1), row_note=column(rows, 3, np.uint8),
             row_starts=np.array(row_starts), row_names=np.array(row_names))
    print(len(names), "songs,", len(row_names), "scores; validation:", [n for n in names + row_names if n.startswith("valid/")])
