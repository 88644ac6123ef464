//! The sound at the detectors' rate.

use crate::dsp::lanes::BLOCK;
use fearless_simd::{Simd, SimdBase, SimdFloat};
use std::f64::consts::{PI, TAU};

/// Hz: the detectors' rate is the nearest to this that divides the sample rate by a whole number.
const DETECTOR_RATE: f64 = 11_500.0;
/// Hz: where the low-pass is 6 dB down.
const CUTOFF: f64 = 4700.0;
/// The same as a share of the sample rate, at most.
const HIGHEST_CUTOFF: f64 = 0.45;
/// Taps of the low-pass for each step of decimation.
const TAPS: usize = 12;
/// Its taps and the memory are whole vectors of any kernel.
const WIDEST: usize = 16;

/// By how many the sample rate (Hz) is divided for the detectors.
pub fn decimation(sample_rate: f64) -> usize {
    (sample_rate / DETECTOR_RATE).round_ties_even().max(1.0) as usize
}

/// The low-pass for `sample_rate` Hz: a sinc under a Hamming window, symmetric, with a sum of 1.
pub fn low_pass(sample_rate: f64) -> Vec<f64> {
    let taps = TAPS * decimation(sample_rate);
    let cutoff = (CUTOFF / sample_rate).min(HIGHEST_CUTOFF);
    let last = (taps - 1) as f64;
    let mut low_pass: Vec<f64> = (0..taps)
        .map(|tap| {
            // Never 0: there is an even number of taps.
            let x = TAU * cutoff * (tap as f64 - last / 2.0);
            x.sin() / x * (0.54 - 0.46 * (2.0 * PI * tap as f64 / last).cos())
        })
        .collect();
    let sum: f64 = low_pass.iter().sum();
    low_pass.iter_mut().for_each(|tap| *tap /= sum);
    low_pass
}

/// Low-pass and decimation; the low-pass is computed only for the samples that stay.
#[derive(Debug, Clone)]
pub struct Decimator {
    decimation: usize,
    /// Zeros before the first tap make them whole vectors.
    taps: Box<[f32]>,
    /// The last samples twice, one half after the other: so the last ones before any moment are in one
    /// piece.
    memory: Box<[f32]>,
    /// Where in the first half the next block goes.
    position: usize,
    /// Samples of the next block before one that stays.
    skip: usize,
}

impl Decimator {
    /// For sound of `sample_rate` Hz.
    pub fn new(sample_rate: f64) -> Self {
        let low_pass = low_pass(sample_rate);
        let zeros = low_pass.len().next_multiple_of(WIDEST) - low_pass.len();
        let taps: Box<[f32]> =
            std::iter::repeat_n(0.0, zeros).chain(low_pass.iter().map(|tap| *tap as f32)).collect();
        // A block must not overwrite what comes before its first sample.
        let half = (taps.len() + BLOCK - 1).next_multiple_of(BLOCK);
        Self {
            decimation: decimation(sample_rate),
            taps,
            memory: vec![0.0; 2 * half].into(),
            position: 0,
            skip: 0,
        }
    }

    /// Forgets what it has heard.
    pub fn reset(&mut self) {
        self.memory.fill(0.0);
        (self.position, self.skip) = (0, 0);
    }

    /// Takes in a block and puts what stays of it into `out`; returns how many samples these are.
    pub fn push<S: Simd>(
        &mut self,
        simd: S,
        block: &[f32; BLOCK],
        out: &mut [f32; BLOCK],
    ) -> usize {
        simd.vectorize(
            #[inline(always)]
            || self.filter(simd, block, out),
        )
    }

    #[inline(always)]
    fn filter<S: Simd>(&mut self, simd: S, block: &[f32; BLOCK], out: &mut [f32; BLOCK]) -> usize {
        let half = self.memory.len() / 2;
        for start in [self.position, self.position + half] {
            self.memory[start..start + BLOCK].copy_from_slice(block);
        }
        let mut count = 0;
        while self.skip < BLOCK {
            let end = half + self.position + self.skip + 1;
            out[count] = dot(simd, &self.memory[end - self.taps.len()..end], &self.taps);
            count += 1;
            self.skip += self.decimation;
        }
        self.skip -= BLOCK;
        self.position = (self.position + BLOCK) % half;
        count
    }
}

/// The sum of the products of two equally long rows of whole vectors.
#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let lanes = S::f32s::LEN;
    let vector = |slice| S::f32s::from_slice(simd, slice);
    let mut sum = S::f32s::splat(simd, 0.0);
    for (a, b) in a.chunks_exact(lanes).zip(b.chunks_exact(lanes)) {
        sum = vector(a).mul_add(vector(b), sum);
    }
    sum.reduce_sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::Fallback;

    #[test]
    fn what_stays_is_the_low_pass_of_every_nth_sample() {
        for rate in [1000.0, 8000.0, 11_025.0, 44_100.0, 48_000.0, 192_000.0, 768_000.0] {
            let signal: Vec<f32> =
                (0..40 * BLOCK).map(|t| ((t * t) % 101) as f32 / 50.0 - 1.0).collect();
            let mut decimator = Decimator::new(rate);
            let mut stayed = Vec::new();
            for block in signal.as_chunks().0 {
                let mut out = [0.0; BLOCK];
                let count = decimator.push(Fallback::new(), block, &mut out);
                stayed.extend_from_slice(&out[..count]);
            }
            let step = decimation(rate);
            assert_eq!(stayed.len(), signal.len().div_ceil(step));
            for (index, near) in stayed.iter().enumerate() {
                let taps = low_pass(rate);
                let at = |back: usize| (index * step).checked_sub(back).map_or(0.0, |t| signal[t]);
                let exact: f64 =
                    taps.iter().enumerate().map(|(back, tap)| tap * f64::from(at(back))).sum();
                assert!((f64::from(*near) - exact).abs() < 1e-6, "{rate} {index}");
            }
        }
    }
}
