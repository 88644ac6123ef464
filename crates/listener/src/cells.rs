//! Gated recurrent units, some rows at a time.

use crate::{
    dense::{Term, products},
    weights::Cell,
};
use fearless_simd::{Select, Simd, SimdBase, SimdFloat};
use std::iter::once;
use tone_filter_simd::approx::decay;

/// Multiply-adds that take as long as the functions of a cell's unit.
pub const UNIT_COST: usize = 50;

/// A unit of a cell nearer to 0 than this becomes 0, so that none is ever denormal.
const LEAST: f32 = 1e-20;

/// Advances the cells of `R` notes by a frame.
#[inline(never)]
pub fn advance<S: Simd, const R: usize, const C: usize>(
    simd: S,
    cell: &Cell<C>,
    inputs: &[[f32; C]; R],
    hidden: &mut [[f32; C]; R],
) {
    let mut sums = [[[0.0; C]; R]; 4];
    let [reset, update, candidate, own] = &mut sums;
    for (gate, sums) in [(&cell.reset, reset), (&cell.update, update)] {
        let terms =
            [Term { inputs, weights: gate.input }, Term { inputs: hidden, weights: gate.hidden }];
        products(simd, [gate.bias; R], terms.into_iter(), f32::MIN, sums);
    }
    let term = Term { inputs, weights: cell.candidate.input };
    products(simd, [cell.candidate.bias; R], once(term), f32::MIN, candidate);
    let term = Term { inputs: &*hidden, weights: cell.candidate.hidden };
    products(simd, [cell.hidden_bias; R], once(term), f32::MIN, own);
    simd.vectorize(
        #[inline(always)]
        || {
            for row in 0..R {
                for first in (0..C).step_by(S::f32s::LEN) {
                    let at = first..first + S::f32s::LEN;
                    let load = |row: &[f32; C]| S::f32s::from_slice(simd, &row[at.clone()]);
                    let [reset, update, candidate, own] = &sums;
                    let sums =
                        [load(&reset[row]), load(&update[row]), load(&candidate[row]), load(&own[row])];
                    let new = advanced(simd, sums, load(&hidden[row]));
                    new.store_slice(&mut hidden[row][at]);
                }
            }
        },
    );
}

/// The new `hidden` units, by the sums of reset, update, candidate and the candidate's product with the old ones.
///
/// With `c = tanh(candidate + own / (1 + e^-reset))` and `k = 1 / (1 + e^-update)`, they are `c + k (hidden - c)`. Here they are one
/// fraction, as divisions take long.
#[inline(always)]
fn advanced<S: Simd, V: SimdFloat<S, Element = f32>>(
    simd: S,
    [reset, update, candidate, own]: [V; 4],
    hidden: V,
) -> V
where
    V::Mask: Select<V>,
{
    let one = V::splat(simd, 1.0);
    let input = candidate + own / (decay(simd, reset) + one);
    let (e, kept) = (decay(simd, input + input), decay(simd, update));
    let above = e + one;
    let new = hidden.mul_add(above, (one - e) * kept) / (above * (kept + one));
    new.abs().simd_lt(V::splat(simd, LEAST)).select(V::splat(simd, 0.0), new)
}
