//! 87 detectors, one per semitone: each is two complex one-poles in series, a gammatone filter of order 2.
//!
//! The recursion is `s1 = p s1 + (1 - r) x; s2 = p s2 + (1 - r) s1` with a pole `p` of radius `r`. In this form each
//! sample depends on the last, so 16 samples are processed at once. With `g = 1 - r`, after `n` samples
//!
//! ```text
//! s1 = p^n s1 + sum over k of g p^(n-1-k) x[k]
//! s2 = p^n s2 + n g p^n s1 + sum over k of (n-k) g^2 p^(n-1-k) x[k]
//! ```
//!
//! in which all weights of the inputs are constants.

#![allow(clippy::needless_range_loop, reason = "several rows go side by side")]

use fearless_simd::{Simd, SimdBase, SimdFloat};
use std::{f64::consts::TAU, ops::Range};

/// The number of detectors.
pub const DETECTORS: usize = 87;
/// Semitones from A4 to the lowest detector, and from the lowest detector to the lowest band.
pub const LOWEST: i32 = -45;
/// The detector of the lowest band, A3.
pub const FIRST_BAND: usize = 33;
/// The number of detectors, filled up to whole groups of vectors for every kernel.
pub const LANES: usize = 96;
/// Samples that are processed at once.
pub const CHUNK: usize = 16;

/// Rate of decay of a detector in 1/s: this many times its frequency in Hz, but at least [`NARROWEST`].
const WIDTH: f64 = 0.15;
/// In 1/s.
const NARROWEST: f64 = 16.0;
/// Detectors above this fraction of their sample rate are off.
const HIGHEST: f64 = 0.45;
/// The least power, which keeps the logarithm of silence in bounds.
pub const LEAST_POWER: f64 = 1e-20;
/// Vectors that are processed together: enough parallel sums to hide the latency of each.
const GROUP: usize = 3;

/// One value per detector; those from [`DETECTORS`] on are padding.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Row(pub [f32; LANES]);

impl Row {
    /// All zero.
    pub const ZERO: Self = Self([0.0; LANES]);
}

/// A complex number.
pub type Complex = [f64; 2];

/// `a b`.
pub fn product(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The pole of a detector at `frequency` and its gain `1 - r`, for a sample rate of `rate`, both in Hz; `None` if the
/// detector is off.
pub fn design(frequency: f64, rate: f64) -> Option<(Complex, f64)> {
    if frequency > HIGHEST * rate {
        return None;
    }
    let decay = (WIDTH * frequency).max(NARROWEST) / rate;
    let (radius, angle) = (libm::exp(-decay), TAU * frequency / rate);
    Some(([radius * libm::cos(angle), radius * libm::sin(angle)], -libm::expm1(-decay)))
}

/// Real and imaginary part for every detector.
type Complexes = [Row; 2];

/// The decay of the states over a number of samples.
#[derive(Debug, Clone)]
struct Decay {
    /// `p^n`: of `s1` in `s1` and of `s2` in `s2`.
    own: Complexes,
    /// `n g p^n`: of `s1` in `s2`.
    across: Complexes,
}

/// The detectors at one sample rate.
#[derive(Debug, Clone)]
pub struct Detectors {
    /// `s1` and `s2`.
    states: [Complexes; 2],
    design: Box<Weights>,
}

#[derive(Debug, Clone)]
struct Weights {
    /// The weights of each sample of a chunk in `s1` and `s2`.
    inputs: [[Complexes; 2]; CHUNK],
    /// The decay over a whole chunk, and that over the last one of a frame.
    decays: [Decay; 2],
    /// Least power of each detector: 0 for those that are off.
    least: Row,
}

impl Detectors {
    /// Detectors that are all off; see [`Detectors::tune`].
    pub fn new() -> Self {
        const NONE: Complexes = [Row::ZERO; 2];
        let decay = || Decay { own: NONE, across: NONE };
        let design =
            Weights { inputs: [[NONE; 2]; CHUNK], decays: [decay(), decay()], least: Row::ZERO };
        Self { states: [NONE; 2], design: design.into() }
    }

    /// Sets all states to 0.
    pub fn reset(&mut self) {
        self.states = [[Row::ZERO; 2]; 2];
    }

    /// Tunes the detectors to semitones around `a4` Hz, for a rate of `rate` Hz and frames of `frame` samples.
    pub fn tune(&mut self, a4: f64, rate: f64, frame: usize) {
        let Weights { inputs, decays, least } = &mut *self.design;
        let ends = [CHUNK, (frame - 1) % CHUNK + 1];
        for lane in 0..DETECTORS {
            let put = |to: &mut Complexes, value: Complex, scale: f64| {
                to[0].0[lane] = (scale * value[0]) as f32;
                to[1].0[lane] = (scale * value[1]) as f32;
            };
            let frequency = a4 * libm::exp2(f64::from(LOWEST + lane as i32) / 12.0);
            let designed = design(frequency, rate);
            least.0[lane] = if designed.is_some() { LEAST_POWER as f32 } else { 0.0 };
            let (pole, gain) = designed.unwrap_or(([0.0; 2], 0.0));
            let mut power = [1.0, 0.0];
            for age in 1..=CHUNK {
                // Now `power` is p^(age-1).
                let [first, second] = &mut inputs[CHUNK - age];
                put(first, power, gain);
                put(second, power, age as f64 * gain * gain);
                power = product(power, pole);
                for (decay, _) in decays.iter_mut().zip(ends).filter(|(_, end)| *end == age) {
                    put(&mut decay.own, power, 1.0);
                    put(&mut decay.across, power, age as f64 * gain);
                }
            }
        }
    }

    /// Processes a chunk. The `last` one of a frame may be shorter, with zeros in front.
    pub fn advance<S: Simd>(&mut self, simd: S, chunk: &[f32; CHUNK], last: bool) {
        simd.vectorize(
            #[inline(always)]
            || {
                for first in (0..LANES).step_by(GROUP * S::f32s::LEN) {
                    self.advance_group(simd, first, chunk, last);
                }
            },
        );
    }

    /// The same for [`GROUP`] vectors of detectors from `first` on.
    #[inline(always)]
    fn advance_group<S: Simd>(&mut self, simd: S, first: usize, chunk: &[f32; CHUNK], last: bool) {
        let Weights { inputs, decays, .. } = &*self.design;
        let Decay { own, across } = &decays[usize::from(last)];
        // Real and imaginary part of s1, then of s2.
        let states = self.states.as_flattened_mut();
        let at = |i: usize| first + i * S::f32s::LEN;
        let mut sums = [[S::f32s::splat(simd, 0.0); GROUP]; 4];
        for i in 0..GROUP {
            let a = load(simd, &states[0], at(i));
            let b = load(simd, &states[1], at(i));
            let c = load(simd, &states[2], at(i));
            let d = load(simd, &states[3], at(i));
            let (re, im) = (load(simd, &own[0], at(i)), load(simd, &own[1], at(i)));
            sums[0][i] = re * a - im * b;
            sums[1][i] = re * b + im * a;
            sums[2][i] = re * c - im * d;
            sums[3][i] = re * d + im * c;
            let (re, im) = (load(simd, &across[0], at(i)), load(simd, &across[1], at(i)));
            sums[2][i] += re * a - im * b;
            sums[3][i] += re * b + im * a;
        }
        for (&x, weights) in chunk.iter().zip(inputs) {
            let x = S::f32s::splat(simd, x);
            for (sums, weights) in sums.iter_mut().zip(weights.as_flattened()) {
                for i in 0..GROUP {
                    sums[i] = load(simd, weights, at(i)).mul_add(x, sums[i]);
                }
            }
        }
        for (state, sums) in states.iter_mut().zip(&sums) {
            for i in 0..GROUP {
                sums[i].store_slice(&mut state.0[at(i)..][..S::f32s::LEN]);
            }
        }
    }

    /// Whether each of these detectors is on.
    pub fn audible(&self, detectors: Range<usize>) -> impl Iterator<Item = bool> {
        self.design.least.0[detectors].iter().map(|least| *least > 0.0)
    }

    /// The power at each detector: a sine of amplitude `A` at its frequency gives `A^2 / 2`.
    pub fn power(&self) -> Row {
        let [re, im] = &self.states[1];
        let least = &self.design.least;
        Row(std::array::from_fn(|i| 2.0 * (re.0[i] * re.0[i] + im.0[i] * im.0[i]) + least.0[i]))
    }
}

/// The vector of detectors from `first` on.
#[inline(always)]
fn load<S: Simd>(simd: S, row: &Row, first: usize) -> S::f32s {
    S::f32s::from_slice(simd, &row.0[first..][..S::f32s::LEN])
}
