//! The kernel in plain Rust, one tone at a time. It defines the result of all kernels.

use super::{BLOCK, Coefficients, Task};
use crate::notes::{PUBLISHED, TONES};

/// Advances a bank by the length of `sums`. Writes the sum of the driven bands to `sums`, and their stereo difference to `sides`.
pub fn process(c: &Coefficients, Task { state, position, inputs, sums, sides, .. }: Task) {
    state.settle(c);
    let mut gates = [(0.0, 0.0); BLOCK];
    for (gate, power) in gates.iter_mut().zip(&inputs.total_power).take(sums.len()) {
        // gate^(-3/2), because q^4 / gate^3 = (q^2 gate^(-3/2))^2.
        let open = (c.threshold * power).max(c.floor);
        *gate = (1.0 / (open * open.sqrt()), c.ceiling * power);
    }

    sums.fill(0.0);
    sides.fill(0.0);
    for tone in 0..if c.low { TONES } else { PUBLISHED } {
        let (rise, fall, entry) = (c.rise.0[tone], c.fall.0[tone], c.entry.0[tone]);
        let damping = c.damping.0[tone];
        let start = c.weights.from.0[tone];
        let step = (c.weights.to.0[tone] - start) / BLOCK as f32;
        let (side, side_end) =
            c.sides.as_ref().map_or((0.0, 0.0), |sides| (sides.from.0[tone], sides.to.0[tone]));
        let side_step = (side_end - side) / BLOCK as f32;
        let (mut lo, mut bp) = (state.lo.0[tone], state.bp.0[tone]);
        let mut power = state.power.0[tone];
        let frames = inputs.input.iter().zip(&gates).zip(position + 1..);
        for (index, ((input, (inverse_gate, limit)), frame)) in frames.take(sums.len()).enumerate()
        {
            lo += rise * bp - entry * input;
            bp -= fall * lo + damping * bp;

            // The fourth power of `q` may overflow far above the gate and underflow far below it; the minimum is right in both
            // cases.
            let q = bp * bp;
            let gated = q * q * inverse_gate;
            let level = q.min(gated * gated).min(*limit);
            power += c.step * (level - power);

            if !c.driven {
                continue;
            }
            // rms * d / (1 + |d|) with d = drive * bp / (rms + guard), in one division.
            let rms = power.sqrt();
            let driven = c.drive * bp;
            let weight = start + step * frame as f32;
            let divisor = rms + c.guard + driven.abs();
            sums[index] += weight * rms * driven / divisor;
            if let Some(sum) = sides.get_mut(index) {
                *sum += (side + side_step * frame as f32) * rms * driven / divisor;
            }
        }
        state.lo.0[tone] = lo;
        state.bp.0[tone] = bp;
        state.power.0[tone] = power;
    }
}
