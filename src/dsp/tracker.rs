//! A one-pole average that does not keep a CPU waiting.

/// How far back each value looks, so that as many of them are in flight at once.
const AHEAD: usize = 4;

/// Follows a signal: `y += step (x - y)`.
///
/// Written like that, each sample waits for the last, and that took a tenth of the whole filter's time.
/// So the same sum is unrolled four times, with `a = 1 - step`:
/// `y[t] = a^4 y[t-4] + step (x[t] + a x[t-1] + a^2 x[t-2] + a^3 x[t-3])`.
/// It is the same for every sample, so the result does not depend on how a signal is cut into blocks.
#[derive(Debug, Clone)]
pub(super) struct Tracker {
    /// The last inputs times their step.
    inputs: [f64; AHEAD - 1],
    /// The last outputs.
    outputs: [f64; AHEAD],
}

impl Tracker {
    /// At rest.
    pub const ZERO: Self = Self { inputs: [0.0; AHEAD - 1], outputs: [0.0; AHEAD] };

    /// The latest value.
    pub fn now(&self) -> f64 {
        self.outputs[AHEAD - 1]
    }

    /// Replaces `signal` by its average.
    pub fn track(&mut self, step: f64, signal: &mut [f32]) {
        let (quads, rest) = signal.as_chunks_mut();
        for quad in quads {
            *quad = self.next(step, *quad, AHEAD);
        }
        let mut quad = [0.0; AHEAD];
        quad[..rest.len()].copy_from_slice(rest);
        let averages = self.next(step, quad, rest.len());
        rest.copy_from_slice(&averages[..rest.len()]);
    }

    /// The averages at the samples of `quad`, of which `count` are real and remembered.
    #[inline(always)]
    fn next(&mut self, step: f64, quad: [f32; AHEAD], count: usize) -> [f32; AHEAD] {
        let a = 1.0 - step;
        let [x0, x1, x2] = self.inputs;
        let [x3, x4, x5, x6] = quad.map(|x| step * f64::from(x));
        let x = [x0, x1, x2, x3, x4, x5, x6];
        let y = self.outputs;
        let news: [f64; AHEAD] = std::array::from_fn(|i| {
            let recent = ((x[i] * a + x[i + 1]) * a + x[i + 2]) * a + x[i + 3];
            a.powi(AHEAD as i32) * y[i] + recent
        });
        self.inputs.copy_from_slice(&x[count..][..AHEAD - 1]);
        let y = [y[0], y[1], y[2], y[3], news[0], news[1], news[2], news[3]];
        self.outputs.copy_from_slice(&y[count..][..AHEAD]);
        news.map(|y| y as f32)
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
        }
    }
}
