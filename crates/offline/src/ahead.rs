//! Runs the listener of a file on its own thread, ahead of the filter.
//!
//! For a file of more than 2 097 152 frames or of unknown length, `render` uses three threads: the first reads and listens
//! (`Scout`), the second filters, the third rounds and writes. A batch with a file for each core does without the first. The
//! scout runs the filter's own listener some blocks ahead, and the filter uses the scout's decisions, so the output is the same
//! bit for bit. Both threads decode the file, which is less work than to pass the samples on. With keys, and where key or
//! tuning follow the music, the listener depends on more than the input and stays on the filter's thread.

use crate::{
    error::Error,
    source::{Input, Source},
};
use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};
use tone_filter_dsp::{Scout, ScoutDecisions, ToneFilter};

/// Number of frames that the scout takes at a time.
const BLOCK: usize = 16_384;

/// Queue length, in units of [`BLOCK`]; absorbs jitter.
const WAITING: usize = 4;

/// Decisions of the scout that the filter has not received yet.
pub struct DecisionsAhead {
    decided: Receiver<(usize, ScoutDecisions)>,
    /// Number of frames that the filter has decisions for, but has not processed yet.
    decided_frames: usize,
}

/// Runs `work`, while `scout` decides on another thread about `input` and the silence that follows.
pub fn with_listener<T>(
    input: &Input,
    scout: Scout,
    work: impl FnOnce(DecisionsAhead) -> Result<T, Error>,
) -> Result<T, Error> {
    let source = Source::open(input)?;
    thread::scope(|scope| {
        let (to, decided) = sync_channel(WAITING);
        scope.spawn(move || listen(source, scout, &to));
        work(DecisionsAhead { decided, decided_frames: 0 })
    })
}

/// Sends the decisions of `scout` until the receiver is dropped.
fn listen(mut source: Source, mut scout: Scout, to: &SyncSender<(usize, ScoutDecisions)>) {
    let mut block = vec![Vec::new(); usize::from(source.format().channels)];
    // After a failed read, this thread ends: the filter's thread fails at the same place and returns the error.
    while source.read(&mut block, BLOCK).is_ok() {
        if block[0].is_empty() {
            block.iter_mut().for_each(|channel| channel.resize(BLOCK, 0.0));
        }
        if to.send((block[0].len(), scout.listen(&block))).is_err() {
            return;
        }
    }
}

impl DecisionsAhead {
    /// Passes decisions about the next `frames` frames to `filter`, and waits for them if need be.
    pub fn pass_on(&mut self, filter: &mut ToneFilter, frames: usize) {
        while self.decided_frames < frames {
            let Ok((more, decided)) = self.decided.recv() else { return };
            self.decided_frames += more;
            filter.follow_scout(decided);
        }
        self.decided_frames -= frames;
    }
}
