//! Timeline: controls act on the sound that enters the filter while they are set.
//!
//! With lookahead, listener and early bank get the sound at once; banks, voices and output get it out of the delay, and their
//! controls as late. Each stage reads the controls of the sound that it processes.

use crate::{
    analysis::Resolved,
    lanes::BLOCK,
    settings::{Controls, Routing},
};
use std::collections::VecDeque;

/// Controls of the sound in one stage.
#[derive(Debug, Clone, Copy)]
pub struct Acting {
    pub settings: Resolved,
    pub routing: Routing,
}

impl Acting {
    pub fn controls(&self) -> Controls {
        Controls { settings: *self.settings, routing: self.routing }
    }
}

/// Current controls of the delayed sound, and queued controls of the sound that is still in the delay.
#[derive(Debug, Clone)]
pub struct Timeline {
    now: Acting,
    /// Later controls, each with the block from which on they act.
    waiting: VecDeque<(u64, Acting)>,
    /// Blocks that have ended.
    blocks: u64,
}

impl Timeline {
    /// Creates the timeline of a delay of `latency` samples. Allocates all memory that it ever needs: controls that act from the
    /// same block on replace each other.
    pub fn new(now: Acting, latency: usize) -> Self {
        Self { now, waiting: VecDeque::with_capacity(latency / BLOCK + 3), blocks: 0 }
    }

    /// Returns the controls of the sound that has left the delay.
    pub fn now(&self) -> &Acting {
        &self.now
    }

    /// Returns the controls that were set last.
    pub fn last(&mut self) -> &mut Acting {
        self.waiting.back_mut().map_or(&mut self.now, |(_, last)| last)
    }

    /// Lets `acting` be the only controls, from now on.
    pub fn jump(&mut self, acting: Acting) {
        self.waiting.clear();
        self.now = acting;
    }

    /// Lets `acting` be the controls from the first block on that begins `samples` after the start of the current one, or later.
    pub fn wait(&mut self, acting: Acting, samples: usize) {
        let due = self.blocks + samples.div_ceil(BLOCK) as u64;
        self.waiting.pop_back_if(|(last, _)| *last == due);
        self.waiting.push_back((due, acting));
    }

    /// Begins a block. Returns whether other controls act from it on.
    pub fn begin_block(&mut self) -> bool {
        let mut changes = false;
        while let Some((_, acting)) = self.waiting.pop_front_if(|(due, _)| *due <= self.blocks) {
            (self.now, changes) = (acting, true);
        }
        changes
    }

    pub fn end_block(&mut self) {
        self.blocks += 1;
    }
}
