//! Three banks of 87 detectors, one per semitone and bank: two complex one-poles in series, a gammatone filter of order 2.
//!
//! The recursion is `s1 = p s1 + g x; s2 = p s2 + g s1` with a pole `p` and `g = 1 - |p|`. In this form each sample depends
//! on the last, so 16 samples are processed at once. After `n` samples
//!
//! ```text
//! s1 = p^n s1 + sum over k of g p^(n-1-k) x[k]
//! s2 = p^n s2 + n g p^n s1 + sum over k of (n-k) g^2 p^(n-1-k) x[k]
//! ```
//!
//! in which all weights of the inputs are constants. Two channels are processed together, so that each weight is loaded
//! once.

#![allow(clippy::needless_range_loop, reason = "several arrays go side by side")]

use fearless_simd::{Simd, SimdBase, SimdFloat};
use std::f64::consts::TAU;

/// Detectors of a bank.
pub const DETECTORS: usize = 87;
/// The MIDI note of the lowest one.
pub const LOWEST: i32 = 24;
/// Banks: the fast one, and two sharp ones, a quarter of a semitone below and above.
pub const BANKS: usize = 3;
/// Lanes of a group, and groups of a bank and of all: the last lanes of a bank are padding.
pub const LANES: usize = 16;
pub const BANK_GROUPS: usize = DETECTORS.div_ceil(LANES);
pub const GROUPS: usize = BANKS * BANK_GROUPS;
/// Samples that are processed at once.
pub const CHUNK: usize = 16;

/// Rate of decay of a bank's detectors in 1/s: the greater one of a multiple of the frequency in Hz and of a constant.
const DECAY: [(f64, f64); BANKS] = [(0.15, 16.0), (0.05, 7.0), (0.05, 7.0)];
/// The detuning of the banks in semitones.
const DETUNING: [f64; BANKS] = [0.0, -0.25, 0.25];
/// Detectors above this fraction of their sample rate are off.
const HIGHEST: f64 = 0.45;
/// States nearer to 0 than this become 0 at the end of a frame, so that none is ever denormal; they weigh nothing beside
/// the power's floor of 1e-20.
const LEAST: f32 = 1e-18;

/// One value for each lane of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Group(pub [f32; LANES]);

impl Group {
    /// All zero.
    pub const ZERO: Self = Self([0.0; LANES]);
}

/// A complex number.
type Complex = [f64; 2];

/// `a b`.
fn product(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The rate of decay of a detector at `frequency` Hz, in 1/s.
pub fn decay(bank: usize, frequency: f64) -> f64 {
    let (share, least) = DECAY[bank];
    (share * frequency).max(least)
}

/// The pole of a detector at `frequency` and its gain `1 - |p|`, for a sample rate of `rate`, both in Hz; `None` if the
/// detector is off.
fn design(bank: usize, frequency: f64, rate: f64) -> Option<(Complex, f64)> {
    if frequency > HIGHEST * rate {
        return None;
    }
    let decay = decay(bank, frequency) / rate;
    let (radius, angle) = (libm::exp(-decay), TAU * frequency / rate);
    Some(([radius * libm::cos(angle), radius * libm::sin(angle)], -libm::expm1(-decay)))
}

/// The states of a group: real and imaginary part of `s1`, then of `s2`.
pub type States = [Group; 4];

/// The detectors at one sample rate, for up to two channels.
#[derive(Debug, Clone)]
pub struct Detectors {
    /// For each channel.
    states: [[States; GROUPS]; 2],
    weights: Box<[Weights; GROUPS]>,
    /// Whether each detector of the fast bank is on.
    on: [bool; DETECTORS],
}

/// The constants of a group.
#[derive(Debug, Clone)]
struct Weights {
    /// The weight of each sample of a chunk in each part of the states.
    inputs: [States; CHUNK],
    /// `p^n` and `n g p^n`, over a whole chunk, and over the last one of a frame: the share of `s1` in `s1` and of `s2` in
    /// `s2`, and that of `s1` in `s2`.
    decays: [States; 2],
}

impl Detectors {
    /// Detectors that are all off; see [`Detectors::tune`].
    pub fn new() -> Self {
        const NONE: States = [Group::ZERO; 4];
        let weights = vec![Weights { inputs: [NONE; CHUNK], decays: [NONE; 2] }; GROUPS];
        Self {
            states: [[NONE; GROUPS]; 2],
            weights: weights.try_into().unwrap_or_else(|_| unreachable!("there are as many")),
            on: [false; DETECTORS],
        }
    }

    /// Sets all states to 0.
    pub fn reset(&mut self) {
        self.states = [[[Group::ZERO; 4]; GROUPS]; 2];
    }

    /// The second channel continues like the first one.
    pub fn copy_channel(&mut self) {
        self.states[1] = self.states[0];
    }

    /// Tunes the detectors to semitones around `a4` Hz, for a rate of `rate` Hz and frames of `frame` samples.
    pub fn tune(&mut self, a4: f64, rate: f64, frame: usize) {
        let ends = [CHUNK, (frame - 1) % CHUNK + 1];
        for bank in 0..BANKS {
            for detector in 0..DETECTORS {
                let semitones = f64::from(LOWEST - 69 + detector as i32) + DETUNING[bank];
                let designed = design(bank, a4 * libm::exp2(semitones / 12.0), rate);
                if bank == 0 {
                    self.on[detector] = designed.is_some();
                }
                let group = bank * BANK_GROUPS + detector / LANES;
                self.weights[group].set(detector % LANES, designed.unwrap_or_default(), ends);
            }
        }
    }

    /// Processes a chunk of one or two channels. The `last` one of a frame may be shorter, with zeros in front.
    pub fn advance<S: Simd>(&mut self, simd: S, chunks: &[[f32; CHUNK]], last: bool) {
        // As many sums as hide the latency of each and fit into the registers.
        match chunks {
            [one] => self.advance_channels::<S, 2, 1>(simd, [one], last),
            [one, other, ..] => self.advance_channels::<S, 1, 2>(simd, [one, other], last),
            [] => {}
        }
    }

    /// The same for `C` channels, `V` vectors at a time.
    #[inline(never)]
    fn advance_channels<S: Simd, const V: usize, const C: usize>(
        &mut self,
        simd: S,
        chunks: [&[f32; CHUNK]; C],
        last: bool,
    ) {
        simd.vectorize(
            #[inline(always)]
            || {
                for group in 0..GROUPS {
                    let weights = &self.weights[group];
                    let [one, other] = &mut self.states;
                    let mut states = [&mut one[group], &mut other[group]];
                    let states = &mut states[..C];
                    if V * S::f32s::LEN <= LANES {
                        for first in (0..LANES).step_by(V * S::f32s::LEN) {
                            weights.advance::<S, V, C>(simd, states, first, chunks, last);
                        }
                    } else {
                        weights.advance::<S, 1, C>(simd, states, 0, chunks, last);
                    }
                }
            },
        );
    }

    /// Sets states that have decayed to 0. To be called once a frame.
    pub fn flush<S: Simd>(&mut self, simd: S) {
        simd.vectorize(
            #[inline(always)]
            || {
                for group in self.states.as_flattened_mut().as_flattened_mut() {
                    for state in &mut group.0 {
                        *state = if state.abs() < LEAST { 0.0 } else { *state };
                    }
                }
            },
        );
    }

    /// The states of a channel.
    pub fn states(&self, channel: usize) -> &[States; GROUPS] {
        &self.states[channel]
    }

    /// Whether each detector of the fast bank is on.
    pub fn on(&self) -> &[bool; DETECTORS] {
        &self.on
    }
}

#[cfg(test)]
impl Detectors {
    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.weights)
    }
}

impl Weights {
    /// Sets a lane by its pole and gain, for chunks that are as long as `ends` states.
    fn set(&mut self, lane: usize, (pole, gain): (Complex, f64), ends: [usize; 2]) {
        let put = |to: &mut [Group], value: Complex, scale: f64| {
            to[0].0[lane] = (scale * value[0]) as f32;
            to[1].0[lane] = (scale * value[1]) as f32;
        };
        let mut power = [1.0, 0.0];
        for age in 1..=CHUNK {
            // Now `power` is p^(age-1).
            let (first, second) = self.inputs[CHUNK - age].split_at_mut(2);
            put(first, power, gain);
            put(second, power, age as f64 * gain * gain);
            power = product(power, pole);
            for (decay, _) in self.decays.iter_mut().zip(ends).filter(|(_, end)| *end == age) {
                let (own, across) = decay.split_at_mut(2);
                put(own, power, 1.0);
                put(across, power, age as f64 * gain);
            }
        }
    }

    /// Processes a chunk of `C` channels, in `V` vectors from the lane `first` on.
    #[inline(always)]
    fn advance<S: Simd, const V: usize, const C: usize>(
        &self,
        simd: S,
        states: &mut [&mut States],
        first: usize,
        chunks: [&[f32; CHUNK]; C],
        last: bool,
    ) {
        let mut sums = [[[S::f32s::splat(simd, 0.0); V]; 4]; C];
        let [own_re, own_im, across_re, across_im] = &self.decays[usize::from(last)];
        for v in 0..V {
            let at = first + v * S::f32s::LEN;
            let (re, im) = (load(simd, own_re, at), load(simd, own_im, at));
            let (across_re, across_im) = (load(simd, across_re, at), load(simd, across_im, at));
            for c in 0..C {
                let (a, b) = (load(simd, &states[c][0], at), load(simd, &states[c][1], at));
                let (p, q) = (load(simd, &states[c][2], at), load(simd, &states[c][3], at));
                sums[c][0][v] = re * a - im * b;
                sums[c][1][v] = re * b + im * a;
                sums[c][2][v] = re * p - im * q + (across_re * a - across_im * b);
                sums[c][3][v] = re * q + im * p + (across_re * b + across_im * a);
            }
        }
        for (k, weights) in self.inputs.iter().enumerate() {
            for part in 0..4 {
                for v in 0..V {
                    let weight = load(simd, &weights[part], first + v * S::f32s::LEN);
                    for c in 0..C {
                        let x = S::f32s::splat(simd, chunks[c][k]);
                        sums[c][part][v] = weight.mul_add(x, sums[c][part][v]);
                    }
                }
            }
        }
        for c in 0..C {
            for part in 0..4 {
                for v in 0..V {
                    let at = first + v * S::f32s::LEN;
                    sums[c][part][v].store_slice(&mut states[c][part].0[at..][..S::f32s::LEN]);
                }
            }
        }
    }
}

/// The vector of the lanes from `first` on.
#[inline(always)]
fn load<S: Simd>(simd: S, group: &Group, first: usize) -> S::f32s {
    S::f32s::from_slice(simd, &group.0[first..][..S::f32s::LEN])
}
