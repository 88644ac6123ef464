"""Tests of the listener's results against those of the command."""

import copy
import json
import pickle

import numpy as np
import pytest
import tone_filter
from conftest import ROOT

TUNE = ROOT / "assets/demo.wav"


@pytest.mark.parametrize(
    ("settings", "flags"),
    [
        ({}, []),
        ({"live": True, "lookahead": False}, ["--live", "--lookahead=off"]),
        ({"voice": "square", "octave": 1, "map": "snap", "scale": "minor-pentatonic", "root": "D"},
         ["--voice", "square", "--octave", 1, "--map", "snap", "--scale", "minor-pentatonic", "--root", "D"]),
    ],
    ids=str,
)
def test_notes_match_the_command(tune, command, tmp_path, settings, flags):
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
    # Notes in the roll of at most six decisions (70 ms) are missing in the list: `transcribe` leaves them out.
    runs = np.diff(np.pad(left, ((0, 0), (1, 1))).astype(int), axis=1)
    lengths = np.nonzero(runs == -1)[1] - np.nonzero(runs == 1)[1]
    assert len(found.notes) > 50 and lengths.max(initial=0) <= 6
    odds = found.log_odds
    assert np.isneginf(odds[:28]).all() and np.isneginf(odds[105:]).all() and np.isfinite(odds[28:105]).all()
    assert odds[found.played].min() > odds[28:105][~found.played[28:105]].max() - 1


def test_silence_has_no_notes():
    for frames in [0, 1, 30000]:
        found = tone_filter.transcribe(np.zeros(frames), 44100)
        assert (found.notes, found.key, found.tuning) == ([], None, None)
        assert found.played.shape[0] == 128 and not found.played.any()
        assert repr(found) == "<Transcription: 0 notes, key=None, tuning=None>"


def test_a_transcription_survives_pickle_and_copy(tune):
    for audio in [tune[0][:, : 3 * tune[1]], np.zeros((1, 30000))]:
        found = tone_filter.transcribe(audio, tune[1])
        for other in [pickle.loads(pickle.dumps(found)), copy.deepcopy(found)]:
            for name in ["notes", "key", "tuning", "score", "midi"]:
                assert getattr(other, name) == getattr(found, name), name
            for name in ["times", "played", "log_odds"]:
                mine, theirs = getattr(found, name), getattr(other, name)
                assert theirs.dtype == mine.dtype and np.array_equal(theirs, mine), name
