//! The inner loop: 48 resonators, their power, their drive and the sum of it all.
//!
//! A kernel works on blocks of at most [`BLOCK`] samples. What all bands share (the input and its power)
//! is computed once a block and handed over in [`FrameInputs`]; what a band owns is [`State`], and what the
//! settings make of it [`Coefficients`], both as structures of arrays with one lane a tone.
//!
//! [`Kernel`] is the choice between one loop in plain Rust that defines the result, the same loop on
//! vectors of whatever the build allows, and on vectors of what this CPU has.

mod choice;
mod dispatched;
mod portable;
mod scalar;

pub(crate) use choice::Work;
pub use choice::{Kernel, UnknownKernel, VARIABLE};

use super::resonator::Loop;
use crate::dsp::{constants, notes::TONES};

pub use crate::dsp::lanes::{BLOCK, Lanes};

/// What the bands remember from sample to sample.
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

/// What the settings mean for the bands.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficients {
    /// [`Loop::rise`] of each tone.
    pub rise: Lanes,
    /// [`Loop::fall`] of each tone.
    pub fall: Lanes,
    /// [`Loop::gain`] of each tone.
    pub gain: Lanes,
    /// Share of each tone in the sum, at the start and at the end of the current [`BLOCK`].
    pub weights: [Lanes; 2],
    /// Whether a share is neither nothing nor all, or moves.
    pub ramps: bool,
    /// Keeps the drive finite while a band has no power yet: [`RMS_GUARD`], or far more for a tone that has no
    /// share in the sum.
    pub guard: Lanes,
    /// [`Loop::damping`], which is the same for every tone.
    pub damping: f32,
    /// Share of the new value in the power trackers.
    pub step: f32,
    /// Gain into the soft clip.
    pub drive: f32,
    /// Relative gate, as a ratio to total power.
    pub threshold: f32,
    /// Relative limit, as a ratio to total power.
    pub ceiling: f32,
    /// Absolute gate, as power.
    pub floor: f32,
    /// Whether the bands are driven and summed; else the sums are silence.
    pub driven: bool,
}

impl Coefficients {
    /// No input, no motion.
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

    /// Gives `tone` its resonator.
    pub fn set_loop(&mut self, tone: usize, resonator: Loop) {
        self.rise.0[tone] = resonator.rise;
        self.fall.0[tone] = resonator.fall;
        self.gain.0[tone] = resonator.gain;
        self.damping = resonator.damping;
    }

    /// Gives every tone its share in the sum, which moves in a straight line from `from` to `to` within a
    /// [`BLOCK`], and keeps the drive of the others finite by `guard`.
    pub fn set_weights(&mut self, from: Lanes, to: Lanes, guard: f32) {
        let ramp = |(from, to): (&f32, &f32)| from != to || (*to != 0.0 && *to != 1.0);
        self.ramps = from.0.iter().zip(&to.0).any(ramp);
        let muted = if self.ramps { guard } else { MUTED };
        self.guard.0 = to.0.map(|weight| if weight == 0.0 { muted } else { guard });
        self.weights = [from, to];
    }

    /// The gain of all tones, if none has one of its own, which is cheaper.
    fn common_gain(&self) -> Option<f32> {
        let gain = self.gain.0[TONES - 1];
        let limit = EVEN * gain;
        // All are looked at, because that needs no branch and so goes by vectors.
        let even = |even, own: &f32| even & ((own - gain).abs() <= limit);
        self.gain.0.iter().fold(true, even).then_some(gain)
    }
}

/// What all bands share, per sample of a block.
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

/// A block of one bank.
#[derive(Debug)]
pub struct Task<'a> {
    /// The bank's memory.
    pub state: &'a mut State,
    /// Samples that lie between the start of the current [`BLOCK`] and the first one of this call.
    pub position: usize,
    /// What its bands share.
    pub inputs: &'a FrameInputs,
    /// Where the sum of its driven bands goes.
    pub sums: &'a mut [f32],
}

/// Share by which gains may differ and still pass for one, 108 dB down. By so much they do for a ring of
/// 0.9 s; for shorter ones, by more.
const EVEN: f32 = 4e-6;

/// Keeps the drive finite while a band has no power yet.
pub const RMS_GUARD: f32 = constants::RMS_GUARD as f32;

/// A guard so large that nothing is left of a band, and that the product of three is finite.
const MUTED: f32 = 1e12;
