//! Runs the listener of a file on its own thread, ahead of the filter.
//!
//! For an output of more than 2 097 152 frames or of unknown length, `render` uses three threads. The first reads the file and
//! runs the listener (`Scout`), the second filters, the third quantises and writes. A batch with a file for each core has no
//! listener thread.
//!
//! The scout is a listener like the filter's, which runs some blocks ahead. The filter uses its decisions, so the output is
//! bit-identical. Both threads decode the file, which takes less time than passing samples between them. The listener
//! stays on the filter's thread in a loop, where the input jumps back, and if the sound depends on more than the input: with
//! keys, or with a key, tuning or tempo that follows the music.

use crate::{
    error::Error,
    source::{Input, Source},
};
use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};
use tone_filter_dsp::{Scout, ScoutDecisions, ToneFilter};

/// Maximum number of frames that the scout analyses at a time.
const BLOCK: usize = 16_384;

/// Length of the queue of decisions, in blocks of [`BLOCK`] frames. The queue absorbs jitter.
const WAITING: usize = 4;

/// Receiving end of the queue in which the scout's decisions wait for the filter.
pub struct DecisionsAhead {
    /// Queue with the number of frames of each block, and the decisions on them.
    decided: Receiver<(usize, ScoutDecisions)>,
    /// Number of frames that the filter has not processed yet, although it has the decisions on them.
    decided_frames: usize,
}

/// Runs `work` on this thread. Meanwhile, `scout` analyses `input`, and then silence until `work` ends, on another thread.
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
    // After a failed read, this thread ends: the filter's thread fails at the same frame and returns the error.
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
    /// Passes to `filter` the decisions on its next `frames` frames. Waits for them if necessary.
    pub fn pass_on(&mut self, filter: &mut ToneFilter, frames: usize) {
        while self.decided_frames < frames {
            let Ok((block_frames, decided)) = self.decided.recv() else { return };
            self.decided_frames += block_frames;
            filter.follow_scout(decided);
        }
        self.decided_frames -= frames;
    }
}
