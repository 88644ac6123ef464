//! The inner loop: the 48 resonators, their power, their drive and their sum.
//!
//! A kernel processes blocks of at most [`BLOCK`] samples. [`FrameInputs`] holds what all bands share (the input and
//! its power), [`State`] the state of the bands, and [`Coefficients`] their coefficients; the last two are structures
//! of arrays with one lane per tone.
//!
//! [`Kernel`] selects an implementation: plain Rust, which defines the result; portable vectors of the build's
//! target; or vectors of an instruction set of this CPU.

mod choice;
mod dispatched;
mod portable;
mod scalar;

pub(crate) use choice::Work;
pub use choice::{Kernel, UnknownKernel, VARIABLE};

use super::resonator::Loop;
use crate::dsp::{constants, notes::TONES};

pub use crate::dsp::lanes::{BLOCK, Lanes};

/// The state of the bands.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// First integrator, in units of the band's output divided by `F / rise`.
    pub lo: Lanes,
    /// Second integrator: the resonator's output.
    pub bp: Lanes,
    /// Tracked power.
    pub power: Lanes,
}

impl State {
    /// At rest.
    pub const ZERO: Self = Self { lo: Lanes::ZERO, bp: Lanes::ZERO, power: Lanes::ZERO };
}

/// The coefficients of the bands.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficients {
    /// [`Loop::rise`] of each tone.
    pub rise: Lanes,
    /// [`Loop::fall`] of each tone.
    pub fall: Lanes,
    /// [`Loop::gain`] of each tone.
    pub gain: Lanes,
    /// Weight of each tone in the sum (0..1), at the start and at the end of the current [`BLOCK`].
    pub weights: [Lanes; 2],
    /// Whether a weight is neither 0 nor 1, or moves.
    pub ramps: bool,
    /// Added to the effective value, which keeps the drive finite while a band has no power yet: [`RMS_GUARD`], or far
    /// more for a tone with a weight of 0.
    pub guard: Lanes,
    /// [`Loop::damping`], which is the same for every tone.
    pub damping: f32,
    /// Weight of the new value in the power trackers.
    pub step: f32,
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
}

impl Coefficients {
    /// Coefficients with which all bands stay silent.
    pub const ZERO: Self = Self {
        rise: Lanes::ZERO,
        fall: Lanes::ZERO,
        gain: Lanes::ZERO,
        weights: [Lanes::ZERO; 2],
        ramps: false,
        guard: Lanes::ZERO,
        damping: 0.0,
        step: 0.0,
        drive: 0.0,
        threshold: 0.0,
        ceiling: 0.0,
        floor: 1.0,
        driven: true,
    };

    /// Sets the resonator of `tone`.
    pub fn set_loop(&mut self, tone: usize, resonator: Loop) {
        self.rise.0[tone] = resonator.rise;
        self.fall.0[tone] = resonator.fall;
        self.gain.0[tone] = resonator.gain;
        self.damping = resonator.damping;
    }

    /// Sets every tone's weight in the sum, which moves in a straight line from `from` to `to` within a [`BLOCK`],
    /// and the `guard` of the drive.
    pub fn set_weights(&mut self, from: Lanes, to: Lanes, guard: f32) {
        let ramp = |(from, to): (&f32, &f32)| from != to || (*to != 0.0 && *to != 1.0);
        self.ramps = from.0.iter().zip(&to.0).any(ramp);
        let muted = if self.ramps { guard } else { MUTED };
        self.guard.0 = to.0.map(|weight| if weight == 0.0 { muted } else { guard });
        self.weights = [from, to];
    }

    /// The gain of all tones if they are equal, which is cheaper; `None` if they differ.
    fn common_gain(&self) -> Option<f32> {
        let gain = self.gain.0[TONES - 1];
        let limit = EVEN * gain;
        // No early exit: without branches, the loop is vectorised.
        let even = |even, own: &f32| even & ((own - gain).abs() <= limit);
        self.gain.0.iter().fold(true, even).then_some(gain)
    }
}

/// The input of all bands, for each sample of a block.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct FrameInputs {
    /// `x[t] + x[t-1]`.
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
    /// The output: the sum of its driven bands for each sample.
    pub sums: &'a mut [f32],
}

/// Relative difference up to which gains count as equal, 108 dB down. For a ring of 0.9 s they differ by as much, for
/// shorter ones by more.
const EVEN: f32 = 4e-6;

/// Added to the effective value, which keeps the drive finite while a band has no power yet.
pub const RMS_GUARD: f32 = constants::RMS_GUARD as f32;

/// The guard of a muted band: large enough to mute it, and small enough that the product of three is finite.
const MUTED: f32 = 1e12;
