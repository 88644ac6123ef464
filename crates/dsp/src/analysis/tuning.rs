//! The tuning of the music: by how much its tones are off the semitones of A4 = 440 Hz.

use std::f64::consts::TAU;
use tone_filter_listener::Deviation;

/// The weight of all tones from which on there is a tuning: half a second to two seconds of music.
const LEAST: f64 = 60.0;
/// The share of the tones' weight that is left in their common direction, from which on there is a tuning. White noise has 0.03 after ten
/// seconds, songs have 0.15 or more.
const LEAST_SHARE: f64 = 0.1;
/// Time constant in seconds of the mean over a vibrato, whose period is at most some 0.25 s.
const VIBRATO: f64 = 0.1;

/// Finds the tuning of the tones that a listener measures: their mean deviation from the semitones, on the circle of 100 cents.
///
/// A vibrato of 50 cents stays longest where it turns, and both ends are the same place of the circle. Therefore the deviation is
/// followed from frame to frame, beyond a whole turn, and it is its mean over a vibrato that counts.
#[derive(Debug, Clone)]
pub struct TuningFinder {
    /// Share of the past that is kept after a frame.
    keep: f64,
    /// Share of the distance to the deviation by which its mean moves in a frame.
    smoothing: f64,
    /// Deviation of the last tones in turns of the circle, at most half a turn from those before, and its mean over a vibrato;
    /// `None` before the first.
    vibrato: Option<(f64, f64)>,
    sum: Deviation,
}

impl TuningFinder {
    /// A finder for frames of `frame` seconds, which forgets with a time constant of `memory` seconds; infinite for never.
    pub fn new(frame: f64, memory: f64) -> Self {
        Self {
            keep: libm::exp(-frame / memory),
            smoothing: 1.0 - libm::exp(-frame / VIBRATO),
            vibrato: None,
            sum: Deviation::default(),
        }
    }

    /// Forgets all tones.
    pub fn reset(&mut self) {
        (self.vibrato, self.sum) = (None, Deviation::default());
    }

    /// Takes the tones of the next frame, see [`Listener::deviation`](tone_filter_listener::Listener::deviation).
    pub fn push(&mut self, tones: Deviation) {
        let length = libm::hypot(tones.re, tones.im);
        if length > 0.0 {
            let turns = libm::atan2(tones.im, tones.re) / TAU;
            let (before, mean) = self.vibrato.unwrap_or((turns, turns));
            let moved = turns - before;
            let deviation = before + (moved - libm::round(moved));
            self.vibrato = Some((deviation, mean + self.smoothing * (deviation - mean)));
        }
        let (sin, cos) = libm::sincos(TAU * self.vibrato.map_or(0.0, |(_, mean)| mean));
        let next = |sum: &mut f64, new| *sum = self.keep * *sum + new;
        next(&mut self.sum.re, length * cos);
        next(&mut self.sum.im, length * sin);
        next(&mut self.sum.weight, tones.weight);
    }

    /// The frequency of A4 in Hz, if there are enough tones that agree: of all that fit, the nearest to `near` Hz, at most 50 cents
    /// away. The music is `transpose` semitones above it, of which whole ones have no effect.
    pub fn a4(&self, near: f64, transpose: f64) -> Option<f64> {
        let Deviation { re, im, weight } = self.sum;
        let share = libm::hypot(re, im) / weight;
        let found = weight >= LEAST && share >= LEAST_SHARE;
        found.then(|| {
            let semitones = libm::atan2(im, re) / TAU - transpose;
            let off = semitones - 12.0 * libm::log2(near / 440.0);
            near * libm::exp2((off - libm::round(off)) / 12.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }

    #[test]
    fn a_vibrato_has_the_tuning_of_its_middle() {
        for frame in [0.004, 0.0116] {
            for (depth, rate) in [(10.0, 4.0), (38.0, 5.0), (50.0, 5.5), (60.0, 6.5), (80.0, 7.0)] {
                for middle in [-20.0, 0.0, 35.0] {
                    let mut finder = TuningFinder::new(frame, f64::INFINITY);
                    for index in 0..2000 {
                        let cents = middle + depth * (TAU * rate * frame * f64::from(index)).sin();
                        let (im, re) = (TAU * cents / 100.0).sin_cos();
                        finder.push(Deviation { re, im, weight: 1.0 });
                    }
                    let found = finder.a4(440.0, 0.0).map(cents).unwrap();
                    assert!((found - middle).abs() < 2.0, "{found} for {middle}, {depth} cents");
                }
            }
        }
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
