"""The filter for sound that comes block by block."""

import sys
import threading
import time

import numpy as np
import pytest
import tone_filter
from conftest import same, sines
from tone_filter import ToneFilter

RATE = 44100


@pytest.fixture(scope="module")
def music(tune):
    return tune[0][:, : 3 * RATE]


def in_blocks(filter, audio, lengths):
    start, parts = 0, []
    for index in range(audio.shape[-1]):
        end = start + lengths[index % len(lengths)]
        parts.append(filter.process(audio[..., start:end]))
        start = end
        if start >= audio.shape[-1]:
            return np.concatenate(parts, axis=-1)


@pytest.mark.parametrize("preset", ["tone-filter", "reference", "stereo-wide", "sound-chip"])
def test_the_output_does_not_depend_on_the_blocks(music, preset):
    whole = ToneFilter(RATE, preset).process(music)
    assert same(in_blocks(ToneFilter(RATE, preset), music, [1, 63, 64, 65, 0, 1000, 4096]), whole)
    assert same(in_blocks(ToneFilter(RATE, preset), music[0], [441]), ToneFilter(RATE, preset).process(music[0]))


def test_reset_is_the_state_of_a_new_filter(music):
    filter = ToneFilter(RATE)
    first = filter.process(music)
    assert not same(filter.process(music), first)
    filter.reset()
    assert same(filter.process(music), first)


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
def test_any_layout_of_the_memory_is_read(music, view):
    audio = view(music)
    before = audio.copy()
    assert same(ToneFilter(RATE).process(audio), ToneFilter(RATE).process(music))
    assert np.array_equal(audio, before), "the input is never written to"


def test_what_is_not_finite_counts_as_0(music):
    bad, silent = music.copy(), music.copy()
    bad[0, 1000:1200:3], bad[1, 5000], bad[1, 9000] = np.nan, np.inf, -np.inf
    silent[~np.isfinite(bad)] = 0
    assert same(ToneFilter(RATE).process(bad), ToneFilter(RATE).process(silent))


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


def test_numbers_are_those_that_were_written():
    filter = ToneFilter(RATE, tone=1234.5, ring=0.1, mix=np.float32(33.3), auto=np.bool_(False))
    assert (filter.tone, filter.ring, filter.mix, filter.auto) == (1234.5, 0.1, 33.3, False)
    assert ToneFilter(RATE, "reference").threshold == -36.9897
    assert repr(ToneFilter(RATE, mix=70)) == "ToneFilter(44100.0, channels=2, tempo=120.0, mix=70.0)"


def test_a_setting_moves_smoothly_and_arrives(music):
    filter = ToneFilter(RATE, "reference", mix=0)
    filter.process(music)
    filter.mix = 100
    filter.set("reference", mix=100)
    moving = filter.process(music)
    filter = ToneFilter(RATE, "reference", mix=100)
    filter.process(music)
    there = filter.process(music)
    assert not same(moving, there)
    # The settings have arrived after 20 ms, and the bands are the same: from 100 ms on, only rounding differs.
    assert np.abs(moving - there)[:, RATE // 10 :].max() < 1e-6


def test_several_settings_change_at_once_or_none():
    filter = ToneFilter(RATE)
    filter.set(mix=10, voice="saw")
    with pytest.raises(ValueError):
        filter.set("organ", mix=20, voice="bagpipe")
    assert (filter.mix, filter.voice) == (10, "saw")
    filter.set("organ", mix=20)
    assert (filter.mix, filter.voice, filter.octave) == (20, "sine", 1)


def test_ring_follows_the_tempo(music):
    def output(**own):
        return ToneFilter(RATE, "reference", **own).process(music)

    assert not same(output(sync="1/4"), output())
    # A quarter at 120 beats a minute is half a second, whose release is 0.5 s / ln 1e6.
    assert same(output(sync="1/4"), output(ring=0.5, release=np.float32(500 / np.log(1e6))))
    filter = ToneFilter(RATE, "reference", sync="1/4")
    filter.tempo = 60
    filter.reset()
    assert same(filter.process(music), output(sync="1/4", tempo=60))


def power_at(audio, pitch):
    audio = audio[..., RATE // 2 :]
    time = np.arange(audio.shape[-1]) / RATE
    return abs(np.mean(audio * np.exp(-2j * np.pi * 440 * 2 ** ((pitch - 69) / 12) * time)))


def test_keys_choose_what_sounds():
    tones = sines(RATE, 2, 69, 76)

    def levels(play):
        filter = ToneFilter(RATE, keys="hold", mix=100, voice="sine", auto=False)
        play(filter)
        output = filter.process(tones)
        return power_at(output, 69), power_at(output, 76)

    none = levels(lambda filter: None)
    assert max(none) < 1e-4
    a4, e5 = levels(lambda filter: filter.key_on(69))
    assert a4 > 100 * max(e5, 1e-6), (a4, e5)
    a4, e5 = levels(lambda filter: (filter.sustain(True), filter.key_on(76), filter.key_off(76)))
    assert e5 > 100 * max(a4, 1e-6), (a4, e5)
    assert levels(lambda filter: (filter.key_on(69), filter.all_keys_off())) == none
    bent = levels(lambda filter: (filter.key_on(69), filter.bend(7)))
    assert bent[0] < 0.01, "the band of A4 is at E5 then"


def test_a_score_decides_which_notes_sound():
    tones = sines(RATE, 2, 69)
    score = "tone-filter-score 1\n1 3 69\n"
    filter = ToneFilter(RATE, mix=100, auto=False)
    filter.set_score(score)
    first, second = np.split(filter.process(tones), 2)
    assert np.abs(first).max() < 1e-4 < 0.01 < np.abs(second).max()
    filter.reset()
    filter.seek(2.5)
    first, second = np.split(filter.process(tones), 2)
    assert np.abs(first[: RATE // 4]).max() > 0.01 and np.abs(second[RATE // 2 :]).max() < 1e-3
    filter.set_score(None)
    filter.reset()
    assert same(filter.process(tones), ToneFilter(RATE, mix=100, auto=False).process(tones))


def test_channels_are_up_to_those_it_is_made_for(music):
    six = np.concatenate([music] * 3)
    filter = ToneFilter(RATE, channels=6, lookahead=True)
    assert filter.channels == 6 and filter.sample_rate == RATE
    assert filter.process(six).shape == six.shape
    assert filter.process(music).shape == music.shape
    assert same(ToneFilter(RATE, channels=6).process(music), ToneFilter(RATE).process(music))


def test_other_threads_run_while_it_processes(music):
    filter, audio = ToneFilter(RATE), np.tile(music, 10)
    entered, left = threading.Event(), threading.Event()

    def work():
        entered.set()
        filter.process(audio)
        left.set()

    # The interpreter does not switch threads by itself for 1000 s: this thread runs meanwhile only if `process`
    # permits it.
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


def test_threads_share_a_filter_or_have_their_own(music):
    expected = ToneFilter(RATE).process(music)
    shared, own, errors = ToneFilter(RATE), [None] * 4, []

    def work(index):
        try:
            own[index] = in_blocks(ToneFilter(RATE), music, [4096])
            for start in range(0, RATE, 1024):
                block = shared.process(music[:, start : start + 1024])
                shared.mix = 10 * index
                assert np.isfinite(block).all()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors
    assert all(same(output, expected) for output in own)
    shared.reset()
    shared.mix = 50
    shared.reset()
    assert same(shared.process(music), expected)
