//! Levels of the notes.

use crate::lanes::Lanes;

/// Gate of a band's power; `docs/dsp.md` has the formula.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// The power of -3/2 of the one below which a note fades away.
    inverse: f32,
    /// Power above which it stops growing.
    pub high: f32,
}

impl Gate {
    /// A note fades away below the power `low` and stops growing above `high`.
    pub fn new(low: f32, high: f32) -> Self {
        Self { inverse: 1.0 / (low * low.sqrt()), high }
    }

    /// The power that is followed while a resonator has the power `q`.
    #[inline(always)]
    pub fn level(self, q: f32) -> f32 {
        let gated = q * q * self.inverse;
        q.min(gated * gated).min(self.high)
    }
}

/// Inputs of the levels of a block.
#[derive(Debug, Clone, Copy)]
pub struct Levels<'a> {
    /// Where the power of each band comes from, for oscillations of an amplitude of 1.
    pub source: LevelSource<'a>,
    /// Gate of the power.
    pub gate: Gate,
    /// One-pole coefficient per block.
    pub step: f32,
    /// The bands' shares in the sum.
    pub weights: &'a Lanes,
}

/// Source of the powers.
#[derive(Debug, Clone, Copy)]
pub enum LevelSource<'a> {
    /// Powers of the resonators.
    Own,
    /// Powers that the listener measures in the mean of the channels, and the mean amplitudes of all banks: a bank gets the share that
    /// its amplitude has.
    Listener(&'a Lanes, &'a Lanes),
}
