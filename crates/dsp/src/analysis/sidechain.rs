//! Sidechain: crossfade of the bands' input from the main input to a second input.

use crate::{
    delay::Delay,
    downmix::{channel, finite},
    lanes::BLOCK,
};
use std::ops::Range;

/// Left and right in the current block, or one channel in the first row.
type Rows = [[f32; BLOCK]; 2];

/// Sidechain input and its crossfade with the main input, in the current block.
#[derive(Debug, Clone)]
pub(super) struct Sidechain {
    /// Samples of the sidechain: undelayed until `delay` is called, then with the delay of `lookahead`.
    samples: Rows,
    /// Crossfade of both inputs.
    mixed: Rows,
    /// Number of rows in use.
    count: usize,
    delay: Delay,
}

impl Sidechain {
    /// Creates a silent sidechain with a delay of `latency` samples (one or more).
    pub fn new(latency: usize) -> Self {
        let rows = [[0.0; BLOCK]; 2];
        Self { samples: rows, mixed: rows, count: 1, delay: Delay::new(latency, 2) }
    }

    pub fn reset(&mut self) {
        self.delay.reset();
    }

    /// Copies `range` of the `sidechain` to `position` in the block, for a main input of this number of `channels`. A sidechain
    /// without channels is silence.
    pub fn push(
        &mut self,
        channels: usize,
        sidechain: &[&[f32]],
        range: Range<usize>,
        position: usize,
    ) {
        self.count = if channels == 2 { 2 } else { 1 };
        for (index, row) in self.samples.iter_mut().take(self.count).enumerate() {
            let row = &mut row[position..position + range.len()];
            if sidechain.is_empty() {
                row.fill(0.0);
            } else {
                channel(self.count, sidechain, index, range.clone(), row);
                row.iter_mut().for_each(|sample| *sample = finite(*sample));
            }
        }
    }

    /// Crossfades `part` of the block with the delayed sidechain, whose weight is `share(frame)`; the part starts at frame 0.
    pub fn delay(&mut self, part: Range<usize>, share: impl Fn(usize) -> f32) {
        let [one, other] = self.samples.each_mut().map(|row| &mut row[..]);
        self.delay.process(&mut [one, other][..self.count], part, |frame| (1.0, share(frame)));
    }

    /// Crossfades `range` of the main `channels` with the sidechain, which starts at `position` in the block. `share(frame)` is
    /// the weight of the sidechain, 0..1; the range starts at frame 0.
    pub fn mix(
        &mut self,
        channels: &[&mut [f32]],
        range: Range<usize>,
        position: usize,
        share: impl Fn(usize) -> f32,
    ) {
        let rows = self.mixed.iter_mut().zip(&self.samples).take(self.count);
        for (index, (row, samples)) in rows.enumerate() {
            let part = position..position + range.len();
            let (row, samples) = (&mut row[part.clone()], &samples[part]);
            channel(self.count, channels, index, range.clone(), row);
            for (frame, (main, side)) in row.iter_mut().zip(samples).enumerate() {
                let share = share(frame);
                *main = (1.0 - share) * *main + share * side;
            }
        }
    }

    /// Returns the crossfade of both inputs: one row, or left and right.
    pub fn rows(&self) -> &[[f32; BLOCK]] {
        &self.mixed[..self.count]
    }
}
