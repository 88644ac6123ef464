//! A peak limiter without latency. Signals that stay below its threshold are unchanged.

use crate::{bank::LOUDEST, lanes::BLOCK};

/// Threshold of the magnitude: 0.1 dB below full scale.
const THRESHOLD: f32 = 0.988_553;
/// Time constant of the release in seconds.
pub const RELEASE: f64 = 0.1;
/// Gain above which the release ends with a jump to 1. No test fixes the value, because the jump is 100 dB below the sound. With a
/// value above 1, the limiter would sound the same, but never rest.
pub const NEARLY: f64 = 0.999_99;

/// Peak limiter: keeps the mix below full scale, or below the peaks of the input where these are higher.
#[derive(Debug, Clone)]
pub struct Limiter {
    /// One-pole coefficient per sample with which the gain recovers.
    release: f64,
    /// Current gain. In f32, the steps of a slow release would round to 0.
    gain: f64,
    /// Tracked peak of the input; 0 while it is below the threshold. Decays with the time constant of the release.
    input: f64,
}

impl Limiter {
    pub fn new(sample_rate: f64) -> Self {
        Self { release: -libm::expm1(-1.0 / (RELEASE * sample_rate)), gain: 1.0, input: 0.0 }
    }

    pub fn reset(&mut self) {
        (self.gain, self.input) = (1.0, 0.0);
    }

    pub fn rests(&self) -> bool {
        self.gain == 1.0
    }

    /// Limits `range` of the mix in `channels`. `dries` are the block's dry signals, in which the range starts at `position`.
    /// `scale` is the output gain as a factor, which also scales threshold and dry signals.
    #[inline(always)]
    pub fn process(
        &mut self,
        dries: &[[f32; BLOCK]],
        channels: &mut [&mut [f32]],
        position: usize,
        range: std::ops::Range<usize>,
        scale: f32,
    ) {
        let threshold = THRESHOLD * scale;
        let mut mixed = [0f32; BLOCK];
        for channel in channels.iter() {
            for (peak, sample) in mixed.iter_mut().zip(&channel[range.clone()]) {
                *peak = peak.max(sample.abs());
            }
        }
        let peaks = &mixed[..range.len()];
        let samples = position..position + range.len();
        // No early exit, so that the loop vectorises.
        let all_below = |samples: &[f32], scale: f32| {
            samples.iter().fold(true, |all, x| all & (scale * x.abs() <= threshold))
        };
        // Nothing to limit, and no input above the threshold to track.
        if self.gain == 1.0
            && self.input <= f64::from(threshold)
            && all_below(peaks, 1.0)
            && dries.iter().all(|dry| all_below(&dry[samples.clone()], scale))
        {
            self.input = 0.0;
            return;
        }
        for (frame, peak) in peaks.iter().enumerate() {
            let dry = dries.iter().fold(0f32, |max, dry| max.max(dry[position + frame].abs()));
            let gain = self.next(scale * dry, *peak, threshold);
            for channel in channels.iter_mut() {
                channel[range.start + frame] *= gain;
            }
        }
    }

    /// Advances by a sample, and returns the gain for it. Over all channels, `input` is the maximum magnitude of the dry signal,
    /// times the output gain; `mixed` is the maximum magnitude of the mix.
    fn next(&mut self, input: f32, mixed: f32, threshold: f32) -> f32 {
        // Clamped, so that a faulty sample far beyond full scale decays soon.
        let before = self.input.min(f64::from(LOUDEST));
        let tracked = f64::from(input).max(before - self.release * before);
        let ceiling = tracked.max(f64::from(threshold));
        // Below the threshold, the peak is reset: it has no effect there, and `process` does not always track it.
        self.input = if tracked > f64::from(threshold) { tracked } else { 0.0 };
        self.gain += self.release * (1.0 - self.gain);
        if self.gain > NEARLY {
            self.gain = 1.0;
        }
        self.gain = self.gain.min(ceiling / f64::from(mixed));
        self.gain as f32
    }
}
