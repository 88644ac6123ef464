//! The kernel on vectors of the CPU's own width, one source for all instruction sets.
//!
//! Three vectors of tones are processed together, or two of those below A3. That keeps their state in registers, gives an out-of-order CPU
//! three independent dependency chains, and lets the three share one division: `n1/d1 + n2/d2 + n3/d3 = ((n1 d2 + n2
//! d1) d3 + n3 d1 d2) / (d1 d2 d3)`. Where divisions are fast, two share one, and the third has its own.
//!
//! Within a block the state is in the units of [`Frame`](super::frame::Frame), which saves operations. All of it is a
//! function of the number of samples since the start of the block, so the result does not depend on how a block is
//! divided into calls.
//!
//! The loop is software-pipelined in three stages: the resonators, the power, the sum of the driven bands. An iteration
//! works on three samples, one per stage, so no stage waits for a result of the same iteration.

use super::{
    BLOCK, Coefficients, Lanes, State, Task, Weighting,
    fractions::{each, over, over_both},
    gates::FrameGates,
    rows::{DELAY, Row, add, add_lanes},
};
use crate::{lanes::LANES, notes::PUBLISHED};
use fearless_simd::{Simd, SimdBase, SimdFloat};
use tone_filter_simd::denormals;

/// Vectors of published tones that are processed together, and of tones below A3, of which there are two thirds.
const GROUP: usize = 3;
const LOW_GROUP: usize = 2;

/// The lanes of the narrowest vectors, which may lack a fused multiply-add.
const NARROWEST: usize = 4;

/// Factor to the effective value of a band with a weight of 0 in the denominator of its drive: large enough to mute it,
/// and small enough that the product of three is finite.
const MUTED: f32 = 1e11;

/// Where denormals are not flushed to zero, and are slow, powers and gated amplitudes below these count as them: 170 dB below
/// full scale, and the least whose square is no denormal.
const QUIETEST: f32 = 1e-17;
const QUIETEST_GATED: f32 = 1.1e-19;

/// Computes the same as [`scalar::process`](super::scalar::process).
#[inline(always)]
pub fn process<S: Simd, const PAIRS: bool>(simd: S, c: &Coefficients, task: Task) {
    simd.vectorize(
        #[inline(always)]
        || match (c.weighting, c.driven) {
            (_, false) => run::<S, SWITCHED, false, PAIRS>(simd, c, task),
            (_, true) if c.sides.is_some() => run::<S, PLACED, true, PAIRS>(simd, c, task),
            (Weighting::Switched, true) => run::<S, SWITCHED, true, PAIRS>(simd, c, task),
            (Weighting::Constant, true) => run::<S, CONSTANT, true, PAIRS>(simd, c, task),
            (Weighting::Moving, true) => run::<S, MOVING, true, PAIRS>(simd, c, task),
        },
    );
}

/// The numbers of [`Weighting`].
const SWITCHED: u8 = Weighting::Switched as u8;
const CONSTANT: u8 = Weighting::Constant as u8;
const MOVING: u8 = Weighting::Moving as u8;
/// Some may move, and there are those of the sides.
const PLACED: u8 = MOVING + 1;

/// The tones' weights in the sum are those of a [`Weighting`]. Without `DRIVEN`, there is no sum.
#[inline(always)]
fn run<S: Simd, const WEIGHTS: u8, const DRIVEN: bool, const PAIRS: bool>(
    simd: S,
    c: &Coefficients,
    task: Task,
) {
    let Task { state, position, inputs, rows, sums, sides } = task;
    let frames = sums.len().min(BLOCK);
    if state.age != position {
        state.settle(c);
        c.frame.enter(state, position);
    }
    let gates = FrameGates::new(simd, c, position, inputs, frames);
    let [rows, side_rows] = &mut rows.0;
    let summed = ..frames + DELAY;
    for first in (0..PUBLISHED).step_by(GROUP * S::f32s::LEN) {
        let mut group =
            Group::<S, WEIGHTS, DRIVEN, PAIRS, GROUP, false>::load(simd, first, c, state, position);
        // The sums are added to those of the tones before; the first ones have none.
        if first == 0 {
            group.advance::<false>(&gates, &mut rows[summed], side_rows);
        } else {
            group.advance::<true>(&gates, &mut rows[summed], side_rows);
        }
        group.store(first, c, state, position + frames == BLOCK);
    }
    if c.low {
        for first in (PUBLISHED..LANES).step_by(LOW_GROUP * S::f32s::LEN) {
            let mut group = Group::<S, WEIGHTS, DRIVEN, PAIRS, LOW_GROUP, true>::load(
                simd, first, c, state, position,
            );
            group.advance::<true>(&gates, &mut rows[summed], side_rows);
            group.store(first, c, state, position + frames == BLOCK);
        }
    }
    state.age = (position + frames) % BLOCK;
    if !DRIVEN {
        sums.fill(0.0);
        return;
    }
    add_lanes(simd, c, position, rows, sums);
    if WEIGHTS == PLACED {
        add_lanes(simd, c, position, side_rows, sides);
    }
}

/// The state and the coefficients of `N` vectors of tones; the loops of those that are `DAMPED` have a damping of their own.
struct Group<
    S: Simd,
    const WEIGHTS: u8,
    const DRIVEN: bool,
    const PAIRS: bool,
    const N: usize,
    const DAMPED: bool,
> {
    simd: S,
    rise: [S::f32s; N],
    minus_fall: [S::f32s; N],
    growth: [S::f32s; N],
    decay: S::f32s,
    /// Factors to the effective value in the denominator of the drive.
    rms_share: [S::f32s; N],
    /// Weights in the sum at the sample whose sum is next, and their change per sample.
    weight: [S::f32s; N],
    weight_step: [S::f32s; N],
    /// Weights of the sides and their steps.
    side: [S::f32s; N],
    side_step: [S::f32s; N],
    lo: [S::f32s; N],
    bp: [S::f32s; N],
    power: [S::f32s; N],
    rms: [S::f32s; N],
    /// `bp` at the sample of `rms`.
    late: [S::f32s; N],
}

impl<
    S: Simd,
    const WEIGHTS: u8,
    const DRIVEN: bool,
    const PAIRS: bool,
    const N: usize,
    const DAMPED: bool,
> Group<S, WEIGHTS, DRIVEN, PAIRS, N, DAMPED>
{
    #[inline(always)]
    fn load(simd: S, first: usize, c: &Coefficients, state: &State, position: usize) -> Self {
        let splat = |x| S::f32s::splat(simd, x);
        let load = |from: &Lanes| lanes::<S, N>(simd, from, first);
        let (start, end) = (load(&c.weights.from), load(&c.weights.to));
        let [side, side_end] = match &c.sides {
            None => [[splat(0.0); N]; 2],
            Some(sides) => [load(&sides.from), load(&sides.to)],
        };
        let fall = load(&c.frame.fall);
        let (mut lo, bp, mut power) = (load(&state.lo), load(&state.bp), load(&state.power));
        if position == 0 {
            let (tilt, enter) = (load(&c.frame.tilt), load(&c.frame.enter));
            lo = each(|i| tilt[i].mul_add(bp[i], lo[i]) * enter[i]);
            power = each(|i| power[i] * c.frame.unit);
        }
        let share = c.frame.rms / c.drive;
        let muted = MUTED * share * (1.0 - c.frame.bp_loss);
        let mut group = Self {
            simd,
            rise: load(&c.frame.rise),
            minus_fall: each(|i| -fall[i]),
            growth: load(&c.frame.growth),
            decay: splat(c.frame.decay),
            rms_share: each(|i| {
                if WEIGHTS == SWITCHED {
                    (splat(1.0) - end[i]) * muted + share
                } else {
                    splat(share)
                }
            }),
            weight: start,
            weight_step: each(|i| (end[i] - start[i]) * (1.0 / BLOCK as f32)),
            side,
            side_step: each(|i| (side_end[i] - side[i]) * (1.0 / BLOCK as f32)),
            lo,
            bp,
            power,
            rms: [splat(0.0); N],
            late: [splat(0.0); N],
        };
        (0..position).for_each(|_| group.move_weights());
        group
    }

    /// Moves the weights by a sample. A sum in each takes no multiplication; from the start of the block on, it is the same
    /// wherever a call begins.
    #[inline(always)]
    fn move_weights(&mut self) {
        for i in 0..N {
            if WEIGHTS >= MOVING {
                self.weight[i] += self.weight_step[i];
            }
            if WEIGHTS == PLACED {
                self.side[i] += self.side_step[i];
            }
        }
    }

    /// Stores the state, at the end of a block in plain units.
    #[inline(always)]
    fn store(&self, first: usize, c: &Coefficients, state: &mut State, end: bool) {
        let (mut lo, mut bp, mut power) = (self.lo, self.bp, self.power);
        if end {
            let load = |from: &Lanes| lanes::<S, N>(self.simd, from, first);
            let (turn, tilt) = (load(&c.frame.turn), load(&c.frame.tilt));
            let (leave, loss) = (load(&c.frame.leave), load(&c.frame.lo_loss));
            for i in 0..N {
                // The small terms are added first, or they would be lost.
                bp[i] = bp[i] - (bp[i] * c.frame.bp_loss - turn[i] * lo[i]);
                lo[i] *= leave[i];
                lo[i] = lo[i] - (lo[i] * loss[i] + tilt[i] * bp[i]);
                power[i] *= c.frame.settle;
                power[i] = power[i] - power[i] * c.frame.power_loss;
            }
        }
        let store = |to: &mut Lanes, values: [S::f32s; N]| {
            for (to, value) in to.0[first..].chunks_exact_mut(S::f32s::LEN).zip(values) {
                value.store_slice(to);
            }
        };
        store(&mut state.lo, lo);
        store(&mut state.bp, bp);
        store(&mut state.power, power);
    }

    /// Advances by [`DELAY`] samples less than there are `rows`, which take the driven bands [`DELAY`] samples late, or `MORE`
    /// of them; and so the `sides`, if they are [`PLACED`].
    #[inline(always)]
    fn advance<const MORE: bool>(
        &mut self,
        gates: &FrameGates,
        rows: &mut [Row],
        sides: &mut [Row],
    ) {
        let frames = rows.len() - DELAY;
        self.resonate(gates, 0);
        for frame in 1..frames {
            let sums = self.mix(gates, frame);
            self.track(gates, frame - 1);
            self.resonate(gates, frame);
            self.put::<MORE>(frame, sums, rows, sides);
        }
        let sums = self.mix(gates, frames);
        self.put::<MORE>(frames, sums, rows, sides);
        self.track(gates, frames - 1);
        let sums = self.mix(gates, frames + 1);
        self.put::<MORE>(frames + 1, sums, rows, sides);
    }

    /// Puts the sums of a sample into their rows, or adds them.
    #[inline(always)]
    fn put<const MORE: bool>(
        &self,
        frame: usize,
        [sum, side]: [S::f32s; 2],
        rows: &mut [Row],
        sides: &mut [Row],
    ) {
        add::<S, MORE>(self.simd, sum, &mut rows[frame]);
        if WEIGHTS == PLACED {
            add::<S, MORE>(self.simd, side, &mut sides[frame]);
        }
    }

    #[inline(always)]
    fn splat(&self, x: f32) -> S::f32s {
        S::f32s::splat(self.simd, x)
    }

    /// First stage: advances the resonators by the sample `frame`.
    #[inline(always)]
    fn resonate(&mut self, gates: &FrameGates, frame: usize) {
        let input = self.splat(gates.input[frame]);
        for i in 0..N {
            // The small terms are added first, so that only the last addition rounds to the precision of `lo`.
            self.lo[i] += self.rise[i].mul_sub(self.bp[i], input);
            if DAMPED {
                self.bp[i] += self.growth[i].mul_add(self.bp[i], self.minus_fall[i] * self.lo[i]);
            } else {
                self.bp[i] = self.minus_fall[i].mul_add(self.lo[i], self.bp[i]);
            }
        }
    }

    /// Second stage: tracks the resonators' power at the sample `frame`.
    #[inline(always)]
    fn track(&mut self, gates: &FrameGates, frame: usize) {
        let inverse_gate = self.splat(gates.inverse_gate[frame]);
        let limit = self.splat(gates.limit[frame]);
        for i in 0..N {
            let mut q = self.bp[i] * self.bp[i];
            if !denormals::FLUSHES {
                q = q.max(QUIETEST);
            }
            let mut gated = q * q * inverse_gate;
            if !denormals::FLUSHES {
                gated = gated.max(QUIETEST_GATED);
            }
            let level = q.min(gated * gated).min(limit);
            self.power[i] = if S::f32s::LEN > NARROWEST {
                self.power[i].mul_add(self.decay, level)
            } else {
                // A product that is rounded by itself would be wrong by the same amount for many samples.
                self.power[i] + self.power[i].mul_add(self.decay - 1.0, level)
            };
            if DRIVEN {
                self.rms[i] = self.power[i].sqrt();
                self.late[i] = self.bp[i];
            }
        }
    }

    /// Third stage: the driven bands at the sample that was tracked last, [`DELAY`] before `frame`, and their sides.
    #[inline(always)]
    fn mix(&mut self, gates: &FrameGates, frame: usize) -> [S::f32s; 2] {
        if !DRIVEN {
            return [self.splat(0.0); 2];
        }
        let guard = self.splat(gates.guard[frame]);
        let n: [S::f32s; N] = each(|i| self.rms[i] * self.late[i]);
        let weighted: [S::f32s; N] =
            each(|i| if WEIGHTS == SWITCHED { n[i] } else { self.weight[i] * n[i] });
        let sides: [S::f32s; N] =
            each(|i| if WEIGHTS == PLACED { self.side[i] * n[i] } else { n[i] });
        self.move_weights();
        let d: [S::f32s; N] =
            each(|i| self.rms_share[i].mul_add(self.rms[i], self.late[i].abs() + guard));
        if WEIGHTS == PLACED {
            return over_both::<S, PAIRS, N>(self.simd, [weighted, sides], d);
        }
        [over::<S, PAIRS, N>(weighted, d), self.splat(0.0)]
    }
}

/// The values of `N` vectors of tones.
#[inline(always)]
fn lanes<S: Simd, const N: usize>(simd: S, from: &Lanes, first: usize) -> [S::f32s; N] {
    each(|i| S::f32s::from_slice(simd, &from.0[first + i * S::f32s::LEN..][..S::f32s::LEN]))
}
