//! Decimator: low-pass and decimation of the input to the detectors' rate.

use crate::{BLOCK, detectors::CHUNK};
use fearless_simd::{Simd, SimdBase, SimdFloat};
use std::f64::consts::{PI, TAU};

/// Approximate rate of the detectors in Hz: they run at the sample rate divided by an integer.
const DETECTOR_RATE: f64 = 11_500.0;
/// Cutoff of the low-pass (-6 dB) in Hz.
const CUTOFF: f64 = 4700.0;
/// Maximum cutoff as a fraction of the sample rate.
const HIGHEST_CUTOFF: f64 = 0.45;
/// Number of taps of the low-pass per unit of the decimation factor.
const TAPS: usize = 12;
/// Maximum absolute value of samples. Louder samples are clamped, so that no state overflows.
const LOUDEST: f32 = 1e6;
/// Samples below this (-300 dB full scale) count as 0, so that no state stays denormal.
const QUIETEST: f32 = 1e-15;
/// Lanes of the widest vectors; the taps are padded to a multiple.
const WIDEST: usize = 16;

/// Returns the decimation factor for a sample rate in Hz.
pub fn decimation(sample_rate: f64) -> usize {
    (sample_rate / DETECTOR_RATE).round_ties_even().max(1.0) as usize
}

/// Returns the taps of the low-pass for `sample_rate` Hz: a sinc under a Hamming window, symmetric, with a sum of 1.
fn low_pass(sample_rate: f64) -> Vec<f64> {
    let taps = TAPS * decimation(sample_rate);
    let cutoff = (CUTOFF / sample_rate).min(HIGHEST_CUTOFF);
    let last = (taps - 1) as f64;
    let mut low_pass: Vec<f64> = (0..taps)
        .map(|tap| {
            // Never 0, because the number of taps is even.
            let x = TAU * cutoff * (tap as f64 - last / 2.0);
            libm::sin(x) / x * (0.54 - 0.46 * libm::cos(2.0 * PI * tap as f64 / last))
        })
        .collect();
    let sum: f64 = low_pass.iter().sum();
    low_pass.iter_mut().for_each(|tap| *tap /= sum);
    low_pass
}

/// Decimator of one channel. Computes only the samples that are kept, [`CHUNK`] at once.
#[derive(Debug, Clone)]
pub struct Decimator {
    decimation: usize,
    /// Taps, padded with zeros in front to whole vectors.
    taps: Box<[f32]>,
    /// Delay line: two copies of the last samples, one behind the other, so that every window is contiguous.
    delay_line: Box<[f32]>,
    /// Position of the last block in the first copy.
    position: usize,
}

impl Decimator {
    /// Creates a decimator at rest for `sample_rate` Hz.
    pub fn new(sample_rate: f64) -> Self {
        let low_pass = low_pass(sample_rate);
        let zeros = low_pass.len().next_multiple_of(WIDEST) - low_pass.len();
        let taps: Box<[f32]> =
            std::iter::repeat_n(0.0, zeros).chain(low_pass.iter().map(|tap| *tap as f32)).collect();
        let decimation = decimation(sample_rate);
        // A new block must not overwrite samples that a chunk ending in this block needs.
        let half = (taps.len() + CHUNK * decimation + BLOCK).next_multiple_of(BLOCK);
        Self { decimation, taps, delay_line: vec![0.0; 2 * half].into(), position: 0 }
    }

    pub fn reset(&mut self) {
        self.delay_line.fill(0.0);
        self.position = 0;
    }

    /// Copies the delay line of `other`, which must have the same sample rate.
    pub fn copy(&mut self, other: &Self) {
        self.delay_line.copy_from_slice(&other.delay_line);
        self.position = other.position;
    }

    /// Appends a block to the delay line. NaN counts as 0.
    pub fn push(&mut self, block: &[f32; BLOCK]) {
        let block =
            block.map(|x| if x.abs() >= QUIETEST { x.clamp(-LOUDEST, LOUDEST) } else { 0.0 });
        let half = self.delay_line.len() / 2;
        self.position = (self.position + BLOCK) % half;
        for start in [self.position, self.position + half] {
            self.delay_line[start..start + BLOCK].copy_from_slice(&block);
        }
    }

    /// Returns [`CHUNK`] decimated samples. The next decimated sample, which is not one of them, is `end` samples (1..=64) after
    /// the start of the last block.
    pub fn chunk<S: Simd>(&self, simd: S, end: usize) -> [f32; CHUNK] {
        simd.vectorize(
            #[inline(always)]
            || self.filter(simd, end),
        )
    }

    #[inline(always)]
    fn filter<S: Simd>(&self, simd: S, end: usize) -> [f32; CHUNK] {
        /// Number of output samples that are computed in parallel, which hides the latency of the sums.
        const GROUP: usize = 8;
        let lanes = S::f32s::LEN;
        let length = self.taps.len();
        let next = self.delay_line.len() / 2 + self.position + end;
        let mut out = [0.0; CHUNK];
        for (group, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
            let mut inputs = [&self.delay_line[..length]; GROUP];
            for (k, input) in inputs.iter_mut().enumerate() {
                let age = (CHUNK - group * GROUP - k) * self.decimation;
                *input = &self.delay_line[next + 1 - age - length..][..length];
            }
            let mut sums = [S::f32s::splat(simd, 0.0); GROUP];
            for first in (0..length).step_by(lanes) {
                let taps = S::f32s::from_slice(simd, &self.taps[first..][..lanes]);
                for k in 0..GROUP {
                    let input = S::f32s::from_slice(simd, &inputs[k][first..][..lanes]);
                    sums[k] = input.mul_add(taps, sums[k]);
                }
            }
            for k in 0..GROUP {
                out[k] = sums[k].reduce_sum();
            }
        }
        out
    }
}
