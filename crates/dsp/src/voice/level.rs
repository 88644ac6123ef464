//! What the notes' levels are made of.

use crate::lanes::Lanes;

/// What a band's power is made of; `docs/dsp.md` has the formula.
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

/// What the levels of a block are made of.
#[derive(Debug, Clone, Copy)]
pub struct Levels<'a> {
    /// Where the power of each band comes from, for oscillations of an amplitude of 1.
    pub source: LevelSource<'a>,
    /// What becomes of it.
    pub gate: Gate,
    /// By how much of the difference it is followed.
    pub step: f32,
    /// The bands' shares in the sum.
    pub weights: &'a Lanes,
}

/// Whose powers count.
#[derive(Debug, Clone, Copy)]
pub enum LevelSource<'a> {
    /// Those of the resonators.
    Own,
    /// Those that the listener has of the mean of the channels: as much of them as this bank's amplitude is of the
    /// mean amplitude of all banks.
    Listener(&'a Lanes, &'a Lanes),
}
