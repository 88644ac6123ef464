"""Tests of ToneFilter, which filters block by block."""

import json
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import tone_filter
from conftest import ROOT, same, sine
from tone_filter import ToneFilter

RATE = 44100
AUTOMATION = Path(os.environ["TONE_FILTER_AUTOMATION"])


@pytest.fixture(scope="module")
def music(tune):
    return tune[0][:, : 3 * RATE]


def signal(name):
    """Left and right channel in a file of the automation."""
    return np.fromfile(AUTOMATION / name, "<f4").reshape(2, -1)


def test_automation_matches_the_library_bit_for_bit():
    score, audio = json.loads((AUTOMATION / "score.json").read_text()), signal("input.f32")
    filter = ToneFilter(score["rate"])
    names = filter.settings.keys()
    parts = np.split(audio, [step["frame"] for step in score["steps"]], axis=1)
    output = [filter.process(parts[0])]
    for step, part in zip(score["steps"], parts[1:], strict=True):
        settings = {name.replace("-", "_"): value for name, value in step["settings"].items()}
        filter.set(**{name: value for name, value in settings.items() if name in names})
        output.append(filter.process(part))
    assert same(np.concatenate(output, axis=1), signal("expected.f32"))


def test_presets_match_the_factory_files():
    for preset in tone_filter.presets():
        file = json.loads((ROOT / f"crates/presets/factory/{preset.id}.json").read_text())
        assert preset == (preset.id, file["name"], file["description"], tuple(file["tags"]))
        assert ToneFilter(RATE, preset.name).settings == ToneFilter(RATE, preset.id).settings
    assert [preset.id for preset in tone_filter.presets()][:2] == ["tone-filter", "reference"]


def test_keys_choose_what_sounds():
    def peak(play):
        filter = ToneFilter(RATE, keys="hold", mix=100, voice="sine", auto=False)
        play(filter)
        return np.abs(filter.process(sine(RATE, 1))[RATE // 2 :]).max()

    assert peak(lambda filter: None) < 1e-4 < 0.01 < peak(lambda filter: filter.key_on(69))
    assert peak(lambda filter: (filter.sustain(True), filter.key_on(69), filter.key_off(69))) > 0.01
    assert peak(lambda filter: (filter.key_on(69), filter.all_keys_off())) < 1e-4
    assert peak(lambda filter: (filter.key_on(69), filter.bend(7))) < 0.01, "the band of A4 is at E5 then"


@pytest.mark.parametrize(
    "view",
    [
        lambda audio: np.asfortranarray(audio),
        lambda audio: np.repeat(audio, 2, axis=1)[:, ::2],
        lambda audio: audio[:, ::-1].copy()[:, ::-1],
        lambda audio: audio.astype("float64"),
        lambda audio: audio.astype(">f4"),
        lambda audio: np.frombuffer(b"x" + audio.tobytes(), "u1")[1:].view("f4").reshape(audio.shape),
    ],
    ids=["fortran", "strided", "reversed", "float64", "big endian", "unaligned"],
)
def test_any_memory_layout_is_read(music, view):
    audio = view(music)
    before = audio.copy()
    assert same(ToneFilter(RATE).process(audio), ToneFilter(RATE).process(music))
    assert np.array_equal(audio, before), "the input is never written to"


def test_every_setting_is_an_attribute_and_in_the_dict():
    filter = ToneFilter(RATE)
    rows = tone_filter.settings()
    assert filter.settings == {row.name: row.default for row in rows}
    for row in rows:
        doc = getattr(ToneFilter, row.name).__doc__
        assert doc.startswith(row.help) and repr(row.default) in doc
        value = row.choices[-1] if row.choices else row.max if row.unit else True
        value = {"bands": "1" + 47 * "0", "custom": "100100010000", "targets": "A A C C C C E E E E E A"}.get(
            row.name, value
        )
        setattr(filter, row.name, value)
        seen = getattr(filter, row.name)
        assert filter.settings[row.name] == seen
        if row.name not in ("bands", "custom"):
            assert seen == value and type(seen) is type(row.default), row
    assert filter.bands.replace(" ", "").rstrip("0") == "1"
    again = ToneFilter(RATE, **filter.settings)
    assert again.settings == filter.settings
    assert eval(repr(filter)).settings == filter.settings


def test_numbers_keep_their_decimal_form():
    filter = ToneFilter(RATE, tone=1234.5, ring=0.1, mix=np.float32(33.3), auto=np.bool_(False))
    assert (filter.tone, filter.ring, filter.mix, filter.auto) == (1234.5, 0.1, 33.3, False)
    assert ToneFilter(RATE, "reference").threshold == -36.9897
    assert repr(ToneFilter(RATE, mix=70)) == "ToneFilter(44100.0, channels=2, tempo=120.0, mix=70.0)"


def test_several_settings_change_together_or_not_at_all():
    filter = ToneFilter(RATE)
    filter.set(mix=10, voice="saw")
    with pytest.raises(ValueError):
        filter.set("organ", mix=20, voice="bagpipe")
    assert (filter.mix, filter.voice) == (10, "saw")
    filter.bypass = True
    filter.set("organ", mix=20)
    assert (filter.mix, filter.voice, filter.octave, filter.bypass) == (20, "sine", 1, True)


def test_a_score_sounds_as_in_render(music):
    score = "tone-filter-score 1\n0 0.5 69\n1 3 57\n"
    filter = ToneFilter(RATE, tempo=60, sync="1/4", lookahead=False)
    filter.set_score(score)
    filter.tempo = 90
    filter.seek(2)
    filter.reset()
    expected = tone_filter.render(music, RATE, score=score, sync="1/4", tempo=90)
    assert same(filter.process(music), expected)
    filter.seek(0)
    assert not same(filter.process(music), expected)
    filter.set_score(None)
    filter.reset()
    plain = ToneFilter(RATE, tempo=90, sync="1/4").process(music)
    assert same(filter.process(music), plain) and not same(plain, expected)


def test_audio_may_have_fewer_channels_than_the_filter(music):
    six = np.concatenate([music] * 3)
    filter = ToneFilter(RATE, channels=6, lookahead=True)
    assert filter.channels == 6 and filter.sample_rate == RATE
    assert filter.process(six).shape == six.shape
    assert filter.process(music).shape == music.shape
    assert same(ToneFilter(RATE, channels=6).process(music), ToneFilter(RATE).process(music))


def test_other_threads_run_during_processing(music):
    filter, audio = ToneFilter(RATE), np.tile(music, 10)
    entered, left = threading.Event(), threading.Event()

    def work():
        entered.set()
        filter.process(audio)
        left.set()

    # The interpreter does not switch threads by itself for 1000 s. So this thread runs meanwhile only if `process` releases
    # the interpreter.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        while not entered.is_set():
            time.sleep(0)
        assert not left.is_set()
        filter.mix = 70  # waits for the block
        assert filter.mix == 70
        thread.join()
    finally:
        sys.setswitchinterval(interval)
