//! Three banks of 87 detectors, one per semitone. A detector is two complex one-poles in series, a gammatone filter of order 2.
//!
//! The recursion is `s1 = p s1 + g x; s2 = p s2 + g s1` with a pole `p` and `g = 1 - |p|`. In this form each sample depends on
//! the previous one. Instead, 16 samples are processed at once. After `n` samples
//!
//! ```text
//! s1 = p^n s1 + sum over k of g p^(n-1-k) x[k]
//! s2 = p^n (s2 + n g s1) + g sum over k of g p^(n-1-k) (n-k) x[k]
//! ```
//!
//! where the weights `g p^(n-1-k)` are constants. The first sum weights the inputs, the second one the inputs times their ages
//! `n-k`. Two channels are processed together, so that each weight is loaded once.

#![allow(clippy::needless_range_loop, reason = "several arrays go side by side")]

use fearless_simd::{Select, Simd, SimdBase, SimdFloat};
use std::f64::consts::TAU;

/// Number of detectors in a bank.
pub const DETECTORS: usize = 87;
/// MIDI note of the lowest detector.
pub const LOWEST: i32 = 24;
/// Index of the detector for the listener's lowest note.
pub const FIRST_NOTE: usize = 4;
/// Number of banks: a fast one, and two of sharper resonance, tuned a quarter of a semitone below and above it.
pub const BANKS: usize = 3;
/// Number of detectors in a group, one for each lane of the widest vectors.
pub const LANES: usize = 16;
/// Number of groups in a bank; the last lanes are padding.
pub const BANK_GROUPS: usize = DETECTORS.div_ceil(LANES);
pub const GROUPS: usize = BANKS * BANK_GROUPS;
/// Number of samples that are processed at once.
pub const CHUNK: usize = 16;

/// Decay rate of the detectors of each bank: in 1/s per Hz of the detector's frequency, and its minimum in 1/s.
const DECAY: [(f64, f64); BANKS] = [(0.15, 16.0), (0.05, 7.0), (0.05, 7.0)];
/// Detuning of each bank in semitones.
const DETUNING: [f64; BANKS] = [0.0, -0.25, 0.25];
/// Detectors above this fraction of the detectors' sample rate are off.
const HIGHEST: f64 = 0.45;
/// States nearer to 0 than this become 0 at the end of a frame, so that no state stays denormal. Their squares are far below 1e-20,
/// which the features add to `|s2|^2`.
const LEAST: f32 = 1e-18;

/// One value for each detector of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Group(pub [f32; LANES]);

impl Group {
    pub const ZERO: Self = Self([0.0; LANES]);
}

/// Real and imaginary part.
pub type Complex = [f64; 2];

pub fn product(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// Returns the decay rate of a detector at `frequency` Hz, in 1/s.
pub fn decay(bank: usize, frequency: f64) -> f64 {
    let (share, least) = DECAY[bank];
    (share * frequency).max(least)
}

/// Returns the pole `p` and the gain `1 - |p|` of a detector at `frequency` Hz, for a sample rate of `rate` Hz; `None` if the
/// detector is off.
fn design(bank: usize, frequency: f64, rate: f64) -> Option<(Complex, f64)> {
    if frequency > HIGHEST * rate {
        return None;
    }
    let decay = decay(bank, frequency) / rate;
    let (radius, angle) = (libm::exp(-decay), TAU * frequency / rate);
    Some(([radius * libm::cos(angle), radius * libm::sin(angle)], -libm::expm1(-decay)))
}

/// States of a group: real and imaginary part of `s1`, then of `s2`.
pub type States = [Group; 4];

/// Detectors at one sample rate, for up to two channels.
#[derive(Debug, Clone)]
pub struct Detectors {
    pub states: [[States; GROUPS]; 2],
    weights: Box<[Weights; GROUPS]>,
    /// Number of samples in a frame's last chunk.
    last: usize,
    /// Whether each detector of the fast bank is on.
    pub on: [bool; DETECTORS],
}

/// Complex number for each lane: real parts, imaginary parts.
type Pair = [Group; 2];

#[derive(Debug, Clone)]
struct Weights {
    /// Weight of each sample of a chunk in `s1`.
    inputs: [Pair; CHUNK],
    /// `p^n` over a whole chunk, and over the last chunk of a frame.
    decays: [Pair; 2],
    /// Gain `g`.
    gain: Group,
}

impl Detectors {
    /// Creates detectors that are all off; see [`Detectors::tune`].
    pub fn new() -> Self {
        const NONE: States = [Group::ZERO; 4];
        let none = [Group::ZERO; 2];
        let weights = Weights { inputs: [none; CHUNK], decays: [none; 2], gain: Group::ZERO };
        let weights = vec![weights; GROUPS];
        Self {
            last: CHUNK,
            states: [[NONE; GROUPS]; 2],
            weights: weights.try_into().unwrap_or_else(|_| unreachable!("there are as many")),
            on: [false; DETECTORS],
        }
    }

    pub fn reset(&mut self) {
        self.states = [[[Group::ZERO; 4]; GROUPS]; 2];
    }

    /// Copies the states of the first channel to the second, when the input changes from mono to stereo.
    pub fn copy_channel(&mut self) {
        self.states[1] = self.states[0];
    }

    /// Tunes the detectors to semitones around `a4` Hz, for a sample rate of `rate` Hz and frames of `frame` samples.
    pub fn tune(&mut self, a4: f64, rate: f64, frame: usize) {
        self.last = (frame - 1) % CHUNK + 1;
        for bank in 0..BANKS {
            for detector in 0..DETECTORS {
                let semitones = f64::from(LOWEST - 69 + detector as i32) + DETUNING[bank];
                let designed = design(bank, a4 * libm::exp2(semitones / 12.0), rate);
                if bank == 0 {
                    self.on[detector] = designed.is_some();
                }
                let group = bank * BANK_GROUPS + detector / LANES;
                self.weights[group].set(detector % LANES, designed.unwrap_or_default(), self.last);
            }
        }
    }

    /// Processes a chunk of one or two channels. The `last` chunk of a frame may have fewer samples, padded with zeros in front.
    pub fn advance<S: Simd>(&mut self, simd: S, chunks: &[[f32; CHUNK]], last: bool) {
        // In both cases, the number of sums hides the latency and fits into the registers.
        match chunks {
            [one] => self.advance_channels::<S, 2, 1>(simd, [one], last),
            [one, other, ..] => self.advance_channels::<S, 1, 2>(simd, [one, other], last),
            [] => {}
        }
    }

    /// Processes a chunk of `C` channels, `V` vectors at a time.
    #[inline(never)]
    fn advance_channels<S: Simd, const V: usize, const C: usize>(
        &mut self,
        simd: S,
        chunks: [&[f32; CHUNK]; C],
        last: bool,
    ) {
        let aged: [[f32; CHUNK]; C] =
            chunks.map(|chunk| std::array::from_fn(|k| (CHUNK - k) as f32 * chunk[k]));
        let span = if last { self.last } else { CHUNK };
        let chunk = Chunk { inputs: chunks, aged: &aged, span, last };
        simd.vectorize(
            #[inline(always)]
            || {
                for group in 0..GROUPS {
                    let weights = &self.weights[group];
                    let [one, other] = &mut self.states;
                    let mut states = [&mut one[group], &mut other[group]];
                    let states = &mut states[..C];
                    if const { V * S::f32s::LEN <= LANES } {
                        for first in (0..LANES).step_by(V * S::f32s::LEN) {
                            weights.advance::<S, V, C>(simd, states, first, &chunk);
                        }
                    } else {
                        weights.advance::<S, 1, C>(simd, states, 0, &chunk);
                    }
                }
            },
        );
    }
}

struct Chunk<'a, const C: usize> {
    inputs: [&'a [f32; CHUNK]; C],
    /// Inputs times their ages; the last sample has the age 1.
    aged: &'a [[f32; CHUNK]; C],
    /// Number of samples without the padding.
    span: usize,
    /// Whether this is the last chunk of a frame.
    last: bool,
}

impl Weights {
    /// Sets the weights of a lane by its pole and gain, for frames whose last chunk has `last` samples.
    fn set(&mut self, lane: usize, (pole, gain): (Complex, f64), last: usize) {
        let put = |to: &mut Pair, value: Complex, scale: f64| {
            for (to, value) in to.iter_mut().zip(value) {
                to.0[lane] = (scale * value) as f32;
            }
        };
        self.gain.0[lane] = gain as f32;
        let mut power = [1.0, 0.0];
        for age in 1..=CHUNK {
            // `power` is p^(age-1) here.
            put(&mut self.inputs[CHUNK - age], power, gain);
            power = product(power, pole);
            for (decay, span) in self.decays.iter_mut().zip([CHUNK, last]) {
                if age == span {
                    put(decay, power, 1.0);
                }
            }
        }
    }

    /// Processes a chunk for `V` vectors from lane `first` on.
    #[inline(always)]
    fn advance<S: Simd, const V: usize, const C: usize>(
        &self,
        simd: S,
        states: &mut [&mut States],
        first: usize,
        chunk: &Chunk<C>,
    ) {
        let zero = S::f32s::splat(simd, 0.0);
        // Real and imaginary part of the sum in `s1`, then of the sum in `s2`.
        let mut sums = [[[zero; V]; 4]; C];
        for (k, weights) in self.inputs.iter().enumerate() {
            let mut parts = [[zero; V]; 2];
            for part in 0..2 {
                for v in 0..V {
                    parts[part][v] = load(simd, &weights[part], first + v * S::f32s::LEN);
                }
            }
            for c in 0..C {
                let x = S::f32s::splat(simd, chunk.inputs[c][k]);
                let aged = S::f32s::splat(simd, chunk.aged[c][k]);
                for part in 0..2 {
                    for v in 0..V {
                        let (weight, sums) = (parts[part][v], &mut sums[c]);
                        sums[part][v] = weight.mul_add(x, sums[part][v]);
                        sums[2 + part][v] = weight.mul_add(aged, sums[2 + part][v]);
                    }
                }
            }
        }
        let [re, im] = &self.decays[usize::from(chunk.last)];
        for v in 0..V {
            let at = first + v * S::f32s::LEN;
            let (re, im, gain) =
                (load(simd, re, at), load(simd, im, at), load(simd, &self.gain, at));
            let across = gain * S::f32s::splat(simd, chunk.span as f32);
            for c in 0..C {
                let (a, b) = (load(simd, &states[c][0], at), load(simd, &states[c][1], at));
                let p = across.mul_add(a, load(simd, &states[c][2], at));
                let q = across.mul_add(b, load(simd, &states[c][3], at));
                let sums = &sums[c];
                let new = [
                    re.mul_add(a, sums[0][v] - im * b),
                    re.mul_add(b, im.mul_add(a, sums[1][v])),
                    re.mul_add(p, gain.mul_add(sums[2][v], -(im * q))),
                    re.mul_add(q, im.mul_add(p, gain * sums[3][v])),
                ];
                for part in 0..4 {
                    let state = &mut states[c][part].0[at..][..S::f32s::LEN];
                    let least = S::f32s::splat(simd, if chunk.last { LEAST } else { 0.0 });
                    let decayed = new[part].abs().simd_lt(least);
                    decayed.select(zero, new[part]).store_slice(state);
                }
            }
        }
    }
}

/// Loads the vector of lanes from `first` on.
#[inline(always)]
fn load<S: Simd>(simd: S, group: &Group, first: usize) -> S::f32s {
    S::f32s::from_slice(simd, &group.0[first..][..S::f32s::LEN])
}
