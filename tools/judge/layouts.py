"""Recordings and notes of public sets, read from folders in their published layouts.

A note is (on, off, pitch): seconds, and a MIDI note, with a fraction where the set has one. Each reader takes the set's root and yields
`Recording`s in the order of their paths.
"""
import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path

import mido
import numpy as np


@dataclass
class Recording:
    """Part of a sound file from `start` on, for `seconds` or to the file's end, and its notes. The notes' times count from `start`."""
    sound: Path
    notes: list
    start: float = 0.0
    seconds: float = math.inf


class LayoutError(Exception):
    """A folder or file is not in its set's published layout. The message names the folder or file."""


def rows(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def seconds_of(time):
    """Converts a time H:MM:SS to seconds."""
    hours, minutes, seconds = map(float, time.split(":"))
    return 3600 * hours + 60 * minutes + seconds


def bach_violin(root):
    """bach-violin-dataset: info.csv names for each movement its sound in audio/COLLECTION, and when it starts there.

    The rows of alignments/COLLECTION/MOVEMENT.csv, from the movement's start on, are those of notes/COLLECTION/MOVEMENT.csv."""
    for movement in rows(root / "info.csv"):
        sound = root / "audio" / movement["collection"] / movement["source_filename"]
        if not sound.exists():
            continue                                   # some are published as links only
        table = Path(movement["collection"]) / (movement["filename"] + ".csv")
        times, notes = rows(root / "alignments" / table), rows(root / "notes" / table)
        if len(times) != len(notes):
            raise ValueError(f"{table}: {len(times)} alignments for {len(notes)} notes")
        notes = [(float(t["start"]), float(t["end"]), float(n["pitch"])) for t, n in zip(times, notes)]
        yield Recording(sound, notes, seconds_of(movement["start"]), seconds_of(movement["length"]))


def ssvd(root):
    """SSVD 2.0: test/ID.flac; ID.txt has lines of onset, offset and pitch."""
    for sound in sorted(root.glob("test/*.flac")):
        lines = sound.with_suffix(".txt").read_text().splitlines()
        yield Recording(sound, [tuple(map(float, line.split())) for line in lines if line.strip()])


def vocadito(root):
    """vocadito: Audio/ID.wav; Annotations/Notes/ID_notesA1.csv, of the first annotator, has rows of onset, frequency in Hz and length."""
    for sound in sorted(root.glob("Audio/*.wav")):
        with open(root / "Annotations" / "Notes" / f"{sound.stem}_notesA1.csv", newline="") as file:
            table = [tuple(map(float, row)) for row in csv.reader(file)]
        yield Recording(sound, [(on, on + length, 69 + 12 * np.log2(hertz / 440)) for on, hertz, length in table])


def bach10(root):
    """Bach10: NAME/NAME.wav; NAME/NAME-GTNotes.mat has for each part its notes, and for each note its frames, from 1 on, above their pitches.

    The first frame is at 23 ms, and a frame takes 10 ms."""
    from scipy.io import loadmat
    for truth in sorted(root.glob("*/*-GTNotes.mat")):
        notes = []
        for (part,) in loadmat(truth)["GTNotes"]:
            for (frames,) in part:
                on, off = 0.023 + 0.01 * (frames[0, [0, -1]] - 1)
                notes.append((on, off, float(np.median(np.rint(frames[1])))))
        yield Recording(truth.with_name(truth.name.replace("-GTNotes.mat", ".wav")), sorted(notes))


def maestro(root):
    """MAESTRO: the recordings of the split `test` in maestro-v*.csv, with keys as they are held, without the pedal."""
    for table in sorted(root.glob("maestro-v*.csv")):
        for row in sorted(rows(table), key=lambda row: row["audio_filename"]):
            sound = root / row["audio_filename"]
            if row["split"] == "test" and sound.exists():
                yield Recording(sound, midi_notes(root / row["midi_filename"]))


def guitarset(root):
    """GuitarSet: audio_mono-mic/NAME_mic.wav; annotation/NAME.jams has an annotation `note_midi` for each string."""
    for sound in sorted(root.glob("audio_mono-mic/*_mic.wav")):
        jams = json.loads((root / "annotation" / (sound.stem.removesuffix("_mic") + ".jams")).read_text())
        strings = [a["data"] for a in jams["annotations"] if a["namespace"] == "note_midi"]
        yield Recording(sound, sorted((n["time"], n["time"] + n["duration"], n["value"]) for notes in strings for n in notes))


LAYOUTS = {"bach-violin": bach_violin, "ssvd": ssvd, "vocadito": vocadito, "bach10": bach10, "maestro": maestro, "guitarset": guitarset}


def recordings(layout, root):
    """Returns all recordings of a set with their notes; LayoutError if there are none."""
    root = Path(root)
    try:
        found = list(LAYOUTS[layout](root))
    except (OSError, KeyError, ValueError) as error:
        raise LayoutError(f"{root} is not laid out as {layout} is published: {error}") from error
    if not found:
        raise LayoutError(f"{root} has no recordings in the layout of {layout}: {LAYOUTS[layout].__doc__.splitlines()[0]}")
    return found


def midi_notes(path):
    """Returns the notes of a MIDI file, without drums (channel 10)."""
    held, notes, time = {}, [], 0.0
    for message in mido.MidiFile(path):
        time += message.time
        if message.type not in ("note_on", "note_off") or message.channel == 9:
            continue
        key = (message.channel, message.note)
        if key in held:
            notes.append((held.pop(key), time, float(message.note)))
        if message.type == "note_on" and message.velocity > 0:
            held[key] = time
    return sorted(notes)
