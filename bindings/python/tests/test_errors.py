"""Tests of errors: each is an exception whose message has the fault and the remedy."""

import numpy as np
import pytest
import tone_filter
from tone_filter import ToneFilter, notes, render, transcribe

SOUND = np.zeros((2, 64), dtype="float32")


@pytest.mark.parametrize("take", [lambda a: ToneFilter(48000).process(a), lambda a: render(a, 48000),
                                  lambda a: notes(a, 48000), lambda a: transcribe(a, 48000)])
@pytest.mark.parametrize(
    ("audio", "error", "words"),
    [
        ([0.0], TypeError, "audio is of type list; give a numpy array"),
        (np.zeros(64, "int16"), TypeError, 'dtype int16; give floats, .* audio.astype\\("float32"\\) / 32768'),
        (np.zeros((1, 2, 64)), ValueError, r"3 axes; give the shape \(frames,\) or \(channels, frames\)"),
        (np.zeros((44100, 2)), ValueError, "44100 channels; .*pass audio.T"),
        (np.zeros((0, 2)), ValueError, "0 channels"),
    ],
    ids=lambda value: None,
)
def test_invalid_audio_is_refused(take, audio, error, words):
    with pytest.raises(error, match=words):
        take(audio)


@pytest.mark.parametrize("make", [lambda **own: ToneFilter(48000, **own), lambda **own: render(SOUND, 48000, **own),
                                  lambda **own: notes(SOUND, 48000, **own), lambda **own: ToneFilter(48000).set(**own)])
@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"mix": 150}, ValueError, "mix = 150 is out of range; use 0 to 100 %"),
        ({"mix": "loud"}, TypeError, "mix: must be real number, not str"),
        ({"mixx": 1}, TypeError, "mixx is no setting; there are mix, output, "),
        ({"listen": "main"}, TypeError, "listen is no setting"),
        ({"voice": "bagpipe"}, ValueError, 'voice = "bagpipe" is unknown; use soft, sine, square, '),
        ({"voice": 3}, TypeError, "voice: "),
        ({"auto": "on"}, TypeError, "auto: "),
        ({"targets": "A B"}, ValueError, "targets = 'A B' is not the names of twelve notes"),
        ({"preset": "extrem-8-bit"}, ValueError, "did you mean extreme-8-bit"),
        ({"preset": "./no-such.json"}, OSError, "./no-such.json: cannot be read"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(make, settings, error, words):
    with pytest.raises(error, match=words):
        make(**settings)


def test_other_numbers_out_of_range_are_refused():
    filter = ToneFilter(48000)
    for call, words in [
        (lambda: ToneFilter(10), "10 Hz is not a sample rate; use 1000 Hz to 1 GHz"),
        (lambda: render(SOUND, float("nan")), "NaN Hz is not a sample rate"),
        (lambda: ToneFilter(48000, channels=65), "channels = 65 is out of range; use 1 to 64"),
        (lambda: ToneFilter(48000, tempo=0), "tempo = 0 is out of range; use more than 0"),
        (lambda: setattr(filter, "tempo", -1), "tempo = -1 is out of range"),
        (lambda: setattr(filter, "mix", -1), "mix = -1 is out of range"),
        (lambda: filter.key_on(128), "pitch = 128 is out of range; use 0 to 127"),
        (lambda: filter.key_on(69, 2), "velocity = 2 is out of range; use 0 to 1"),
        (lambda: filter.bend(49), "semitones = 49 is out of range; use -48 to 48"),
        (lambda: filter.seek(float("nan")), "seconds = NaN; use a finite time"),
        (lambda: filter.set_score("nonsense"), "score, line 1: is not "),
        (lambda: render(SOUND, 48000, score="tone-filter-score 1\n2 1 69"), "score, line 2: ends at 1"),
        (lambda: filter.process(np.zeros((3, 8))), "3 channels, and the filter is made for 2; make it with channels=3"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()


def test_unknown_and_read_only_attributes_are_refused():
    filter = ToneFilter(48000)
    for name in ["mixx", "latency", "settings"]:
        with pytest.raises(AttributeError):
            setattr(filter, name, 1)
    with pytest.raises(AttributeError):
        del filter.mix


def test_a_preset_of_a_newer_version_is_loaded_with_a_warning(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text('{"version": 2, "name": "Mine", "settings": {"mix": 30, "of-the-future": 1}}')
    with pytest.warns(UserWarning, match="mine.json"):
        assert ToneFilter(48000, file).mix == 30
    file.write_text("{")
    with pytest.raises(ValueError, match="mine.json"):
        tone_filter.ToneFilter(48000, str(file))
