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

/// The number of lanes: one for each tone, and those that fill up the vectors.
pub const LANES: usize = 80;

/// One value per tone; the lanes beyond are 0.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Lanes(pub [f32; LANES]);

impl Lanes {
    /// Every lane zero.
    pub const ZERO: Self = Self([0.0; LANES]);

    /// `value` of each tone.
    pub fn of(value: impl Fn(usize) -> f32) -> Self {
        let mut lanes = Self::ZERO;
        let tones = lanes.0[..TONES].iter_mut().enumerate();
        tones.for_each(|(tone, lane)| *lane = value(tone));
        lanes
    }

    /// Whether `holds` is true of every lane. It asks all of them, which vectors do at once.
    #[inline(always)]
    pub fn all(&self, holds: impl Fn(f32) -> bool) -> bool {
        self.0.iter().fold(true, |all, lane| all & holds(*lane))
    }

    /// The values of the tones.
    pub fn tones(self) -> [f32; TONES] {
        std::array::from_fn(|tone| self.0[tone])
    }

    /// Moves every lane towards that of `target`, by `step` at most. Returns whether one has moved.
    pub fn approach(&mut self, target: &Self, step: f32) -> bool {
        self.0.iter_mut().zip(&target.0).fold(false, |moved, (own, target)| {
            let before = *own;
            *own += (target - before).clamp(-step, step);
            moved | (*own != before)
        })
    }
}

impl PartialEq for Lanes {
    /// Compares all lanes, which vectors do at once.
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(true, |equal, (one, other)| equal & (one == other))
    }
}
