//! Frequencies of the bands, for oscillators and displays that follow their phases.

use crate::{
    lanes::{BLOCK, Lanes},
    notes::TONES,
};

/// Samples between two sampling instants of the bands' phases.
pub const PHASE_INTERVAL: usize = 8;
/// Sampling instants per block.
pub const PHASES_PER_BLOCK: usize = BLOCK / PHASE_INTERVAL;

/// Frequencies of the bands, for oscillators that follow their phases.
#[derive(Debug, Clone)]
pub struct Pitches {
    /// Nominal frequencies in radians per sample.
    pub angles: Lanes,
    /// The values of `angles` in full precision.
    pub exact: [f64; TONES],
    /// `2 / a`, with the factor `a` by which `bp` enters `lo` in each sample.
    pub lo_weights: Lanes,
    /// Cosine and sine of the angle by which each band turns from a sampling instant to the end of the block, at its nominal
    /// frequency. The first instant is [`PHASE_INTERVAL`] samples after the start of the block, the last one at its end.
    pub backs: [[Lanes; 2]; PHASES_PER_BLOCK],
}

impl Pitches {
    pub(super) const ZERO: Self = Self {
        angles: Lanes::ZERO,
        exact: [0.0; TONES],
        lo_weights: Lanes::ZERO,
        backs: [[Lanes::ZERO; 2]; PHASES_PER_BLOCK],
    };
}

/// Coefficients for the phases of the resonators.
#[derive(Debug, Clone, PartialEq)]
pub struct Tones {
    /// Angular frequency of each tone in radians per second.
    pub angular_frequency: [f32; TONES],
    /// Weight of the first integrator (`lo`) in the resonator's output a quarter of a period ago.
    pub lo_weight: [f32; TONES],
    /// Weight of the second integrator (`bp`) in the resonator's output a quarter of a period ago.
    pub bp_weight: [f32; TONES],
}

impl Tones {
    /// All zero.
    pub const ZERO: Self =
        Self { angular_frequency: [0.0; TONES], lo_weight: [0.0; TONES], bp_weight: [0.0; TONES] };
}
