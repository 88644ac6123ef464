//! Beats of songs with known times.

use super::*;
use tone_filter_listener::beats::{BeatFinder, BeatTracker, Beats};

/// Lookahead of a decision in frames.
const LOOKAHEAD: u32 = 4;

/// Notes of a song: start in s, end in s, index of the note, power.
type Song = Vec<(f64, f64, usize, f32)>;

/// Returns the decisions of an ideal listener with lookahead, frame by frame.
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
        // Hiss, except in silence: in each frame, the level of another note rises.
        let hiss = 1e-5 * song.len().min(1) as f32;
        decisions.level[NOTES - 1 - 3 * (frames % 4) as usize] += hiss;
        decisions
    })
}

fn beats_of(song: &Song, seconds: f64) -> Option<Beats> {
    let mut finder = BeatFinder::new(FRAME);
    decisions(song, seconds).for_each(|decisions| finder.push(&decisions));
    finder.beats()
}

/// Returns an accompaniment in bars of `meter` beats, with beats at the `times`; it ends at the last one. Each bar has one harmony:
/// a bass note on the first beat, and chords on the others. A quieter note follows halfway through each beat.
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

/// Returns a chord on each beat at the `times`, all alike, and a quieter note halfway through each beat. Only the harmony shows the
/// bars of `meter` beats. The first bar has one beat.
fn chords(times: &[f64], meter: usize) -> Song {
    let chord = |(beat, pair): (usize, &[f64])| {
        let root = [0, 5, 7, 2][beat.div_ceil(meter) % 4];
        let at = |place: f64| pair[0] + place * (pair[1] - pair[0]);
        let note = |note: usize| (at(0.0), at(0.4), 32 + root + note, 0.03);
        [note(0), note(4), note(7), (at(0.5), at(0.9), 56 + root, 0.01)]
    };
    times.windows(2).enumerate().flat_map(chord).collect()
}

/// Returns the times of `count` beats of `length` seconds.
fn steady(count: u32, length: f64) -> Vec<f64> {
    (0..count).map(|n| 0.3 + length * f64::from(n)).collect()
}

/// Returns the lower one of recall and precision, with a tolerance of 70 ms.
fn agreement(times: &[f64], found: &[f64]) -> f64 {
    let share = |some: &[f64], others: &[f64]| {
        let near = |time: &&f64| others.iter().any(|other| (other - *time).abs() < 0.07);
        some.iter().filter(near).count() as f64 / some.len() as f64
    };
    share(times, found).min(share(found, times))
}

fn times(found: &Beats) -> Vec<f64> {
    found.beats.iter().map(|beat| beat.time).collect()
}

/// Tempi in beats per minute and meters of steady songs.
const STEADY: [(f64, usize); 5] = [(90.0, 4), (120.0, 4), (160.0, 4), (100.0, 3), (150.0, 3)];

#[test]
fn steady_songs_have_their_tempo_and_bars() {
    for (tempo, meter) in STEADY {
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

        let found = beats_of(&chords(&times_of_beats, meter), 0.5 + 80.0 * 60.0 / tempo).unwrap();
        let bars: Vec<f64> = times_of_beats[1..79].iter().copied().step_by(meter).collect();
        let downbeats: Vec<f64> = found.downbeats().collect();
        assert!(agreement(&bars, &downbeats) >= 0.9, "harmony, {tempo} {meter}: {downbeats:?}");
    }
}

/// Returns the times of beats that slow down from 120 to 80 beats per minute within 60 s.
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
fn steady_beats_are_closer_than_frames() {
    let found = times(&beats_of(&accompaniment(&steady(80, 0.5), 4), 40.5).unwrap());
    // Each time is the mean of seven whole frames. 0.5 s are 43.07 frames.
    let off = found[4..76].windows(2).map(|pair| (pair[1] - pair[0] - 0.5).abs() / FRAME);
    assert!(off.fold(0.0, f64::max) < 0.25);
}

#[test]
fn silence_has_no_beats() {
    assert_eq!(beats_of(&Song::new(), 20.0), None);
    assert_eq!(BeatFinder::new(FRAME).beats(), None);
}

/// Tempo of [`drums`] in beats per minute.
const TEMPO: f64 = 110.0;

/// Returns the times of the beats of [`drums`].
fn beats_of_drums() -> Vec<f64> {
    (0..).map(|n| 60.0 / TEMPO * f64::from(n)).take_while(|time| *time < 40.0).collect()
}

/// Passes the decisions about a loop of drums of 40 s at 44.1 kHz to `report`.
fn drums(kernel: Kernel, mut report: impl FnMut(&Decisions)) {
    let mut noise = noise();
    let beat = 60.0 / TEMPO;
    // A bass drum on the first and third beat, a snare drum on the others, a hi-hat on eighths.
    let samples: Vec<f32> = (0..40 * 44_100)
        .map(|sample| {
            let t = f64::from(sample) / 44_100.0;
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
        .collect();
    let mut listener = Listener::new(44_100.0, true, Model::Full);
    for block in samples.as_chunks().0 {
        listener.push(kernel, block, None).into_iter().for_each(&mut report);
    }
}

#[test]
fn a_loop_of_drums_has_its_tempo() {
    let mut finder = BeatFinder::new(FRAME);
    drums(Kernel::best(), |decisions| finder.push(decisions));
    let found = finder.beats().unwrap();
    let bpm = found.tempo().unwrap();
    assert!((bpm / TEMPO - 1.0).abs() < 0.02, "{bpm}");
    assert!(agreement(&beats_of_drums()[..73], &times(&found)) >= 0.95);
}

/// Time in s after which a tracker must have found the beats.
const FOUND: f64 = 10.0;

/// Results of a tracker.
#[derive(Debug, Default, PartialEq)]
struct Tracked {
    /// Times of the beats.
    beats: Vec<f64>,
    /// Time of the end of each frame, and the tempo.
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
        let mut tracked = Self::default();
        drums(kernel, |decisions| tracked.push(tracker, kernel, decisions));
        tracked
    }

    /// Asserts that the tempo is always within 2 % of `tempo` after `from` s.
    fn check_tempo(&self, tempo: f64, from: f64) {
        for (time, found) in self.tempi.iter().filter(|(time, _)| *time > from) {
            let found = found.unwrap_or_default();
            assert!((found / tempo - 1.0).abs() < 0.02, "{found} for {tempo} after {time} s");
        }
    }

    /// Asserts that 95 % of the beats after [`FOUND`] are among the `expected` ones, and 95 % of these were found.
    fn check_beats(&self, expected: &[f64]) {
        let late = |times: &[f64]| -> Vec<f64> {
            times.iter().copied().filter(|time| *time > FOUND).collect()
        };
        let agreement = agreement(&late(expected), &late(&self.beats));
        assert!(agreement >= 0.95, "{agreement}, {expected:?}");
    }
}

#[test]
fn steady_songs_are_tracked() {
    for (tempo, meter) in STEADY {
        let times = steady(80, 60.0 / tempo);
        let end = times[times.len() - 1];
        let tracked = Tracked::song(&accompaniment(&times, meter), end);
        // The tempo of a fast waltz is found later.
        let is_fast_waltz = (tempo, meter) == (150.0, 3);
        tracked.check_tempo(tempo, if is_fast_waltz { 14.0 } else { FOUND });
        tracked.check_beats(&times);
    }
}

#[test]
fn a_loop_of_drums_is_tracked() {
    let beats = beats_of_drums();
    for kernel in Kernel::available() {
        let mut tracker = BeatTracker::new(FRAME);
        let tracked = Tracked::drums(&mut tracker, kernel);
        tracked.check_tempo(TEMPO, FOUND);
        tracked.check_beats(&beats);
        if kernel == Kernel::best() {
            tracker.reset();
            assert_eq!(Tracked::drums(&mut tracker, kernel), tracked, "after a reset");
        }
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
