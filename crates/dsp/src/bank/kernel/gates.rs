//! Per-sample values that all bands of the vector kernel share.

use super::{BLOCK, Coefficients, FrameInputs, fractions::quotient, rows::DELAY};
use fearless_simd::{Simd, SimdBase, SimdFloat};

/// Inputs, gates, limits and guards of the bands for each sample, in the units of [`Frame`](super::frame::Frame).
#[repr(C, align(64))]
pub struct FrameGates {
    pub input: [f32; BLOCK],
    /// gate^(-3/2), because q^4 / gate^3 = (q^2 gate^(-3/2))^2.
    pub inverse_gate: [f32; BLOCK],
    pub limit: [f32; BLOCK],
    /// Guards divided by the drive; each is [`DELAY`] samples late.
    pub guard: [f32; BLOCK + DELAY],
}

impl FrameGates {
    /// Computes the values of `frames` samples from `position` on in the block.
    #[inline(always)]
    pub fn new<S: Simd>(
        simd: S,
        c: &Coefficients,
        position: usize,
        inputs: &FrameInputs,
        frames: usize,
    ) -> Self {
        let silence = [0.0; BLOCK];
        let mut gates = Self {
            input: silence,
            inverse_gate: silence,
            limit: silence,
            guard: [0.0; BLOCK + DELAY],
        };
        let ceiling = if c.frame.tracks { c.ceiling } else { 0.0 };
        for start in (0..frames).step_by(S::f32s::LEN) {
            let load = |from: &[f32]| S::f32s::from_slice(simd, &from[..S::f32s::LEN]);
            let grow = load(&c.frame.grow[position + start..]);
            let shrink = load(&c.frame.shrink[position + start..]);
            let range = start..start + S::f32s::LEN;
            (load(&inputs.input[start..]) * grow).store_slice(&mut gates.input[range.clone()]);
            let power = load(&inputs.total_power[start..]);
            let gate = (power * c.threshold).max(S::f32s::splat(simd, c.floor));
            let inverse = quotient::<S>(shrink * shrink * shrink, gate * gate.sqrt());
            inverse.store_slice(&mut gates.inverse_gate[range.clone()]);
            (power * ceiling * (grow * grow)).store_slice(&mut gates.limit[range]);
            let late = &mut gates.guard[start + DELAY..][..S::f32s::LEN];
            (grow * (c.guard / c.drive)).store_slice(late);
        }
        gates
    }
}
