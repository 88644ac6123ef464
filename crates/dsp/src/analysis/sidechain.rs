//! The input of the bands where it is not the signal that they are mixed with.

use crate::{
    delay::Delay,
    downmix::{channel, finite},
    lanes::BLOCK,
};
use std::ops::Range;

/// The samples of left and right, or of one channel, in the current block.
type Rows = [[f32; BLOCK]; 2];

/// The bands' own input for the current block: the main input, crossfaded with the sidechain.
#[derive(Debug, Clone)]
pub(super) struct Sidechain {
    /// The second input, undelayed, then delayed for `lookahead`.
    own: Rows,
    /// The crossfade of both inputs.
    mixed: Rows,
    /// Rows in use: one for the mean of all channels, or one each for left and right.
    count: usize,
    delay: Delay,
}

impl Sidechain {
    /// Silence, to be delayed by `latency` samples (one or more).
    pub fn new(latency: usize) -> Self {
        let rows = [[0.0; BLOCK]; 2];
        Self { own: rows, mixed: rows, count: 1, delay: Delay::new(latency, 2) }
    }

    /// Forgets the sound so far.
    pub fn reset(&mut self) {
        self.delay.reset();
    }

    /// Takes the samples `range` of the `sidechain`, silence if it has no channels, to `position` in the current block,
    /// for a main input of `channels`.
    pub fn push(
        &mut self,
        channels: usize,
        sidechain: &[&[f32]],
        range: Range<usize>,
        position: usize,
    ) {
        self.count = if channels == 2 { 2 } else { 1 };
        for (index, row) in self.own.iter_mut().take(self.count).enumerate() {
            let row = &mut row[position..position + range.len()];
            if sidechain.is_empty() {
                row.fill(0.0);
            } else {
                channel(self.count, sidechain, index, range.clone(), row);
                row.iter_mut().for_each(|sample| *sample = finite(*sample));
            }
        }
    }

    /// Crossfades the samples `part` of the block with the delayed ones; see [`Delay::process`].
    pub fn delay(&mut self, part: Range<usize>, wet: impl Fn(usize) -> f32) {
        let [one, other] = self.own.each_mut().map(|row| &mut row[..]);
        self.delay.process(&mut [one, other][..self.count], part, wet);
    }

    /// Crossfades the samples `range` of the main `channels` with the sidechain's from `position` on:
    /// `share(frame)` is the part of the sidechain, 0..1, with frames counted from the start of the range.
    pub fn mix(
        &mut self,
        channels: &[&mut [f32]],
        range: Range<usize>,
        position: usize,
        share: impl Fn(usize) -> f32,
    ) {
        let rows = self.mixed.iter_mut().zip(&self.own).take(self.count);
        for (index, (row, own)) in rows.enumerate() {
            let part = position..position + range.len();
            let (row, own) = (&mut row[part.clone()], &own[part]);
            channel(self.count, channels, index, range.clone(), row);
            for (frame, (sample, own)) in row.iter_mut().zip(own).enumerate() {
                let share = share(frame);
                *sample = (1.0 - share) * *sample + share * own;
            }
        }
    }

    /// The crossfade of both inputs in the current block: one row, or left and right.
    pub fn rows(&self) -> &[[f32; BLOCK]] {
        &self.mixed[..self.count]
    }
}
