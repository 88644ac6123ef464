//! The inner loop: resonators, power tracking, drive and sum of the bands.
//!
//! A kernel processes at most [`BLOCK`] samples per call. [`FrameInputs`] holds the input and its power, which all bands share;
//! [`State`] holds the state of the bands, and [`Coefficients`] their coefficients. The last two are structures of arrays with
//! one lane per tone.
//!
//! [`Kernel`] selects an implementation: plain Rust (`scalar.rs`), which defines the result, or a loop on vectors (`dispatched.rs`).
//! The vectors belong to an instruction set of this CPU, or are portable: the compiler maps them to the instruction set of the
//! build's target.
//!
//! Invariants: all kernels agree to 90 dB, and each gives the same bits however a block is divided into calls. A kernel breaks
//! this if a factor depends on where a call begins (other than by its `position` in the block), if the order of a sum depends on
//! the length of a call, or if a state is read in the wrong units. Vector kernels keep the state of an incomplete block in units
//! of their own (`frame.rs`), which [`State::age`] indicates. Code that reads or changes a state calls [`State::settle`] first. A
//! kernel that starts in the middle of a block calls `Frame::enter`. In `tests/sound`, `accuracy.rs` compares every kernel with the
//! reference, and `properties.rs` runs every kernel with calls of any length.

mod dispatched;
mod fractions;
mod frame;
mod gates;
mod rows;
mod scalar;

use super::resonator::Design;
use crate::{
    lanes::{BLOCK, Lanes},
    notes::PUBLISHED,
    ramp::Ramp,
};
use dispatched::Dispatched;
use frame::Frame;
pub use rows::Rows;
use tone_filter_simd::Kernel;

#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// First integrator: `lo F / rise` has the amplitude of the band's output, with `F` as in [`resonator`](super::resonator).
    pub lo: Lanes,
    /// Second integrator: the resonator's output.
    pub bp: Lanes,
    pub power: Lanes,
    /// Units of the state. 0: plain units, as described above. Otherwise: the vector kernels' units, which change from sample
    /// to sample, after this number of samples of the block.
    pub age: usize,
}

impl State {
    pub const ZERO: Self = Self { lo: Lanes::ZERO, bp: Lanes::ZERO, power: Lanes::ZERO, age: 0 };

    /// Converts the state to plain units, if it is in the units of a vector kernel that used `c`.
    pub fn settle(&mut self, c: &Coefficients) {
        if self.age > 0 {
            c.frame.leave(self);
        }
    }
}

/// Kind of the weights with which the bands are summed in a block. The kinds are in order of increasing cost.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Weighting {
    /// All weights are 0 or 1, and constant in the block.
    Switched,
    /// Weights of any value, which may ramp.
    Moving,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Coefficients {
    /// Factor `a` of each tone's first integrator; see [`resonator`](super::resonator).
    pub rise: Lanes,
    /// Factor `b` of each tone's feedback from the first integrator.
    pub fall: Lanes,
    /// Negated gain of the input into `lo` of each tone: the gain of the resonator over `fall`.
    pub entry: Lanes,
    /// Weight of each tone in the sum. Above 1 if a key's gain or the early bank raises it.
    pub weights: Ramp<Lanes>,
    /// Weight of each tone in half the difference of left and right: its weight times its stereo position, 1 for left and -1 for
    /// right. `None` without panned notes.
    pub sides: Option<Ramp<Lanes>>,
    weighting: Weighting,
    /// Guard added to the RMS in the denominator of the drive: keeps the drive finite while a band has no power yet.
    pub guard: f32,
    /// Damping `d = 1 - r^2` of each tone; one value for all published tones.
    pub damping: Lanes,
    /// One-pole coefficient of the power trackers, per sample.
    step: f32,
    /// Gain into the soft clip.
    pub drive: f32,
    /// Relative gate: minimum power of a band, as a ratio to total power.
    pub threshold: f32,
    /// Relative limit: maximum power of a band, as a ratio to total power.
    pub ceiling: f32,
    /// Absolute gate: minimum power of a band.
    pub floor: f32,
    /// Whether the bands are driven and summed; otherwise the sums are 0.
    pub driven: bool,
    /// Whether the tones below A3 are computed.
    low: bool,
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

    /// Sets the resonators. The published ones must all have the same radius.
    pub fn set_resonators(&mut self, designs: &[Design]) {
        self.low = designs.len() > PUBLISHED;
        for (tone, design) in designs.iter().enumerate() {
            let ((rise, fall), r) = (design.factors(), design.radius);
            (self.rise.0[tone], self.fall.0[tone]) = (rise, fall);
            self.entry.0[tone] = design.gain as f32 / fall;
            self.damping.0[tone] = ((1.0 - r) * (1.0 + r)) as f32;
        }
        self.frame.set_resonators(designs, &self.fall);
    }

    /// Sets the one-pole coefficient of the power trackers; 0 holds the powers.
    pub fn set_step(&mut self, step: f64) {
        self.step = step as f32;
        self.frame.set_step(step);
    }

    pub fn set_weights(&mut self, weights: &Ramp<Lanes>) {
        // Visits all lanes, so that the loop vectorises.
        let switches = |all, weight: &f32| all & ((*weight == 0.0) | (*weight == 1.0));
        let switched = weights.to.0.iter().fold(true, switches);
        self.weighting =
            if switched && !weights.moves() { Weighting::Switched } else { Weighting::Moving };
        self.weights = *weights;
    }
}

/// Inputs that all bands share, for each sample of a block.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct FrameInputs {
    /// Difference `x[t] - x[t-2]` of the input.
    pub input: [f32; BLOCK],
    pub total_power: [f32; BLOCK],
}

impl FrameInputs {
    pub const ZERO: Self = Self { input: [0.0; BLOCK], total_power: [0.0; BLOCK] };
}

/// Samples of a block for a kernel to process.
#[derive(Debug)]
pub struct Task<'a> {
    pub state: &'a mut State,
    /// Position of the first sample in the block.
    pub position: usize,
    pub inputs: &'a FrameInputs,
    /// Scratch memory.
    pub rows: &'a mut Rows,
    /// Output: the sum of the driven bands.
    pub sums: &'a mut [f32],
    /// Output: half the difference of left and right. Not written if [`Coefficients::sides`] is `None`.
    pub sides: &'a mut [f32],
}

/// Value of [`Coefficients::guard`] at the nominal level.
pub const RMS_GUARD: f32 = 0.001;

/// Advances a bank by the length of `task.sums`, at most [`BLOCK`] samples, and writes the outputs.
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
        kernel.run(Dispatched { c, task });
    }
}
