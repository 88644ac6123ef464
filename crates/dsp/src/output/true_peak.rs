//! True peak: the maximum magnitude between samples, oversampled four times as in ITU-R BS.1770.

use std::f64::consts::{FRAC_PI_2, PI};

/// Number of interpolated positions per sample.
const PHASES: usize = 4;
/// Number of samples in an interpolation.
pub const TAPS: usize = 12;
/// Index of the tap at the start of the interpolated interval.
pub const BEFORE: usize = TAPS / 2 - 1;

/// Interpolation between samples: sincs under a Hann window.
#[derive(Debug, Clone)]
pub struct TruePeak {
    taps: [[f32; TAPS]; PHASES],
    /// Maximum ratio of a true peak to the greatest sample.
    most: f32,
}

impl TruePeak {
    pub fn new() -> Self {
        let taps: [[f32; TAPS]; PHASES] = std::array::from_fn(|phase| {
            let between = phase as f64 / PHASES as f64;
            let taps: [f64; TAPS] = std::array::from_fn(|tap| {
                let at = tap as f64 - BEFORE as f64 - between;
                let sinc = if at == 0.0 { 1.0 } else { libm::sin(PI * at) / (PI * at) };
                sinc * libm::cos(FRAC_PI_2 * at / (TAPS / 2) as f64).powi(2)
            });
            let sum: f64 = taps.iter().sum();
            taps.map(|tap| (tap / sum) as f32)
        });
        let ratios = taps.iter().map(|taps| taps.iter().map(|tap| tap.abs()).sum());
        Self { taps, most: ratios.fold(1.0, f32::max) }
    }

    /// Raises each of `peaks` to the true peak of an interval of one sample in `samples`. The interval starts [`BEFORE`] samples
    /// after the peak's own index. There must be `TAPS - 1` more samples than peaks. May skip peaks that cannot exceed
    /// `threshold`.
    #[inline(always)]
    pub fn raise(&self, samples: &[f32], peaks: &mut [f32], threshold: f32) {
        let loudest = samples.iter().fold(0f32, |loudest, sample| loudest.max(sample.abs()));
        if loudest * self.most <= threshold {
            return;
        }
        for taps in &self.taps {
            let mut sums = [0f32; crate::lanes::BLOCK];
            let sums = &mut sums[..peaks.len()];
            for (first, tap) in taps.iter().enumerate() {
                let samples = &samples[first..][..peaks.len()];
                sums.iter_mut().zip(samples).for_each(|(sum, sample)| *sum += tap * sample);
            }
            peaks.iter_mut().zip(sums).for_each(|(peak, sum)| *peak = peak.max(sum.abs()));
        }
    }
}
