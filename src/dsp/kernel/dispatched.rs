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

use super::{BLOCK, Coefficients, Lanes, RMS_GUARD, Shared, State, Task};
use crate::dsp::notes::TONES;
use fearless_simd::{Simd, SimdBase, SimdFloat};

/// Vectors of tones that go through a block together.
const GROUP: usize = 3;

/// What [`scalar::process`](super::scalar::process) computes.
#[inline(always)]
pub fn process<S: Simd>(simd: S, c: &Coefficients, task: Task) {
    simd.vectorize(
        #[inline(always)]
        || match c.common_gain() {
            Some(gain) => run::<S, false>(simd, c, gain, task),
            None => run::<S, true>(simd, c, 1.0, task),
        },
    );
}

/// With `OWN`, each tone has its own gain and weight; without, `gain` is that of all.
#[inline(always)]
fn run<S: Simd, const OWN: bool>(simd: S, c: &Coefficients, gain: f32, task: Task) {
    let frames = task.sums.len().min(BLOCK);
    let common = Common::new(simd, c, gain, task.shared, frames);
    let mut late = [0.0; BLOCK + DELAY];
    for first in (0..TONES).step_by(GROUP * S::f32s::LEN) {
        let mut group = Group::<S, OWN>::load(simd, first, c, task.state);
        group.start(&common);
        for frame in 1..frames {
            group.turn(frame, &common, &mut late);
        }
        group.finish(frames, &common, &mut late);
        group.store(first, task.state);
    }
    task.sums.copy_from_slice(&late[DELAY..frames + DELAY]);
}

/// What each sample means for the bands.
struct Common {
    /// The input, with the gain that all tones have.
    input: [f32; BLOCK],
    /// The gate's power of -3/2, because q^4 / gate^3 = (q^2 gate^(-3/2))^2.
    inverse_gate: [f32; BLOCK],
    limit: [f32; BLOCK],
}

impl Common {
    #[inline(always)]
    fn new<S: Simd>(simd: S, c: &Coefficients, gain: f32, shared: &Shared, frames: usize) -> Self {
        let silence = [0.0; BLOCK];
        let mut common = Self { input: silence, inverse_gate: silence, limit: silence };
        for start in (0..frames).step_by(S::f32s::LEN) {
            let range = start..start + S::f32s::LEN;
            let input = S::f32s::from_slice(simd, &shared.input[range.clone()]);
            (input * gain).store_slice(&mut common.input[range.clone()]);
            let power = S::f32s::from_slice(simd, &shared.total_power[range.clone()]);
            let gate = (power * c.threshold).max(S::f32s::splat(simd, c.floor));
            let inverse = S::f32s::splat(simd, 1.0) / (gate * gate.sqrt());
            inverse.store_slice(&mut common.inverse_gate[range.clone()]);
            (power * c.ceiling).store_slice(&mut common.limit[range]);
        }
        common
    }
}

/// Turns of the loop between a sample's input and its sum.
const DELAY: usize = 3;

/// The sums, [`DELAY`] late.
type Late = [f32; BLOCK + DELAY];

/// Three vectors of tones, with the settings as the loop wants them.
struct Group<S: Simd, const OWN: bool> {
    simd: S,
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
    mixed: S::f32s,
}

impl<S: Simd, const OWN: bool> Group<S, OWN> {
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
            simd,
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

    /// Takes in the first sample.
    #[inline(always)]
    fn start(&mut self, common: &Common) {
        self.resonate(self.splat(common.input[0]));
    }

    /// Takes in the sample `frame`, and brings those before it a step further.
    #[inline(always)]
    fn turn(&mut self, frame: usize, common: &Common, late: &mut Late) {
        let mixed = self.mix();
        self.track(frame - 1, common);
        self.resonate(self.splat(common.input[frame]));
        late[frame] += self.mixed.reduce_sum();
        self.mixed = mixed;
    }

    /// Brings the last of `frames` samples to their sums.
    #[inline(always)]
    fn finish(&mut self, frames: usize, common: &Common, late: &mut Late) {
        late[frames] += self.mixed.reduce_sum();
        late[frames + 1] += self.mix().reduce_sum();
        self.track(frames - 1, common);
        late[frames + 2] += self.mix().reduce_sum();
    }

    #[inline(always)]
    fn splat(&self, x: f32) -> S::f32s {
        S::f32s::splat(self.simd, x)
    }

    /// Brings the resonators to the next sample.
    #[inline(always)]
    fn resonate(&mut self, input: S::f32s) {
        for i in 0..GROUP {
            self.lo[i] = self.rise[i].mul_add(self.bp[i], self.lo[i]);
            // The small parts first: so only the last step rounds as coarsely as `bp` is large.
            let input = if OWN { self.gain[i] * input } else { input };
            let change = self.minus_damping.mul_add(self.bp[i], input);
            self.bp[i] += self.minus_fall[i].mul_add(self.lo[i], change);
        }
    }

    /// Takes note of the resonators' power in the sample `frame`.
    #[inline(always)]
    fn track(&mut self, frame: usize, common: &Common) {
        let inverse_gate = self.splat(common.inverse_gate[frame]);
        let limit = self.splat(common.limit[frame]);
        for i in 0..GROUP {
            let q = self.bp[i] * self.bp[i];
            let gated = q * q * inverse_gate;
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
            if OWN { self.weight[i] * n } else { n }
        });
        let d: [S::f32s; GROUP] =
            std::array::from_fn(|i| self.rms[i] + self.guard + self.driven[i].abs());
        let first = (n[0], d[0]);
        let (n, d) = (1..GROUP)
            .fold(first, |(sum, product), i| (sum.mul_add(d[i], n[i] * product), product * d[i]));
        n / d
    }
}
