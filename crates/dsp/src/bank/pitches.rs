//! The frequencies of the bands, for what follows their phase.

use crate::{
    lanes::{BLOCK, Lanes},
    notes::TONES,
};

/// Samples from one look at the bands' phases to the next, and the looks of a block.
pub const LOOK: usize = 8;
/// See [`LOOK`].
pub const LOOKS: usize = BLOCK / LOOK;

/// The frequencies of the bands, for oscillators that follow them.
#[derive(Debug, Clone)]
pub struct Pitches {
    /// Nominal frequency in radians a sample.
    pub angles: Lanes,
    /// Angles in full precision.
    pub exact: [f64; TONES],
    /// Two over the share of `bp` that `lo` grows by with each sample.
    pub lo_weights: Lanes,
    /// Cosine and sine of what each band turns from each look at it to the end of the block, at its nominal frequency.
    pub backs: [[Lanes; 2]; LOOKS],
}

impl Pitches {
    /// All zero.
    pub(super) const ZERO: Self = Self {
        angles: Lanes::ZERO,
        exact: [0.0; TONES],
        lo_weights: Lanes::ZERO,
        backs: [[Lanes::ZERO; 2]; LOOKS],
    };
}

/// The coefficients of the resonators that are needed for their phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Tones {
    /// Angular frequency of each tone, radians per second.
    pub angular_frequency: [f32; TONES],
    /// Weight of the first integrator in the oscillation a quarter of a period ago.
    pub lo_weight: [f32; TONES],
    /// Weight of the second integrator there.
    pub bp_weight: [f32; TONES],
}

impl Tones {
    /// All zero.
    pub const ZERO: Self =
        Self { angular_frequency: [0.0; TONES], lo_weight: [0.0; TONES], bp_weight: [0.0; TONES] };
}
