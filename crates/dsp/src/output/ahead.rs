//! Lookahead limiter: the mix is delayed a little, so that the gain falls before a peak.

use super::{
    limiter::{NEARLY, RELEASE},
    true_peak::{BEFORE, TAPS, TruePeak},
};
use crate::{bank::LOUDEST, delay::Delay, lanes::BLOCK};
use std::ops::Range;

/// Delay of the mix in seconds.
const TIME: f64 = 0.0015;
/// Maximum true peak: 0.3 dB below full scale. Meters with longer interpolations find up to 0.2 dB more.
const THRESHOLD: f32 = 0.966_050_9;

/// Returns the delay of the mix in samples, which is part of the `latency`.
pub fn wait(sample_rate: f64, latency: usize) -> usize {
    // At least the length of the interpolation.
    ((TIME * sample_rate) as usize).max(TAPS).min(latency.saturating_sub(1))
}

/// Minimum of the gains in a sliding window; 1 if no gain is below 1.
#[derive(Debug, Clone)]
struct SlidingMinimum {
    /// Ring, as long as the window, of times and of gains below 1. Both increase from the first entry to the last.
    entries: Vec<(u64, f64)>,
    first: usize,
    count: usize,
}

impl SlidingMinimum {
    fn new(window: usize) -> Self {
        Self { entries: vec![(0, 1.0); window], first: 0, count: 0 }
    }

    fn entry(&mut self, index: usize) -> &mut (u64, f64) {
        let length = self.entries.len();
        &mut self.entries[(self.first + index) % length]
    }

    /// Adds the gain at `time`, which increases with each call. Returns the minimum.
    fn next(&mut self, time: u64, gain: f64) -> f64 {
        let window = self.entries.len() as u64;
        if self.count > 0 && self.entry(0).0 + window <= time {
            (self.first, self.count) = ((self.first + 1) % self.entries.len(), self.count - 1);
        }
        if gain < 1.0 {
            while self.count > 0 && self.entry(self.count - 1).1 >= gain {
                self.count -= 1;
            }
            *self.entry(self.count) = (time, gain);
            self.count += 1;
        }
        if self.count > 0 { self.entry(0).1 } else { 1.0 }
    }
}

/// Lookahead limiter: delays the mix, and keeps its true peaks below full scale, or below the input's peaks where these are
/// higher.
///
/// The gain for a peak holds from the peak's detection until it has left the delay (sliding minimum). It recovers with the time
/// constant of the release, and moves linearly (moving average).
#[derive(Debug, Clone)]
pub struct AheadLimiter {
    true_peak: TruePeak,
    /// Delay of the mix.
    pub delay: Delay,
    /// Last dry samples of each channel, for the interpolation.
    dries: Vec<[f32; TAPS - 1]>,
    /// Number of samples so far.
    time: u64,
    /// One-pole coefficient per sample with which the gain recovers and the tracked peak decays.
    release: f64,
    /// Tracked true peak of the input; 0 while it is below the threshold.
    input: f64,
    /// Minimum of the gains that the peaks need.
    least: SlidingMinimum,
    /// Gain before the moving average.
    gain: f64,
    /// Ring of the last gains. Their mean is the gain of the output.
    gains: Vec<f64>,
    /// Sum of `gains`.
    sum: f64,
    /// Number of samples for which `gain` has been 1.
    calm: usize,
}

impl AheadLimiter {
    /// Creates a limiter at rest for a delay of `wait` samples.
    pub fn new(sample_rate: f64, channels: usize, wait: usize) -> Self {
        let average = wait.saturating_sub(BEFORE).max(1);
        Self {
            true_peak: TruePeak::new(),
            delay: Delay::new(wait, channels),
            dries: vec![[0.0; TAPS - 1]; channels],
            time: 0,
            release: -libm::expm1(-1.0 / (RELEASE * sample_rate)),
            input: 0.0,
            least: SlidingMinimum::new(average + 1),
            gain: 1.0,
            gains: vec![1.0; average],
            sum: average as f64,
            calm: average,
        }
    }

    pub fn reset(&mut self) {
        self.delay.reset();
        self.rest();
        self.time = 0;
    }

    /// Resets the gain to 1, and forgets the input.
    pub fn rest(&mut self) {
        self.dries.fill([0.0; TAPS - 1]);
        self.least.count = 0;
        self.gains.fill(1.0);
        (self.input, self.gain, self.sum, self.calm) =
            (0.0, 1.0, self.gains.len() as f64, self.gains.len());
    }

    pub fn rests(&self) -> bool {
        self.calm >= self.gains.len()
    }

    /// Delays and limits `range` of the mix in `channels`. `dries` are the block's dry signals, in which the range starts at
    /// `position`; with `None`, nothing is limited. `scale` is the output gain as a factor, which also scales threshold and dry
    /// signals. `share(frame)` is the weight of the delayed signal, 0..1; the range starts at frame 0.
    #[inline(always)]
    pub fn process(
        &mut self,
        dries: Option<&[[f32; BLOCK]]>,
        channels: &mut [&mut [f32]],
        position: usize,
        range: Range<usize>,
        scale: f32,
        share: impl Fn(usize) -> f32,
    ) {
        let frames = range.len();
        let mut gains = [1.0; BLOCK];
        if let Some(dries) = dries {
            let mixed = self.mixed_peaks(channels, range.clone(), THRESHOLD * scale);
            let inputs = self.input_peaks(dries, position..position + frames, scale);
            self.gains(&mixed[..frames], &inputs, scale, &mut gains);
        }
        self.delay.process(channels, range, |frame| (gains[frame], share(frame)));
    }

    /// Returns the true peaks of the mix, half the length of the interpolation late.
    #[inline(always)]
    fn mixed_peaks(
        &self,
        channels: &[&mut [f32]],
        range: Range<usize>,
        threshold: f32,
    ) -> [f32; BLOCK] {
        let (frames, wait) = (range.len(), self.delay.length);
        let mut peaks = [0.0; BLOCK];
        for (ring, channel) in self.delay.rings.iter().zip(channels) {
            let mut samples = [0.0; BLOCK + TAPS - 1];
            for (index, sample) in samples[..TAPS - 1].iter_mut().enumerate() {
                *sample = ring[(self.delay.position + wait - (TAPS - 1) + index) % wait];
            }
            samples[TAPS - 1..][..frames].copy_from_slice(&channel[range.clone()]);
            let samples = &samples[..frames + TAPS - 1];
            self.true_peak.raise(samples, &mut peaks[..frames], threshold);
        }
        peaks
    }

    /// Returns the true peaks of the dry signals, half the length of the interpolation late.
    #[inline(always)]
    fn input_peaks(
        &mut self,
        dries: &[[f32; BLOCK]],
        range: Range<usize>,
        scale: f32,
    ) -> [f32; BLOCK] {
        let frames = range.len();
        let mut peaks = [0.0; BLOCK];
        for (before, dry) in self.dries.iter_mut().zip(dries) {
            let mut samples = [0.0; BLOCK + TAPS - 1];
            samples[..TAPS - 1].copy_from_slice(before);
            for (to, sample) in samples[TAPS - 1..].iter_mut().zip(&dry[range.clone()]) {
                *to = scale * sample;
            }
            before.copy_from_slice(&samples[frames..][..TAPS - 1]);
            let samples = &samples[..frames + TAPS - 1];
            self.true_peak.raise(samples, &mut peaks[..frames], THRESHOLD * scale);
        }
        peaks
    }

    /// Computes the gains for the peaks of the mix (`mixed`) and of the input. Both peaks include the output gain `scale`.
    fn gains(
        &mut self,
        mixed: &[f32],
        inputs: &[f32; BLOCK],
        scale: f32,
        gains: &mut [f32; BLOCK],
    ) {
        let threshold = f64::from(THRESHOLD * scale);
        let quiet = |peaks: &[f32]| peaks.iter().all(|peak| f64::from(*peak) <= threshold);
        if self.rests() && self.input <= threshold && quiet(mixed) && quiet(&inputs[..mixed.len()])
        {
            self.input = 0.0;
            self.time += mixed.len() as u64;
            return;
        }
        let average = self.gains.len();
        for ((mixed, input), to) in mixed.iter().zip(inputs).zip(gains) {
            // Clamped, so that a faulty sample far beyond full scale decays soon.
            let before = self.input.min(f64::from(LOUDEST));
            let tracked = f64::from(*input).max(before - self.release * before);
            self.input = if tracked > threshold { tracked } else { 0.0 };
            let needed = tracked.max(threshold) / f64::from(*mixed);
            let needed = if needed > NEARLY { 1.0 } else { needed };
            let least = self.least.next(self.time, needed);
            self.gain += self.release * (1.0 - self.gain);
            if self.gain > NEARLY {
                self.gain = 1.0;
            }
            self.gain = self.gain.min(least);
            let oldest = &mut self.gains[(self.time % average as u64) as usize];
            self.sum += self.gain - std::mem::replace(oldest, self.gain);
            self.calm = if self.gain == 1.0 { self.calm.saturating_add(1) } else { 0 };
            self.time += 1;
            if self.rests() {
                // Removes rounding errors.
                self.sum = average as f64;
            }
            *to = (self.sum / average as f64) as f32;
        }
    }
}
