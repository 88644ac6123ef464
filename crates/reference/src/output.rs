//! Output: the delay for lookahead, and the limiters.

use crate::{decibels, step};
use std::collections::VecDeque;

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

    /// Returns `x`, crossfaded with the delayed signal, whose weight is `share`, 0..1.
    pub fn next(&mut self, x: f64, share: f64) -> f64 {
        self.samples.push_back(x);
        let delayed = self.samples.pop_front().expect("a sample was pushed");
        (1.0 - share) * x + share * delayed
    }
}

/// Gain above which the release ends.
const NEARLY: f64 = 0.99999;

/// Limiter: keeps the peaks of the mix below full scale, or below the input's own peaks if these are higher. Both limits are
/// multiplied by the output gain.
pub(crate) struct Limiter {
    release: f64,
    gain: f64,
    /// Tracked peak of the input; 0 below the threshold.
    input: f64,
}

impl Limiter {
    pub fn new(sample_rate: f64) -> Self {
        Self { release: step(0.1, sample_rate), gain: 1.0, input: 0.0 }
    }

    pub fn rests(&self) -> bool {
        self.gain == 1.0
    }

    /// Returns the gain for the next frame. `input` and `mixed` are the peaks over the channels of dry signal and mix, both after
    /// the output gain `output`.
    pub fn next(&mut self, input: f64, mixed: f64, output: f64) -> f64 {
        let needed = self.advance(input, mixed, output * decibels(-0.05));
        self.gain = self.gain.min(needed);
        self.gain
    }

    /// Tracks the peak of the input, and releases the gain. Returns the gain that the peak `mixed` needs: above 1
    /// if it needs no limiting.
    fn advance(&mut self, input: f64, mixed: f64, threshold: f64) -> f64 {
        let fallen = self.input.min(8.0) * (1.0 - self.release);
        let peak = input.max(fallen);
        self.input = if peak > threshold { peak } else { 0.0 };
        self.gain += self.release * (1.0 - self.gain);
        if self.gain > NEARLY {
            self.gain = 1.0;
        }
        peak.max(threshold) / mixed
    }
}

/// Delay of the mix for the limiter, in seconds.
const WAIT: f64 = 0.0015;
/// Number of samples from which a value between two samples is interpolated: six on each side.
const TAPS: usize = 12;

/// Returns the latency of lookahead in samples, at most 65,536.
pub(crate) fn latency(sample_rate: f64) -> usize {
    (2048.0 / 44_100.0 * sample_rate).round().min(65_536.0) as usize
}

/// Returns the delay of the mix for the limiter, a part of the latency, in samples.
pub(crate) fn wait(sample_rate: f64) -> usize {
    let wait = (WAIT * sample_rate).floor() as usize;
    wait.max(TAPS).min(latency(sample_rate).saturating_sub(1))
}

/// Returns the delay of the sound before the mix, a part of the latency, in samples.
pub(crate) fn delay(sample_rate: f64) -> usize {
    latency(sample_rate) - wait(sample_rate)
}

/// Lookahead limiter: delays the mix, so that its gain falls before a true peak.
pub(crate) struct AheadLimiter {
    /// Tracked peak of the input, and the gain before the moving average.
    limiter: Limiter,
    /// Delayed samples of each channel's mix, newest first.
    mixed: Vec<VecDeque<f64>>,
    /// Last samples of each channel's dry signal, newest first.
    dry: Vec<VecDeque<f64>>,
    /// Gains that the last peaks need, newest first.
    needed: VecDeque<f64>,
    /// Last gains, newest first.
    gains: VecDeque<f64>,
}

impl AheadLimiter {
    pub fn new(sample_rate: f64, channels: usize) -> Self {
        let wait = wait(sample_rate);
        // From the detection of a peak until it leaves the delay.
        let average = (wait + 1).saturating_sub(TAPS / 2).max(1);
        Self {
            limiter: Limiter::new(sample_rate),
            mixed: vec![vec![0.0; wait + 1].into(); channels],
            dry: vec![vec![0.0; TAPS].into(); channels],
            needed: vec![1.0; average + 1].into(),
            gains: vec![1.0; average].into(),
        }
    }

    /// Whether the gain is 1 for all samples in the delay.
    pub fn rests(&self) -> bool {
        self.gains.iter().all(|gain| *gain == 1.0)
    }

    /// Resets the gain to 1, and discards the input.
    pub fn rest(&mut self) {
        self.dry.iter_mut().for_each(|dry| dry.iter_mut().for_each(|x| *x = 0.0));
        self.needed.iter_mut().chain(&mut self.gains).for_each(|gain| *gain = 1.0);
        (self.limiter.input, self.limiter.gain) = (0.0, 1.0);
    }

    /// Returns the delayed mix, limited if there is a `dry` signal. `output` is the output gain.
    pub fn next(&mut self, mixed: &[f64], dry: Option<&[f64]>, output: f64) -> Vec<f64> {
        for (line, x) in self.mixed.iter_mut().zip(mixed) {
            line.pop_back();
            line.push_front(*x);
        }
        let mut gain = 1.0;
        if let Some(dry) = dry {
            for (line, x) in self.dry.iter_mut().zip(dry) {
                line.pop_back();
                line.push_front(output * x);
            }
            let peak = |lines: &[VecDeque<f64>]| lines.iter().map(true_peak).fold(0.0, f64::max);
            let threshold = output * decibels(-0.15);
            let needed = self.limiter.advance(peak(&self.dry), peak(&self.mixed), threshold);
            self.needed.pop_back();
            self.needed.push_front(if needed > NEARLY { 1.0 } else { needed });
            let gain_now = &mut self.limiter.gain;
            *gain_now = self.needed.iter().fold(*gain_now, |least, gain| least.min(*gain));
            self.gains.pop_back();
            self.gains.push_front(self.limiter.gain);
            gain = self.gains.iter().sum::<f64>() / self.gains.len() as f64;
        }
        self.mixed.iter().map(|line| gain * line[line.len() - 1]).collect()
    }
}

/// Returns the maximum magnitude at four positions from the sixth of the last twelve samples, the oldest being the first, to just
/// before the seventh.
fn true_peak(newest_first: &VecDeque<f64>) -> f64 {
    let at = |quarter: usize| {
        let (mut sum, mut gain) = (0.0, 0.0);
        for index in 0..TAPS {
            let distance = index as f64 - 5.0 - quarter as f64 / 4.0;
            let angle = std::f64::consts::PI * distance;
            let sinc = if distance == 0.0 { 1.0 } else { angle.sin() / angle };
            let tap = sinc * (angle / TAPS as f64).cos().powi(2);
            sum += tap * newest_first[TAPS - 1 - index];
            gain += tap;
        }
        (sum / gain).abs()
    };
    (0..4).map(at).fold(0.0, f64::max)
}
