//! Time in a score, and the decisions at that time.

use crate::{
    lanes::BLOCK,
    notes::{TONES, to_listener},
    score::Score,
};
use tone_filter_listener::{Decisions, notes::level_of};

#[derive(Debug, Clone)]
pub struct ScoreTime {
    sample_rate: f64,
    /// Time in the score that the last seek set, in seconds.
    origin: f64,
    samples: u64,
    pub decisions: Decisions,
}

impl ScoreTime {
    pub fn new(sample_rate: f64) -> Self {
        Self { sample_rate, origin: 0.0, samples: 0, decisions: Decisions::NONE }
    }

    pub fn reset(&mut self) {
        self.seek(0.0);
        self.decisions = Decisions::NONE;
    }

    /// Sets the time in seconds. NaN and infinity count as 0.
    pub fn seek(&mut self, seconds: f64) {
        (self.origin, self.samples) = (if seconds.is_finite() { seconds } else { 0.0 }, 0);
    }

    /// Returns the time in the score at the start of the block, in seconds.
    pub fn time(&self) -> f64 {
        self.origin + self.samples as f64 / self.sample_rate
    }

    pub fn advance(&mut self) {
        self.samples += BLOCK as u64;
    }

    /// Returns the decisions of `score` for the block that begins. `latency` is the delay of the sound and `frame` the length of
    /// a listener frame, in samples.
    pub fn decide(&mut self, score: &Score, latency: usize, frame: usize) -> &Decisions {
        let seconds = self.origin + (self.samples as f64 - latency as f64) / self.sample_rate;
        for tone in 0..TONES {
            let (state, note) = (score.state(tone, seconds), to_listener(tone));
            self.decisions.on[note] = state.is_some();
            self.decisions.clear[note] = state.is_some();
            self.decisions.begun[note] = state.is_some_and(|state| state.begun);
            self.decisions.place[note] = state.map_or(0.0, |state| state.note.place);
            self.decisions.peak[note] = state.map_or(0.0, |state| level_of(state.note.velocity));
        }
        // Frame 0 means that there was no decision yet.
        let frames = (seconds * self.sample_rate + latency as f64) / frame as f64;
        self.decisions.frames = 1 + frames.max(0.0) as u64;
        &self.decisions
    }
}
