//! The listener of a file on a thread of its own, ahead of the filter.
//!
//! A long file has three threads, a batch has a file for each core. From 2 097 152 samples on, `render` of one file reads and
//! listens on one thread (`Scout`), filters on another, and rounds and writes on a third. The scout runs the filter's own
//! listener, blocks ahead, and the filter takes its decisions: the same bits. The file is decoded twice, which is less work
//! than to hand samples over. With keys, and where key or tuning follow the music, the listener depends on more than the input
//! and stays on the filter's thread.

use super::{Error, Input, Source};
use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};
use tone_filter_dsp::{Decided, Scout, ToneFilter};

/// Frames that are listened to at a time.
const BLOCK: usize = 16_384;

/// Queue length in blocks; absorbs jitter.
const WAITING: usize = 4;

/// Decisions about the input that the filter has not taken yet.
pub struct Ahead {
    decided: Receiver<(usize, Decided)>,
    /// Samples that the filter knows the decisions about, and has not been passed yet.
    known: usize,
}

/// Runs `work` while `scout` decides about `input`, and about the silence that follows the input.
///
/// # Errors
/// The errors of `work`, and a file that cannot be opened.
pub fn with_listener<T>(
    input: &Input,
    scout: Scout,
    work: impl FnOnce(Ahead) -> Result<T, Error>,
) -> Result<T, Error> {
    let source = Source::open(input)?;
    thread::scope(|scope| {
        let (to, decided) = sync_channel(WAITING);
        scope.spawn(move || listen(source, scout, &to));
        work(Ahead { decided, known: 0 })
    })
}

/// Listens until nobody wants to know.
fn listen(mut source: Source, mut scout: Scout, to: &SyncSender<(usize, Decided)>) {
    let mut block = vec![Vec::new(); usize::from(source.format().channels)];
    // The filter's thread reads the same file, and returns the error.
    while source.read(&mut block, BLOCK).is_ok() {
        if block[0].is_empty() {
            block.iter_mut().for_each(|channel| channel.resize(BLOCK, 0.0));
        }
        if to.send((block[0].len(), scout.listen(&block))).is_err() {
            return;
        }
    }
}

impl Ahead {
    /// Passes the decisions about the next `frames` samples to `filter`.
    pub fn lead(&mut self, filter: &mut ToneFilter, frames: usize) {
        while self.known < frames {
            let Ok((more, decided)) = self.decided.recv() else { return };
            self.known += more;
            filter.follow_scout(decided);
        }
        self.known -= frames;
    }
}
