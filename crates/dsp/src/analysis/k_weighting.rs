//! The weighting of loudness by ITU-R BS.1770.

use crate::{bank::LOUDEST, lanes::BLOCK};
use fearless_simd::{Fallback, SimdFrom, f32x4};

/// Dry and wet of two channels: four lanes, which the compiler makes a vector of.
type Four = f32x4<Fallback>;

/// A block of the dry and of the wet signal of one channel.
type Signals<'a, 'b> = (&'a [f32; BLOCK], &'b [f32; BLOCK]);

/// The signal of a missing channel.
pub(super) const SILENT: [f32; BLOCK] = [0.0; BLOCK];

/// The sample bounded as in the bank, so that a fault in the input does not affect the averages for minutes.
pub(super) fn bounded(x: f32) -> f32 {
    x.clamp(-LOUDEST, LOUDEST)
}

/// The K-weighting of ITU-R BS.1770, for the dry and the wet signal of two channels in parallel: a high shelf, then a
/// high-pass.
#[derive(Debug, Clone)]
pub(super) struct KWeighting {
    /// Feed-forward and feedback coefficients of the shelf, in direct form.
    b: [f32; 3],
    a: [f32; 2],
    /// The last two inputs and outputs of the shelf.
    x: [Four; 2],
    y: [Four; 2],
    /// The recommendation's high-pass nearly has a double pole, so it is computed as two of first order.
    pole: f32,
    high_passes: [HighPass; 2],
}

/// The last input and output of a high-pass of first order.
#[derive(Debug, Clone, Copy)]
struct HighPass {
    x: Four,
    y: Four,
}

impl HighPass {
    fn new() -> Self {
        Self { x: four([0.0; 4]), y: four([0.0; 4]) }
    }

    #[inline(always)]
    fn next(&mut self, pole: f32, x: Four) -> Four {
        self.y = self.y * pole + (x - self.x);
        self.x = x;
        self.y
    }
}

#[inline(always)]
fn four(values: [f32; 4]) -> Four {
    Four::simd_from(Fallback::new(), values)
}

impl KWeighting {
    /// At rest. The coefficients come from the analogue prototypes behind the recommendation's at 48 kHz, for any
    /// rate in Hz.
    pub fn new(sample_rate: f64) -> Self {
        let k = libm::tan(std::f64::consts::PI * (1_681.974_450_955_533 / sample_rate).min(0.45));
        let q = 0.707_175_236_955_419_6;
        let high: f64 = libm::exp10(3.999_843_853_973_347 / 20.0);
        let band = libm::pow(high, 0.499_666_774_154_541_6);
        let a0 = 1.0 + k / q + k * k;
        let normalised = |x: f64| (x / a0) as f32;
        let pole = libm::exp(-std::f64::consts::TAU * 38.135_470_876_024_44 / sample_rate);
        Self {
            b: [high + band * k / q + k * k, 2.0 * (k * k - high), high - band * k / q + k * k]
                .map(normalised),
            a: [2.0 * (k * k - 1.0), 1.0 - k / q + k * k].map(normalised),
            x: [four([0.0; 4]); 2],
            y: [four([0.0; 4]); 2],
            pole: pole as f32,
            high_passes: [HighPass::new(); 2],
        }
    }

    pub fn reset(&mut self) {
        self.x = [four([0.0; 4]); 2];
        self.y = self.x;
        self.high_passes = [HighPass::new(); 2];
    }

    /// The sums of the squares of dry and wet, and of their product, weighted, of two channels.
    pub fn powers(&mut self, channels: [Signals; 2]) -> [f64; 3] {
        let [(dry, wet), (other_dry, other_wet)] = channels;
        let [mut squares, mut products] = [four([0.0; 4]); 2];
        let Self { b, a, x, y, pole, high_passes: [first, second] } = self;
        for frame in 0..BLOCK {
            let own = [dry[frame], wet[frame], other_dry[frame], other_wet[frame]];
            let own = four(own.map(bounded));
            // The term with the last output comes last, as it is available last.
            let known = own * b[0] + x[0] * b[1] + (x[1] * b[2] - y[1] * a[1]);
            let shelved = known - y[0] * a[0];
            (*x, *y) = ([own, x[0]], [shelved, y[0]]);
            let weighted = second.next(*pole, first.next(*pole, shelved));
            squares += weighted * weighted;
            let [dry, wet, other_dry, other_wet] = *weighted;
            products += weighted * four([wet, dry, other_wet, other_dry]);
        }
        let [dry, wet, other_dry, other_wet] = squares.map(f64::from);
        let [both, _, other_both, _] = products.map(f64::from);
        [dry + other_dry, wet + other_wet, both + other_both]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine(hertz: f64, rate: f64, amplitude: f64, block: usize) -> [f32; BLOCK] {
        let w = std::f64::consts::TAU * hertz / rate;
        std::array::from_fn(|t| (amplitude * (w * (block * BLOCK + t) as f64).sin()) as f32)
    }

    /// K-weighted gain in dB at `hertz`.
    fn weight(hertz: f64, rate: f64) -> f64 {
        let mut weighting = KWeighting::new(rate);
        let mut sums = [0.0; 2];
        for block in 0..(rate / 64.0) as usize {
            let [dry, ..] =
                weighting.powers([(&sine(hertz, rate, 1.0, block), &SILENT), (&SILENT, &SILENT)]);
            sums[usize::from(block * BLOCK > rate as usize / 2)] += dry;
        }
        10.0 * (sums[1] / (0.5 * 0.5 * rate)).log10()
    }

    #[test]
    fn the_weighting_is_that_of_bs_1770_at_any_rate() {
        for rate in [44_100.0, 48_000.0, 192_000.0] {
            // The recommendation reads a full-scale sine of 997 Hz as -3.01 LKFS, with an offset of -0.691 dB.
            // The bilinear transform bends it by so little at other rates.
            assert!((weight(997.0, rate) - 0.691).abs() < 0.05, "{rate}: {}", weight(997.0, rate));
            assert!((weight(10_000.0, rate) - 4.0).abs() < 0.15, "{}", weight(10_000.0, rate));
            assert!(weight(38.0, rate) < -5.5 && weight(38.0, rate) > -6.5);
        }
    }
}
