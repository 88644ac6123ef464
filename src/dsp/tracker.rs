//! A one-pole average that does not keep a CPU waiting.

use wide::f64x2;

/// Follows a signal: `y += step (x - y)`.
///
/// Written like that, each sample waits for the last, and that took a tenth of the whole filter's time.
/// So the same sum is unrolled once, with `a = 1 - step`: `y[t] = a^2 y[t-2] + step (x[t] + a x[t-1])`.
/// It is the same for every sample, so the result does not depend on how a signal is cut into blocks.
#[derive(Debug, Clone)]
pub(super) struct Tracker {
    /// The last input times its step.
    input: f64,
    /// The value before the latest, and the latest.
    values: [f64; 2],
}

impl Tracker {
    /// At rest.
    pub const ZERO: Self = Self { input: 0.0, values: [0.0; 2] };

    /// The latest value.
    pub fn now(&self) -> f64 {
        self.values[1]
    }

    /// Replaces each of `signals` by its average, those of all channels side by side: one waits as long as
    /// several do. The shortest counts.
    pub fn track<const CHANNELS: usize>(
        trackers: [&mut Self; CHANNELS],
        step: f64,
        mut signals: [&mut [f32]; CHANNELS],
    ) {
        let frames = signals.iter().map(|signal| signal.len()).min().unwrap_or(0);
        let decay = 1.0 - step;
        let [steps, decays, squares] = [step, decay, decay * decay].map(f64x2::splat);
        let mut inputs = trackers.each_ref().map(|tracker| tracker.input);
        let mut values = trackers.each_ref().map(|tracker| f64x2::from(tracker.values));
        for pair in 0..frames / 2 {
            for ((signal, input), values) in signals.iter_mut().zip(&mut inputs).zip(&mut values) {
                let samples = &mut signal[2 * pair..][..2];
                let x = steps * f64x2::from([f64::from(samples[0]), f64::from(samples[1])]);
                let [first, second] = x.to_array();
                *values = squares * *values + (x + decays * f64x2::from([*input, first]));
                *input = second;
                let y = values.to_array();
                samples[0] = y[0] as f32;
                samples[1] = y[1] as f32;
            }
        }
        for (channel, tracker) in trackers.into_iter().enumerate() {
            *tracker = Self { input: inputs[channel], values: values[channel].to_array() };
            if frames % 2 == 1 {
                let sample = &mut signals[channel][frames - 1];
                let x = step * f64::from(*sample);
                let [before, latest] = tracker.values;
                let y = decay * decay * before + (x + decay * tracker.input);
                *tracker = Self { input: x, values: [latest, y] };
                *sample = y as f32;
            }
        }
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
        Tracker::track([&mut tracker], step, [&mut whole]);
        for (value, expected) in whole.iter().zip(&expected) {
            assert!((f64::from(*value) - expected).abs() < 1e-6, "{value} {expected}");
        }
        assert!((tracker.now() - expected[99]).abs() < 1e-12);
        for size in 1..=9 {
            let mut parts = signal.clone();
            let mut tracker = Tracker::ZERO;
            for part in parts.chunks_mut(size) {
                Tracker::track([&mut tracker], step, [part]);
            }
            assert_eq!(parts, whole, "blocks of {size}");

            let [mut left, mut right] = [signal.clone(), [&signal[50..], &signal[..50]].concat()];
            let mut trackers = [Tracker::ZERO, Tracker::ZERO];
            for (left, right) in left.chunks_mut(size).zip(right.chunks_mut(size)) {
                Tracker::track(trackers.each_mut(), step, [left, right]);
            }
            assert_eq!(left, whole, "two in blocks of {size}");
            let mut alone = [&signal[50..], &signal[..50]].concat();
            let mut tracker = Tracker::ZERO;
            Tracker::track([&mut tracker], step, [&mut alone]);
            assert_eq!(right, alone, "two in blocks of {size}");
        }
    }
}
