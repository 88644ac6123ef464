//! K-weighting of loudness by ITU-R BS.1770.

use crate::{bank::LOUDEST, lanes::BLOCK};
use fearless_simd::{Simd, SimdBase, SimdFloat, f32x4};
use tone_filter_simd::{Kernel, Work};

/// One value per signal: dry and wet of the first channel, then of the second.
type Four = [f32; 4];

/// Dry and wet block of one channel.
type Signals<'a, 'b> = (&'a [f32; BLOCK], &'b [f32; BLOCK]);

pub(super) const SILENT: [f32; BLOCK] = [0.0; BLOCK];

/// Clamps a sample to the bank's limit, so that a faulty sample does not affect the averages for minutes.
pub(super) fn bounded(x: f32) -> f32 {
    x.clamp(-LOUDEST, LOUDEST)
}

/// K-weighting for the dry and the wet signal of two channels in parallel: a high shelf, then a high-pass.
#[derive(Debug, Clone)]
pub(super) struct KWeighting {
    /// Feed-forward coefficients of the shelf, in direct form.
    b: [f32; 3],
    /// Feedback coefficients of the shelf.
    a: [f32; 2],
    /// Last two inputs of the shelf, the later first.
    x: [Four; 2],
    /// Last two outputs of the shelf, the later first.
    y: [Four; 2],
    /// Pole of two first-order high-passes in series. They replace the recommendation's second-order high-pass, whose poles
    /// nearly coincide.
    pole: f32,
    /// Last output of each high-pass.
    high_passes: [Four; 2],
}

impl KWeighting {
    /// Creates the weighting at rest. The coefficients come from the analogue prototypes of the recommendation's filters at 48
    /// kHz.
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
            x: [[0.0; 4]; 2],
            y: [[0.0; 4]; 2],
            pole: pole as f32,
            high_passes: [[0.0; 4]; 2],
        }
    }

    pub fn reset(&mut self) {
        self.x = [[0.0; 4]; 2];
        (self.y, self.high_passes) = (self.x, self.x);
    }

    pub fn reset_second(&mut self) {
        let Self { x, y, high_passes, .. } = self;
        for four in [x, y, high_passes].into_iter().flatten() {
            four[2..].fill(0.0);
        }
    }

    /// Returns three K-weighted sums over a block of both channels: of dry squared, of wet squared, and of dry times wet.
    pub fn powers(&mut self, kernel: Kernel, channels: [Signals; 2]) -> [f64; 3] {
        let [(dry, wet), (other_dry, other_wet)] = channels;
        let signals = [dry, wet, other_dry, other_wet];
        let (mut squares, mut products) = ([0.0; 4], [0.0; 4]);
        kernel.run(Weigh { weighting: self, signals, sums: [&mut squares, &mut products] });
        let [dry, wet, other_dry, other_wet] = squares.map(f64::from);
        let [both, _, other_both, _] = products.map(f64::from);
        [dry + other_dry, wet + other_wet, both + other_both]
    }
}

/// Task: K-weights four signals. Sums up the squares of each signal, and the products of each signal with the next one.
struct Weigh<'a> {
    weighting: &'a mut KWeighting,
    signals: [&'a [f32; BLOCK]; 4],
    sums: [&'a mut Four; 2],
}

impl Work for Weigh<'_> {
    fn run<S: Simd>(self, simd: S) {
        simd.vectorize(
            #[inline(always)]
            || self.add(simd),
        );
    }
}

impl Weigh<'_> {
    #[inline(always)]
    fn add<S: Simd>(self, simd: S) {
        let load = |four: &[f32]| f32x4::from_slice(simd, four);
        let KWeighting { b, a, x, y, pole, high_passes } = self.weighting;
        let [mut x0, mut x1] = [load(&x[0]), load(&x[1])];
        let [mut y0, mut y1] = [load(&y[0]), load(&y[1])];
        let [mut first, mut second] = [load(&high_passes[0]), load(&high_passes[1])];
        let [mut squares, mut products] = [load(&[0.0; 4]); 2];
        let [pole, a0, a1] = [*pole, -a[0], -a[1]].map(|value| f32x4::splat(simd, value));
        let [b0, b1, b2] = b.map(|value| f32x4::splat(simd, value));
        let [dry, wet, other_dry, other_wet] = self.signals;
        for start in (0..BLOCK).step_by(4) {
            // `map` is not always inlined.
            let rows = [
                four(simd, dry, start),
                four(simd, wet, start),
                four(simd, other_dry, start),
                four(simd, other_wet, start),
            ];
            for input in columns(rows) {
                // The last output is added last, as it is available last.
                let known = b0.mul_add(input, b1.mul_add(x0, b2 * x1));
                let shelved = a0.mul_add(y0, a1.mul_add(y1, known));
                let once = pole.mul_add(first, shelved - y0);
                second = pole.mul_add(second, once - first);
                (x1, x0, y1, y0, first) = (x0, input, y0, shelved, once);
                squares = second.mul_add(second, squares);
                products = second.mul_add(second.slide::<1>(second), products);
            }
        }
        *x = [x0, x1].map(<[f32; 4]>::from);
        *y = [y0, y1].map(<[f32; 4]>::from);
        *high_passes = [first, second].map(<[f32; 4]>::from);
        squares.store_slice(self.sums[0]);
        products.store_slice(self.sums[1]);
    }
}

/// Returns four samples of `signal` from `start` on, limited as by [`bounded`].
#[inline(always)]
fn four<S: Simd>(simd: S, signal: &[f32; BLOCK], start: usize) -> f32x4<S> {
    f32x4::from_slice(simd, &signal[start..][..4]).max(-LOUDEST).min(LOUDEST)
}

/// Transposes a matrix of four rows.
#[inline(always)]
fn columns<S: Simd>([a, b, c, d]: [f32x4<S>; 4]) -> [f32x4<S>; 4] {
    let (low, other_low) = (a.zip_low(c), b.zip_low(d));
    let (high, other_high) = (a.zip_high(c), b.zip_high(d));
    [
        low.zip_low(other_low),
        low.zip_high(other_low),
        high.zip_low(other_high),
        high.zip_high(other_high),
    ]
}
