//! Beats of songs with known times.

use super::*;
use tone_filter_listener::beats::{BeatFinder, BeatTracker, Beats};

/// Lookahead of a decision in frames.
const LOOKAHEAD: u32 = 4;

/// Notes of a song: start and end in s, index of the note, power.
type Song = Vec<(f64, f64, usize, f32)>;

/// Returns the ideal decisions of a listener with lookahead about `song`, frame by frame.
fn decisions(song: &Song, seconds: f64) -> impl Iterator<Item = Decisions> {
    let frames = (seconds / FRAME) as u64;
    (1..frames).map(move |frames| {
        let mut decisions = Decisions { frames, ..Decisions::NONE };
        let now = (frames as f64 - f64::from(LOOKAHEAD)) * FRAME;
        for (start, end, note, power) in song {
            if (*start..*end).contains(&now) {
                decisions.on[*note] = true;
                decisions.begun[*note] = now - start < 3.0 * FRAME;
                decisions.level[*note] += power * (-3.0 * (now - start)).exp() as f32;
                decisions.peak[*note] = *power;
            }
        }
        decisions
    })
}

fn beats_of(song: &Song, seconds: f64) -> Option<Beats> {
    let mut finder = BeatFinder::new(FRAME);
    decisions(song, seconds).for_each(|decisions| finder.push(&decisions));
    finder.beats()
}

/// Returns an accompaniment in bars of `meter` beats, with beats at the `times`; it ends at the last. Each bar has one harmony:
/// a bass note on its first beat and chords on the other beats. A quieter note follows halfway through each beat.
fn accompaniment(times: &[f64], meter: usize) -> Song {
    let mut song = Song::new();
    for (beat, pair) in times.windows(2).enumerate() {
        let [start, next] = [pair[0], pair[1]];
        let length = next - start;
        let root = [0, 5, 7, 2][beat / meter % 4];
        if beat % meter == 0 {
            song.push((start, start + 0.9 * length, 5 + root, 0.1));
        } else {
            for note in [0, 4, 7] {
                song.push((start, start + 0.4 * length, 32 + root + note, 0.03));
            }
        }
        song.push((start + 0.5 * length, start + 0.9 * length, 56 + root, 0.01));
    }
    song
}

/// Returns the times of `count` beats of `length` seconds.
fn steady(count: u32, length: f64) -> Vec<f64> {
    (0..count).map(|n| 0.3 + length * f64::from(n)).collect()
}

/// Returns the lesser of recall and precision, with a tolerance of 70 ms.
fn agreement(times: &[f64], found: &[f64]) -> f64 {
    let share = |own: &[f64], other: &[f64]| {
        let near = |time: &&f64| other.iter().any(|own| (own - *time).abs() < 0.07);
        own.iter().filter(near).count() as f64 / own.len() as f64
    };
    share(times, found).min(share(found, times))
}

fn times(found: &Beats) -> Vec<f64> {
    found.beats.iter().map(|beat| beat.time).collect()
}

#[test]
fn steady_songs_have_their_tempo_and_bars() {
    for (tempo, meter) in [(90.0, 4), (120.0, 4), (160.0, 4), (100.0, 3), (150.0, 3)] {
        let times_of_beats = steady(80, 60.0 / tempo);
        let song = accompaniment(&times_of_beats, meter);
        let found = beats_of(&song, 0.5 + 80.0 * 60.0 / tempo).unwrap();
        let bpm = found.tempo().unwrap();
        assert!((bpm / tempo - 1.0).abs() < 0.02, "{tempo}: {bpm}");
        let agreed = agreement(&times_of_beats[..79], &times(&found));
        assert!(agreed >= 0.95, "{tempo} {meter}: {agreed}");
        assert_eq!(found.meter(), Some(meter as u8), "{tempo}");
        let bars: Vec<f64> = times_of_beats[..79].iter().copied().step_by(meter).collect();
        let downbeats: Vec<f64> = found.downbeats().collect();
        assert!(agreement(&bars, &downbeats) >= 0.9, "{tempo} {meter}: {downbeats:?}");
    }
}

/// Returns the times of the beats of 60 s that slow down from 120 to 80 beats per minute.
fn slowing() -> Vec<f64> {
    let (mut now, mut all) = (0.3, Vec::new());
    while now < 60.0 {
        all.push(now);
        now += 60.0 / slowing_tempo(now);
    }
    all
}

/// Returns the tempo of [`slowing`] at a time in s.
fn slowing_tempo(now: f64) -> f64 {
    120.0 - 40.0 * now / 60.0
}

#[test]
fn beats_follow_a_song_that_slows_down() {
    let all = slowing();
    let found = beats_of(&accompaniment(&all, 4), 60.0).unwrap();
    let found = times(&found);
    assert!(agreement(&all[..all.len() - 1], &found) >= 0.95);
    // Eight beats have the mean tempo that the song has in their middle.
    for eight in found.windows(9) {
        let tempo = 60.0 * 8.0 / (eight[8] - eight[0]);
        let expected = slowing_tempo((eight[0] + eight[8]) / 2.0);
        assert!((tempo / expected - 1.0).abs() < 0.02, "{tempo} {expected}");
    }
}

#[test]
fn silence_has_no_beats() {
    assert_eq!(beats_of(&Song::new(), 20.0), None);
    assert_eq!(BeatFinder::new(FRAME).beats(), None);
}

/// Rate in Hz, tempo and length in s of [`drums`].
const DRUMS: (f64, f64, f64) = (44_100.0, 110.0, 40.0);

/// Returns a loop of drums.
fn drums() -> Vec<f32> {
    let (rate, tempo, seconds) = DRUMS;
    let mut noise = noise();
    let beat = 60.0 / tempo;
    // A bass drum on the first and third beat, a snare drum on the others, a hi-hat on eighths.
    (0..(seconds * rate) as usize)
        .map(|sample| {
            let t = sample as f64 / rate;
            let (place, since) = ((t / beat) as usize % 4, t % beat);
            let white = noise();
            let hat = 0.05 * white * (-60.0 * (t % (beat / 2.0))).exp();
            let drum = if place % 2 == 0 {
                let sweep = TAU * (50.0 * since + 2.0 * (1.0 - (-40.0 * since).exp()));
                0.7 * sweep.sin() * (-12.0 * since).exp()
            } else {
                0.3 * (white + (TAU * 190.0 * since).sin()) * (-18.0 * since).exp()
            };
            (hat + drum) as f32
        })
        .collect()
}

#[test]
fn a_loop_of_drums_has_its_tempo() {
    let (rate, tempo, _) = DRUMS;
    let mut listener = Listener::new(rate, true, Model::Full);
    let mut finder = BeatFinder::new(listener.frame() as f64 / rate);
    for block in drums().as_chunks::<BLOCK>().0 {
        if let Some(decisions) = listener.push(Kernel::best(), block, None) {
            finder.push(decisions);
        }
    }
    let found = finder.beats().unwrap();
    let bpm = found.tempo().unwrap();
    assert!((bpm / tempo - 1.0).abs() < 0.02, "{bpm}");
    let all: Vec<f64> = (0..73).map(|n| 60.0 / tempo * f64::from(n)).collect();
    assert!(agreement(&all, &times(&found)) >= 0.95);
}

/// Time in s after which a tracker must have found the beats.
const FOUND: f64 = 10.0;

/// Reports of a tracker: times of all beats; for each frame, the time of its end and the tempo.
#[derive(Debug, Default, PartialEq)]
struct Tracked {
    beats: Vec<f64>,
    tempi: Vec<(f64, Option<f64>)>,
}

impl Tracked {
    fn push(&mut self, tracker: &mut BeatTracker, kernel: Kernel, decisions: &Decisions) {
        self.beats.extend(tracker.push(kernel, decisions, true));
        self.tempi.push((decisions.frames as f64 * FRAME, tracker.tempo()));
    }

    fn song(song: &Song, seconds: f64) -> Self {
        let (mut tracked, mut tracker) = (Self::default(), BeatTracker::new(FRAME));
        for decisions in decisions(song, seconds) {
            tracked.push(&mut tracker, Kernel::best(), &decisions);
        }
        tracked
    }

    fn drums(tracker: &mut BeatTracker, kernel: Kernel) -> Self {
        let (mut tracked, mut listener) =
            (Self::default(), Listener::new(DRUMS.0, true, Model::Full));
        for block in drums().as_chunks::<BLOCK>().0 {
            if let Some(decisions) = listener.push(kernel, block, None) {
                tracked.push(tracker, kernel, decisions);
            }
        }
        tracked
    }

    /// Asserts that the tempo is always within 2 % of `tempo` after `from` s.
    fn check_tempo(&self, tempo: f64, from: f64) {
        for (time, found) in self.tempi.iter().filter(|(time, _)| *time > from) {
            let found = found.unwrap_or_default();
            assert!((found / tempo - 1.0).abs() < 0.02, "{found} for {tempo} after {time} s");
        }
    }

    /// Asserts that after [`FOUND`] the beats are the `expected` ones.
    fn check_beats(&self, expected: &[f64]) {
        let late = |times: &[f64]| -> Vec<f64> {
            times.iter().copied().filter(|time| *time > FOUND).collect()
        };
        let agreement = agreement(&late(expected), &late(&self.beats));
        assert!(agreement >= 0.95, "{agreement}, {expected:?}");
    }
}

#[test]
fn the_tempo_of_a_steady_song_is_tracked() {
    for (tempo, meter) in [(90.0, 4), (120.0, 4), (160.0, 4), (100.0, 3), (150.0, 3)] {
        let times = steady(80, 60.0 / tempo);
        let end = times[times.len() - 1];
        let tracked = Tracked::song(&accompaniment(&times, meter), end);
        // In a fast waltz, the tracker takes the quiet notes between beats for beats, and finds the tempo later.
        let is_fast_waltz = (tempo, meter) == (150.0, 3);
        tracked.check_tempo(tempo, if is_fast_waltz { 18.0 } else { FOUND });
        if !is_fast_waltz {
            tracked.check_beats(&times);
        }
    }
}

#[test]
fn the_tempo_of_drums_is_tracked() {
    let (_, tempo, seconds) = DRUMS;
    let beats: Vec<f64> =
        (0..).map(|n| 60.0 / tempo * f64::from(n)).take_while(|t| *t < seconds).collect();
    let tracker = &mut BeatTracker::new(FRAME);
    let tracked = Tracked::drums(tracker, Kernel::best());
    tracked.check_tempo(tempo, FOUND);
    tracked.check_beats(&beats);
    tracker.reset();
    assert_eq!(Tracked::drums(tracker, Kernel::best()), tracked, "after a reset");
    for kernel in Kernel::available() {
        let tracked = Tracked::drums(&mut BeatTracker::new(FRAME), kernel);
        tracked.check_tempo(tempo, FOUND);
        tracked.check_beats(&beats);
    }
}

#[test]
fn a_song_that_slows_down_is_tracked_within_two_bars() {
    let all = slowing();
    let tracked = Tracked::song(&accompaniment(&all, 4), 60.0);
    tracked.check_beats(&all[..all.len() - 1]);
    for (time, found) in tracked.tempi.iter().filter(|(time, _)| *time > FOUND) {
        let (found, now) = (found.unwrap(), slowing_tempo(*time));
        let before = slowing_tempo(time - 8.0 * 60.0 / now);
        assert!((0.98 * now..1.02 * before).contains(&found), "{found} after {time} s, at {now}");
    }
}

#[test]
fn silence_and_a_held_chord_have_no_tempo() {
    let chord = [0, 4, 7].map(|note| (0.3, 60.0, 40 + note, 0.05)).to_vec();
    for song in [Song::new(), chord] {
        let tracked = Tracked::song(&song, 60.0);
        assert!(tracked.tempi.iter().all(|(_, tempo)| tempo.is_none()));
    }
}
