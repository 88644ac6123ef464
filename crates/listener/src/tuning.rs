//! Deviation of the tones of a frame from the semitones of A4 = 440 Hz.
//!
//! The sharp detectors lie half a semitone apart. Each measures the distance of a tone from itself by `Im r`, which is that of the
//! features, so a pair of neighbours measures it twice. Where both agree and neither grows, there is one steady tone.

use crate::{
    detectors::{DETECTORS, LOWEST, decay},
    features::Features,
};
use std::f64::consts::TAU;

/// Sharp detectors, and cents from one to the next.
const SHARP: usize = 2 * DETECTORS;
const SPACING: f64 = 50.0;
/// Cents from the lowest detector to its semitone.
const FIRST: f64 = 25.0;
/// Cents from a pair's middle at which its weight is 0.
const REACH: f64 = 50.0;
/// The disagreement of a pair in cents, and the growth of each in bandwidths, at which its weight is down by a factor of e.
const DISAGREEMENT: f64 = 28.0;
const GROWTH: f64 = 0.6;
/// Weights grow with this power of a pair's share in the reference power: weak tones count nearly as much as strong ones.
const EXPONENT: f64 = 0.15;
/// The least share that counts, and the least reference power: -100 dB full scale.
const LEAST_SHARE: f64 = 1e-6;
const QUIETEST: f64 = 1e-10;
/// Weights below e to the power of this count as 0.
const LEAST_LOG: f64 = -8.0;

/// The sum of all tones' weights `w`, times `exp(2 pi i cents / 100)`, where `cents` is the distance of a tone from the nearest semitone of
/// A4 = 440 Hz. Sums of several frames are means over all their tones.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Deviation {
    /// The real part of the sum.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
    /// The sum of the weights, without direction: at least the absolute value of the sum.
    pub weight: f64,
}

impl Deviation {
    /// Deviation of the last frame, whose detectors were tuned to `a4` Hz.
    pub(crate) fn of(features: &Features, a4: f64) -> Self {
        let reference = f64::from(features.reference());
        if reference < QUIETEST {
            return Self::default();
        }
        // Cents from the semitones of 440 Hz to those of the detectors, and the frequency of the lowest one.
        let offset = 1200.0 * libm::log2(a4 / 440.0);
        let semitones = f64::from(LOWEST - 69) - FIRST / 100.0;
        let (mut hertz, step) = (a4 * libm::exp2(semitones / 12.0), libm::exp2(SPACING / 1200.0));
        let mut sum = Self::default();
        let mut lower = Detector::of(features, 0, hertz);
        for upper in 1..SHARP {
            hertz *= step;
            let next = Detector::of(features, upper, hertz);
            if let Some((cents, weight)) = tone(&lower, &next, reference) {
                // The middle of a pair is a semitone, or half of one above it.
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

/// Measurement of a detector.
struct Detector {
    /// Mean square of its output.
    square: f64,
    /// Cents from it to the tone.
    cents: f64,
    /// `Re r - 1`.
    growth: f64,
}

impl Detector {
    /// The sharp detector `index`, the lowest first, at `hertz`.
    fn of(features: &Features, index: usize, hertz: f64) -> Self {
        let [square, re, im] = features.sharp(index).map(f64::from);
        let x = im / square * decay(1, hertz) / (TAU * hertz);
        // `1200 log2(1 + x)`, within 0.01 cents where it matters.
        let cents = 1200.0 / std::f64::consts::LN_2 * x * (1.0 - x * (0.5 - x / 3.0));
        Self { square, cents, growth: re / square - 1.0 }
    }
}

/// The cents from the middle of a pair of neighbours to its tone, and the tone's weight, if it has one.
fn tone(lower: &Detector, upper: &Detector, reference: f64) -> Option<(f64, f64)> {
    let square = lower.square + upper.square;
    let share = square / reference;
    let (below, above) = (lower.cents - SPACING / 2.0, upper.cents + SPACING / 2.0);
    let cents = (lower.square * below + upper.square * above) / square;
    let of = |value: f64, scale: f64| (value / scale) * (value / scale);
    let doubt =
        of(below - above, DISAGREEMENT) + of(lower.growth, GROWTH) + of(upper.growth, GROWTH);
    // Also false for what is no number.
    if !(share > LEAST_SHARE && cents.abs() < REACH && doubt < -LEAST_LOG) {
        return None;
    }
    let window = 1.0 - of(cents, REACH);
    Some((cents, window * window * libm::exp(EXPONENT * libm::log(share) - doubt)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_that_disagrees_or_grows_counts_less() {
        let weight = |apart: f64, growth: f64| {
            let detector = |cents| Detector { square: 0.5, cents, growth };
            let (lower, upper) = (SPACING / 2.0 + apart / 2.0, -SPACING / 2.0 - apart / 2.0);
            let (cents, weight) = tone(&detector(lower), &detector(upper), 1.0).unwrap();
            assert!(cents.abs() < 1e-9, "{cents}");
            weight
        };
        let e = std::f64::consts::E;
        assert!((weight(0.0, 0.0) - 1.0).abs() < 1e-9);
        assert!((weight(DISAGREEMENT, 0.0) - 1.0 / e).abs() < 1e-9);
        assert!((weight(0.0, GROWTH) - 1.0 / (e * e)).abs() < 1e-9);
    }
}
