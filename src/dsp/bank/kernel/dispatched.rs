//! The kernel on vectors of the CPU's own width, one source for all instruction sets.
//!
//! Three vectors of tones are processed together. That keeps their state in registers, gives an out-of-order CPU
//! three independent dependency chains, and lets the three share one division: `n1/d1 + n2/d2 + n3/d3 = ((n1 d2 + n2
//! d1) d3 + n3 d1 d2) / (d1 d2 d3)`. Root and division are exact: CPUs compute them in parallel with the
//! multiplications, which are the bottleneck of the loop.
//!
//! The loop is software-pipelined in three stages: the resonators, the power, the sum of the driven bands. An iteration
//! works on three samples, one per stage, so no stage waits for a result of the same iteration.

use super::{BLOCK, Coefficients, FrameInputs, Lanes, State, Task};
use crate::dsp::notes::TONES;
use fearless_simd::{Simd, SimdBase, SimdFloat};

/// Vectors of tones that are processed together.
const GROUP: usize = 3;

/// Computes the same as [`scalar::process`](super::scalar::process).
#[inline(always)]
pub fn process<S: Simd>(simd: S, c: &Coefficients, task: Task) {
    simd.vectorize(
        #[inline(always)]
        || match (c.common_gain(), c.ramps, c.driven) {
            (Some(gain), _, false) => run::<S, false, false, false>(simd, c, gain, task),
            (Some(gain), false, true) => run::<S, false, false, true>(simd, c, gain, task),
            (Some(gain), true, true) => run::<S, false, true, true>(simd, c, gain, task),
            (None, _, false) => run::<S, true, false, false>(simd, c, 1.0, task),
            (None, false, true) => run::<S, true, false, true>(simd, c, 1.0, task),
            (None, true, true) => run::<S, true, true, true>(simd, c, 1.0, task),
        },
    );
}

/// With `OWN`, each tone has its own gain; without, `gain` is that of all. With `RAMP`, the tones' weights in the sum
/// are applied; without, each is 0 or 1, and [`Coefficients::guard`] mutes tones with 0. Without `DRIVEN`, there is
/// no sum.
#[inline(always)]
fn run<S: Simd, const OWN: bool, const RAMP: bool, const DRIVEN: bool>(
    simd: S,
    c: &Coefficients,
    gain: f32,
    task: Task,
) {
    let frames = task.sums.len().min(BLOCK);
    let gates = FrameGates::new(simd, c, gain, task.inputs, frames);
    let mut late = [0.0; BLOCK + DELAY];
    for first in (0..TONES).step_by(GROUP * S::f32s::LEN) {
        let mut group = Group::<S, OWN, RAMP, DRIVEN>::load(simd, first, c, &task);
        group.start(&gates);
        for frame in 1..frames {
            group.advance(frame, &gates, &mut late);
        }
        group.finish(frames, &gates, &mut late);
        group.store(first, task.state);
    }
    task.sums.copy_from_slice(&late[DELAY..frames + DELAY]);
}

/// The inputs and gates of the bands for each sample.
struct FrameGates {
    /// The input times the common gain of all tones.
    input: [f32; BLOCK],
    /// The gate's power of -3/2, because q^4 / gate^3 = (q^2 gate^(-3/2))^2.
    inverse_gate: [f32; BLOCK],
    limit: [f32; BLOCK],
}

impl FrameGates {
    #[inline(always)]
    fn new<S: Simd>(
        simd: S,
        c: &Coefficients,
        gain: f32,
        inputs: &FrameInputs,
        frames: usize,
    ) -> Self {
        let silence = [0.0; BLOCK];
        let mut gates = Self { input: silence, inverse_gate: silence, limit: silence };
        for start in (0..frames).step_by(S::f32s::LEN) {
            let range = start..start + S::f32s::LEN;
            let input = S::f32s::from_slice(simd, &inputs.input[range.clone()]);
            (input * gain).store_slice(&mut gates.input[range.clone()]);
            let power = S::f32s::from_slice(simd, &inputs.total_power[range.clone()]);
            let gate = (power * c.threshold).max(S::f32s::splat(simd, c.floor));
            let inverse = S::f32s::splat(simd, 1.0) / (gate * gate.sqrt());
            inverse.store_slice(&mut gates.inverse_gate[range.clone()]);
            (power * c.ceiling).store_slice(&mut gates.limit[range]);
        }
        gates
    }
}

/// Iterations of the loop between a sample's input and its sum.
const DELAY: usize = 3;

/// The sums, delayed by [`DELAY`].
type Late = [f32; BLOCK + DELAY];

/// The state and the coefficients of three vectors of tones.
struct Group<S: Simd, const OWN: bool, const RAMP: bool, const DRIVEN: bool> {
    simd: S,
    rise: [S::f32s; GROUP],
    minus_fall: [S::f32s; GROUP],
    gain: [S::f32s; GROUP],
    guard: [S::f32s; GROUP],
    /// Weights in the sum at the start of the block, and their change per sample.
    weight: [S::f32s; GROUP],
    weight_step: [S::f32s; GROUP],
    /// Samples of the block before those of this call.
    position: usize,
    minus_damping: S::f32s,
    step: S::f32s,
    drive: S::f32s,
    lo: [S::f32s; GROUP],
    bp: [S::f32s; GROUP],
    power: [S::f32s; GROUP],
    rms: [S::f32s; GROUP],
    driven: [S::f32s; GROUP],
    mixed: S::f32s,
}

impl<S: Simd, const OWN: bool, const RAMP: bool, const DRIVEN: bool> Group<S, OWN, RAMP, DRIVEN> {
    #[inline(always)]
    fn load(simd: S, first: usize, c: &Coefficients, task: &Task) -> Self {
        let lanes = S::f32s::LEN;
        let splat = |x| S::f32s::splat(simd, x);
        let load = |from: &Lanes| -> [S::f32s; GROUP] {
            std::array::from_fn(|i| {
                S::f32s::from_slice(simd, &from.0[first + i * lanes..][..lanes])
            })
        };
        let [start, end] = c.weights.each_ref().map(load);
        Self {
            simd,
            rise: load(&c.rise),
            minus_fall: load(&c.fall).map(|fall| -fall),
            gain: load(&c.gain),
            guard: load(&c.guard),
            weight: start,
            weight_step: std::array::from_fn(|i| (end[i] - start[i]) * (1.0 / BLOCK as f32)),
            position: task.position,
            minus_damping: splat(-c.damping),
            step: splat(c.step),
            drive: splat(c.drive),
            lo: load(&task.state.lo),
            bp: load(&task.state.bp),
            power: load(&task.state.power),
            rms: [splat(0.0); GROUP],
            driven: [splat(0.0); GROUP],
            mixed: splat(0.0),
        }
    }

    #[inline(always)]
    fn store(&self, first: usize, state: &mut State) {
        let lanes = S::f32s::LEN;
        let store = |to: &mut Lanes, values: &[S::f32s; GROUP]| {
            for (to, value) in to.0[first..].chunks_exact_mut(lanes).zip(values) {
                value.store_slice(to);
            }
        };
        store(&mut state.lo, &self.lo);
        store(&mut state.bp, &self.bp);
        store(&mut state.power, &self.power);
    }

    /// Fills the pipeline with the first sample.
    #[inline(always)]
    fn start(&mut self, gates: &FrameGates) {
        self.resonate(self.splat(gates.input[0]));
    }

    /// One iteration: takes the sample `frame` as input, and advances those before it by one stage.
    #[inline(always)]
    fn advance(&mut self, frame: usize, gates: &FrameGates, late: &mut Late) {
        let mixed = if DRIVEN { self.mix(frame - 1) } else { self.mixed };
        self.track(frame - 1, gates);
        self.resonate(self.splat(gates.input[frame]));
        if DRIVEN {
            late[frame] += self.mixed.reduce_sum();
        }
        self.mixed = mixed;
    }

    /// Empties the pipeline after `frames` samples.
    #[inline(always)]
    fn finish(&mut self, frames: usize, gates: &FrameGates, late: &mut Late) {
        if DRIVEN {
            late[frames] += self.mixed.reduce_sum();
            late[frames + 1] += self.mix(frames - 1).reduce_sum();
        }
        self.track(frames - 1, gates);
        if DRIVEN {
            late[frames + 2] += self.mix(frames).reduce_sum();
        }
    }

    #[inline(always)]
    fn splat(&self, x: f32) -> S::f32s {
        S::f32s::splat(self.simd, x)
    }

    /// First stage: advances the resonators by a sample.
    #[inline(always)]
    fn resonate(&mut self, input: S::f32s) {
        for i in 0..GROUP {
            self.lo[i] = self.rise[i].mul_add(self.bp[i], self.lo[i]);
            // The small terms are added first, so that only the last addition rounds to the precision of `bp`.
            let input = if OWN { self.gain[i] * input } else { input };
            let change = self.minus_damping.mul_add(self.bp[i], input);
            self.bp[i] += self.minus_fall[i].mul_add(self.lo[i], change);
        }
    }

    /// Second stage: tracks the resonators' power at the sample `frame`.
    #[inline(always)]
    fn track(&mut self, frame: usize, gates: &FrameGates) {
        let inverse_gate = self.splat(gates.inverse_gate[frame]);
        let limit = self.splat(gates.limit[frame]);
        for i in 0..GROUP {
            let q = self.bp[i] * self.bp[i];
            let gated = q * q * inverse_gate;
            let level = q.min(gated * gated).min(limit);
            self.power[i] = self.step.mul_add(level - self.power[i], self.power[i]);
            if DRIVEN {
                self.rms[i] = self.power[i].sqrt();
                self.driven[i] = self.drive * self.bp[i];
            }
        }
    }

    /// Third stage: the sum of the driven bands for the sample that was tracked last, the `passed`th of this call.
    #[inline(always)]
    fn mix(&self, passed: usize) -> S::f32s {
        let passed = self.splat((self.position + passed) as f32);
        let n: [S::f32s; GROUP] = std::array::from_fn(|i| {
            let n = self.rms[i] * self.driven[i];
            if RAMP { self.weight_step[i].mul_add(passed, self.weight[i]) * n } else { n }
        });
        let d: [S::f32s; GROUP] =
            std::array::from_fn(|i| self.rms[i] + self.guard[i] + self.driven[i].abs());
        let first = (n[0], d[0]);
        let (n, d) = (1..GROUP)
            .fold(first, |(sum, product), i| (sum.mul_add(d[i], n[i] * product), product * d[i]));
        n / d
    }
}
