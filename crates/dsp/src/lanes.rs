//! Data types of the kernels: [`Lanes`] has one value per tone, [`BLOCK`] is the length of a block.

use super::notes::TONES;

/// Length of a block in samples. A kernel call processes at most one block, and coefficients are updated once per block.
pub const BLOCK: usize = 64;

/// Returns the sum of `values`; their number must be a multiple of eight. Eight partial sums are faster than one, because they
/// are independent.
pub fn sum(values: &[f32]) -> f32 {
    let mut sums = [0.0; 8];
    for eight in values.as_chunks::<8>().0 {
        sums.iter_mut().zip(eight).for_each(|(sum, value)| *sum += value);
    }
    sums.iter().sum()
}

/// Number of lanes: one for each tone, and padding that fills up the vectors.
pub const LANES: usize = 80;

/// One value per tone. The padding lanes are 0, except in some factors of the kernels.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Lanes(pub [f32; LANES]);

impl Lanes {
    pub const ZERO: Self = Self([0.0; LANES]);

    pub fn of(value: impl Fn(usize) -> f32) -> Self {
        let mut lanes = Self::ZERO;
        let tones = lanes.0[..TONES].iter_mut().enumerate();
        tones.for_each(|(tone, lane)| *lane = value(tone));
        lanes
    }

    pub fn tones(self) -> [f32; TONES] {
        std::array::from_fn(|tone| self.0[tone])
    }
}

impl PartialEq for Lanes {
    /// Visits all lanes, so that the loop vectorises.
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(true, |equal, (one, other)| equal & (one == other))
    }
}
