//! The kernel on vectors of the CPU's own width: one source for all instruction sets.
//!
//! Three vectors of published tones are processed together; below A3, two vectors are. That keeps their state in registers,
//! gives an out-of-order CPU three independent dependency chains, and lets the three share one division: `n1/d1 + n2/d2 + n3/d3
//! = ((n1 d2 + n2 d1) d3 + n3 d1 d2) / (d1 d2 d3)`.
//!
//! Within a block the state is in the units of [`Frame`](super::frame::Frame), which saves operations. These units depend only on
//! the number of samples since the start of the block, so the result does not depend on how a block is divided into calls.
//!
//! The loop is software-pipelined in three stages: resonators, power, sum of the driven bands. An iteration works on three
//! samples, one per stage, so no stage waits for a result of the same iteration.

use super::{
    BLOCK, Coefficients, Lanes, State, Task, Weighting,
    fractions::{each, over, over_both},
    gates::FrameGates,
    rows::{DELAY, Row, add, add_lanes, clear},
};
use crate::{lanes::LANES, notes::PUBLISHED};
use fearless_simd::{Simd, SimdBase, SimdFloat};
use tone_filter_simd::{Work, denormals};

/// Vectors of published tones that are processed together.
const GROUP: usize = 3;
/// Vectors of tones below A3 that are processed together. These tones fill two thirds as many vectors as the published ones.
const LOW_GROUP: usize = 2;
/// Number of lanes of the narrowest vectors, which may lack a fused multiply-add.
const NARROWEST: usize = 4;

/// Factor on the RMS in the denominator of a muted band's drive. Large enough to mute the band, and small enough that the
/// product of three denominators is finite.
const MUTED: f32 = 1e11;
/// Lower bound of the squared output of a band, for CPUs on which denormals are slow and not flushed to zero: 170 dB below full
/// scale.
const QUIETEST: f32 = 1e-17;
/// Lower bound of a gated amplitude, for the CPUs of [`QUIETEST`]. Its square is just above the denormals.
const QUIETEST_GATED: f32 = 1.1e-19;

/// Task for the vectors of a kernel. The result agrees with [`scalar::process`](super::scalar::process) to 90 dB.
pub struct Dispatched<'a> {
    pub c: &'a Coefficients,
    pub task: Task<'a>,
}

impl Work for Dispatched<'_> {
    fn run<S: Simd>(self, simd: S) {
        let Self { c, task } = self;
        simd.vectorize(
            #[inline(always)]
            || match (c.weighting, c.driven) {
                (_, false) => run::<S, SWITCHED, false>(simd, c, task),
                (_, true) if c.sides.is_some() => run::<S, PLACED, true>(simd, c, task),
                (Weighting::Switched, true) => run::<S, SWITCHED, true>(simd, c, task),
                (Weighting::Moving, true) => run::<S, MOVING, true>(simd, c, task),
            },
        );
    }

    fn run_portable<S: Simd>(self, simd: S) {
        simd.vectorize(
            #[inline(always)]
            || run::<S, ANY, true>(simd, self.c, self.task),
        );
    }
}

/// Kinds of [`Weighting`] as values of a const parameter.
const SWITCHED: u8 = Weighting::Switched as u8;
const MOVING: u8 = Weighting::Moving as u8;
/// Panned notes: weights of any value, for the sum and for the stereo difference.
const PLACED: u8 = MOVING + 1;
/// Any kind, chosen at run time, for portable vectors. These may be plain arrays, for which a loop needs many times as much code.
/// So one loop serves all kinds.
const ANY: u8 = PLACED + 1;

/// Processes `task` with weights of the kind `WEIGHTS`. Without `DRIVEN`, the bands are not summed, and the sums are 0.
#[inline(always)]
fn run<S: Simd, const WEIGHTS: u8, const DRIVEN: bool>(simd: S, c: &Coefficients, task: Task) {
    let Task { state, position, inputs, rows, sums, sides } = task;
    let frames = sums.len().min(BLOCK);
    if state.age != position {
        state.settle(c);
        c.frame.enter(state, position);
    }
    let gates = FrameGates::new(simd, c, position, inputs, frames);
    let [rows, side_rows] = &mut rows.0;
    let summed = ..frames + DELAY;
    clear(simd, &mut rows[summed]);
    if c.sides.is_some() {
        clear(simd, &mut side_rows[summed]);
    }
    for first in (0..PUBLISHED).step_by(GROUP * S::f32s::LEN) {
        let mut group =
            Group::<S, WEIGHTS, DRIVEN, GROUP, false>::load(simd, first, c, state, position);
        group.advance(&gates, &mut rows[summed], side_rows);
        group.store(first, c, state, position + frames == BLOCK);
    }
    if c.low {
        for first in (PUBLISHED..LANES).step_by(LOW_GROUP * S::f32s::LEN) {
            let mut group =
                Group::<S, WEIGHTS, DRIVEN, LOW_GROUP, true>::load(simd, first, c, state, position);
            group.advance(&gates, &mut rows[summed], side_rows);
            group.store(first, c, state, position + frames == BLOCK);
        }
    }
    state.age = (position + frames) % BLOCK;
    if !DRIVEN || WEIGHTS == ANY && !c.driven {
        sums.fill(0.0);
        return;
    }
    add_lanes(simd, c, position, rows, sums);
    if WEIGHTS == PLACED || WEIGHTS == ANY && c.sides.is_some() {
        add_lanes(simd, c, position, side_rows, sides);
    }
}

/// State and coefficients of `N` vectors of tones. With `DAMPED`, the loops have a damping, as those below A3 do.
struct Group<S: Simd, const WEIGHTS: u8, const DRIVEN: bool, const N: usize, const DAMPED: bool> {
    simd: S,
    placed: bool,
    rise: [S::f32s; N],
    minus_fall: [S::f32s; N],
    open: [S::f32s; N],
    shuts: bool,
    growth: [S::f32s; N],
    decay: S::f32s,
    /// Factor on the RMS in the denominator of the drive.
    rms_share: [S::f32s; N],
    /// Weight in the sum at the next sample.
    weight: [S::f32s; N],
    weight_step: [S::f32s; N],
    /// Weight in the stereo difference at the next sample.
    side: [S::f32s; N],
    side_step: [S::f32s; N],
    lo: [S::f32s; N],
    bp: [S::f32s; N],
    power: [S::f32s; N],
    rms: [S::f32s; N],
    /// Value of `bp` at the sample to which `rms` belongs. `bp` itself may be one sample ahead.
    late: [S::f32s; N],
}

impl<S: Simd, const WEIGHTS: u8, const DRIVEN: bool, const N: usize, const DAMPED: bool>
    Group<S, WEIGHTS, DRIVEN, N, DAMPED>
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
        let placed = c.sides.is_some();
        let switched =
            WEIGHTS == SWITCHED || WEIGHTS == ANY && !placed && c.weighting == Weighting::Switched;
        let share = c.frame.rms / c.drive;
        let muted = MUTED * share * (1.0 - c.frame.bp_loss) * c.frame.fold;
        let mut group = Self {
            simd,
            placed,
            rise: load(&c.frame.rise),
            minus_fall: each(|i| -fall[i]),
            open: load(&c.frame.open),
            shuts: c.frame.shuts,
            growth: load(&c.frame.growth),
            decay: splat(c.frame.decay),
            rms_share: each(|i| {
                if switched { (splat(1.0) - end[i]) * muted + share } else { splat(share) }
            }),
            weight: if switched { [splat(1.0); N] } else { start },
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

    /// Whether notes are panned. Known at compile time, except with [`ANY`] weights.
    #[inline(always)]
    fn is_placed(&self) -> bool {
        WEIGHTS == PLACED || WEIGHTS == ANY && self.placed
    }

    /// Moves the weights by a sample. Repeated addition is cheaper than a product, and does not depend on where a call begins.
    #[inline(always)]
    fn move_weights(&mut self) {
        for i in 0..N {
            if WEIGHTS >= MOVING {
                self.weight[i] += self.weight_step[i];
            }
            if self.is_placed() {
                self.side[i] += self.side_step[i];
            }
        }
    }

    /// Stores the state; at the `end` of a block, in plain units.
    #[inline(always)]
    fn store(&self, first: usize, c: &Coefficients, state: &mut State, end: bool) {
        let (mut lo, mut bp, mut power) = (self.lo, self.bp, self.power);
        if end {
            let load = |from: &Lanes| lanes::<S, N>(self.simd, from, first);
            let (turn, tilt) = (load(&c.frame.turn), load(&c.frame.tilt));
            let (leave, loss) = (load(&c.frame.leave), load(&c.frame.lo_loss));
            let fold = c.frame.fold;
            for i in 0..N {
                // The small terms are added first, or they would be lost.
                bp[i] *= fold;
                bp[i] = bp[i] - (bp[i] * c.frame.bp_loss - turn[i] * lo[i]);
                lo[i] *= leave[i] * fold;
                lo[i] = lo[i] - (lo[i] * loss[i] + tilt[i] * bp[i]);
                power[i] *= c.frame.settle * (fold * fold);
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

    /// Advances by `rows.len() - DELAY` samples. Adds the sums of the driven bands to `rows`, [`DELAY`] samples late. With panned
    /// notes, also adds the stereo differences to `sides`.
    #[inline(always)]
    fn advance(&mut self, gates: &FrameGates, rows: &mut [Row], sides: &mut [Row]) {
        let frames = rows.len() - DELAY;
        self.resonate(gates, 0);
        for frame in 1..frames {
            let sums = self.mix(gates, frame);
            self.track(gates, frame - 1);
            self.resonate(gates, frame);
            self.put(frame, sums, rows, sides);
        }
        let sums = self.mix(gates, frames);
        self.put(frames, sums, rows, sides);
        self.track(gates, frames - 1);
        let sums = self.mix(gates, frames + 1);
        self.put(frames + 1, sums, rows, sides);
    }

    #[inline(always)]
    fn put(&self, frame: usize, [sum, side]: [S::f32s; 2], rows: &mut [Row], sides: &mut [Row]) {
        add(self.simd, sum, &mut rows[frame]);
        if self.is_placed() {
            add(self.simd, side, &mut sides[frame]);
        }
    }

    #[inline(always)]
    fn splat(&self, x: f32) -> S::f32s {
        S::f32s::splat(self.simd, x)
    }

    /// First stage: advances the resonators by the sample `frame`.
    #[inline(always)]
    fn resonate(&mut self, gates: &FrameGates, frame: usize) {
        let mut input = [self.splat(gates.input[frame]); N];
        if self.shuts {
            input = each(|i| input[i] * self.open[i]);
        }
        for (i, input) in input.into_iter().enumerate() {
            // The small terms are added first, so that only the last addition rounds to the precision of `lo`.
            self.lo[i] += self.rise[i].mul_sub(self.bp[i], input);
            if DAMPED {
                self.bp[i] += self.growth[i].mul_add(self.bp[i], self.minus_fall[i] * self.lo[i]);
            } else {
                self.bp[i] = self.minus_fall[i].mul_add(self.lo[i], self.bp[i]);
            }
        }
    }

    /// Second stage: tracks the power of the resonators at the sample `frame`.
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
                // A product that is rounded separately would have an equal error for many samples, which would add up.
                self.power[i] + self.power[i].mul_add(self.decay - 1.0, level)
            };
            if DRIVEN {
                self.rms[i] = self.power[i].sqrt();
                self.late[i] = self.bp[i];
            }
        }
    }

    /// Third stage: returns the sum of the driven bands and their stereo difference for the sample that was tracked last, which
    /// belongs to the row `frame`.
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
            each(|i| if self.is_placed() { self.side[i] * n[i] } else { n[i] });
        self.move_weights();
        let d: [S::f32s; N] =
            each(|i| self.rms_share[i].mul_add(self.rms[i], self.late[i].abs() + guard));
        if self.is_placed() {
            return over_both::<S, N>(self.simd, [weighted, sides], d);
        }
        [over::<S, N>(weighted, d), self.splat(0.0)]
    }
}

#[inline(always)]
fn lanes<S: Simd, const N: usize>(simd: S, from: &Lanes, first: usize) -> [S::f32s; N] {
    each(|i| S::f32s::from_slice(simd, &from.0[first + i * S::f32s::LEN..][..S::f32s::LEN]))
}
