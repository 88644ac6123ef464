//! Beats of a whole recording, from all of its decisions.

use super::{
    Beats, FEWEST,
    bars::{self, Chroma},
    onsets::{DELAY, NOTES_BEGIN, Onsets, Strengths, classes},
    patterns::{Classes, KINDS, PATTERNS, table_row},
    space::{self, Scores, Space, State},
};
use crate::{Decisions, decide::LOOKAHEAD};
use std::array;

/// Time in s before and after a frame over which the strengths of onsets are averaged.
const AROUND: f64 = 5.0;
/// Number of frames after which all scores are lowered, so that `f32` keeps their differences.
const LOWER: usize = 256;
/// Number of frames whose backpointers are stored at once: six minutes.
const SEGMENT: usize = 1 << 15;
/// Number of beats before and after a beat that smooth its time.
const SMOOTH: usize = 4;
/// Maximum change of a beat's time by smoothing, in frames.
const FAR: f64 = 2.0;
/// Minimum certainty of beats in music without notes, such as drums.
const LEAST: f64 = 0.2;
/// Log likelihood of the onsets, per beat, at which the certainty is 63 %.
const CERTAIN: f64 = 8.0;

/// Finds the beats of a recording from all of its decisions.
#[derive(Debug, Clone)]
pub struct BeatFinder {
    /// Length of a frame in seconds.
    frame: f64,
    onsets: Onsets,
    strengths: Vec<Strengths>,
    chroma: Vec<Chroma>,
    /// Number of frames so far.
    frames: usize,
}

impl BeatFinder {
    /// Creates a finder for decisions with lookahead every `frame` seconds.
    pub fn new(frame: f64) -> Self {
        let (strengths, chroma) = (Vec::new(), Vec::new());
        Self { frame, onsets: Onsets::new(frame), strengths, chroma, frames: 0 }
    }

    /// Evaluates the decisions of the next frame.
    pub fn push(&mut self, decisions: &Decisions) {
        let strengths = self.onsets.push(decisions, true);
        self.frames += 1;
        // Decisions with lookahead refer to an earlier frame.
        if self.frames > LOOKAHEAD {
            self.chroma.push(bars::chroma(decisions));
        }
        if self.frames > DELAY {
            self.strengths.push(strengths);
        }
    }

    /// Allocates memory for `seconds` more.
    pub fn reserve(&mut self, seconds: f64) {
        let frames = (seconds / self.frame) as usize;
        self.strengths.reserve_exact(frames);
        self.chroma.reserve_exact(frames);
    }

    /// Forgets the frames that end within the first `seconds`. Returns the duration of the forgotten frames in seconds; later times
    /// count from their end.
    pub fn forget(&mut self, seconds: f64) -> f64 {
        let frames = ((seconds / self.frame).max(0.0) as usize).min(self.strengths.len());
        self.strengths.drain(..frames);
        self.chroma.drain(..frames);
        frames as f64 * self.frame
    }

    /// Returns the beats of all frames so far. `None` with fewer than eight beats, or if the beats are uncertain and notes begin
    /// at fewer than eight times.
    pub fn beats(&self) -> Option<Beats> {
        if self.strengths.iter().flatten().all(|strength| *strength == 0.0) {
            return None;
        }
        let (classes, space) = (self.classes(), Space::new(self.frame));
        let (moments, gain) = (0..PATTERNS)
            .map(|pattern| Paths::new(&classes, &space, pattern))
            .max_by(|a, b| a.score.total_cmp(&b.score))?
            .best();
        let beats = bars::beats(&self.smooth(&moments), &moments, &self.strengths, &self.chroma);
        let certainty = -libm::expm1(-gain.max(0.0) / CERTAIN);
        let begins = |strengths: &Strengths| strengths[NOTES_BEGIN] > 0.0;
        let starts = self.strengths.windows(2).filter(|pair| !begins(&pair[0]) && begins(&pair[1]));
        let is_music = certainty >= LEAST || starts.count() >= FEWEST;
        (beats.len() >= FEWEST && is_music).then_some(Beats { beats, certainty })
    }

    /// Returns the classes of the strengths in each frame, relative to the mean strengths around it.
    fn classes(&self) -> Vec<Classes> {
        let (count, around) = (self.strengths.len(), (AROUND / self.frame).round() as usize);
        // Two running sums of strengths, each with its number of frames: up to the start of the range around the frame, and up to
        // its end.
        let mut sums = [([0.0f64; KINDS], 0); 2];
        let of = |moment: usize| {
            let range = [moment.saturating_sub(around), (moment + around + 1).min(count)];
            for ((sum, summed), end) in sums.iter_mut().zip(range) {
                for strengths in &self.strengths[*summed..end] {
                    sum.iter_mut().zip(strengths).for_each(|(sum, own)| *sum += f64::from(*own));
                }
                *summed = end;
            }
            let [(before, from), (until, to)] = &sums;
            let length = (to - from) as f64;
            let means = array::from_fn(|kind| ((until[kind] - before[kind]) / length) as f32);
            classes(&self.strengths[moment], &means)
        };
        (0..count).map(of).collect()
    }

    /// Returns the times of `beats` in s, each smoothed by a parabola through its neighbours, unless it would move by more than
    /// [`FAR`].
    fn smooth(&self, beats: &[usize]) -> Vec<f64> {
        let time = |index: usize| beats[index] as f64;
        let smooth = |index: usize| {
            let around = SMOOTH.min(index).min(beats.len() - 1 - index);
            let fitted = savitzky_golay(around, |offset| time(index.wrapping_add_signed(offset)));
            if (fitted - time(index)).abs() <= FAR { fitted } else { time(index) }
        };
        (0..beats.len()).map(|index| smooth(index) * self.frame).collect()
    }
}

/// Returns the value at 0 of the parabola that fits the values from `-around` to `around` best: A. Savitzky, M. J. E. Golay,
/// "Smoothing and differentiation of data by simplified least squares procedures" (1964).
fn savitzky_golay(around: usize, value: impl Fn(isize) -> f64) -> f64 {
    let m = around as f64;
    let weight = |offset: f64| 3.0 * (3.0 * m * m + 3.0 * m - 1.0 - 5.0 * offset * offset);
    let offsets = -around.cast_signed()..=around.cast_signed();
    let [sum, total] = offsets.fold([0.0; 2], |[sum, total], offset| {
        let weight = weight(offset as f64);
        [sum + weight * value(offset), total + weight]
    });
    sum / total
}

/// Best paths of a pattern to all states, by Viterbi's algorithm. All backpointers would take 33 KB per second of music. So only
/// those of one segment are stored, and those of earlier segments are computed again.
struct Paths<'a> {
    classes: &'a [Classes],
    space: &'a Space,
    pattern: usize,
    /// Scores at the start of each segment, and after the last frame.
    scores: Vec<Scores>,
    /// Backpointers of one segment, by frame, kind and tempo.
    back: Vec<u8>,
    /// Score of the best path.
    score: f64,
}

impl<'a> Paths<'a> {
    fn new(classes: &'a [Classes], space: &'a Space, pattern: usize) -> Self {
        let (scores, back) = (vec![space.start()], Vec::new());
        let mut paths = Self { classes, space, pattern, scores, back, score: 0.0 };
        for segment in 0..classes.len().div_ceil(SEGMENT) {
            let (scores, lowered) = paths.advance(segment);
            paths.scores.push(scores);
            paths.score += lowered;
        }
        paths.score += f64::from(paths.last().score);
        paths
    }

    /// Returns the best state after the last frame.
    fn last(&self) -> State {
        self.space.best(&self.scores[self.scores.len() - 1])
    }

    /// Advances the paths through a segment. Returns the scores after it, and the amount by which they were lowered.
    fn advance(&mut self, segment: usize) -> (Scores, f64) {
        let (mut scores, mut lowered) = (self.scores[segment].clone(), 0.0);
        let stride = space::KINDS * self.space.tempi();
        let moments = self.classes.iter().enumerate().skip(segment * SEGMENT).take(SEGMENT);
        self.back.resize(moments.len() * stride, 0);
        for ((moment, classes), back) in moments.zip(self.back.chunks_exact_mut(stride)) {
            let row = &table_row(*classes)[self.pattern];
            self.space.advance(&mut scores, row, |kind, tempo, from| {
                back[kind * self.space.tempi() + tempo] = from;
            });
            if moment % LOWER == LOWER - 1 {
                let best = self.space.best(&scores).score;
                Space::lower(&mut scores, best);
                lowered += f64::from(best);
            }
        }
        (scores, lowered)
    }

    /// Returns the frame of each beat on the best path, and the mean log likelihood of a beat's onsets.
    fn best(mut self) -> (Vec<usize>, f64) {
        let State { mut tempo, mut kind, since, .. } = self.last();
        let (mut beats, mut kinds) = (Vec::new(), Vec::new());
        let last = self.classes.len() - 1;
        let (mut segment, mut next) = (last / SEGMENT, last.checked_sub(since));
        while let Some(beat) = next {
            beats.push(beat);
            kinds.push(kind);
            if beat / SEGMENT != segment {
                segment = beat / SEGMENT;
                self.advance(segment);
            }
            let moment = beat % SEGMENT;
            let from = self.back[(moment * space::KINDS + kind) * self.space.tempi() + tempo];
            (tempo, kind) = self.space.predecessor(tempo, from);
            next = beat.checked_sub(self.space.length(tempo));
        }
        beats.reverse();
        kinds.reverse();
        let of_beat = |(pair, kind): (&[usize], &usize)| {
            let of_moment = |moment: usize| {
                let row = table_row(self.classes[moment])[self.pattern][space::TYPE[*kind]];
                f64::from(row[space::place(moment - pair[0], pair[1] - pair[0])])
            };
            (pair[0]..pair[1]).map(of_moment).sum::<f64>()
        };
        let gain: f64 = beats.windows(2).zip(&kinds).map(of_beat).sum();
        let count = beats.len().saturating_sub(1).max(1) as f64;
        (beats, gain / count)
    }
}
