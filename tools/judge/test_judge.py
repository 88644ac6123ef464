"""Tests with a small made-up set in each layout: TONE_FILTER_COMMAND=PROGRAM python -m unittest discover -s tools/judge"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import mido
import numpy as np
import scipy.io
import soundfile

import judge
from layouts import LAYOUTS, LayoutError, midi_notes, recordings
from score import FRAME, frame_f1, onset_f1, scores

RATE, SECONDS = 44_100, 3.0
# C4, E4, G4, with pauses.
NOTES = [(0.5, 1.0, 60.0), (1.2, 1.7, 64.0), (1.9, 2.4, 67.0)]


def sines(notes):
    """Returns the notes as sines of amplitude 0.3 that rise and fall within 5 ms."""
    time, sound = np.arange(int(SECONDS * RATE)) / RATE, np.zeros(int(SECONDS * RATE))
    for on, off, pitch in notes:
        gain = np.clip(np.minimum(time - on, off - time) / 0.005, 0, 1)
        sound += 0.3 * gain * np.sin(2 * np.pi * 440 * 2 ** ((pitch - 69) / 12) * (time - on))
    return sound


def write_sound(path, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, sines(NOTES), RATE, **options)


def write_table(path, header, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *lines] if header else lines)


def write_midi(path, notes):
    file, track = mido.MidiFile(ticks_per_beat=1000), mido.MidiTrack()          # 120 BPM: a tick is 0.5 ms
    events = sorted([(round(on * 2000), "note_on", pitch) for on, _, pitch in notes] + [(round(off * 2000), "note_off", pitch) for _, off, pitch in notes])
    last = 0
    for tick, kind, pitch in events:
        track.append(mido.Message(kind, note=int(pitch), velocity=64, time=tick - last))
        last = tick
    file.tracks.append(track)
    file.save(path)


def make_bach_violin(root):
    write_sound(root / "audio" / "somebody" / "piece.mp3", format="MP3")
    header = ["filename", "collection", "source_filename", "start", "end", "length"]
    movement = lambda name, source: (name, "somebody", source, "0:00:01", "0:00:03", "0:00:02")
    write_table(root / "info.csv", header, [movement("elsewhere", "not_published.mp3"), movement("piece_mov2", "piece.mp3")])
    write_table(root / "alignments" / "somebody" / "piece_mov2.csv", ["start", "end"], [(on - 1, off - 1) for on, off, _ in NOTES[1:]])
    write_table(root / "notes" / "somebody" / "piece_mov2.csv", ["onset", "offset", "pitch", "velocity"], [(0, 9, 64, 64), (12, 21, 67, 64)])


def make_ssvd(root):
    write_sound(root / "test" / "100135.flac")
    (root / "test" / "100135.txt").write_text("".join(f"{on}\t{off}\t{pitch}\n" for on, off, pitch in NOTES))


def make_vocadito(root):
    write_sound(root / "Audio" / "vocadito_1.wav")
    for annotator, notes in (("A1", NOTES), ("A2", NOTES[:1])):
        write_table(root / "Annotations" / "Notes" / f"vocadito_1_notes{annotator}.csv", None, [(on, 440 * 2 ** ((pitch - 69) / 12), off - on) for on, off, pitch in notes])


def make_bach10(root):
    piece = "01-Chorale"
    write_sound(root / piece / f"{piece}.wav")
    write_sound(root / piece / f"{piece}-violin.wav")
    frames = [np.stack([np.arange(round(100 * on) - 1, round(100 * off)), np.full(round(100 * (off - on)) + 1, pitch + 0.2)]) for on, off, pitch in NOTES]
    cell = lambda items: np.array([[None]] * len(items), object)
    parts = cell(range(2))
    for part, notes in enumerate((frames[:2], frames[2:])):
        parts[part, 0] = cell(notes)
        for k, note in enumerate(notes):
            parts[part, 0][k, 0] = note
    scipy.io.savemat(root / piece / f"{piece}-GTNotes.mat", {"GTNotes": parts})


def make_maestro(root):
    write_sound(root / "2018" / "test.wav")
    write_midi(root / "2018" / "test.midi", NOTES)
    header = ["canonical_composer", "canonical_title", "split", "year", "midi_filename", "audio_filename", "duration"]
    row = lambda split, name: ("Nobody", "Nothing", split, 2018, f"2018/{name}.midi", f"2018/{name}.wav", SECONDS)
    write_table(root / "maestro-v3.0.0.csv", header, [row("train", "train"), row("test", "absent"), row("test", "test")])


def make_guitarset(root):
    write_sound(root / "audio_mono-mic" / "00_BN1-129-Eb_comp_mic.wav")
    string = lambda notes: {"namespace": "note_midi", "data": [{"time": on, "duration": off - on, "value": pitch, "confidence": None} for on, off, pitch in notes]}
    (root / "annotation").mkdir()
    jams = {"annotations": [{"namespace": "tempo", "data": [{"time": 0, "duration": 3, "value": 129}]}, string(NOTES[1:]), string(NOTES[:1])]}
    (root / "annotation" / "00_BN1-129-Eb_comp.jams").write_text(json.dumps(jams))


MAKERS = {"bach-violin": make_bach_violin, "ssvd": make_ssvd, "vocadito": make_vocadito, "bach10": make_bach10, "maestro": make_maestro, "guitarset": make_guitarset}


class Layouts(unittest.TestCase):
    def test_each_layout_gives_its_notes(self):
        self.assertEqual(MAKERS.keys(), LAYOUTS.keys())
        for layout, make in MAKERS.items():
            with self.subTest(layout), tempfile.TemporaryDirectory() as folder:
                make(Path(folder))
                (recording,) = recordings(layout, folder)
                start = recording.start
                self.assertEqual((start, recording.seconds), (1, 2) if layout == "bach-violin" else (0, math.inf))
                expected = [(on - start, off - start, pitch) for on, off, pitch in NOTES if on >= start]
                # Bach10 counts in frames of 10 ms whose first is at 23 ms.
                np.testing.assert_allclose(recording.notes, expected, atol=0.005 if layout == "bach10" else 1e-9)
                self.assertEqual(soundfile.info(recording.sound).samplerate, RATE)

    def test_errors_name_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            make_bach_violin(Path(folder))
            write_table(Path(folder) / "notes" / "somebody" / "piece_mov2.csv", ["onset", "offset", "pitch", "velocity"], [(0, 9, 64, 64)])
            with self.assertRaisesRegex(LayoutError, "piece_mov2.csv: 2 alignments for 1 notes"):
                recordings("bach-violin", folder)
        for layout in LAYOUTS:
            with self.subTest(layout), tempfile.TemporaryDirectory() as folder:
                with self.assertRaisesRegex(LayoutError, folder):
                    recordings(layout, folder)

    def test_drums_are_no_notes(self):
        with tempfile.TemporaryDirectory() as folder:
            file, track = mido.MidiFile(), mido.MidiTrack()
            for channel in (0, 9):
                track += [mido.Message("note_on", channel=channel, note=60), mido.Message("note_off", channel=channel, note=60, time=480)]
            file.tracks.append(track)
            file.save(Path(folder) / "song.mid")
            self.assertEqual(midi_notes(Path(folder) / "song.mid"), [(0.0, 0.5, 60.0)])


class Scores(unittest.TestCase):
    def test_equal_notes_score_1_and_none_0(self):
        beyond = [(0.0, 1.0, 27.0), (0.0, 1.0, 105.0)]          # do not count, nor does a note after the end
        for found, real, expected in ((NOTES, NOTES, (1.0, 1.0, 1.0, 3, 3)), ([], NOTES, (0.0, 0.0, 0.0, 0, 3)),
                                      ([*NOTES, *beyond], [*NOTES, (3.5, 4.0, 60.0)], (1.0, 1.0, 1.0, 3, 3))):
            self.assertEqual(scores(found, real, SECONDS), expected)

    def test_frames_count_by_time(self):
        # 50 of 100 frames are found, and none is wrong: 2 * 50 / (50 + 100).
        self.assertAlmostEqual(frame_f1([(0.0, 50 * FRAME, 60.0)], [(0.0, 100 * FRAME, 60.0)], SECONDS), 2 / 3)

    def test_onsets_have_their_tolerances(self):
        late = lambda seconds, pitch=60.0: onset_f1([(1 + seconds, 2.0, pitch)], [(1.0, 2.0, 60.4)], (0.1, 70))
        self.assertEqual([late(0.09), late(0.11), late(-0.09), late(0, 61.0), late(0, 62.0)], [1, 0, 1, 1, 0])


class Program(unittest.TestCase):
    def test_the_command_finds_sines_at_every_latency(self):
        ways = judge.finders(os.environ["TONE_FILTER_COMMAND"])
        with tempfile.TemporaryDirectory() as folder:
            make_ssvd(Path(folder))
            (recording,) = recordings("ssvd", folder)
            for way, result in zip(ways, judge.judged(ways, recording, math.inf)):
                if way in judge.RUNS:
                    with self.subTest(way):
                        self.assertEqual(result[1], 1.0, "all onsets within 100 ms, and no others")
                        # Of a note of 50 frames at least 40 are left if it begins 100 ms late: 2 * 40 / (40 + 50) = 0.89.
                        self.assertGreater(result[0], 0.8)

    def test_a_movement_and_its_first_seconds_are_cut_out_of_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            make_bach_violin(Path(folder))
            (recording,) = recordings("bach-violin", folder)
            sizes = []

            def find(wav):
                sizes.append(soundfile.info(wav).frames)
                return recording.notes

            for limit, seconds, count in ((math.inf, 2, 2), (0.5, 0.5, 1)):
                (result,) = judge.judged({"right": find}, recording, limit)
                self.assertEqual((sizes.pop(), result), (seconds * RATE, (1.0, 1.0, 1.0, count, count)))

    def test_a_table_has_the_means(self):
        results = [[(1.0, 0.5, 0.0, 3, 4), (0.0, 0.0, 0.0, 0, 4)], [(0.5, 0.5, 0.5, 5, 4), (0.0, 0.0, 0.0, 0, 4)]]
        lines = judge.table("a set", ["one", "two"], results).splitlines()
        self.assertEqual(lines[0], "| a set, 2 recordings, 8 notes | frame F1 | onset F1, 100 ms | onset F1, 50 ms | notes found |")
        self.assertEqual(lines[2:], ["| one | 0.750 | 0.500 | 0.250 | 1.00 |", "| two | 0.000 | 0.000 | 0.000 | 0.00 |"])

    def test_an_unknown_layout_is_an_error(self):
        program = [sys.executable, str(Path(__file__).with_name("judge.py")), "tone-filter"]
        for item, message in (("musicnet=x", "layout of bach-violin"), ("ssvd=nowhere", "nowhere has no recordings")):
            ended = subprocess.run([*program, item], capture_output=True, text=True)
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn(message, ended.stderr)


if __name__ == "__main__":
    unittest.main()
