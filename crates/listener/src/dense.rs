//! Sums of matrix products: nearly all of the listener's work.
//!
//! A tile is a set of sums that stay in registers: some rows by some vectors of outputs. Each vector of weights is loaded once
//! for all rows, and each input is copied to all lanes. A tile of 5 rows by 2 vectors has 10 sums, which hide the latency of the
//! multiply-add and fit into 16 registers. A smaller tile has several partial sums for each output, for instance one of the even
//! inputs and one of the odd ones. The head has few outputs; its lanes are inputs ([`add_dots`]).

#![allow(clippy::needless_range_loop, reason = "several arrays go side by side")]

use fearless_simd::{Simd, SimdBase, SimdFloat, f32x4, f32x8};

/// Number of rows that are computed together. The layer `near` computes twice as many if its outputs fit into one vector.
pub const ROWS: usize = 5;
/// Number of inputs per iteration of an unrolled loop. The loops are so short that the CPU predicts their branches.
const UNROLLED: usize = 8;

/// Term of a sum: `IN` inputs of each of `R` rows, and the matrix that multiplies them.
#[derive(Clone, Copy)]
pub struct Term<'a, const R: usize, const IN: usize, const OUT: usize> {
    pub inputs: &'a [[f32; IN]; R],
    pub weights: &'a [[f32; OUT]; IN],
}

/// Sets each of `R` rows of `sums` to its own start, plus the common start, plus the inputs times the weights of all terms. Sums
/// below `least` become `least`.
#[inline(never)]
pub fn products<'a, S: Simd, const R: usize, const IN: usize, const OUT: usize>(
    simd: S,
    starts: (&[[f32; OUT]; R], &[f32; OUT]),
    terms: impl Iterator<Item = Term<'a, R, IN, OUT>> + Clone,
    least: f32,
    sums: &mut [[f32; OUT]; R],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            // The branches are decided at compile time.
            if const { OUT.is_multiple_of(S::f32s::LEN) } {
                tiles::<S, S::f32s, R, IN, OUT>(simd, starts, terms, least, sums);
            } else if const { OUT.is_multiple_of(8) } {
                tiles::<S, f32x8<S>, R, IN, OUT>(simd, starts, terms, least, sums);
            } else {
                tiles::<S, f32x4<S>, R, IN, OUT>(simd, starts, terms, least, sums);
            }
        },
    );
}

/// Computes [`products`] with vectors of type `V`.
#[inline(always)]
fn tiles<'a, S: Simd, V, const R: usize, const IN: usize, const OUT: usize>(
    simd: S,
    starts: (&[[f32; OUT]; R], &[f32; OUT]),
    terms: impl Iterator<Item = Term<'a, R, IN, OUT>> + Clone,
    least: f32,
    sums: &mut [[f32; OUT]; R],
) where
    V: SimdFloat<S, Element = f32>,
{
    let pairs = OUT.is_multiple_of(2 * V::LEN);
    for column in (0..OUT).step_by(if pairs { 2 * V::LEN } else { V::LEN }) {
        let terms = terms.clone();
        if const { OUT.is_multiple_of(2 * V::LEN) && R == 1 } {
            tile::<S, V, 2, 4, R, IN, OUT>(simd, starts, terms, column, least, sums);
        } else if const { OUT.is_multiple_of(2 * V::LEN) } {
            tile::<S, V, 2, 1, R, IN, OUT>(simd, starts, terms, column, least, sums);
        } else if const { R == 1 } {
            tile::<S, V, 1, 8, R, IN, OUT>(simd, starts, terms, column, least, sums);
        } else if const { R == ROWS } {
            tile::<S, V, 1, 2, R, IN, OUT>(simd, starts, terms, column, least, sums);
        } else {
            tile::<S, V, 1, 1, R, IN, OUT>(simd, starts, terms, column, least, sums);
        }
    }
}

/// Computes `N` vectors of [`products`] from `column` on, with `P` partial sums: one for every `P`th input.
#[inline(always)]
fn tile<
    'a,
    S,
    V,
    const N: usize,
    const P: usize,
    const R: usize,
    const IN: usize,
    const OUT: usize,
>(
    simd: S,
    starts: (&[[f32; OUT]; R], &[f32; OUT]),
    terms: impl Iterator<Item = Term<'a, R, IN, OUT>>,
    column: usize,
    least: f32,
    out: &mut [[f32; OUT]; R],
) where
    S: Simd,
    V: SimdFloat<S, Element = f32>,
{
    let at = |v: usize| column + v * V::LEN..column + (v + 1) * V::LEN;
    let mut sums = [[[V::splat(simd, 0.0); N]; R]; P];
    let (row_starts, common) = starts;
    for v in 0..N {
        let common = V::from_slice(simd, &common[at(v)]);
        for r in 0..R {
            sums[0][r][v] = V::from_slice(simd, &row_starts[r][at(v)]) + common;
        }
    }
    for Term { inputs, weights } in terms {
        for first in (0..IN - IN % UNROLLED).step_by(UNROLLED) {
            for k in first..first + UNROLLED {
                let sums = &mut sums[k % P];
                add::<S, V, N, R, IN>(simd, inputs, k, &weights[k][column..], sums);
            }
        }
        for k in IN - IN % UNROLLED..IN {
            add::<S, V, N, R, IN>(simd, inputs, k, &weights[k][column..], &mut sums[0]);
        }
    }
    let least = V::splat(simd, least);
    for r in 0..R {
        for v in 0..N {
            let mut sum = sums[0][r][v];
            for p in 1..P {
                sum += sums[p][r][v];
            }
            sum.max(least).store_slice(&mut out[r][at(v)]);
        }
    }
}

/// Adds input `k` of each row times its weights to `sums`.
#[inline(always)]
fn add<S, V, const N: usize, const R: usize, const IN: usize>(
    simd: S,
    inputs: &[[f32; IN]; R],
    k: usize,
    weights: &[f32],
    sums: &mut [[V; N]; R],
) where
    S: Simd,
    V: SimdFloat<S, Element = f32>,
{
    let mut row = [V::splat(simd, 0.0); N];
    for v in 0..N {
        row[v] = V::from_slice(simd, &weights[v * V::LEN..][..V::LEN]);
    }
    for r in 0..R {
        let input = V::splat(simd, inputs[r][k]);
        for v in 0..N {
            sums[r][v] = input.mul_add(row[v], sums[r][v]);
        }
    }
}

/// Adds the inputs times the weights of all terms to each of [`ROWS`] rows. The weights have a row of `IN` for each output.
#[inline(never)]
pub fn add_dots<'a, 'w, S: Simd, const IN: usize, const OUT: usize>(
    simd: S,
    terms: impl Iterator<Item = (&'a [[f32; IN]; ROWS], &'w [[f32; IN]; OUT])> + Clone,
    sums: &mut [[f32; OUT]; ROWS],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            // Two outputs have ten sums, which hide the latency.
            for output in (0..OUT).step_by(2) {
                let mut ones = [S::f32s::splat(simd, 0.0); ROWS];
                let mut others = ones;
                for (inputs, weights) in terms.clone() {
                    for k in (0..IN).step_by(S::f32s::LEN) {
                        let at = k..k + S::f32s::LEN;
                        let one = S::f32s::from_slice(simd, &weights[output][at.clone()]);
                        let other = S::f32s::from_slice(simd, &weights[output + 1][at.clone()]);
                        for r in 0..ROWS {
                            let input = S::f32s::from_slice(simd, &inputs[r][at.clone()]);
                            ones[r] = input.mul_add(one, ones[r]);
                            others[r] = input.mul_add(other, others[r]);
                        }
                    }
                }
                for r in 0..ROWS {
                    sums[r][output] += ones[r].reduce_sum();
                    sums[r][output + 1] += others[r].reduce_sum();
                }
            }
        },
    );
}
