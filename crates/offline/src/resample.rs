//! Sample rate converter: a polyphase filter with the coefficients of a Kaiser-windowed sinc.
//!
//! The computation consists of additions and multiplications in a fixed order, and its table uses functions of `libm`, so the
//! result is the same on every system and CPU.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use std::f64::consts::PI;
use wide::f32x16;

/// Half of the filter's length, in samples of the lower of both rates.
const HALF: usize = 128;

/// Kaiser's `beta` for an attenuation of 130 dB: `0.1102 (130 - 8.7)`.
const BETA: f64 = 13.367;

/// Cutoff (-6 dB) relative to the lower Nyquist frequency. The transition ends at 1; by Kaiser's formula, its width is `2 * (1 -
/// CUTOFF)` = `(130 - 8) / (2.285 pi * 2 * HALF)`.
const CUTOFF: f64 = 1.0 - 122.0 / (2.285 * PI * 4.0 * HALF as f64);

/// Number of partial sums that a dot product computes in parallel.
const LANES: usize = 16;

/// Maximum number of coefficients in the table, which then takes 64 MiB.
const MOST_FACTORS: usize = 1 << 24;

/// Converter of a stream to another sample rate.
///
/// The sound in the input must be preceded by [`Self::reach`]` - 1` frames, and followed by [`Self::reach`] frames: silence, or
/// what a loop plays there. Then sound and output start at the same time, and the output has the length of the sound.
pub struct Resampler {
    /// Input rate, divided by the greatest common divisor of both rates.
    from: usize,
    /// Output rate, divided by the greatest common divisor of both rates.
    to: usize,
    /// Coefficients of the filter: a row for each of `to` positions between two input samples.
    table: Vec<f32>,
    /// Number of coefficients in a row.
    length: usize,
    /// Input samples of each channel that later output frames need.
    pending: Vec<Vec<f32>>,
    /// Row of the table for the next output frame. It is the distance from the previous input frame to this output frame, in
    /// units of 1 / `to` input frames.
    phase: usize,
}

impl Resampler {
    /// Creates a resampler from the rate `from` to the rate `to`, in Hz; both must be more than 0.
    ///
    /// # Errors
    /// If the greatest common divisor of the rates is so small that the table would exceed 64 MiB.
    pub fn new(from: u32, to: u32, channels: u16) -> Result<Self, String> {
        let common = gcd(from, to);
        let [from, to] = [from, to].map(|rate| (rate / common) as usize);
        let ratio = (to as f64 / from as f64).min(1.0);
        let half = ((HALF as f64 / ratio).ceil() as usize).next_multiple_of(LANES / 2);
        let length = 2 * half;
        if length.saturating_mul(to) > MOST_FACTORS {
            return Err("their ratio is not simple enough".into());
        }
        let mut table = Vec::with_capacity(length * to);
        let mut row = vec![0.0; length];
        for phase in 0..to {
            for (tap, factor) in row.iter_mut().enumerate() {
                let samples = tap as f64 - (half - 1) as f64 - phase as f64 / to as f64;
                *factor = sinc(CUTOFF * ratio * samples) * kaiser(samples / half as f64);
            }
            let sum: f64 = row.iter().sum();
            table.extend(row.iter().map(|factor| (factor / sum) as f32));
        }
        let pending = vec![Vec::new(); usize::from(channels)];
        Ok(Self { from, to, table, length, pending, phase: 0 })
    }

    /// Returns half of the filter's length: an output frame depends on this number of input frames on either side.
    pub fn reach(&self) -> usize {
        self.length / 2
    }

    /// Returns the number of output frames for a sound of `frames` frames.
    pub fn output_frames(&self, frames: u64) -> u64 {
        (u128::from(frames) * self.to as u128).div_ceil(self.from as u128) as u64
    }

    /// Takes the next input from `channels`, and replaces it by the output that can be computed so far.
    pub fn process(&mut self, channels: &mut [Vec<f32>]) {
        for (pending, channel) in self.pending.iter_mut().zip(channels.iter_mut()) {
            pending.append(channel);
        }
        let available = self.pending[0].len();
        let mut start = 0;
        while start + self.length <= available {
            let row = &self.table[self.phase * self.length..][..self.length];
            for (pending, channel) in self.pending.iter().zip(channels.iter_mut()) {
                channel.push(product(row, &pending[start..][..self.length]));
            }
            self.phase += self.from;
            start += self.phase / self.to;
            self.phase %= self.to;
        }
        self.pending.iter_mut().for_each(|pending| drop(pending.drain(..start)));
    }
}

/// Returns the dot product of two rows, whose length must be a multiple of [`LANES`].
fn product(one: &[f32], other: &[f32]) -> f32 {
    let mut sums = f32x16::ZERO;
    for (one, other) in one.as_chunks::<LANES>().0.iter().zip(other.as_chunks::<LANES>().0) {
        sums += f32x16::from(*one) * f32x16::from(*other);
    }
    sums.to_array().iter().sum()
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { libm::sin(PI * x) / (PI * x) }
}

/// Returns Kaiser's window at `x`; its ends are at -1 and 1.
fn kaiser(x: f64) -> f64 {
    bessel(BETA * (1.0 - x * x).max(0.0).sqrt()) / bessel(BETA)
}

/// Returns the modified Bessel function of the first kind and order 0, by its series.
fn bessel(x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..100 {
        term *= (x / 2.0 / f64::from(k)).powi(2);
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    sum
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    const RATES: [(u32, u32); 5] =
        [(44_100, 48_000), (48_000, 44_100), (96_000, 44_100), (8000, 44_100), (44_100, 47_999)];
    const FRAMES: usize = 30_000;

    fn sine(hertz: f64, rate: u32, frame: usize) -> f32 {
        (TAU * hertz * frame as f64 / f64::from(rate)).sin() as f32
    }

    fn resampled(from: u32, to: u32, input: &[f32], block: usize) -> Vec<f32> {
        let mut resampler = Resampler::new(from, to, 1).unwrap();
        let mut output = Vec::new();
        let silence = vec![0.0; resampler.reach()];
        for part in [&silence[1..], input, &silence].concat().chunks(block) {
            let mut channels = vec![part.to_vec()];
            resampler.process(&mut channels);
            output.append(&mut channels[0]);
        }
        output
    }

    /// Returns the range of `output` without its ends, where the filter rings because the sine starts and stops.
    fn middle(from: u32, to: u32, output: &[f32]) -> std::ops::Range<usize> {
        let ends = 1000 * to as usize / from as usize;
        ends..output.len() - ends
    }

    #[test]
    fn a_sine_keeps_its_pitch_phase_and_length_at_any_rate_and_block_size() {
        for (from, to) in RATES {
            // Tests a frequency in the middle of the passband, and one at its end.
            let nyquist = f64::from(from.min(to)) / 2.0;
            for hertz in [1000.0, 0.93 * nyquist] {
                let input: Vec<f32> = (0..FRAMES).map(|t| sine(hertz, from, t)).collect();
                let whole = resampled(from, to, &input, FRAMES);
                let wanted = (FRAMES as f64 * f64::from(to) / f64::from(from)).ceil() as usize;
                assert_eq!(whole.len(), wanted);
                for t in middle(from, to, &whole) {
                    let error = (whole[t] - sine(hertz, to, t)).abs();
                    assert!(error < 2e-6, "{hertz} Hz, {from} to {to}, sample {t}: {error}");
                }
                for block in [1, 777] {
                    assert!(resampled(from, to, &input, block) == whole, "{from} to {to}, {block}");
                }
            }
        }
    }

    #[test]
    fn what_the_lower_rate_cannot_hold_is_120_db_down() {
        for (from, to) in [(48_000, 44_100), (96_000, 44_100), (192_000, 48_000)] {
            let input: Vec<f32> =
                (0..FRAMES).map(|t| sine(f64::from(to) / 2.0 + 50.0, from, t)).collect();
            let output = resampled(from, to, &input, FRAMES);
            let loudest =
                output[middle(from, to, &output)].iter().fold(0.0, |a: f32, x| a.max(x.abs()));
            assert!(loudest < 1e-6, "{from} to {to}: {loudest}");
        }
    }
}
