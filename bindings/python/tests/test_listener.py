"""The listener, against the command, and against sounds whose notes are known."""

import json
import copy
import pickle

import numpy as np
import pytest
import soundfile
import tone_filter
from conftest import ROOT, sines

TUNE = ROOT / "assets/demo.wav"


@pytest.mark.parametrize(
    ("settings", "flags"),
    [
        ({}, []),
        ({"live": True, "lookahead": False}, ["--live", "--lookahead=off"]),
        ({"listener": "light", "sensitivity": 70}, ["--listener", "light", "--sensitivity", 70]),
        ({"range": "published", "transpose": -12}, ["--range", "published", "--transpose", -12]),
        ({"voice": "square", "octave": 1, "map": "snap", "scale": "minor-pentatonic", "root": "D"},
         ["--voice", "square", "--octave", 1, "--map", "snap", "--scale", "minor-pentatonic", "--root", "D"]),
        ({"preset": "reference"}, ["--preset", "reference"]),
    ],
    ids=str,
)
def test_notes_are_those_of_the_command(tune, command, tmp_path, settings, flags):
    midi, score, table = tmp_path / "song.mid", tmp_path / "song.tfs", tmp_path / "song.json"
    command("bands", TUNE, "--midi", midi, "--score", score, "--json", table, "--tempo", 120, *flags)
    found = tone_filter.transcribe(*tune, **settings)
    assert found.midi == midi.read_bytes()
    assert found.score == score.read_text()
    assert found.notes == tone_filter.notes(*tune, **settings)
    expected = json.loads(table.read_text())
    key = found.key and {**found.key._asdict(), "certainty": pytest.approx(found.key.certainty, abs=6e-4)}
    assert expected["key"] == key
    assert expected["tuning"] == pytest.approx(found.tuning, abs=6e-3)
    if settings == {}:
        lines = [line.split() for line in score.read_text().splitlines()[2:]]
        rows = sorted((float(start), float(end), int(pitch), int(velocity)) for start, end, pitch, velocity, _ in lines)
        for row, note in zip(rows, sorted(found.notes), strict=True):
            # A note of a score ends before the next note of the same pitch.
            assert row[0] == pytest.approx(note.start, abs=6e-4) and row[1] <= note.end + 6e-4
            assert row[2:] == note[2:]


def test_the_roll_has_the_notes(tune):
    found = tone_filter.transcribe(*tune)
    decisions = len(found.times)
    assert found.played.shape == found.log_odds.shape == (128, decisions)
    assert (found.times.dtype, found.played.dtype, found.log_odds.dtype) == (float, bool, np.float32)
    assert np.allclose(np.diff(found.times), 512 / 44100)
    assert 0 <= found.times[0] < 0.012 and found.times[-1] <= tune[0].shape[1] / tune[1]
    left = found.played.copy()
    for start, end, pitch, _ in found.notes:
        own = (found.times >= start - 1e-9) & (found.times < end - 1e-9)
        assert found.played[pitch, own].all()
        left[pitch, own] = False
    # Stretches of the roll that belong to no note last six decisions, or 70 ms, at most: `transcribe` leaves out such
    # short notes.
    runs = np.diff(np.pad(left, ((0, 0), (1, 1))).astype(int), axis=1)
    lengths = np.nonzero(runs == -1)[1] - np.nonzero(runs == 1)[1]
    assert len(found.notes) > 50 and lengths.max(initial=0) <= 6
    odds = found.log_odds
    assert np.isneginf(odds[:28]).all() and np.isneginf(odds[105:]).all() and np.isfinite(odds[28:105]).all()
    assert odds[found.played].min() > odds[28:105][~found.played[28:105]].max() - 1


@pytest.mark.parametrize("rate", [8000, 44100, 48000, 96000])
@pytest.mark.parametrize("channels", [None, 1, 2, 3])
def test_a_triad_is_found(rate, channels):
    triad = np.pad(sines(rate, 1, 60, 64, 67), rate // 2)
    audio = triad if channels is None else np.stack([triad] * channels)
    notes = tone_filter.notes(audio, rate)
    assert sorted(note.pitch for note in notes) == [60, 64, 67]
    for start, end, _, velocity in notes:
        # With lookahead, starts and ends may be early by a part of a frame, of 11.6 ms.
        assert 0.488 < start < 0.6 and 1.488 < end < 1.7
        # A sine with a peak of 0.2 has an RMS of -17 dB relative to full scale. Velocities of 1 to 127 are RMS of -60
        # to -3 dB.
        assert velocity == pytest.approx(1 + 126 * (60 - 17) / 57, abs=4)


def test_loudness_does_not_matter():
    loud = sines(44100, 1, 60, 64, 67)
    pitches = [{note.pitch for note in tone_filter.notes(loud * gain, 44100)} for gain in (1, 1e-2)]
    assert pitches == [{60, 64, 67}] * 2


@pytest.mark.parametrize("cents", [-30, 0, 25])
def test_the_tuning_is_found(cents):
    chords = [sines(44100, 0.5, *(pitch + cents / 100 for pitch in chord))
              for chord in [(48, 60, 64, 67), (53, 60, 65, 69), (55, 59, 62, 67), (48, 60, 64, 67)]]
    found = tone_filter.transcribe(np.concatenate(chords * 2), 44100)
    assert 1200 * np.log2(found.tuning / 440) == pytest.approx(cents, abs=2)
    assert found.key[:2] == ("C", "major") and 0 < found.key.certainty <= 1


def test_silence_has_nothing():
    for frames in [0, 1, 30000]:
        found = tone_filter.transcribe(np.zeros(frames), 44100)
        assert (found.notes, found.key, found.tuning) == ([], None, None)
        assert found.played.shape[0] == 128 and not found.played.any()
        assert repr(found) == "<Transcription: 0 notes, key=None, tuning=None>"


def test_what_is_not_finite_counts_as_0(tune):
    audio, rate = tune[0][:, : 3 * tune[1]].copy(), tune[1]
    audio[:, 1000:1100] = 0
    expected = tone_filter.notes(audio, rate)
    audio[0, 1000:1100], audio[1, 1000:1100] = np.nan, -np.inf
    assert tone_filter.notes(audio, rate) == expected


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_transcription_survives_pickle_and_copy(tune, protocol):
    for audio in [tune[0][:, : 3 * tune[1]], np.zeros((1, 30000))]:
        found = tone_filter.transcribe(audio, tune[1])
        for other in [pickle.loads(pickle.dumps(found, protocol)), copy.deepcopy(found)]:
            for name in ["notes", "key", "tuning", "score", "midi"]:
                assert getattr(other, name) == getattr(found, name), name
            for name in ["times", "played", "log_odds"]:
                mine, theirs = getattr(found, name), getattr(other, name)
                assert theirs.dtype == mine.dtype and np.array_equal(theirs, mine), name


def test_notes_are_tuples_with_names(tune):
    note = tone_filter.notes(*tune)[0]
    start, end, pitch, velocity = note
    assert (note.start, note.end, note.pitch, note.velocity) == (start, end, pitch, velocity)
    assert repr(note).startswith("Note(start=") and type(note).__module__ == "tone_filter"
    assert np.array([note, note]).shape == (2, 4)
    assert pickle.loads(pickle.dumps(note)) == note
