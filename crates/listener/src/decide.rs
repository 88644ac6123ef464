//! Makes decisions from log odds.

use crate::{
    BLOCK, FRAME, LOWEST_NOTE, NOTES,
    detectors::{FIRST_NOTE, decay},
    edges::{Edges, Kind},
    weights::{COLUMNS, Thresholds},
};

/// Lookahead of a decision in frames.
pub const LOOKAHEAD: usize = 4;

/// Mean time in seconds by which a decision precedes the delayed sound: the lookahead of 46 ms, less the listener's delay
/// ([`Listener::delay`](crate::Listener::delay)) and half a frame.
const REACH: f64 = 0.035;
/// Time in which a new tone's power rises to a quarter, in time constants of its detector.
const LEVEL_RISE: f64 = 1.7;
/// Time before the end of a frame in which edges are searched: a number of seconds, plus a number of the detector's time
/// constants.
const EDGE_REACH: [f64; 2] = [0.03, 0.5];
/// Minimum log odds of a [likely](Decisions::likely) note, relative to the threshold.
const LIKELY: f32 = 1.0;
/// [`LIKELY`] for a note that begins out of near silence. The first value holds for detectors with a time constant of up to 30
/// ms, the second one from 60 ms on; in between, it is interpolated.
const LIKELY_FROM_SILENCE: [f64; 2] = [1.0, -2.5];

/// Decisions of one frame. The arrays have an element for each note, from MIDI note 28 on.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// Whether each note is played.
    pub on: [bool; NOTES],
    /// Whether each note has begun within the last few frames, possibly again while it was held.
    pub begun: [bool; NOTES],
    /// Whether each note is played with little doubt: its log odds exceed the threshold by more than 1.
    pub clear: [bool; NOTES],
    /// Log odds that each note is played, before threshold and hysteresis.
    pub logit: [f32; NOTES],
    /// Log odds that each note has begun within the last few frames.
    pub begun_logit: [f32; NOTES],
    /// Log odds above which a note starts to be held: the fitted threshold less the sensitivity.
    pub threshold: f32,
    /// Number of voices four frames ago, even without lookahead. Notes up to two semitones apart count as one.
    pub voices: usize,
    /// Power of the input at each note's frequency, averaged over the channels, at the time to which the decision refers; 0.5 for
    /// a full-scale sine.
    pub level: [f32; NOTES],
    /// Stereo position of each note at the time of `level`: 1 is left, -1 is right, and a single channel has 0. It is the
    /// difference of the two channels' amplitudes at the note's frequency, divided by their sum.
    pub place: [f32; NOTES],
    /// Maximum power at each note's frequency from the time of `level` to the last frame. With lookahead, it includes the attack
    /// of a note that is just beginning.
    pub peak: [f32; NOTES],
    /// Whether each note is played in the last frame, decided without lookahead: 46 ms earlier than `on`, but with more errors.
    /// Without lookahead, equal to `on`.
    pub early: [bool; NOTES],
    /// Whether each note is likely to be played: its log odds are clearly above the threshold, or, for a low note that begins
    /// out of silence, not far below it. False without lookahead.
    pub likely: [bool; NOTES],
    /// Age of the edge at which a note began or ended, in samples before the end of the block that returned the decision. It is a
    /// rise of the sound if the note becomes `likely` in this frame, and a fall if the note stops being `early`. `None` for all
    /// other notes, without a clear edge, or without lookahead.
    pub edge: [Option<u32>; NOTES],
    /// Power at each note's frequency. With lookahead, it comes from a later frame than `level`, to compensate for the rise time
    /// of the note's detector.
    pub ahead: [f32; NOTES],
    /// Number of frames decided since the reset. The decision refers to the input's sample `frames * frame - lookahead`.
    pub frames: u64,
    /// Samples from the end of the last decided frame to the end of the block that returned the decision; at most
    /// [`Listener::delay`](crate::Listener::delay).
    pub age: u64,
}

impl Decisions {
    /// Decisions before the first frame: no note is played.
    pub const NONE: Self = Self {
        on: [false; NOTES],
        begun: [false; NOTES],
        clear: [false; NOTES],
        logit: [0.0; NOTES],
        begun_logit: [0.0; NOTES],
        threshold: 0.0,
        voices: 0,
        level: [0.0; NOTES],
        place: [0.0; NOTES],
        peak: [0.0; NOTES],
        early: [false; NOTES],
        likely: [false; NOTES],
        edge: [None; NOTES],
        ahead: [0.0; NOTES],
        frames: 0,
        age: 0,
    };
}

/// Log odds with lookahead above which a note counts as a voice.
const SURE: f32 = 2.0;
/// Maximum distance in semitones at which two sure notes count as one voice, as in a glide or at a pitch between two notes.
const APART: usize = 2;
/// Mean number of voices below which the music counts as a single voice.
const ONE: f32 = 1.4;
/// Initial mean, just above [`ONE`].
const UNKNOWN: f32 = 1.45;
/// One-pole coefficients of the mean per frame, rising and falling: time constants of 0.6 and 1.9 s.
const STEPS: [f32; 2] = [0.02, 0.006];
/// Increase of the threshold in log odds, for [`Decisions::clear`]. In music of a single voice, it also applies to notes that
/// start without a detected beginning.
const RAISE: f32 = 1.0;

/// Slow mean of the number of voices in the music.
#[derive(Debug, Clone)]
struct Voices {
    mean: f32,
    /// Number of voices in the frame pushed last.
    count: usize,
}

impl Voices {
    const NEW: Self = Self { mean: UNKNOWN, count: 0 };

    /// Counts the voices of a frame by the notes' log odds with lookahead. Returns whether the music has a single voice. Frames
    /// without a sure note do not change the mean.
    fn push(&mut self, log_odds: impl Iterator<Item = f32>) -> bool {
        let mut last = None;
        self.count = 0;
        for (note, _) in log_odds.enumerate().filter(|(_, held)| *held > SURE) {
            self.count += usize::from(last.is_none_or(|last| note - last > APART));
            last = Some(note);
        }
        let count = self.count as f32;
        if count > 0.0 {
            let [rise, fall] = STEPS;
            let step = if count > self.mean { rise } else { fall };
            self.mean += step * (count - self.mean);
        }
        self.mean < ONE
    }
}

/// Constants of a note, which depend on its frequency.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Frequency in Hz.
    frequency: f64,
    /// Time constant of the note's detector in seconds.
    rise: f64,
    /// Minimum log odds, relative to the threshold, of a likely note that begins out of near silence.
    from_silence: f32,
    /// Age of the level in [`Decisions::ahead`], in frames.
    ahead: usize,
}

impl Timing {
    /// Returns the constants of all notes, for A4 at `a4` Hz.
    pub fn all(a4: f64) -> [Self; NOTES] {
        std::array::from_fn(|note| {
            let frequency = a4 * libm::exp2((note + LOWEST_NOTE) as f64 / 12.0 - 69.0 / 12.0);
            let rise = 1.0 / decay(0, frequency);
            let ahead = ((REACH - LEVEL_RISE * rise) / FRAME).max(0.0) as usize;
            let low = ((rise - 0.03) / 0.03).clamp(0.0, 1.0);
            let [high, lowest] = LIKELY_FROM_SILENCE;
            let from_silence = (high + low * (lowest - high)) as f32;
            Self { frequency, rise, from_silence, ahead }
        })
    }
}

/// Makes the decisions. The arrays have the values of the last frames, newest first.
#[derive(Debug, Clone)]
pub struct Decider {
    voices: Voices,
    /// Power of each note at the end of each frame.
    levels: [[f32; NOTES]; LOOKAHEAD + 1],
    /// Stereo position of each note at the end of each frame.
    places: [[f32; NOTES]; LOOKAHEAD + 1],
    sensitivities: [f32; LOOKAHEAD + 1],
    pub decisions: Decisions,
}

impl Decider {
    pub const NEW: Self = Self {
        voices: Voices::NEW,
        levels: [[0.0; NOTES]; LOOKAHEAD + 1],
        places: [[0.0; NOTES]; LOOKAHEAD + 1],
        sensitivities: [0.0; LOOKAHEAD + 1],
        decisions: Decisions::NONE,
    };

    /// Stores the power and the stereo position of each note at the end of a frame, before [`Decider::decide`].
    pub fn push_levels(&mut self, [levels, places]: [[f32; NOTES]; 2]) {
        self.levels.rotate_right(1);
        self.places.rotate_right(1);
        (self.levels[0], self.places[0]) = (levels, places);
    }

    /// Decides on a frame by its log odds. `sensitivity` lowers the thresholds of starts and ends, but not of `begun`. Decisions
    /// with lookahead use the sensitivity of the earlier frame to which they refer. Notes whose detector is not `on` are off.
    /// `frame` is the length of a frame in samples, `blocks` the number of blocks so far.
    pub fn decide(
        &mut self,
        logits: &[[f32; COLUMNS]; NOTES],
        looks_ahead: bool,
        (thresholds, sensitivity): (&[Thresholds; 2], f32),
        on: &[bool],
        (frame, blocks): (usize, u64),
        (edges, timings): (&Edges, &[Timing; NOTES]),
    ) {
        let column = usize::from(looks_ahead);
        let lookahead = if looks_ahead { LOOKAHEAD } else { 0 };
        let is_one_voice = self.voices.push(logits.iter().map(|logits| logits[1]));
        let decisions = &mut self.decisions;
        self.sensitivities.rotate_right(1);
        self.sensitivities[0] = sensitivity;
        if decisions.frames == 0 {
            self.sensitivities.fill(sensitivity);
        }
        let sensitivity = [self.sensitivities[0], self.sensitivities[LOOKAHEAD]];
        decisions.frames += 1;
        decisions.age = blocks * BLOCK as u64 - decisions.frames * frame as u64;
        decisions.voices = self.voices.count;
        decisions.threshold = thresholds[column].on - sensitivity[column];
        let sums = looks_ahead.then(|| edges.sums());
        for (note, logits) in logits.iter().enumerate() {
            let is_on = on[FIRST_NOTE + note];
            let begins = |column: usize| logits[2 + column] > thresholds[column].begun;
            let exceeds = |column: usize, change: f32| {
                is_on && logits[column] > thresholds[column].on - sensitivity[column] + change
            };
            let held = |column: usize, before: bool| match before {
                true => exceeds(column, -thresholds[column].hysteresis),
                false if is_one_voice && !begins(column) => exceeds(column, RAISE),
                false => exceeds(column, 0.0),
            };
            let (was_early, was_likely) = (decisions.early[note], decisions.likely[note]);
            decisions.on[note] = held(column, decisions.on[note]);
            decisions.clear[note] = exceeds(column, RAISE);
            decisions.early[note] = held(0, was_early);
            decisions.begun[note] = is_on && begins(column);
            decisions.logit[note] = logits[column];
            decisions.begun_logit[note] = logits[2 + column];
            decisions.level[note] = self.levels[lookahead][note];
            decisions.place[note] = self.places[lookahead][note];
            decisions.peak[note] =
                self.levels[..=lookahead].iter().fold(0.0, |peak, level| peak.max(level[note]));

            let Timing { frequency, rise, from_silence, ahead } = timings[note];
            decisions.ahead[note] = self.levels[ahead.min(lookahead)][note];
            (decisions.likely[note], decisions.edge[note]) = (false, None);
            let Some(sums) = sums.as_ref().filter(|_| is_on) else { continue };
            let find = |kind| {
                let reach = EDGE_REACH[0] + EDGE_REACH[1] * rise;
                edges.find(kind, sums, frequency, reach, decisions.age as usize)
            };
            let odds = logits[0] - (thresholds[0].on - sensitivity[0]);
            let certain = odds > LIKELY;
            let rises = if certain { !was_likely } else { odds > from_silence };
            let begins = rises.then(|| find(Kind::Rise)).flatten();
            let likely = certain || begins.is_some_and(|edge| edge.from_silence);
            let ends = was_early && !decisions.early[note];
            let edge = match likely && !was_likely {
                true => begins,
                false => ends.then(|| find(Kind::Fall)).flatten(),
            };
            decisions.edge[note] = edge.map(|edge| edge.age as u32);
            decisions.likely[note] = likely;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the log odds of a frame in which the notes with these indices are sure.
    fn sure(notes: &[usize]) -> [f32; NOTES] {
        std::array::from_fn(|note| if notes.contains(&note) { 2.01 } else { 1.99 })
    }

    /// Pushes frames with these notes until [`Voices::push`] returns `one`. Returns their number.
    fn frames_until(voices: &mut Voices, one: bool, notes: &[usize]) -> usize {
        1 + (0..1000).take_while(|_| voices.push(sure(notes).into_iter()) != one).count()
    }

    #[test]
    fn voices_are_counted_by_a_slow_mean() {
        let mut voices = Voices::NEW;
        // Silence does not change the mean.
        (0..1000).for_each(|_| _ = voices.push(sure(&[]).into_iter()));
        // After n frames the mean is 1 + 0.45 * 0.994^n, which is below 1.4 from the 20th frame on.
        assert_eq!(frames_until(&mut voices, true, &[40]), 20);
        (0..2000).for_each(|_| assert!(voices.push(sure(&[40]).into_iter())));
        // From 1 on, three voices give 3 - 2 * 0.98^n, which is at least 1.4 from the 12th frame on.
        assert_eq!(frames_until(&mut voices, false, &[10, 20, 30]), 12);
        (0..2000).for_each(|_| assert!(!voices.push(sure(&[10, 30]).into_iter())));
        // From 2 on, one voice gives 1 + 0.994^n, which is below 1.4 from the 153rd frame on.
        assert_eq!(frames_until(&mut voices, true, &[30]), 153);
    }

    #[test]
    fn notes_two_semitones_apart_are_one_voice() {
        for (notes, one) in [(&[40, 42][..], true), (&[38, 40, 42], true), (&[40, 43], false)] {
            let mut voices = Voices::NEW;
            (0..1000).for_each(|_| _ = voices.push(sure(notes).into_iter()));
            assert_eq!(voices.push(sure(notes).into_iter()), one, "{notes:?}");
        }
    }

    /// Returns for each of `frames` whether the note with index 60 is on, after 2000 frames with the notes `before`. Each of
    /// `frames` has that note's log odds of being held and of beginning. Thresholds are 0, the hysteresis is 0.5. Also checks
    /// `clear` and `likely`.
    fn decided(before: &[usize], sensitivity: f32, frames: &[[f32; 2]]) -> Vec<bool> {
        let (mut decider, mut ahead) = (Decider::NEW, Decider::NEW);
        let (edges, timings) = (Edges::new(44_100.0), Timing::all(440.0));
        let mut decide = |held: [f32; NOTES], [of_60, begins]: [f32; 2]| {
            let logits = std::array::from_fn(|note| match note {
                60 => [of_60, held[note], begins, begins],
                _ => [held[note], held[note], -3.0, -3.0],
            });
            let thresholds = [Thresholds { on: 0.0, hysteresis: 0.5, begun: 0.0 }; 2];
            let on = [true; FIRST_NOTE + NOTES];
            let (thresholds, frame_and_blocks) = ((&thresholds, sensitivity), (512, 1 << 20));
            decider.decide(&logits, false, thresholds, &on, frame_and_blocks, (&edges, &timings));
            assert_eq!(decider.decisions.clear[60], of_60 > 1.0 - sensitivity);
            ahead.decide(&logits, true, thresholds, &on, frame_and_blocks, (&edges, &timings));
            assert_eq!(ahead.decisions.likely[60], of_60 > 1.0 - sensitivity);
            decider.decisions.on[60]
        };
        (0..2000).for_each(|_| assert!(!decide(sure(before), [-3.0, -3.0])));
        frames.iter().map(|frame| decide(sure(&[]), *frame)).collect()
    }

    #[test]
    fn one_voice_raises_the_threshold_of_notes_that_do_not_begin() {
        let weak = [[0.995, -1.0], [1.005, -1.0], [-0.4, -1.0], [-0.6, -1.0], [0.995, -1.0]];
        assert_eq!(decided(&[40], 0.0, &weak), [false, true, true, false, false]);
        assert_eq!(decided(&[30, 40], 0.0, &weak), [true, true, true, false, true]);
        let begins = [[0.1, -1.0], [0.1, 0.1], [0.1, -1.0], [-0.6, 0.1]];
        assert_eq!(decided(&[40], 0.0, &begins), [false, true, true, false]);
        // The sensitivity moves the raised threshold, too.
        assert_eq!(decided(&[40], 1.0, &[[-0.1, -1.0], [0.1, -1.0]]), [false, true]);
        assert_eq!(decided(&[40], -1.0, &[[1.9, -1.0], [2.1, -1.0]]), [false, true]);
    }
}
