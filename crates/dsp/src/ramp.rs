//! Values that ramp within a block.

use crate::lanes::{BLOCK, Lanes};

/// Value that ramps linearly from the start of a block to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp<T> {
    pub from: T,
    pub to: T,
    /// Whether the start or the end value differs from the block before.
    pub changed: bool,
}

impl<T: Copy + PartialEq> Ramp<T> {
    pub const fn rest(value: T) -> Self {
        Self { from: value, to: value, changed: false }
    }

    pub fn between(from: T, to: T) -> Self {
        Self { from, to, changed: from != to }
    }

    /// Begins the next block, which ends at `to`.
    pub fn next(&mut self, to: T) {
        let moved = self.moves();
        (self.from, self.to) = (self.to, to);
        self.changed = moved || self.moves();
    }

    /// Begins the next block, in which the value is constant.
    pub fn stay(&mut self) {
        if self.changed {
            self.next(self.to);
        }
    }

    /// Whether the value is `value` in the whole block.
    pub fn is(&self, value: T) -> bool {
        self.from == value && self.to == value
    }

    pub fn moves(&self) -> bool {
        self.from != self.to
    }
}

impl<T> Ramp<T> {
    /// Applies `f` to start and end.
    pub fn map<U: Copy + PartialEq>(&self, f: impl Fn(&T) -> U) -> Ramp<U> {
        Ramp::between(f(&self.from), f(&self.to))
    }
}

impl Ramp<f32> {
    /// Returns the value at the position `share` in the block: 0 is the start, 1 the end.
    #[inline(always)]
    pub fn at(self, share: f32) -> f32 {
        self.from + share * (self.to - self.from)
    }

    /// Multiplies both starts and both ends.
    pub fn times(self, other: Self) -> Self {
        Self::between(self.from * other.from, self.to * other.to)
    }
}

/// Lanes that approach a target linearly, with a constant step per block.
#[derive(Debug, Clone)]
pub struct Approach {
    pub now: Lanes,
    /// Target; `None` once it is reached.
    target: Option<Lanes>,
    step: f32,
}

impl Approach {
    /// Creates lanes at rest. A lane moves by 1 in `seconds`, or in a block if that is longer.
    pub fn new(now: Lanes, seconds: f64, sample_rate: f64) -> Self {
        let step = (BLOCK as f64 / (seconds * sample_rate)).min(1.0) as f32;
        Self { now, target: None, step }
    }

    pub fn reset(&mut self, now: Lanes) {
        (self.now, self.target) = (now, None);
    }

    pub fn aim(&mut self, target: Lanes) {
        self.target = Some(target);
    }

    /// Moves the lanes by one block. Returns whether a lane has moved.
    pub fn step(&mut self) -> bool {
        let Some(target) = &self.target else { return false };
        let mut moved = false;
        for (now, target) in self.now.0.iter_mut().zip(&target.0) {
            let before = *now;
            *now += (target - before).clamp(-self.step, self.step);
            moved |= *now != before;
        }
        if self.now == *target {
            self.target = None;
        }
        moved
    }

    pub fn moves(&self) -> bool {
        self.target.is_some()
    }
}
