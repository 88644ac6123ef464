//! The kernel in plain Rust, one tone after the other: the definition of what a kernel computes.

use super::{BLOCK, Coefficients, RMS_GUARD, Shared, State};
use crate::dsp::notes::TONES;

/// Advances `state` by `sums.len()` samples of `shared` and puts the sum of the driven bands of each
/// sample into `sums`. At most [`BLOCK`] samples; what is beyond is left alone.
pub fn process(state: &mut State, c: &Coefficients, shared: &Shared, sums: &mut [f32]) {
    let frames = sums.len().min(BLOCK);
    let sums = &mut sums[..frames];
    sums.fill(0.0);
    for tone in 0..TONES {
        let (rise, fall, gain) = (c.rise.0[tone], c.fall.0[tone], c.gain.0[tone]);
        let weight = c.weight.0[tone];
        let (mut lo, mut bp) = (state.lo.0[tone], state.bp.0[tone]);
        let mut power = state.power.0[tone];
        let per_frame =
            sums.iter_mut().zip(&shared.input).zip(&shared.inverse_gate).zip(&shared.limit);
        for (((sum, input), inverse_gate), limit) in per_frame {
            lo += rise * bp;
            bp += gain * input - fall * lo - c.damping * bp;

            // q^4 / gate^3 below the gate, without overflow or underflow.
            let q = bp * bp;
            let open = (q * inverse_gate).min(1.0);
            let level = (q * (open * open * open)).min(*limit);
            power += c.step * (level - power);

            // rms * d / (1 + |d|) with d = drive * bp / (rms + guard), in one division.
            let rms = power.sqrt();
            let driven = c.drive * bp;
            *sum += weight * rms * driven / (rms + RMS_GUARD + driven.abs());
        }
        state.lo.0[tone] = lo;
        state.bp.0[tone] = bp;
        state.power.0[tone] = power;
    }
}
