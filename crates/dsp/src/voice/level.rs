//! Levels of the notes.

use crate::lanes::Lanes;

/// Gate of a band's power; `docs/dsp.md` has the formula.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// The power `low` of [`Gate::new`] to the power -3/2.
    inverse: f32,
    /// Maximum power of a note.
    pub high: f32,
}

impl Gate {
    /// Creates a gate in which a note fades away below the power `low` and stops growing above `high`.
    pub fn new(low: f32, high: f32) -> Self {
        Self { inverse: 1.0 / (low * low.sqrt()), high }
    }

    /// Returns the power that a level follows while its resonator has the power `q`.
    #[inline(always)]
    pub fn level(self, q: f32) -> f32 {
        let gated = q * q * self.inverse;
        q.min(gated * gated).min(self.high)
    }
}

/// Inputs of the levels of a block.
#[derive(Debug, Clone, Copy)]
pub struct Levels<'a> {
    /// Source of each band's power.
    pub source: LevelSource<'a>,
    pub gate: Gate,
    /// One-pole coefficient of the levels per block.
    pub step: f32,
    /// One-pole coefficient of the level of a note that begins.
    pub first_step: f32,
    /// Weights of the bands in the sum.
    pub weights: &'a Lanes,
}

#[derive(Debug, Clone, Copy)]
pub enum LevelSource<'a> {
    /// Powers of the resonators.
    Own,
    /// Powers that the listener measures in the mean of the channels, and the bands' mean amplitudes over all banks. Each bank
    /// scales the powers by the squared ratio of its own amplitude to the mean one.
    Listener(&'a Lanes, &'a Lanes),
}
