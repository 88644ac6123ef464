//! The kernel on vectors of the CPU's own width, one source for every instruction set.
//!
//! Three vectors of tones go through a block together. That keeps their state in registers, gives an
//! out-of-order CPU three independent chains to interleave, and lets the three share one division:
//! `n1/d1 + n2/d2 + n3/d3 = ((n1 d2 + n2 d1) d3 + n3 d1 d2) / (d1 d2 d3)`. Root and division are the
//! exact ones: CPUs compute them beside the multiplications, which are what the loop is short of.

use super::{BLOCK, Coefficients, Lanes, RMS_GUARD, Shared, State};
use crate::dsp::notes::TONES;
use fearless_simd::{Simd, SimdBase, SimdFloat};

/// Vectors of tones that go through a block together.
const GROUP: usize = 3;

/// What [`scalar::process`](super::scalar::process) computes.
#[inline(always)]
pub fn process<S: Simd>(
    simd: S,
    state: &mut State,
    c: &Coefficients,
    shared: &Shared,
    sums: &mut [f32],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            if c.unweighted() {
                run::<S, false>(simd, state, c, shared, sums);
            } else {
                run::<S, true>(simd, state, c, shared, sums);
            }
        },
    );
}

#[inline(always)]
fn run<S: Simd, const WEIGHTED: bool>(
    simd: S,
    state: &mut State,
    c: &Coefficients,
    shared: &Shared,
    sums: &mut [f32],
) {
    let lanes = S::f32s::LEN;
    let splat = |x| S::f32s::splat(simd, x);
    let mut inverse_gates = [0.0; BLOCK];
    let mut limits = [0.0; BLOCK];
    for start in (0..sums.len()).step_by(lanes) {
        let range = start..start + lanes;
        let power = S::f32s::from_slice(simd, &shared.total_power[range.clone()]);
        let root = (power * c.threshold).max(splat(c.floor)).sqrt();
        (splat(1.0) / (root * root.sqrt())).store_slice(&mut inverse_gates[range.clone()]);
        (power * c.ceiling).store_slice(&mut limits[range]);
    }

    let (damping, step) = (splat(-c.damping), splat(c.step));
    let (drive, guard) = (splat(c.drive), splat(RMS_GUARD));
    let mut partial = [splat(0.0); BLOCK];
    for first in (0..TONES).step_by(GROUP * lanes) {
        let load = |from: &Lanes| -> [S::f32s; GROUP] {
            std::array::from_fn(|group| {
                let start = first + group * lanes;
                S::f32s::from_slice(simd, &from.0[start..start + lanes])
            })
        };
        let rise = load(&c.rise);
        let fall = load(&c.fall).map(|fall| -fall);
        let (gain, weight) = (load(&c.gain), load(&c.weight));
        let (mut lo, mut bp, mut power) = (load(&state.lo), load(&state.bp), load(&state.power));

        let per_frame = shared.input.iter().zip(&inverse_gates).zip(&limits).zip(&mut partial);
        for (((input, inverse_gate), limit), partial) in per_frame.take(sums.len()) {
            let (input, inverse_gate, limit) = (splat(*input), splat(*inverse_gate), splat(*limit));
            let mut n = [splat(0.0); GROUP];
            let mut d = [splat(0.0); GROUP];
            for i in 0..GROUP {
                lo[i] = rise[i].mul_add(bp[i], lo[i]);
                let undamped = gain[i].mul_add(input, bp[i]);
                bp[i] = fall[i].mul_add(lo[i], damping.mul_add(bp[i], undamped));

                let q = bp[i] * bp[i];
                let gated = q * inverse_gate;
                let gated = gated * gated;
                let level = q.min(gated * gated).min(limit);
                power[i] = step.mul_add(level - power[i], power[i]);

                let rms = power[i].sqrt();
                let driven = drive * bp[i];
                n[i] = if WEIGHTED { weight[i] * driven * rms } else { driven * rms };
                d[i] = rms + guard + driven.abs();
            }
            let [d01, n01] = [d[0] * d[1], n[0].mul_add(d[1], n[1] * d[0])];
            *partial += n[2].mul_add(d01, n01 * d[2]) / (d01 * d[2]);
        }

        let store = |to: &mut Lanes, values: [S::f32s; GROUP]| {
            for (group, value) in values.iter().enumerate() {
                let start = first + group * lanes;
                value.store_slice(&mut to.0[start..start + lanes]);
            }
        };
        store(&mut state.lo, lo);
        store(&mut state.bp, bp);
        store(&mut state.power, power);
    }
    for (sum, partial) in sums.iter_mut().zip(partial) {
        *sum = partial.reduce_sum();
    }
}
