//! Timeline: controls act on the sound that enters the filter while they are set.
//!
//! With lookahead, listener and early bank get the sound undelayed, and the controls as well. Banks, voices and output get the
//! sound from the delay, and the controls with an equal delay. So each stage reads the controls that were set when its sound came
//! in.

use crate::{analysis::Resolved, lanes::BLOCK};
use std::collections::VecDeque;

/// Controls of the delayed sound, and queued ones of the sound that is still in the delay.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// Controls of the sound that has left the delay.
    pub now: Resolved,
    /// Queued controls, each with the number of the block in which they take effect.
    waiting: VecDeque<(u64, Resolved)>,
    /// Number of blocks that have ended.
    pub blocks: u64,
}

impl Timeline {
    /// Creates the timeline for a delay of `latency` samples. Allocates all memory that it ever needs: for each block, only the
    /// last controls are kept.
    pub fn new(now: Resolved, latency: usize) -> Self {
        Self { now, waiting: VecDeque::with_capacity(latency / BLOCK + 3), blocks: 0 }
    }

    /// Returns the controls that were set last.
    pub fn last(&mut self) -> &mut Resolved {
        self.waiting.back_mut().map_or(&mut self.now, |(_, last)| last)
    }

    pub fn jump(&mut self, controls: Resolved) {
        self.waiting.clear();
        self.now = controls;
    }

    /// Queues controls for the first block that begins at least `samples` after the start of the current block.
    pub fn wait(&mut self, controls: Resolved, samples: usize) {
        let due = self.blocks + samples.div_ceil(BLOCK) as u64;
        self.waiting.pop_back_if(|(last, _)| *last == due);
        self.waiting.push_back((due, controls));
    }

    /// Begins a block. Returns whether the current controls have changed.
    pub fn begin_block(&mut self) -> bool {
        let mut changes = false;
        while let Some((_, controls)) = self.waiting.pop_front_if(|(due, _)| *due <= self.blocks) {
            (self.now, changes) = (controls, true);
        }
        changes
    }
}
