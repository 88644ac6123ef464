//! The kernel on vectors of the CPU's own width, one source for every instruction set.
//!
//! Three vectors of tones go through a block together. That keeps their state in registers, gives an
//! out-of-order CPU three independent chains to interleave, and lets the three share one division:
//! `n1/d1 + n2/d2 + n3/d3 = ((n1 d2 + n2 d1) d3 + n3 d1 d2) / (d1 d2 d3)`. Root and division are the
//! exact ones: CPUs compute them beside the multiplications, which are what the loop is short of.
//!
//! A sample goes through a group in three steps, each in a turn of the loop of its own: the resonators,
//! the power, the sum of the driven bands. A turn works on three samples, so nothing in it waits long
//! for a result of the same turn, and what a CPU keeps in its queues is ready to run.

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
    let frames = sums.len();
    if frames == 0 {
        return;
    }
    let lanes = S::f32s::LEN;
    let splat = |x| S::f32s::splat(simd, x);
    // The gate's power of -3/4, because q^4 / gate^3 = (q gate^(-3/4))^4.
    let mut inverse_gates = [0.0; BLOCK];
    let mut limits = [0.0; BLOCK];
    for start in (0..frames).step_by(lanes) {
        let range = start..start + lanes;
        let power = S::f32s::from_slice(simd, &shared.total_power[range.clone()]);
        let root = (power * c.threshold).max(splat(c.floor)).sqrt();
        (splat(1.0) / (root * root.sqrt())).store_slice(&mut inverse_gates[range.clone()]);
        (power * c.ceiling).store_slice(&mut limits[range]);
    }

    let mut late = [0.0; BLOCK + DELAY];
    for first in (0..TONES).step_by(GROUP * lanes) {
        let mut group = Group::<S, WEIGHTED>::load(simd, first, c, state);
        let mut mixed = splat(0.0);
        group.resonate(splat(shared.input[0]));
        let gates = inverse_gates.iter().zip(&limits);
        let per_frame = late[1..].iter_mut().zip(&shared.input[1..]).zip(gates).take(frames - 1);
        for ((late, input), (inverse_gate, limit)) in per_frame {
            let next = group.mix();
            group.track(splat(*inverse_gate), splat(*limit));
            *late += mixed.reduce_sum();
            mixed = next;
            group.resonate(splat(*input));
        }
        late[frames] += mixed.reduce_sum();
        mixed = group.mix();
        group.track(splat(inverse_gates[frames - 1]), splat(limits[frames - 1]));
        late[frames + 1] += mixed.reduce_sum();
        late[frames + 2] += group.mix().reduce_sum();
        group.store(first, state);
    }
    sums.copy_from_slice(&late[DELAY..frames + DELAY]);
}

/// Turns of the loop between a sample's input and its sum.
const DELAY: usize = 3;

/// Three vectors of tones, with the settings as the loop wants them.
struct Group<S: Simd, const WEIGHTED: bool> {
    rise: [S::f32s; GROUP],
    minus_fall: [S::f32s; GROUP],
    gain: [S::f32s; GROUP],
    weight: [S::f32s; GROUP],
    minus_damping: S::f32s,
    step: S::f32s,
    drive: S::f32s,
    guard: S::f32s,
    lo: [S::f32s; GROUP],
    bp: [S::f32s; GROUP],
    power: [S::f32s; GROUP],
    rms: [S::f32s; GROUP],
    driven: [S::f32s; GROUP],
}

impl<S: Simd, const WEIGHTED: bool> Group<S, WEIGHTED> {
    #[inline(always)]
    fn load(simd: S, first: usize, c: &Coefficients, state: &State) -> Self {
        let lanes = S::f32s::LEN;
        let splat = |x| S::f32s::splat(simd, x);
        let load = |from: &Lanes| -> [S::f32s; GROUP] {
            std::array::from_fn(|i| {
                S::f32s::from_slice(simd, &from.0[first + i * lanes..][..lanes])
            })
        };
        Self {
            rise: load(&c.rise),
            minus_fall: load(&c.fall).map(|fall| -fall),
            gain: load(&c.gain),
            weight: load(&c.weight),
            minus_damping: splat(-c.damping),
            step: splat(c.step),
            drive: splat(c.drive),
            guard: splat(RMS_GUARD),
            lo: load(&state.lo),
            bp: load(&state.bp),
            power: load(&state.power),
            rms: [splat(0.0); GROUP],
            driven: [splat(0.0); GROUP],
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

    /// Brings the resonators to the next sample.
    #[inline(always)]
    fn resonate(&mut self, input: S::f32s) {
        for i in 0..GROUP {
            self.lo[i] = self.rise[i].mul_add(self.bp[i], self.lo[i]);
            let bp = self.gain[i].mul_add(input, self.bp[i]);
            let bp = self.minus_damping.mul_add(self.bp[i], bp);
            self.bp[i] = self.minus_fall[i].mul_add(self.lo[i], bp);
        }
    }

    /// Takes note of the resonators' power.
    #[inline(always)]
    fn track(&mut self, inverse_gate: S::f32s, limit: S::f32s) {
        for i in 0..GROUP {
            let q = self.bp[i] * self.bp[i];
            let gated = q * inverse_gate;
            let gated = gated * gated;
            let level = q.min(gated * gated).min(limit);
            self.power[i] = self.step.mul_add(level - self.power[i], self.power[i]);
            self.rms[i] = self.power[i].sqrt();
            self.driven[i] = self.drive * self.bp[i];
        }
    }

    /// The sum of the driven bands of the sample that was tracked last.
    #[inline(always)]
    fn mix(&self) -> S::f32s {
        let n: [S::f32s; GROUP] = std::array::from_fn(|i| {
            let n = self.rms[i] * self.driven[i];
            if WEIGHTED { self.weight[i] * n } else { n }
        });
        let d: [S::f32s; GROUP] =
            std::array::from_fn(|i| self.rms[i] + self.guard + self.driven[i].abs());
        let first = (n[0], d[0]);
        let (n, d) = (1..GROUP)
            .fold(first, |(sum, product), i| (sum.mul_add(d[i], n[i] * product), product * d[i]));
        n / d
    }
}
