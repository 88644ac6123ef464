//! Output: the delay for lookahead, and the limiter.

use crate::{decibels, step};
use std::collections::VecDeque;

/// A delay line of one channel.
#[derive(Debug, Clone)]
pub(crate) struct Delay {
    /// Samples of the delay, oldest first.
    samples: VecDeque<f64>,
}

impl Delay {
    /// Creates a delay of `length` samples, filled with silence.
    pub fn new(length: usize) -> Self {
        Self { samples: vec![0.0; length].into() }
    }

    /// Returns a crossfade of `x` with the delayed signal, which has the `share` 0..1.
    pub fn next(&mut self, x: f64, share: f64) -> f64 {
        self.samples.push_back(x);
        let delayed = self.samples.pop_front().expect("a sample was pushed");
        (1.0 - share) * x + share * delayed
    }
}

/// Limiter: keeps the peaks of the mix below full scale, or below the input's own peaks if these are higher.
#[derive(Debug, Clone)]
pub(crate) struct Limiter {
    release: f64,
    gain: f64,
    /// Followed peak of the input; 0 below the threshold.
    input: f64,
}

impl Limiter {
    pub fn new(sample_rate: f64) -> Self {
        Self { release: step(0.1, sample_rate), gain: 1.0, input: 0.0 }
    }

    /// Whether the gain is 1.
    pub fn rests(&self) -> bool {
        self.gain == 1.0
    }

    /// Returns the gain for the next frame. `input` and `mixed` are the peaks over the channels of dry signal and mix, both after
    /// the output gain `output`.
    pub fn next(&mut self, input: f64, mixed: f64, output: f64) -> f64 {
        let threshold = output * decibels(-0.05);
        let fallen = self.input.min(8.0) * (1.0 - self.release);
        let peak = input.max(fallen);
        self.input = if peak > threshold { peak } else { 0.0 };
        self.gain += self.release * (1.0 - self.gain);
        if self.gain > 0.99999 {
            self.gain = 1.0;
        }
        if mixed > 0.0 {
            self.gain = self.gain.min(peak.max(threshold) / mixed);
        }
        self.gain
    }
}
