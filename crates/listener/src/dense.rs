//! Sums of matrix products: nearly all of the listener's work.
//!
//! A tile of sums stays in registers while the rows of all matrices go by: each row of weights is loaded once for all rows
//! of a tile, each input is spread over a vector. 5 rows by 2 vectors are 10 sums, which hide the latency of the
//! multiply-add and fit into 16 registers. Where the outputs are one vector, even and odd inputs have sums of their own.

#![allow(clippy::needless_range_loop, reason = "several arrays go side by side")]

use fearless_simd::{Simd, SimdBase, SimdFloat, f32x4, f32x8};

/// Rows that are computed together.
pub const ROWS: usize = 5;

/// A factor pair: as many inputs for each row, and the matrix that they are multiplied with.
#[derive(Clone, Copy)]
pub struct Term<'a, const IN: usize, const OUT: usize> {
    pub inputs: &'a [[f32; IN]; ROWS],
    pub weights: &'a [[f32; OUT]; IN],
}

/// Adds to each row of `sums` its inputs times the weights, for all terms. Sums are then at least `least`.
#[inline(never)]
pub fn add_products<'a, S: Simd, const IN: usize, const OUT: usize>(
    simd: S,
    terms: impl Iterator<Item = Term<'a, IN, OUT>> + Clone,
    least: f32,
    sums: &mut [[f32; OUT]; ROWS],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            if OUT.is_multiple_of(2 * S::f32s::LEN) {
                for column in (0..OUT).step_by(2 * S::f32s::LEN) {
                    tile::<S, S::f32s, 2, 1, IN, OUT>(simd, terms.clone(), column, least, sums);
                }
            } else if OUT.is_multiple_of(S::f32s::LEN) {
                tile::<S, S::f32s, 1, 2, IN, OUT>(simd, terms, 0, least, sums);
            } else if OUT.is_multiple_of(8) {
                tile::<S, f32x8<S>, 1, 2, IN, OUT>(simd, terms, 0, least, sums);
            } else {
                tile::<S, f32x4<S>, 1, 2, IN, OUT>(simd, terms, 0, least, sums);
            }
        },
    );
}

/// The same for `N` vectors from `column` on, with `P` sums for each, of every `P`th input.
#[inline(always)]
fn tile<'a, S, V, const N: usize, const P: usize, const IN: usize, const OUT: usize>(
    simd: S,
    terms: impl Iterator<Item = Term<'a, IN, OUT>>,
    column: usize,
    least: f32,
    out: &mut [[f32; OUT]; ROWS],
) where
    S: Simd,
    V: SimdFloat<S, Element = f32>,
{
    let at = |v: usize| column + v * V::LEN..column + (v + 1) * V::LEN;
    let mut sums = [[[V::splat(simd, 0.0); N]; ROWS]; P];
    for r in 0..ROWS {
        for v in 0..N {
            sums[0][r][v] = V::from_slice(simd, &out[r][at(v)]);
        }
    }
    for Term { inputs, weights } in terms {
        for k in (0..IN - IN % P).step_by(P) {
            for p in 0..P {
                add::<S, V, N, IN>(simd, inputs, k + p, &weights[k + p][column..], &mut sums[p]);
            }
        }
        for k in IN - IN % P..IN {
            add::<S, V, N, IN>(simd, inputs, k, &weights[k][column..], &mut sums[0]);
        }
    }
    let least = V::splat(simd, least);
    for r in 0..ROWS {
        for v in 0..N {
            let mut sum = sums[0][r][v];
            for p in 1..P {
                sum += sums[p][r][v];
            }
            sum.max(least).store_slice(&mut out[r][at(v)]);
        }
    }
}

/// Adds the `k`th input of each row times its weights.
#[inline(always)]
fn add<S, V, const N: usize, const IN: usize>(
    simd: S,
    inputs: &[[f32; IN]; ROWS],
    k: usize,
    weights: &[f32],
    sums: &mut [[V; N]; ROWS],
) where
    S: Simd,
    V: SimdFloat<S, Element = f32>,
{
    let mut row = [V::splat(simd, 0.0); N];
    for v in 0..N {
        row[v] = V::from_slice(simd, &weights[v * V::LEN..][..V::LEN]);
    }
    for r in 0..ROWS {
        let input = V::splat(simd, inputs[r][k]);
        for v in 0..N {
            sums[r][v] = input.mul_add(row[v], sums[r][v]);
        }
    }
}

/// Adds `inputs` times `weights` to one row of sums.
#[inline(always)]
pub fn add_product<const OUT: usize>(
    inputs: &[f32],
    weights: &[[f32; OUT]],
    sums: &mut [f32; OUT],
) {
    for (input, weights) in inputs.iter().zip(weights) {
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += input * weight;
        }
    }
}
