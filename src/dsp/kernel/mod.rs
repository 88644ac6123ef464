//! The inner loop: 48 resonators, their power, their drive and the sum of it all.
//!
//! A kernel works on blocks of at most [`BLOCK`] samples. What all bands share (the input and its power)
//! is computed once a block and handed over in [`Shared`]; what a band owns is [`State`], and what the
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

use super::{notes::TONES, resonator::Loop};

/// The greatest number of samples in a call of a kernel, and the distance between two updates of the
/// coefficients.
pub const BLOCK: usize = 64;

/// One value a tone.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes(pub [f32; TONES]);

impl Lanes {
    /// Every lane zero.
    pub const ZERO: Self = Self([0.0; TONES]);
}

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
    /// Share of each tone in the sum.
    pub weight: Lanes,
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
}

impl Coefficients {
    /// No input, no motion.
    pub const ZERO: Self = Self {
        rise: Lanes::ZERO,
        fall: Lanes::ZERO,
        gain: Lanes::ZERO,
        weight: Lanes::ZERO,
        damping: 0.0,
        step: 0.0,
        drive: 0.0,
        threshold: 0.0,
        ceiling: 0.0,
        floor: 1.0,
    };

    /// Gives `tone` its resonator.
    pub fn set_loop(&mut self, tone: usize, resonator: Loop) {
        self.rise.0[tone] = resonator.rise;
        self.fall.0[tone] = resonator.fall;
        self.gain.0[tone] = resonator.gain;
        self.damping = resonator.damping;
    }

    /// The gain of all tones, if none has one of its own nor a share in the sum of its own, which is
    /// cheaper.
    fn common_gain(&self) -> Option<f32> {
        let gain = self.gain.0[TONES - 1];
        let limit = EVEN * gain;
        // All are looked at, because that needs no branch and so goes by vectors.
        let tones = self.gain.0.iter().zip(&self.weight.0);
        tones
            .fold(true, |even, (own, weight)| {
                even & ((own - gain).abs() <= limit) & (*weight == 1.0)
            })
            .then_some(gain)
    }
}

/// What all bands share, per sample of a block.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub struct Shared {
    /// `x[t] + x[t-1]`.
    pub input: [f32; BLOCK],
    /// Tracked power of the input.
    pub total_power: [f32; BLOCK],
}

impl Shared {
    /// Silence.
    pub const ZERO: Self = Self { input: [0.0; BLOCK], total_power: [0.0; BLOCK] };
}

/// A block of one bank.
#[derive(Debug)]
pub struct Task<'a> {
    /// The bank's memory.
    pub state: &'a mut State,
    /// What its bands share.
    pub shared: &'a Shared,
    /// Where the sum of its driven bands goes.
    pub sums: &'a mut [f32],
}

/// Share by which gains may differ and still pass for one, 108 dB down. By so much they do for a ring of
/// 0.9 s; for shorter ones, by more.
const EVEN: f32 = 4e-6;

/// Keeps the drive finite while a band has no power yet.
pub const RMS_GUARD: f32 = super::reference::RMS_GUARD as f32;
