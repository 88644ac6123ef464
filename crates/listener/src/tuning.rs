//! Deviation of the tones of a frame from the semitones of A4 = 440 Hz.
//!
//! The sharp detectors lie half a semitone apart. Each measures its distance from a tone by `Im r` (`docs/listening.md`). If two
//! neighbours agree about a tone and neither grows, there is one steady tone.

use crate::{
    detectors::{DETECTORS, LOWEST, decay},
    features::Features,
};
use std::f64::consts::TAU;

/// Number of sharp detectors.
const SHARP: usize = 2 * DETECTORS;
/// Cents from one sharp detector to the next.
const SPACING: f64 = 50.0;
/// Cents from the lowest sharp detector up to its semitone.
const FIRST: f64 = 25.0;
/// Distance of a tone from the middle of two neighbours, in cents, at which its weight is 0.
const REACH: f64 = 50.0;
/// Difference between the measurements of two neighbours, in cents, at which their weight falls by a factor of e.
const DISAGREEMENT: f64 = 28.0;
/// Growth of one of two neighbours, in bandwidths, at which their weight falls by a factor of e.
const GROWTH: f64 = 0.6;
/// Exponent in the weight of two neighbours, applied to their power relative to the reference power. It is small, so that weak
/// tones count nearly as much as strong ones.
const EXPONENT: f64 = 0.15;
/// Minimum power of two neighbours relative to the reference power.
const LEAST_SHARE: f64 = 1e-6;
/// Minimum reference power of a result: -100 dB full scale.
const QUIETEST: f64 = 1e-10;
/// Logarithm of the weight, without the factors for power and distance, below which a tone does not count. No test fixes
/// the value, because a tone at this limit would have only 0.03 % of the weight of a steady tone.
const LEAST_LOG: f64 = -8.0;

/// Complex sum of `weight * exp(2 pi i cents / 100)` over the tones of a frame, where `cents` is the distance of a tone from the
/// nearest semitone of A4 = 440 Hz. Deviations of several frames may be added.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Deviation {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
    /// Sum of the weights; at least the absolute value of the complex sum.
    pub weight: f64,
}

impl Deviation {
    /// Computes the deviation of the last frame, whose detectors were tuned to `a4` Hz.
    pub(crate) fn of(features: &Features, a4: f64) -> Self {
        let reference = f64::from(features.reference);
        if reference < QUIETEST {
            return Self::default();
        }
        // Cents from the semitones of A4 = 440 Hz to the detectors' semitones.
        let offset = 1200.0 * libm::log2(a4 / 440.0);
        let semitones = f64::from(LOWEST - 69) - FIRST / 100.0;
        let (mut hertz, step) = (a4 * libm::exp2(semitones / 12.0), libm::exp2(SPACING / 1200.0));
        let mut sum = Self::default();
        let mut lower = Detector::of(features, 0, hertz);
        for upper in 1..SHARP {
            hertz *= step;
            let next = Detector::of(features, upper, hertz);
            if let Some((cents, weight)) = tone(&lower, &next, reference) {
                // The middle between the detectors is on a semitone or half a semitone above it.
                let middle = if upper % 2 == 1 { 0.0 } else { SPACING };
                let (sin, cos) = libm::sincos(TAU / 100.0 * (offset + middle + cents));
                sum.re += weight * cos;
                sum.im += weight * sin;
                sum.weight += weight;
            }
            lower = next;
        }
        sum
    }
}

struct Detector {
    /// Squared magnitude of the detector's output at the end of the frame, averaged over the channels.
    square: f64,
    /// Cents from the detector up to the tone.
    cents: f64,
    /// Growth: `Re r - 1`.
    growth: f64,
}

impl Detector {
    /// Reads the sharp detector `index`, counted by frequency; it lies at `hertz`.
    fn of(features: &Features, index: usize, hertz: f64) -> Self {
        let [square, re, im] = features.products(1 + index % 2, index / 2).map(f64::from);
        let x = im / square * decay(1, hertz) / (TAU * hertz);
        // `1200 log2(1 + x)`, within 0.01 cents where it matters.
        let cents = 1200.0 / std::f64::consts::LN_2 * x * (1.0 - x * (0.5 - x / 3.0));
        Self { square, cents, growth: re / square - 1.0 }
    }
}

/// Returns the cents from the middle of two neighbours up to their tone, and the tone's weight; `None` without a steady tone.
fn tone(lower: &Detector, upper: &Detector, reference: f64) -> Option<(f64, f64)> {
    let square = lower.square + upper.square;
    let share = square / reference;
    let (below, above) = (lower.cents - SPACING / 2.0, upper.cents + SPACING / 2.0);
    let cents = (lower.square * below + upper.square * above) / square;
    let squared_ratio = |value: f64, scale: f64| (value / scale) * (value / scale);
    let doubt = squared_ratio(below - above, DISAGREEMENT)
        + squared_ratio(lower.growth, GROWTH)
        + squared_ratio(upper.growth, GROWTH);
    // The condition is also false for NaN.
    if !(share > LEAST_SHARE && cents.abs() < REACH && doubt < -LEAST_LOG) {
        return None;
    }
    let window = 1.0 - squared_ratio(cents, REACH);
    Some((cents, window * window * libm::exp(EXPONENT * libm::log(share) - doubt)))
}
