//! Beats of a whole recording, from all of its decisions.

use super::{
    Beats, FEWEST, bars,
    onsets::{self, Classes, DELAY, NOTES_BEGIN, Onsets, PATTERNS, Row, Strengths},
    paths::Paths,
};
use crate::{Decisions, LOWEST_NOTE, decide::LOOKAHEAD};

/// Number of frames by which [`Frame::chroma`] is late.
pub const LATE: usize = DELAY[1] - LOOKAHEAD;
/// Length of a beat in frames from which on lengths are whole frames.
const COARSE: f64 = 30.0;
/// Number of beats before and after a beat that smooth its time.
const SMOOTH: usize = 3;
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
    recorded: Vec<Frame>,
    /// Number of frames so far.
    frames: usize,
}

#[derive(Debug, Clone)]
pub struct Frame {
    pub strengths: Strengths,
    classes: Classes,
    /// Number of held notes of each pitch class, C first, [`LATE`] frames after this frame.
    pub chroma: [u8; 12],
}

impl BeatFinder {
    /// Creates a finder for decisions with lookahead every `frame` seconds.
    pub fn new(frame: f64) -> Self {
        Self { frame, onsets: Onsets::new(frame), recorded: Vec::new(), frames: 0 }
    }

    /// Evaluates the decisions of the next frame.
    pub fn push(&mut self, decisions: &Decisions) {
        let (strengths, classes) = self.onsets.push(decisions, true);
        let mut chroma = [0; 12];
        for (note, _) in decisions.on.iter().enumerate().filter(|(_, on)| **on) {
            chroma[(LOWEST_NOTE + note) % 12] += 1;
        }
        self.frames += 1;
        if self.frames > DELAY[1] {
            self.recorded.push(Frame { strengths, classes, chroma });
        }
    }

    /// Allocates memory for `seconds` more.
    pub fn reserve(&mut self, seconds: f64) {
        self.recorded.reserve_exact((seconds / self.frame) as usize);
    }

    /// Forgets the frames that end within the first `seconds`. Returns the duration of the forgotten frames in seconds; later times
    /// count from their end.
    pub fn forget(&mut self, seconds: f64) -> f64 {
        let frames = ((seconds / self.frame).max(0.0) as usize).min(self.recorded.len());
        self.recorded.drain(..frames);
        frames as f64 * self.frame
    }

    /// Returns the beats of all frames so far. `None` with fewer than eight beats, or if the beats are uncertain and notes begin
    /// at fewer than eight times.
    pub fn beats(&self) -> Option<Beats> {
        if self.recorded.iter().all(|frame| frame.strengths == [0.0; _]) {
            return None;
        }
        let paths = (0..PATTERNS).map(|pattern| self.path(pattern));
        let (_, frames, gain) = paths.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let certainty = -libm::expm1(-gain.max(0.0) / CERTAIN);
        let begins = |frame: &Frame| frame.strengths[NOTES_BEGIN] > 0.0;
        let starts = self.recorded.windows(2).filter(|pair| !begins(&pair[0]) && begins(&pair[1]));
        let is_music = certainty >= LEAST || starts.count() >= FEWEST;
        (frames.len() >= FEWEST && is_music).then(|| {
            let beats = bars::find(&self.smooth(&frames), &frames, &self.recorded);
            Beats { beats, certainty }
        })
    }

    /// Returns the best path of a pattern: log likelihood, frame of each beat, and mean log likelihood of a beat without the prior
    /// of its tempo.
    fn path(&self, pattern: usize) -> (f64, Vec<usize>, f64) {
        let (mut paths, mut back, mut score) = (Paths::new(self.frame, COARSE), Vec::new(), 0.0);
        for frame in &self.recorded {
            let mut row = Row::default();
            onsets::add(&mut row, pattern, &frame.classes);
            score += f64::from(paths.advance(&row, |from| back.push(from)));
        }
        let (beats, prior) = paths.trace(&back);
        let count = beats.len().max(1) as f64;
        (score, beats, (score - prior) / count)
    }

    /// Returns the times of `beats` in s, each smoothed by the mean of its neighbours, unless it would move by more than [`FAR`].
    fn smooth(&self, beats: &[usize]) -> Vec<f64> {
        let smooth = |index: usize| {
            let around = SMOOTH.min(index).min(beats.len() - 1 - index);
            let sum: usize = beats[index - around..=index + around].iter().sum();
            let (mean, own) = (sum as f64 / (2 * around + 1) as f64, beats[index] as f64);
            if (mean - own).abs() <= FAR { mean } else { own }
        };
        (0..beats.len()).map(|index| smooth(index) * self.frame).collect()
    }
}
