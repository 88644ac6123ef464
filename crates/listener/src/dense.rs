//! Sums of matrix products: nearly all of the listener's work.
//!
//! A tile of sums stays in registers while the rows of all matrices go by. Each row of weights is loaded once for the rows
//! of a tile, each input is spread over a vector. With 5 rows by 2 vectors, 10 sums hide the latency of the multiply-add
//! on all CPUs with 16 registers; outputs of one vector take 10 rows.

#![allow(clippy::needless_range_loop, reason = "several arrays go side by side")]

use fearless_simd::{Simd, SimdBase, SimdFloat, f32x4, f32x8};

/// Rows that are computed together.
pub const ROWS: usize = 10;

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
                for (part, sums) in sums.as_chunks_mut::<{ ROWS / 2 }>().0.iter_mut().enumerate() {
                    for column in (0..OUT).step_by(2 * S::f32s::LEN) {
                        tile::<S, S::f32s, { ROWS / 2 }, 2, IN, OUT>(simd, terms.clone(), part, column, least, sums);
                    }
                }
            } else if OUT.is_multiple_of(S::f32s::LEN) {
                tile::<S, S::f32s, ROWS, 1, IN, OUT>(simd, terms.clone(), 0, 0, least, sums);
            } else if OUT.is_multiple_of(8) {
                tile::<S, f32x8<S>, ROWS, 1, IN, OUT>(simd, terms.clone(), 0, 0, least, sums);
            } else {
                tile::<S, f32x4<S>, ROWS, 1, IN, OUT>(simd, terms.clone(), 0, 0, least, sums);
            }
        },
    );
}

/// The same for the `part`th `R` rows and `N` vectors from `column` on.
#[inline(always)]
fn tile<'a, S: Simd, V: SimdFloat<S, Element = f32>, const R: usize, const N: usize, const IN: usize, const OUT: usize>(
    simd: S,
    terms: impl Iterator<Item = Term<'a, IN, OUT>>,
    part: usize,
    column: usize,
    least: f32,
    out: &mut [[f32; OUT]; R],
) {
    let at = |v: usize| column + v * V::LEN..column + (v + 1) * V::LEN;
    let mut sums = [[V::splat(simd, 0.0); N]; R];
    for r in 0..R {
        for v in 0..N {
            sums[r][v] = V::from_slice(simd, &out[r][at(v)]);
        }
    }
    for Term { inputs, weights } in terms {
        let inputs: &[[f32; IN]; R] = &inputs.as_chunks().0[part];
        for k in 0..IN {
            let weights: [V; N] = std::array::from_fn(|v| V::from_slice(simd, &weights[k][at(v)]));
            for r in 0..R {
                let input = V::splat(simd, inputs[r][k]);
                for v in 0..N {
                    sums[r][v] = input.mul_add(weights[v], sums[r][v]);
                }
            }
        }
    }
    let least = V::splat(simd, least);
    for r in 0..R {
        for v in 0..N {
            sums[r][v].max(least).store_slice(&mut out[r][at(v)]);
        }
    }
}

/// Adds `inputs` times `weights` to one row of sums.
#[inline(always)]
pub fn add_product<const OUT: usize>(inputs: &[f32], weights: &[[f32; OUT]], sums: &mut [f32; OUT]) {
    for (input, weights) in inputs.iter().zip(weights) {
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += input * weight;
        }
    }
}
