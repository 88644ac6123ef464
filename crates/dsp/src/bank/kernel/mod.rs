//! The inner loop: the resonators, their power, their drive and their sum.
//!
//! A kernel processes blocks of at most [`BLOCK`] samples. [`FrameInputs`] holds what all bands share (the input and
//! its power), [`State`] the state of the bands, and [`Coefficients`] their coefficients; the last two are structures
//! of arrays with one lane per tone.
//!
//! [`Kernel`] selects an implementation: plain Rust, which defines the result; or one loop on vectors, of an instruction set
//! of this CPU, or portable ones of which the compiler makes what the build's target has.

mod dispatched;
mod fractions;
mod frame;
mod gates;
mod rows;
mod scalar;

use super::resonator::Design;
use crate::{
    constants,
    lanes::{BLOCK, Lanes},
    notes::PUBLISHED,
    ramp::Ramp,
};
use fearless_simd::{Simd, SimdBase};
use frame::Frame;
pub use rows::Rows;
use tone_filter_simd::{Kernel, Work};

/// The state of the bands.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// First integrator, in units of the band's output divided by `F / rise`.
    pub lo: Lanes,
    /// Second integrator: the resonator's output.
    pub bp: Lanes,
    /// Tracked power.
    pub power: Lanes,
    /// Within a block, the vector kernels keep the state in units that change from sample to sample: the number of
    /// samples since it was in those above, or 0. [`State::settle`] converts it.
    pub age: usize,
}

impl State {
    /// At rest.
    pub const ZERO: Self = Self { lo: Lanes::ZERO, bp: Lanes::ZERO, power: Lanes::ZERO, age: 0 };

    /// Converts the state to its plain units, if it is in those of a vector kernel that used `c`.
    pub fn settle(&mut self, c: &Coefficients) {
        if self.age > 0 {
            c.frame.leave(self);
        }
    }
}

/// Kind of the tones' weights in the sum; the simpler, the cheaper.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Weighting {
    /// Each is 0 or 1.
    Switched,
    /// All rest in the block.
    Constant,
    /// Some move.
    Moving,
}

/// The coefficients of the bands.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficients {
    /// [`Loop::rise`](super::resonator::Loop::rise) of each tone.
    pub rise: Lanes,
    /// [`Loop::fall`](super::resonator::Loop::fall) of each tone.
    pub fall: Lanes,
    /// Gain of the input into `lo` of each tone, negated: the gain of the resonator over `fall`.
    pub entry: Lanes,
    /// Weight of each tone in the sum, 0..1.
    pub weights: Ramp<Lanes>,
    /// Weight of each tone in the difference of left and right, if there is one: weight times place, 1 for left and -1 for right.
    pub sides: Option<Ramp<Lanes>>,
    /// Kind of the weights.
    weighting: Weighting,
    /// Added to the effective value, which keeps the drive finite while a band has no power yet: [`RMS_GUARD`] at the
    /// nominal level.
    pub guard: f32,
    /// [`Loop::damping`](super::resonator::Loop::damping) of each tone, the same for all published ones.
    pub damping: Lanes,
    /// Weight of the new value in the power trackers.
    step: f32,
    /// Gain into the soft clip.
    pub drive: f32,
    /// Relative gate, as a ratio to total power.
    pub threshold: f32,
    /// Relative limit, as a ratio to total power.
    pub ceiling: f32,
    /// Absolute gate, as power.
    pub floor: f32,
    /// Whether the bands are driven and summed; otherwise the sums are 0.
    pub driven: bool,
    /// Whether the tones below A3 are computed.
    low: bool,
    /// Coefficients of the vector kernels.
    frame: Frame,
}

impl Coefficients {
    /// Coefficients with which all bands stay silent.
    pub const ZERO: Self = Self {
        rise: Lanes::ZERO,
        fall: Lanes::ZERO,
        entry: Lanes::ZERO,
        weights: Ramp::rest(Lanes::ZERO),
        sides: None,
        weighting: Weighting::Switched,
        guard: 0.0,
        damping: Lanes::ZERO,
        step: 0.0,
        drive: 1.0,
        threshold: 0.0,
        ceiling: 0.0,
        floor: 1.0,
        driven: true,
        low: false,
        frame: Frame::STILL,
    };

    /// Sets the resonators, of which the published ones all have the same radius.
    pub fn set_resonators(&mut self, designs: &[Design]) {
        self.low = designs.len() > PUBLISHED;
        for (tone, design) in designs.iter().enumerate() {
            let resonator = design.two_integrator_loop();
            self.rise.0[tone] = resonator.rise;
            self.fall.0[tone] = resonator.fall;
            self.entry.0[tone] = resonator.gain / resonator.fall;
            self.damping.0[tone] = resonator.damping;
        }
        self.frame.set_resonators(designs, &self.fall);
    }

    /// Sets the weight of the new value in the power trackers; with 0, powers stay as they are.
    pub fn set_step(&mut self, step: f64) {
        self.step = step as f32;
        self.frame.set_step(step);
    }

    /// Sets every tone's weight in the sum.
    pub fn set_weights(&mut self, weights: &Ramp<Lanes>) {
        self.weighting = if weights.moves() {
            Weighting::Moving
        } else if weights.to.all(|weight| (weight == 0.0) | (weight == 1.0)) {
            Weighting::Switched
        } else {
            Weighting::Constant
        };
        self.weights = *weights;
    }
}

/// The input of all bands, for each sample of a block.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct FrameInputs {
    /// `x[t] - x[t-2]`.
    pub input: [f32; BLOCK],
    /// Tracked power of the input.
    pub total_power: [f32; BLOCK],
}

impl FrameInputs {
    /// Silence.
    pub const ZERO: Self = Self { input: [0.0; BLOCK], total_power: [0.0; BLOCK] };
}

/// A block of one bank to process.
#[derive(Debug)]
pub struct Task<'a> {
    /// The state of the bank.
    pub state: &'a mut State,
    /// The number of samples between the start of the current [`BLOCK`] and the first one of this call.
    pub position: usize,
    /// The input of its bands.
    pub inputs: &'a FrameInputs,
    /// Memory to work in.
    pub rows: &'a mut Rows,
    /// The output: the sum of its driven bands for each sample.
    pub sums: &'a mut [f32],
    /// With [`Coefficients::sides`], half the difference of left and right for each sample; else empty.
    pub sides: &'a mut [f32],
}

/// Added to the effective value, which keeps the drive finite while a band has no power yet.
pub const RMS_GUARD: f32 = constants::RMS_GUARD as f32;

/// Advances a bank by the length of its `sums`, at most [`BLOCK`], and writes the sum of the driven bands for each
/// sample there. Elements beyond [`BLOCK`] are not changed.
pub fn process(kernel: Kernel, c: &Coefficients, mut task: Task) {
    let frames = task.sums.len().min(BLOCK);
    if frames == 0 {
        return;
    }
    task.sums = &mut task.sums[..frames];
    let sides = if c.sides.is_some() { frames } else { 0 };
    task.sides = &mut task.sides[..sides];
    if kernel.is_scalar() {
        scalar::process(c, task);
    } else {
        kernel.run(Dispatched { c, task, pairs: kernel.divides_fast() });
    }
}

/// The loop on vectors.
struct Dispatched<'a> {
    c: &'a Coefficients,
    task: Task<'a>,
    /// Whether two bands share a division, instead of three.
    pairs: bool,
}

impl Work for Dispatched<'_> {
    fn run<S: Simd>(self, simd: S) {
        if self.pairs && S::f32s::LEN == fractions::WIDEST {
            dispatched::process::<S, true>(simd, self.c, self.task);
        } else {
            dispatched::process::<S, false>(simd, self.c, self.task);
        }
    }
}

#[cfg(test)]
mod tests;
