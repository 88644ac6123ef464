//! What the bands hear where it is not the signal that they are mixed with.

use crate::{
    lanes::BLOCK,
    output::{Delay, mix::mean},
};
use std::ops::Range;

/// The bands' own input for the current block, and its delay for `lookahead`.
#[derive(Debug, Clone)]
pub(crate) struct Sidechain {
    /// One row for the mean of all channels, or one each for left and right.
    rows: [[f32; BLOCK]; 2],
    count: usize,
    delay: Delay,
}

impl Sidechain {
    /// Silence, to be delayed by `latency` samples (one or more).
    pub fn new(latency: usize) -> Self {
        Self { rows: [[0.0; BLOCK]; 2], count: 1, delay: Delay::new(latency, 2) }
    }

    /// Fills the delay with silence.
    pub fn clear(&mut self) {
        self.delay.clear();
    }

    /// Crossfades the samples `range` of the main `channels` with those of the `sidechain`, and puts the result at
    /// `position` in the current block: `share(frame)` is the part of the sidechain, 0..1, with frames counted from
    /// the start of the range.
    pub fn hear(
        &mut self,
        channels: &[&mut [f32]],
        sidechain: &[&[f32]],
        range: Range<usize>,
        position: usize,
        share: impl Fn(usize) -> f32,
    ) {
        self.count = if channels.len() == 2 { 2 } else { 1 };
        let mut own = [0.0; BLOCK];
        let own = &mut own[..range.len()];
        for (index, row) in self.rows.iter_mut().take(self.count).enumerate() {
            let row = &mut row[position..position + range.len()];
            one_of(self.count, channels, index, range.clone(), row);
            one_of(self.count, sidechain, index, range.clone(), own);
            for (frame, (heard, own)) in row.iter_mut().zip(own.iter()).enumerate() {
                let share = share(frame);
                *heard = (1.0 - share) * *heard + share * finite(*own);
            }
        }
    }

    /// The rows of the current block: one, or left and right.
    pub fn rows(&self) -> &[[f32; BLOCK]] {
        &self.rows[..self.count]
    }

    /// Crossfades the samples `part` of the rows with the delayed ones; see [`Delay::process`].
    pub fn delay(&mut self, part: Range<usize>, wet: impl Fn(usize) -> f32) {
        let [one, other] = self.rows.each_mut().map(|row| &mut row[..]);
        self.delay.process(&mut [one, other][..self.count], part, wet);
    }
}

/// Channel `index` of `count`, or the mean of all if there are more or fewer.
fn one_of(
    count: usize,
    channels: &[impl AsRef<[f32]>],
    index: usize,
    range: Range<usize>,
    to: &mut [f32],
) {
    let channels = if channels.len() == count { &channels[index..=index] } else { channels };
    mean(channels, range, to);
}

/// `x`, or 0 for NaN and infinity; bounded so that no gain makes it infinite.
#[inline(always)]
pub(crate) fn finite(x: f32) -> f32 {
    if x.is_finite() { x.clamp(-1e30, 1e30) } else { 0.0 }
}
