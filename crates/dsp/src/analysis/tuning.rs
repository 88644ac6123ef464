//! Tuning of the music: the deviation of its tones from the semitones of A4 = 440 Hz.

use std::f64::consts::TAU;
use tone_filter_listener::Deviation;

/// Minimum total weight of the tones, reached in half a second to two seconds of music.
const LEAST: f64 = 60.0;
/// Minimum length of the mean direction of all tones. The length is 1 if all tones agree; white noise has 0.03 after ten
/// seconds, songs have 0.15 or more.
const LEAST_SHARE: f64 = 0.1;
/// Time constant of the average over a vibrato, in seconds.
const VIBRATO: f64 = 0.1;
/// Minimum length of the mean direction of the vibratos' middles at which they may give the tuning.
const LEAST_MIDDLES: f64 = 0.3;
/// Maximum angle between the mean directions of tones and middles at which the tones give the tuning, in turns: 15 cents.
const APART: f64 = 0.15;

/// Finds the tuning of the music. The deviation of each measured tone from the nearest semitone is a direction on a circle of
/// 100 cents; the tuning is the mean direction of all tones.
///
/// A vibrato of 50 cents stays longest at its two turning points, which are the same point of the circle. The finder therefore
/// averages the middles of the vibratos, too. If both means differ and more tones agree on the middles, the middles give the
/// tuning.
#[derive(Debug, Clone)]
pub struct TuningFinder {
    /// Decay factor per frame.
    keep: f64,
    /// Decayed sum of the tones.
    sum: Deviation,
    vibrato: Vibrato,
    /// Decayed sum of the vibratos' middles, as vectors with the lengths of the tones. Its `weight` is not used.
    middles: Deviation,
}

impl TuningFinder {
    /// Creates a finder for frames of `frame` seconds. It forgets with a time constant of `memory` seconds, which may be
    /// infinite.
    pub fn new(frame: f64, memory: f64) -> Self {
        let vibrato = Vibrato { keep: libm::exp(-frame / VIBRATO), ..Vibrato::default() };
        let [sum, middles] = [Deviation::default(); 2];
        Self { keep: libm::exp(-frame / memory), sum, vibrato, middles }
    }

    /// Forgets all tones.
    pub fn reset(&mut self) {
        self.vibrato = Vibrato { keep: self.vibrato.keep, ..Vibrato::default() };
        [self.sum, self.middles] = [Deviation::default(); 2];
    }

    /// Evaluates the tones of the next frame; see [`Listener::deviation`](tone_filter_listener::Listener::deviation).
    pub fn push(&mut self, tones: Deviation) {
        let next = |sum: &mut f64, new| *sum = self.keep * *sum + new;
        next(&mut self.sum.re, tones.re);
        next(&mut self.sum.im, tones.im);
        next(&mut self.sum.weight, tones.weight);
        let length = libm::hypot(tones.re, tones.im);
        self.vibrato.push(libm::atan2(tones.im, tones.re) / TAU, length);
        let (sin, cos) = libm::sincos(TAU * self.vibrato.middle);
        next(&mut self.middles.re, length * cos);
        next(&mut self.middles.im, length * sin);
    }

    /// Returns the frequency of A4 in Hz for music that is transposed by `transpose` semitones; whole semitones have no effect.
    /// The result is the fit nearest to `near` Hz, at most 50 cents away. `None` if there are too few tones, or they do not
    /// agree.
    pub fn a4(&self, near: f64, transpose: f64) -> Option<f64> {
        let polar =
            |sum: &Deviation| (libm::atan2(sum.im, sum.re) / TAU, libm::hypot(sum.re, sum.im));
        let [(mean, length), (middle, middles)] = [&self.sum, &self.middles].map(polar);
        let least = LEAST_SHARE * self.sum.weight;
        let apart = mean - middle;
        let is_near = (apart - libm::round(apart)).abs() <= APART;
        let (turns, length) = if is_near && length >= least {
            (mean, length)
        } else if middles > length && middles >= LEAST_MIDDLES * self.sum.weight {
            (middle, middles)
        } else {
            return None;
        };
        (self.sum.weight >= LEAST && length >= least).then(|| {
            let off = turns - transpose - 12.0 * libm::log2(near / 440.0);
            near * libm::exp2((off - libm::round(off)) / 12.0)
        })
    }
}

/// Running mean of the deviation over a vibrato, in turns of the circle.
#[derive(Debug, Clone, Copy, Default)]
struct Vibrato {
    keep: f64,
    /// Unwrapped deviation of the last frame with tones, at most half a turn from the previous one.
    deviation: f64,
    middle: f64,
    /// Sum of the squared weights in the mean.
    squares: f64,
}

impl Vibrato {
    fn push(&mut self, turns: f64, weight: f64) {
        self.squares *= self.keep;
        let square = weight * weight;
        if square > 0.0 {
            let moved = turns - self.deviation;
            self.deviation += moved - libm::round(moved);
            self.squares += square;
            self.middle += square / self.squares * (self.deviation - self.middle);
        }
    }
}
