//! Gated recurrent units (GRUs): those of several notes, computed together, or the global one.

#![allow(clippy::needless_range_loop, reason = "several arrays go side by side")]

use crate::weights::Cell;
use fearless_simd::{Select, Simd, SimdBase, SimdFloat};
use tone_filter_simd::approx::decay;

/// Cost of the nonlinear functions of one unit, as the number of multiply-adds that take as long.
pub const UNIT_COST: usize = 50;
/// Units nearer to 0 than this become 0, so that no unit is ever denormal.
const LEAST: f32 = 1e-20;

/// Advances `R` GRUs, which share the weights of `cell`, by a frame.
#[inline(never)]
pub fn advance<S: Simd, const R: usize, const C: usize>(
    simd: S,
    cell: &Cell<C>,
    inputs: &[[f32; C]; R],
    hidden: &mut [[f32; C]; R],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let mut new = [[0.0; C]; R];
            for first in (0..C).step_by(S::f32s::LEN) {
                column(simd, cell, inputs, hidden, first, &mut new);
            }
            *hidden = new;
        },
    );
}

/// Computes one vector of `new` units, from unit `first` on.
#[inline(always)]
fn column<S: Simd, const R: usize, const C: usize>(
    simd: S,
    cell: &Cell<C>,
    inputs: &[[f32; C]; R],
    hidden: &[[f32; C]; R],
    first: usize,
    new: &mut [[f32; C]; R],
) {
    let at = first..first + S::f32s::LEN;
    let load = |row: &[f32; C]| S::f32s::from_slice(simd, &row[at.clone()]);
    let Cell { reset, update, candidate, hidden_bias } = cell;
    let (mut resets, mut updates) = ([load(reset.bias); R], [load(update.bias); R]);
    let (mut candidates, mut from_hidden) = ([load(candidate.bias); R], [load(hidden_bias); R]);
    // With 32 registers, the sums of three gates fit; otherwise, the sums of two.
    if const { S::f32s::LEN == 16 || cfg!(target_arch = "aarch64") } {
        for k in 0..C {
            let (a, b) = (load(&reset.input[k]), load(&update.input[k]));
            let c = load(&candidate.input[k]);
            for r in 0..R {
                let x = S::f32s::splat(simd, inputs[r][k]);
                resets[r] = x.mul_add(a, resets[r]);
                updates[r] = x.mul_add(b, updates[r]);
                candidates[r] = x.mul_add(c, candidates[r]);
            }
        }
        for k in 0..C {
            let (a, b) = (load(&reset.hidden[k]), load(&update.hidden[k]));
            let c = load(&candidate.hidden[k]);
            for r in 0..R {
                let x = S::f32s::splat(simd, hidden[r][k]);
                resets[r] = x.mul_add(a, resets[r]);
                updates[r] = x.mul_add(b, updates[r]);
                from_hidden[r] = x.mul_add(c, from_hidden[r]);
            }
        }
    } else {
        for k in 0..C {
            let (a, b) = (load(&reset.input[k]), load(&update.input[k]));
            for r in 0..R {
                let x = S::f32s::splat(simd, inputs[r][k]);
                resets[r] = x.mul_add(a, resets[r]);
                updates[r] = x.mul_add(b, updates[r]);
            }
        }
        for k in 0..C {
            let (a, b) = (load(&reset.hidden[k]), load(&update.hidden[k]));
            for r in 0..R {
                let x = S::f32s::splat(simd, hidden[r][k]);
                resets[r] = x.mul_add(a, resets[r]);
                updates[r] = x.mul_add(b, updates[r]);
            }
        }
        for k in 0..C {
            let (a, b) = (load(&candidate.input[k]), load(&candidate.hidden[k]));
            for r in 0..R {
                candidates[r] = S::f32s::splat(simd, inputs[r][k]).mul_add(a, candidates[r]);
                from_hidden[r] = S::f32s::splat(simd, hidden[r][k]).mul_add(b, from_hidden[r]);
            }
        }
    }
    for r in 0..R {
        let sums = [resets[r], updates[r], candidates[r], from_hidden[r]];
        advanced(simd, sums, load(&hidden[r])).store_slice(&mut new[r][at.clone()]);
    }
}

/// Returns the new `hidden` units from the sums of the gates. `from_hidden` is the part of the candidate's sum that comes from the
/// old units.
///
/// With `c = tanh(candidate + from_hidden / (1 + e^-reset))` and `k = 1 / (1 + e^-update)`, a new unit is `c + k (hidden - c)`.
/// This is computed as one fraction, because divisions take long.
#[inline(always)]
fn advanced<S: Simd, V: SimdFloat<S, Element = f32>>(
    simd: S,
    [reset, update, candidate, from_hidden]: [V; 4],
    hidden: V,
) -> V
where
    V::Mask: Select<V>,
{
    let one = V::splat(simd, 1.0);
    let input = candidate + from_hidden / (decay(simd, reset) + one);
    let (e, kept) = (decay(simd, input + input), decay(simd, update));
    let above = e + one;
    let new = hidden.mul_add(above, (one - e) * kept) / (above * (kept + one));
    new.abs().simd_lt(V::splat(simd, LEAST)).select(V::splat(simd, 0.0), new)
}
