"""Tests of `render` against the command."""

import signal

import numpy as np
import pytest
import soundfile
import tone_filter
from conftest import same, sine


def by_command(command, folder, audio, rate, *flags):
    """Returns the output of `tone-filter render` for an array."""
    soundfile.write(folder / "in.wav", audio.T, rate, subtype="FLOAT")
    command("render", folder / "in.wav", "-o", folder / "out.wav", "--bit-depth", "32f", "--force", *flags)
    return np.atleast_2d(soundfile.read(folder / "out.wav", dtype="float32")[0].T)


@pytest.mark.parametrize(
    ("channels", "settings", "flags"),
    [
        (1, {}, []),
        (2, {"sync": "1/8", "tempo": 93}, ["--sync", "1/8", "--tempo", 93]),
        (6, {"preset": "stereo-wide"}, ["--preset", "stereo-wide"]),
    ],
    ids=str,
)
def test_channels_and_settings_match_the_command(tune, command, tmp_path, channels, settings, flags):
    audio, rate = tune
    audio = np.stack([np.roll(audio[index % 2], 3000 * index) for index in range(channels)])[:, : 3 * rate]
    expected = by_command(command, tmp_path, audio, rate, *flags)
    assert same(tone_filter.render(audio, rate, **settings), expected)


def test_a_score_matches_the_command(tune, command, tmp_path):
    audio, rate = tune
    score = tone_filter.transcribe(audio, rate).score
    (tmp_path / "song.tfs").write_text(score)
    expected = by_command(command, tmp_path, audio, rate, "--score", tmp_path / "song.tfs")
    assert same(tone_filter.render(audio, rate, score=score), expected)


def test_the_shape_is_kept():
    tone = sine(48000, 0.5)
    flat = tone_filter.render(tone, 48000)
    assert flat.shape == tone.shape
    assert same(flat[None], tone_filter.render(tone[None], 48000))
    for shape in [(0,), (2, 0)]:
        assert tone_filter.render(np.zeros(shape), 48000).shape == shape


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no such timers")
def test_ctrl_c_interrupts_rendering():
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            # An hour of noise, which takes minutes.
            tone_filter.render(np.random.default_rng(0).standard_normal(3600 * 8000, dtype="float32"), 8000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
