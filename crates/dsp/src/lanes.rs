//! The data types of the kernels: one value per tone, and the length of a block.

use super::notes::TONES;

/// The greatest number of samples in a call of a kernel, and the distance between two updates of the
/// coefficients.
pub const BLOCK: usize = 64;

/// The sum of `values`, of which there are a multiple of eight. Eight sums side by side do not wait for each other as the
/// terms of one do.
pub fn sum(values: &[f32]) -> f32 {
    let mut sums = [0.0; 8];
    for eight in values.as_chunks::<8>().0 {
        sums.iter_mut().zip(eight).for_each(|(sum, value)| *sum += value);
    }
    sums.iter().sum()
}

/// One value per tone.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes(pub [f32; TONES]);

impl Lanes {
    /// Every lane zero.
    pub const ZERO: Self = Self([0.0; TONES]);

    /// Moves every lane towards that of `target`, by `step` at most.
    pub fn approach(&mut self, target: &Self, step: f32) {
        for (own, target) in self.0.iter_mut().zip(target.0) {
            *own += (target - *own).clamp(-step, step);
        }
    }
}
