//! What 48 tones and 64 samples are made of.

use super::notes::TONES;

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
