//! Waveforms as series of harmonics.

use crate::Voice;
use std::f64::consts::{PI, SQRT_2, TAU};

/// Number of harmonics of a series.
const MOST: usize = 400;

/// Number of drives for which there is a driven sine, at equal ratios from 1 to [`HIGHEST_DRIVE`].
pub(crate) const SHAPES: usize = 7;
/// Maximum drive for which there is a driven sine.
const HIGHEST_DRIVE: f64 = 400.0;

/// Cosine and sine of each harmonic.
pub(crate) type Series = Vec<[f64; 2]>;

/// All series, each computed on its first use.
pub(crate) struct Waveforms {
    shapes: [Series; SHAPES],
    /// Series of the voices used so far.
    voices: Vec<(Voice, Series)>,
}

impl Waveforms {
    pub fn new() -> Self {
        Self { shapes: std::array::from_fn(|_| Series::new()), voices: Vec::new() }
    }

    /// Returns the series of `voice`, scaled to [`soft_rms`].
    pub fn voice(&mut self, voice: Voice) -> &Series {
        let known = self.voices.iter().position(|(known, _)| *known == voice);
        let index = known.unwrap_or_else(|| {
            let series = (1..=MOST).map(|n| harmonic(voice, n).map(|part| soft_rms() * part));
            self.voices.push((voice, series.collect()));
            self.voices.len() - 1
        });
        &self.voices[index].1
    }

    pub fn shape(&mut self, shape: usize) -> &Series {
        let series = &mut self.shapes[shape];
        if series.is_empty() {
            *series = driven(HIGHEST_DRIVE.powf(shape as f64 / (SHAPES - 1) as f64));
        }
        series
    }

    pub fn shape_rms(&mut self, shape: usize) -> f64 {
        let squares = self.shape(shape).iter().map(|[cosine, _]| cosine * cosine / 2.0);
        squares.sum::<f64>().sqrt()
    }
}

/// Returns the weight of the driven sine `shape` at a `drive`. Two neighbours are interpolated, by the logarithm of the drive.
pub(crate) fn shape_share(shape: usize, drive: f64) -> f64 {
    let position = (SHAPES - 1) as f64 * drive.ln() / HIGHEST_DRIVE.ln();
    (1.0 - (position - shape as f64).abs()).max(0.0)
}

/// Returns the number of harmonics for a note of `frequency` Hz: one of 1, 2, 3 and so on in steps of 19 %, up to 400. All stay
/// below half the sample rate even if the note is half a semitone sharp; 0 if the fundamental does not.
pub(crate) fn harmonics(frequency: f64, sample_rate: f64) -> usize {
    let highest = sample_rate / 2.0 / (frequency * (0.5f64 / 12.0).exp2());
    let next = |n: &usize| Some((119 * n / 100).max(n + 1));
    let counts = std::iter::successors(Some(1), next).take_while(|n| *n <= MOST);
    counts.take_while(|n| *n as f64 <= highest).last().unwrap_or(0)
}

/// Returns the sum of the harmonics in `series`; `phase` is the phase of the first one. By Horner's rule, it is the real part of
/// a polynomial of `e^(i phase)`.
pub(crate) fn waveform(series: &[[f64; 2]], phase: f64) -> f64 {
    let (sin, cos) = phase.sin_cos();
    let add = |(re, im): (f64, f64), [cosine, sine]: &[f64; 2]| {
        let (re, im) = (re + cosine, im - sine);
        (re * cos - im * sin, re * sin + im * cos)
    };
    series.iter().rev().fold((0.0, 0.0), add).0
}

/// Returns cosine and sine of the `n`th harmonic of a waveform with a mean square of 1.
pub(crate) fn harmonic(voice: Voice, n: usize) -> [f64; 2] {
    let (odd, turn) = (n % 2 == 1, PI * n as f64);
    // Textbook series of a pulse that is 1 for the fraction `duty` of the period and otherwise 0, divided by its standard
    // deviation.
    let pulse = |duty: f64| 2.0 / turn * (turn * duty).sin() / (duty * (1.0 - duty)).sqrt();
    match voice {
        Voice::Sine if n == 1 => [SQRT_2, 0.0],
        Voice::Square => [pulse(1.0 / 2.0), 0.0],
        Voice::Pulse25 => [pulse(1.0 / 4.0), 0.0],
        Voice::Pulse12 => [pulse(1.0 / 8.0), 0.0],
        Voice::Triangle if odd => [3f64.sqrt() * 8.0 / turn.powi(2), 0.0],
        Voice::Saw => {
            let (sine, cosine) = (turn / 2.0).sin_cos();
            [sine, cosine].map(|part| 3f64.sqrt() * 2.0 / turn * part)
        }
        // Triangle in steps: from 15 to 0 and back in 32 steps, with a variance of 85/4.
        Voice::Chip if odd => [2.0 / (turn * (turn / 32.0).tan()) / (85f64 / 4.0).sqrt(), 0.0],
        Voice::Soft | Voice::SoftClean | Voice::Sine | Voice::Triangle | Voice::Chip => [0.0; 2],
    }
}

/// Returns the harmonics of a sine of RMS 1 that is driven into the soft clip.
fn driven(drive: f64) -> Series {
    let steps = 32_768;
    let cosines: Vec<f64> = (0..steps).map(|t| (TAU * t as f64 / steps as f64).cos()).collect();
    let driven = cosines.iter().map(|cosine| SQRT_2 * drive * cosine);
    let clipped: Vec<f64> = driven.map(|x| x / (1.0 + x.abs())).collect();
    let harmonic = |n: usize| {
        let turned = clipped.iter().enumerate().map(|(t, y)| y * cosines[n * t % steps]);
        2.0 / steps as f64 * turned.sum::<f64>()
    };
    (1..=MOST).map(|n| [harmonic(n), 0.0]).collect()
}

/// Returns the RMS that the soft clip gives a sine of RMS 1 at a drive of 40. All waveforms are scaled to it.
///
/// With `k = 40 sqrt 2`, its square is the mean of `(k cos t / (1 + k cos t))^2` over a quarter of a period.
pub(crate) fn soft_rms() -> f64 {
    let k = 40.0 * SQRT_2;
    let s = (k * k - 1.0).sqrt();
    (1.0 - 4.0 / PI * k.acosh() / s + 2.0 / PI * (k / (s * s) - k.acosh() / s.powi(3))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_has_a_mean_square_of_one() {
        use Voice::{Chip, Pulse12, Pulse25, Saw, Sine, Square, Triangle};
        for voice in [Sine, Square, Pulse25, Pulse12, Triangle, Saw, Chip] {
            let squares = (1..100_000).flat_map(|n| harmonic(voice, n)).map(|part| part * part);
            let mean = squares.sum::<f64>() / 2.0;
            // The bound covers the remainder of the sum of 1 / n^2.
            assert!((mean - 1.0).abs() < 2e-5, "{voice:?}: {mean}");
        }
    }

    #[test]
    fn the_soft_clips_rms_is_the_mean_over_a_period() {
        let steps = 1_000_000;
        let square = |step: usize| {
            let driven = 40.0 * SQRT_2 * (PI / 2.0 * (step as f64 + 0.5) / steps as f64).cos();
            (driven / (1.0 + driven)).powi(2)
        };
        let mean = (0..steps).map(square).sum::<f64>() / steps as f64;
        assert!((soft_rms() - mean.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn as_many_harmonics_as_fit_below_half_the_rate() {
        let spare = (0.5f64 / 12.0).exp2();
        for (most, expected) in [(0.9, 0), (1.1, 1), (11.5, 11), (12.9, 11), (13.1, 13), (1e4, 343)]
        {
            assert_eq!(harmonics(24_000.0 / (most * spare), 48_000.0), expected, "{most}");
        }
    }
}
