//! Sums of a block that are still spread over the lanes of vectors, and their reduction to one sum per sample.

use super::{BLOCK, Coefficients, fractions::WIDEST};
use fearless_simd::{Simd, SimdBase};

/// Number of iterations of the loop between a sample's input and its sum.
pub const DELAY: usize = 2;

/// Sums of one sample, one in each lane.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Row([f32; WIDEST]);

/// Scratch memory of the vector kernels: sums and stereo differences of a block.
#[derive(Debug, Clone)]
pub struct Rows(pub [[Row; BLOCK + DELAY]; 2]);

impl Rows {
    pub const NEW: Self = Self([[Row([0.0; WIDEST]); BLOCK + DELAY]; 2]);
}

#[inline(always)]
fn read<S: Simd>(simd: S, row: &Row) -> S::f32s {
    S::f32s::from_slice(simd, &row.0[..S::f32s::LEN])
}

/// Sets the lanes of `rows` to -0, to which any number can be added without a change of its bits.
#[inline(always)]
pub fn clear<S: Simd>(simd: S, rows: &mut [Row]) {
    for row in rows {
        S::f32s::splat(simd, -0.0).store_slice(&mut row.0[..S::f32s::LEN]);
    }
}

#[inline(always)]
pub fn add<S: Simd>(simd: S, sum: S::f32s, row: &mut Row) {
    (read::<S>(simd, row) + sum).store_slice(&mut row.0[..S::f32s::LEN]);
}

/// Adds up the lanes of each row, and writes the totals to `sums` in plain units. Skips the first [`DELAY`] rows.
#[inline(always)]
pub fn add_lanes<S: Simd>(
    simd: S,
    c: &Coefficients,
    position: usize,
    rows: &[Row],
    sums: &mut [f32],
) {
    for start in (0..sums.len()).step_by(S::f32s::LEN) {
        let shrink = S::f32s::from_slice(simd, &c.frame.shrink[position + start..][..S::f32s::LEN]);
        let total = across::<S>(simd, &rows[start + DELAY..]) * (shrink * c.frame.rms);
        let sums = &mut sums[start..];
        if sums.len() >= S::f32s::LEN {
            total.store_slice(&mut sums[..S::f32s::LEN]);
        } else {
            let count = sums.len();
            sums.copy_from_slice(&total.as_slice()[..count]);
        }
    }
}

/// Returns the total of each of the first rows, one in each lane.
#[inline(always)]
fn across<S: Simd>(simd: S, rows: &[Row]) -> S::f32s {
    let mut count = S::f32s::LEN;
    // Each step adds the halves of two vectors and interleaves the results, which reverses the bits of the indices.
    let order = |index: usize| index.reverse_bits() >> (usize::BITS - S::f32s::LEN.ilog2());
    let mut sums = [S::f32s::splat(simd, 0.0); WIDEST];
    for i in 0..count {
        sums[i] = read::<S>(simd, &rows[order(i)]);
    }
    while count > 1 {
        count /= 2;
        for i in 0..count {
            let (one, other) = (sums[2 * i], sums[2 * i + 1]);
            sums[i] = one.zip_low(other) + one.zip_high(other);
        }
    }
    sums[0]
}
