//! Tuning of the music: the deviation of its tones from the semitones of A4 = 440 Hz.

use tone_filter_listener::Deviation;

/// Least total weight of the tones: half a second to two seconds of music.
const LEAST: f64 = 60.0;
/// Least magnitude of the mean direction of all tones (1 if all agree). White noise has 0.03 after ten seconds, songs have 0.15
/// or more.
const LEAST_SHARE: f64 = 0.1;

/// Finds the tuning of the tones that a listener measures: their mean deviation from the semitones, as a direction on a circle of
/// 100 cents.
#[derive(Debug, Clone)]
pub struct TuningFinder {
    /// Factor on the past per frame.
    keep: f64,
    sum: Deviation,
}

impl TuningFinder {
    /// Creates a finder for frames of `frame` seconds. It forgets with a time constant of `memory` seconds, which may be
    /// infinite.
    pub fn new(frame: f64, memory: f64) -> Self {
        Self { keep: libm::exp(-frame / memory), sum: Deviation::default() }
    }

    /// Forgets all tones.
    pub fn reset(&mut self) {
        self.sum = Deviation::default();
    }

    /// Evaluates the tones of the next frame; see [`Listener::deviation`](tone_filter_listener::Listener::deviation).
    pub fn push(&mut self, tones: Deviation) {
        let next = |sum: &mut f64, new| *sum = self.keep * *sum + new;
        next(&mut self.sum.re, tones.re);
        next(&mut self.sum.im, tones.im);
        next(&mut self.sum.weight, tones.weight);
    }

    /// Returns the frequency of A4 in Hz for music that is transposed by `transpose` semitones, of which only the fraction
    /// matters. Of all frequencies that fit, this is the nearest to `near` Hz, at most 50 cents away. `None` if there are too few
    /// tones, or they do not agree.
    pub fn a4(&self, near: f64, transpose: f64) -> Option<f64> {
        let Deviation { re, im, weight } = self.sum;
        let share = libm::hypot(re, im) / weight;
        let found = weight >= LEAST && share >= LEAST_SHARE;
        found.then(|| {
            let semitones = libm::atan2(im, re) / std::f64::consts::TAU - transpose;
            let off = semitones - 12.0 * libm::log2(near / 440.0);
            near * libm::exp2((off - libm::round(off)) / 12.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn finder(cents: &[f64]) -> TuningFinder {
        let mut finder = TuningFinder::new(0.01, f64::INFINITY);
        for _ in 0..100 {
            for cents in cents {
                let (im, re) = (TAU * cents / 100.0).sin_cos();
                finder.push(Deviation { re, im, weight: 1.0 });
            }
        }
        finder
    }

    fn cents(hertz: f64) -> f64 {
        1200.0 * (hertz / 440.0).log2()
    }

    #[test]
    fn the_nearest_tuning_that_fits_is_found() {
        for off in [-49.0, -30.0, 0.0, 12.5, 49.0] {
            let found = |near, transpose| finder(&[off]).a4(near, transpose).map(cents).unwrap();
            assert!((found(440.0, 0.0) - off).abs() < 1e-9);
            assert!((found(440.0, 7.0) - off).abs() < 1e-9, "whole semitones");
            let one_up = 440.0 * (1f64 / 12.0).exp2();
            assert!((found(one_up, 0.0) - 100.0 - off).abs() < 1e-9);
        }
        let found = finder(&[20.0]).a4(440.0, 0.3).map(cents).unwrap();
        assert!((found + 10.0).abs() < 1e-9, "{found}");
        let vibrato = finder(&[10.0, 30.0, 50.0, 30.0, 10.0, -10.0, -30.0, -10.0]);
        let found = vibrato.a4(440.0, 0.0).map(cents).unwrap();
        assert!((found - 10.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn tones_that_do_not_agree_or_are_too_few_give_none() {
        assert_eq!(finder(&[0.0, 25.0, 50.0, 75.0]).a4(440.0, 0.0), None);
        assert_eq!(TuningFinder::new(0.01, 20.0).a4(440.0, 0.0), None);
        let mut few = TuningFinder::new(0.01, 20.0);
        few.push(Deviation { re: 1.0, im: 0.0, weight: 1.0 });
        assert_eq!(few.a4(440.0, 0.0), None);
    }
}
