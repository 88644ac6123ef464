//! Waveform of a sine driven into a soft clip: a few tables cover any drive.

use super::fourier::Fourier;
use std::f64::consts::{SQRT_2, TAU};

/// Number of tabulated drives, at equal ratios from 1 to [`HIGHEST`].
pub const SHAPES: usize = 7;

const HIGHEST: f64 = 400.0;
/// Number of samples from which a series is computed: enough for aliases at -100 dB.
pub const LENGTH: usize = 1 << 16;

const HARMONICS: usize = 400;

/// Returns the position of `drive` among the tables, 0 to [`SHAPES`] - 1.
pub fn drive_position(drive: f32) -> f32 {
    (SHAPES - 1) as f32 * libm::logf(drive) / libm::log(HIGHEST) as f32
}

/// Returns the weight of the table `shape` for a drive at `position`; tables are interpolated linearly.
pub fn share(shape: usize, position: f32) -> f32 {
    (1.0 - (position - shape as f32).abs()).max(0.0)
}

/// Returns the amplitudes of the harmonics of each shape, the first harmonic first. A shape is `g cos t / (1 + |g cos t|)` with
/// `g = sqrt 2 drive`, the soft clip of a sine of RMS 1.
pub fn series(fourier: &Fourier) -> [Vec<f64>; SHAPES] {
    let cosine = |t| libm::cos(TAU * t as f64 / LENGTH as f64);
    let cosines: Vec<f64> = (0..LENGTH).map(cosine).collect();
    std::array::from_fn(|shape| {
        let drive = libm::pow(HIGHEST, shape as f64 / (SHAPES - 1) as f64);
        let clip = |cosine: &f64| {
            let driven = SQRT_2 * drive * cosine;
            [driven / (1.0 + driven.abs()), 0.0]
        };
        let clipped: Vec<_> = cosines.iter().map(clip).collect();
        let sums = fourier.transform(&clipped, LENGTH);
        sums[1..=HARMONICS].iter().map(|sum| 2.0 / LENGTH as f64 * sum).collect()
    })
}
