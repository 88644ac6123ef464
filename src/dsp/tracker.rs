//! A one-pole average that does not keep a CPU waiting.

use std::ops::{Add, Mul};
use wide::f64x2;

/// Follows a signal: `y += step (x - y)`.
///
/// Written like that, each sample waits for the last, and that took a tenth of the whole filter's time.
/// So the same sum is unrolled once, with `a = 1 - step`: `y[t] = a^2 y[t-2] + step (x[t] + a x[t-1])`.
/// It is the same for every sample, so the result does not depend on how a signal is cut into blocks.
#[derive(Debug, Clone)]
pub(super) struct Tracker<Lanes = f64> {
    /// The last input times its step.
    input: Lanes,
    latest: Lanes,
    before: Lanes,
}

impl Tracker {
    /// At rest.
    pub const ZERO: Self = Self { input: 0.0, latest: 0.0, before: 0.0 };

    /// The latest value.
    pub fn now(&self) -> f64 {
        self.latest
    }

    /// Replaces `signal` by its average.
    pub fn track(&mut self, step: f64, signal: &mut [f32]) {
        for sample in signal {
            *sample = self.next(step, 1.0 - step, f64::from(*sample)) as f32;
        }
    }

    /// [`Tracker::track`] for two signals, for a quarter more than the time of one. The shorter counts.
    pub fn track_two([one, other]: [&mut Self; 2], step: f64, [left, right]: [&mut [f32]; 2]) {
        let mut both = Tracker {
            input: f64x2::from([one.input, other.input]),
            latest: f64x2::from([one.latest, other.latest]),
            before: f64x2::from([one.before, other.before]),
        };
        let [step, decay] = [step, 1.0 - step].map(f64x2::splat);
        for (left, right) in left.iter_mut().zip(right) {
            let x = f64x2::from([f64::from(*left), f64::from(*right)]);
            [*left, *right] = both.next(step, decay, x).to_array().map(|y| y as f32);
        }
        [one.input, other.input] = both.input.to_array();
        [one.latest, other.latest] = both.latest.to_array();
        [one.before, other.before] = both.before.to_array();
    }
}

impl<Lanes: Copy + Add<Output = Lanes> + Mul<Output = Lanes>> Tracker<Lanes> {
    /// Takes in the next sample, with `decay = 1 - step`.
    #[inline(always)]
    fn next(&mut self, step: Lanes, decay: Lanes, x: Lanes) -> Lanes {
        let x = step * x;
        let y = decay * decay * self.before + (x + decay * self.input);
        *self = Self { input: x, latest: y, before: self.latest };
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_plain_average_however_the_signal_is_cut() {
        let step = 0.3;
        let signal: Vec<f32> = (0..100).map(|t| ((t * t) % 17) as f32 - 8.0).collect();
        let mut plain = 0.0;
        let expected: Vec<f64> = signal
            .iter()
            .map(|&x| {
                plain += step * (f64::from(x) - plain);
                plain
            })
            .collect();
        let mut whole = signal.clone();
        let mut tracker = Tracker::ZERO;
        tracker.track(step, &mut whole);
        for (value, expected) in whole.iter().zip(&expected) {
            assert!((f64::from(*value) - expected).abs() < 1e-6, "{value} {expected}");
        }
        assert!((tracker.now() - expected[99]).abs() < 1e-12);
        for size in 1..=9 {
            let mut parts = signal.clone();
            let mut tracker = Tracker::ZERO;
            for part in parts.chunks_mut(size) {
                tracker.track(step, part);
            }
            assert_eq!(parts, whole, "blocks of {size}");

            let [mut left, mut right] = [signal.clone(), [&signal[50..], &signal[..50]].concat()];
            let mut trackers = [Tracker::ZERO, Tracker::ZERO];
            for (left, right) in left.chunks_mut(size).zip(right.chunks_mut(size)) {
                Tracker::track_two(trackers.each_mut(), step, [left, right]);
            }
            assert_eq!(left, whole, "two in blocks of {size}");
            let mut alone = [&signal[50..], &signal[..50]].concat();
            let mut tracker = Tracker::ZERO;
            tracker.track(step, &mut alone);
            assert_eq!(right, alone, "two in blocks of {size}");
        }
    }
}
