//! Units in which the vector kernels keep the state within a block.
//!
//! The resonators from A3 up, the 48 of the published filter, all have the same radius `r`. With `bp = r^n z` for the `n`th
//! sample of a block, `z` is the output of a loop without damping, which takes one operation less:
//!
//! ```text
//! lo' += a' z - r^-n (x[t] - x[t-2]);    z -= b' lo'
//! ```
//!
//! `b'` is chosen equal to the resonator's gain, so the gain needs no multiplication. The kernels keep a power `p` as `s = p /
//! (step r^2n)`. Then the tracker is `s = ((1 - step) / r^2) s + m` with the level `m` of `z`, and the RMS in these units is the
//! root of `s` times a constant. Gate, limit and guard are scaled to these units sample by sample. At the end of a block the state is
//! converted back, so that numbers stay in range.
//!
//! A tone below A3 has a greater radius `r_i`, which is `r_i / r` in these units. Its loop has the damping `1 - (r_i / r)^2`,
//! which is negative.
//!
//! A factor that is rounded to f32 and applied in every block would change the resonators and trackers by some 1e-5. Therefore
//! the conversion back multiplies by the rounded inverse, and then subtracts a small fraction, which makes the total factor
//! exact. Where most of a state decays within a block, a power of two comes first, so that the fraction is at most one half, or
//! three quarters for a power.

use super::State;
use crate::{
    bank::resonator::Design,
    lanes::{BLOCK, LANES, Lanes},
};

/// Maximum number of samples that a vector kernel reads beyond a block.
const BEYOND: usize = 15;

type Factors = [f32; BLOCK + BEYOND];

/// Coefficients in the units of this module.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Frame {
    pub rise: Lanes,
    pub fall: Lanes,
    /// Factor of the input: 1 for a tone with a gain, 0 for one without.
    pub open: Lanes,
    /// Whether any tone has no gain.
    pub shuts: bool,
    /// Weight of `bp` in the conversion `lo' = (lo + tilt bp) enter`. Needed because plain `lo` belongs to a damped loop.
    pub tilt: Lanes,
    /// Factor `enter` in the conversion that [`Self::tilt`] describes.
    pub enter: Lanes,
    /// Rounded inverse of `enter`.
    pub leave: Lanes,
    /// Power of two by which the conversion back multiplies `lo` and `bp`, and its square for a power: just above `r^64`, at most 1.
    pub fold: f32,
    /// Fraction of `lo` that the conversion back subtracts: the rest of its decay in a block, corrected for rounding.
    pub lo_loss: Lanes,
    /// Fraction of `bp` that the conversion back subtracts: the rest of its decay in a block, `1 - r^64 / fold`.
    pub bp_loss: f32,
    /// Growth `(r_i / r)^2 - 1` of a loop; 0 for the published tones.
    pub growth: Lanes,
    /// Correction for the rounding of `a' b'`, which would move the poles by up to 1 % of their bandwidth: at the end of a block,
    /// `bp` gets `turn lo'`.
    pub turn: Lanes,
    /// Factor `r^-n` for the state after each sample.
    pub grow: Factors,
    /// Factor `r^n` for the state after each sample.
    pub shrink: Factors,
    /// Value `1 / step` of `s` for a power of 1 at `n = 0`.
    pub unit: f32,
    /// Rounded inverse of `unit`.
    pub settle: f32,
    /// Fraction of a power that the conversion back subtracts: `1 - r^128 / fold^2`, corrected for rounding.
    pub power_loss: f32,
    /// Decay factor `(1 - step) / r^2` of `s`.
    pub decay: f32,
    /// RMS for `s = 1` at `n = 0`.
    pub rms: f32,
    /// Whether powers are tracked; false while the bands are frozen.
    pub tracks: bool,
    radius: f64,
    step: f64,
}

impl Frame {
    /// Coefficients without resonators.
    pub const STILL: Self = Self {
        rise: Lanes::ZERO,
        fall: Lanes::ZERO,
        open: Lanes::ZERO,
        shuts: false,
        tilt: Lanes::ZERO,
        enter: Lanes([1.0; LANES]),
        leave: Lanes([1.0; LANES]),
        fold: 1.0,
        lo_loss: Lanes([1.0; LANES]),
        bp_loss: 0.0,
        growth: Lanes::ZERO,
        turn: Lanes::ZERO,
        grow: [1.0; BLOCK + BEYOND],
        shrink: [1.0; BLOCK + BEYOND],
        unit: 1.0,
        settle: 1.0,
        power_loss: 0.0,
        decay: 1.0,
        rms: 1.0,
        tracks: false,
        radius: 1.0,
        step: 0.0,
    };

    /// Sets the resonators. `falls` are the factors `b` of their loops with damping.
    pub fn set_resonators(&mut self, designs: &[Design], falls: &Lanes) {
        let r = designs[0].radius;
        self.radius = r;
        let fade = r.powi(BLOCK as i32);
        self.shuts = designs.iter().any(|design| design.gain == 0.0);
        let fold = libm::exp2(libm::floor(libm::log2(fade)) + 1.0).min(1.0);
        self.fold = fold as f32;
        self.bp_loss = (1.0 - fade / fold) as f32;
        for (tone, design) in designs.iter().enumerate() {
            // `b lo = r b' lo' - (1 - r) bp`, both in plain units.
            let radius = design.radius / r;
            let squared = design.squared(radius);
            // `b'` must not be 0.
            let open = design.gain > 0.0;
            let fall = if open { design.gain as f32 } else { falls.0[tone] };
            self.open.0[tone] = f32::from(u8::from(open));
            let rise = (squared / f64::from(fall)) as f32;
            let excess = f64::from(fall) - squared / f64::from(rise);
            let damped = f64::from(falls.0[tone]);
            let enter = (damped / (r * f64::from(fall))) as f32;
            let leave = 1.0 / enter;
            self.growth.0[tone] = ((radius - 1.0) * (radius + 1.0)) as f32;
            self.rise.0[tone] = rise;
            self.fall.0[tone] = fall;
            self.turn.0[tone] = (fade * BLOCK as f64 * excess) as f32;
            self.tilt.0[tone] = ((1.0 - r) / damped) as f32;
            self.enter.0[tone] = enter;
            self.leave.0[tone] = leave;
            let rounded = f64::from(enter) * f64::from(leave);
            self.lo_loss.0[tone] = (1.0 - fade / (fold * rounded)) as f32;
        }
        let mut power = 1.0;
        for (grow, shrink) in self.grow.iter_mut().zip(&mut self.shrink) {
            power *= r;
            *grow = (1.0 / power) as f32;
            *shrink = power as f32;
        }
        self.set_step(self.step);
    }

    /// Sets the one-pole coefficient of the power trackers.
    pub fn set_step(&mut self, step: f64) {
        self.step = step;
        self.tracks = step > 0.0;
        let unit = if self.tracks { step } else { 1.0 };
        let squared = self.radius * self.radius;
        self.decay = ((1.0 - step) / squared) as f32;
        self.unit = (1.0 / unit) as f32;
        self.rms = unit.sqrt() as f32;
        self.settle = 1.0 / self.unit;
        let kept = ((1.0 - step) / f64::from(self.decay)).powi(BLOCK as i32);
        let rounded = f64::from(self.unit) * f64::from(self.settle) * f64::from(self.fold).powi(2);
        self.power_loss = (1.0 - kept / rounded) as f32;
    }

    /// Converts `state` from plain units to the units after `age` samples of a block. With 0, leaves the state in plain units:
    /// the kernel converts it at the start of a block.
    pub fn enter(&self, state: &mut State, age: usize) {
        if age == 0 {
            return;
        }
        let grow = self.grow[age - 1];
        for tone in 0..LANES {
            let bp = state.bp.0[tone];
            let lo = state.lo.0[tone] + self.tilt.0[tone] * bp;
            state.lo.0[tone] = lo * self.enter.0[tone] * grow;
            state.bp.0[tone] = bp * grow;
            state.power.0[tone] *= self.unit * grow * grow;
        }
        state.age = age;
    }

    /// Converts `state` to plain units.
    pub fn leave(&self, state: &mut State) {
        let shrink = self.shrink[state.age - 1];
        for tone in 0..LANES {
            let bp = state.bp.0[tone] * shrink;
            state.bp.0[tone] = bp;
            state.lo.0[tone] =
                state.lo.0[tone] * shrink * self.leave.0[tone] - self.tilt.0[tone] * bp;
            state.power.0[tone] *= shrink * shrink * self.settle;
        }
        state.age = 0;
    }
}
