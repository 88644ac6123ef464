//! A one-pole average, unrolled so that its recursion does not stall the CPU.

use wide::f64x2;

/// A one-pole average: `y += step (x - y)`.
///
/// In this form, each sample depends on the last, and that latency took a tenth of the whole filter's time. So the
/// recursion is unrolled once, with `a = 1 - step`: `y[t] = a^2 y[t-2] + step (x[t] + a x[t-1])`. The formula is the
/// same for every sample, so the result does not depend on how a signal is divided into blocks.
#[derive(Debug, Clone)]
pub(super) struct OnePole {
    /// The last input times its step.
    input: f64,
    /// The value before the latest, and the latest.
    values: [f64; 2],
}

impl OnePole {
    /// At rest.
    pub const ZERO: Self = Self { input: 0.0, values: [0.0; 2] };

    /// The latest value.
    pub fn now(&self) -> f64 {
        self.values[1]
    }

    /// Whether all of its state is within `limit` of zero.
    pub fn rests(&self, limit: f64) -> bool {
        [self.input, self.values[0], self.values[1]].iter().all(|value| value.abs() <= limit)
    }

    /// Replaces each signal by its average. Several signals in parallel take as long as one. The length is that of the
    /// shortest.
    pub fn track<const CHANNELS: usize>(step: f64, channels: [(&mut Self, &mut [f32]); CHANNELS]) {
        let frames = channels.iter().map(|(_, signal)| signal.len()).min().unwrap_or(0);
        // Local copies, so that the state can stay in registers.
        let mut poles = channels.each_ref().map(|(pole, _)| (**pole).clone());
        let mut owners = channels.map(|(pole, signal)| {
            let (pairs, rest) = signal[..frames].as_chunks_mut();
            (pole, &mut pairs[..frames / 2], rest)
        });
        for index in 0..frames / 2 {
            for (pole, (_, pairs, _)) in poles.iter_mut().zip(&mut owners) {
                pole.track_two(step, &mut pairs[index]);
            }
        }
        for (mut pole, (owner, _, rest)) in poles.into_iter().zip(owners) {
            if let [last] = rest {
                pole.track_one(step, last);
            }
            *owner = pole;
        }
    }

    #[inline(always)]
    fn track_two(&mut self, step: f64, samples: &mut [f32; 2]) {
        let decay = 1.0 - step;
        let x = f64x2::splat(step) * f64x2::from([f64::from(samples[0]), f64::from(samples[1])]);
        let [first, second] = x.to_array();
        let late = f64x2::from([self.input, first]);
        let y = f64x2::splat(decay * decay) * f64x2::from(self.values)
            + (x + f64x2::splat(decay) * late);
        *self = Self { input: second, values: y.to_array() };
        samples[0] = self.values[0] as f32;
        samples[1] = self.values[1] as f32;
    }

    #[inline(always)]
    fn track_one(&mut self, step: f64, sample: &mut f32) {
        let decay = 1.0 - step;
        let x = step * f64::from(*sample);
        let [before, latest] = self.values;
        let y = decay * decay * before + (x + decay * self.input);
        *self = Self { input: x, values: [latest, y] };
        *sample = y as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_equals_the_plain_recursion_for_all_block_sizes() {
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
        let mut pole = OnePole::ZERO;
        OnePole::track(step, [(&mut pole, &mut whole)]);
        for (value, expected) in whole.iter().zip(&expected) {
            assert!((f64::from(*value) - expected).abs() < 1e-6, "{value} {expected}");
        }
        assert!((pole.now() - expected[99]).abs() < 1e-12);
        for size in 1..=9 {
            let mut parts = signal.clone();
            let mut pole = OnePole::ZERO;
            for part in parts.chunks_mut(size) {
                OnePole::track(step, [(&mut pole, part)]);
            }
            assert_eq!(parts, whole, "blocks of {size}");

            let [mut left, mut right] = [signal.clone(), [&signal[50..], &signal[..50]].concat()];
            let (mut one, mut other) = (OnePole::ZERO, OnePole::ZERO);
            for (left, right) in left.chunks_mut(size).zip(right.chunks_mut(size)) {
                OnePole::track(step, [(&mut one, left), (&mut other, right)]);
            }
            assert_eq!(left, whole, "two in blocks of {size}");
            let mut alone = [&signal[50..], &signal[..50]].concat();
            let mut pole = OnePole::ZERO;
            OnePole::track(step, [(&mut pole, &mut alone)]);
            assert_eq!(right, alone, "two in blocks of {size}");
        }
    }
}
