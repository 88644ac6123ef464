//! Design of one resonator in f64: from note and ring time to coefficients.
//!
//! A resonator has zeros at DC and Nyquist and a pole pair at radius `r` and angle `w`:
//!
//! ```text
//! H(z) = g (1 - z^-2) / (1 - 2 r cos(w) z^-1 + r^2 z^-2),    |H(e^jw)| = 1
//! ```
//!
//! The code is a two-integrator (Chamberlin) loop with the same poles and zeros. Near DC, its coefficients keep their digits,
//! unlike those of the direct form:
//!
//! ```text
//! lo += a bp - (g / b) (x[t] - x[t-2]);    bp += -b lo - d bp;    y = bp
//! a b = F^2 = 1 + r^2 - 2 r cos(w),    d = 1 - r^2
//! ```
//!
//! Any split of `F^2` into `a b` gives the same transfer function (it only scales `lo`). The split is chosen such that the
//! product of the *rounded* factors is far closer to `F^2` than f32's own precision.

use std::f64::consts::TAU;

/// Frequency relative to the sample rate at and above which tones are silent.
const HIGHEST: f64 = 0.45;

/// Poles, zeros and gain of one resonator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    /// Angle of the poles in radians per sample, at most `2 pi` [`HIGHEST`].
    pub angle: f64,
    pub radius: f64,
    /// Gain `g` for a response of 1 at `angle`; 0 for a tone at or above [`HIGHEST`].
    pub gain: f64,
}

/// Returns the T60 in seconds of the tone that is `semitone` semitones above A3 (negative: below). Tones from A3 up ring for
/// `ring` seconds.
///
/// Below A3, the time is in inverse proportion to the frequency: each tone is as selective, relative to its distance from the
/// next one, as A3 (a constant Q, as in J. C. Brown, "Calculation of a constant Q spectral transform", 1991).
pub fn ring_of(semitone: i32, ring: f64) -> f64 {
    ring * libm::exp2(f64::from((-semitone).max(0)) / 12.0)
}

impl Design {
    /// Designs a resonator for `frequency` Hz with a T60 of `ring` seconds: its pole radius is `10^(-3 / (ring fs))`.
    ///
    /// Its gain is 0 at or above [`HIGHEST`] of the sample rate: a tone that is transposed that high rings out.
    pub fn new(frequency: f64, ring: f64, sample_rate: f64) -> Self {
        let angle = TAU * (frequency / sample_rate).min(HIGHEST);
        let radius = libm::pow(10.0, -3.0 / (ring * sample_rate));
        let reachable = frequency < HIGHEST * sample_rate;
        let gain = if reachable { 1.0 / unscaled_magnitude(angle, radius) } else { 0.0 };
        Self { angle, radius, gain }
    }

    /// Returns `1 + r^2 - 2 r cos(w)` for poles at the radius `r`, computed without cancellation for small `w` and `r` near 1.
    pub fn squared(&self, r: f64) -> f64 {
        (1.0 - r).powi(2) + 4.0 * r * libm::sin(self.angle / 2.0).powi(2)
    }

    /// Returns the factors `a` and `b` of the two-integrator loop.
    pub fn factors(&self) -> (f32, f32) {
        factor(self.squared(self.radius))
    }
}

/// Returns `|H(e^jw)|` for `g = 1`.
///
/// With `p = e^jw`, the distances to the poles multiply to `|p - r p| |p - r/p|`, and those to the zeros to `|p - 1| |p + 1|`.
/// `|p - r/p|^2 = (1 - r)^2 + 4 r sin^2(w)`.
fn unscaled_magnitude(w: f64, r: f64) -> f64 {
    let sine = libm::sin(w);
    2.0 * sine / ((1.0 - r) * ((1.0 - r).powi(2) + 4.0 * r * sine * sine).sqrt())
}

/// Returns two f32 numbers of similar size. A short search brings their exact product close to `product`: the relative error is
/// about 2^-30, and 2^-25 for a single f32.
///
/// The search starts away from the square root: near it, neighbouring candidates would have similar errors.
fn factor(product: f64) -> (f32, f32) {
    let mut best = (0.0, 0.0, f64::INFINITY);
    let mut rise = (1.3 * product.sqrt()) as f32;
    for _ in 0..32 {
        let fall = (product / f64::from(rise)) as f32;
        let error = (f64::from(rise) * f64::from(fall) - product).abs();
        if error < best.2 {
            best = (rise, fall, error);
        }
        rise = rise.next_up();
    }
    (best.0, best.1)
}
