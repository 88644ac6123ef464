//! The kernel on vectors of four, with the instructions of the build's target.

use super::{BLOCK, Coefficients, Lanes, Task};
use crate::dsp::notes::TONES;
use wide::f32x4;

const LANES: usize = 4;

/// Computes the same as [`scalar::process`](super::scalar::process).
pub fn process(c: &Coefficients, Task { state, position, inputs, sums }: Task) {
    state.settle(c);
    let mut gates = [(0.0, 0.0); BLOCK];
    for (gate, power) in gates.iter_mut().zip(&inputs.total_power).take(sums.len()) {
        let open = (c.threshold * power).max(c.floor);
        *gate = (1.0 / (open * open.sqrt()), c.ceiling * power);
    }

    let mut partial = [f32x4::ZERO; BLOCK];
    for first in (0..TONES).step_by(LANES) {
        let load = |from: &Lanes| f32x4::from(std::array::from_fn(|lane| from.0[first + lane]));
        let store = |to: &mut Lanes, vector: f32x4| {
            to.0[first..first + LANES].copy_from_slice(&vector.to_array());
        };
        let (rise, fall, entry) = (load(&c.rise), load(&c.fall), load(&c.entry));
        let (guard, start) = (f32x4::splat(c.guard), load(&c.weights[0]));
        let step = (load(&c.weights[1]) - start) * f32x4::splat(1.0 / BLOCK as f32);
        let (mut lo, mut bp, mut power) = (load(&state.lo), load(&state.bp), load(&state.power));
        let per_frame =
            partial.iter_mut().zip(&inputs.input).zip(&gates).zip(position + 1..).take(sums.len());
        for (((partial, &input), &(inverse_gate, limit)), frame) in per_frame {
            lo += rise * bp - entry * f32x4::splat(input);
            bp -= fall * lo + bp * f32x4::splat(c.damping);

            let q = bp * bp;
            let gated = q * q * f32x4::splat(inverse_gate);
            let level = q.fast_min(gated * gated).fast_min(f32x4::splat(limit));
            // Not fused, even where the CPU could: the bits are the same everywhere.
            power += f32x4::splat(c.step) * (level - power);

            if !c.driven {
                continue;
            }
            let rms = power.sqrt();
            let driven = f32x4::splat(c.drive) * bp;
            let weight = start + step * f32x4::splat(frame as f32);
            *partial += weight * rms * driven / (rms + guard + driven.abs());
        }
        store(&mut state.lo, lo);
        store(&mut state.bp, bp);
        store(&mut state.power, power);
    }
    for (sum, partial) in sums.iter_mut().zip(partial) {
        *sum = partial.reduce_add();
    }
}
