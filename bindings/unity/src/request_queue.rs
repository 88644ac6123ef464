//! Requests of scripts to all filters with one instance number: score, position, preset, tempo and keys.

use crate::{levels::Levels, parameters::INSTANCES};
use std::{
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, TryLockError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};
use tone_filter_dsp::{Keyboard, Score, Settings, SharedScores};

/// Requests and levels for each instance number.
pub static QUEUES: LazyLock<Vec<RequestQueue>> =
    LazyLock::new(|| (0..INSTANCES).map(|_| RequestQueue::default()).collect());

/// Requests to the filters with one instance number.
#[derive(Default)]
pub struct Requests {
    /// Settings of a preset, which replace those of the parameters except Morph.
    pub preset: Option<Settings>,
    /// Tempo in beats a minute; `None` for the default.
    pub tempo: Option<f64>,
    pub keyboard: Keyboard,
    /// Score that replaces the listener's decisions; `None` without a score.
    pub score: Option<Arc<Score>>,
    /// References to all scores that an audio thread may still have, so that no audio thread frees a score.
    scores: SharedScores,
    pub position: Position,
}

/// Position in the score at a time on Unity's DSP clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Position {
    /// Number of positions that scripts have set so far, by which a player knows a new one.
    pub count: u64,
    /// Position in seconds from the start of the score.
    pub seconds: f64,
    /// Time on Unity's DSP clock at which the score is at `seconds`, in seconds; `None` for the start of the next block.
    pub dsp_time: Option<f64>,
    /// Seconds from the start of the score until it repeats; `None` for never.
    pub length: Option<f64>,
}

impl Position {
    /// Returns the position in seconds at the start of the next block, which is at `now` seconds of Unity's DSP clock.
    pub fn at(&self, now: f64) -> f64 {
        self.seconds + self.dsp_time.map_or(0.0, |then| now - then)
    }
}

impl Requests {
    /// Sets the position, with the next [`Position::count`].
    pub fn seek(&mut self, position: Position) {
        self.position = Position { count: self.position.count + 1, ..position };
    }
}

/// Requests to the filters with one instance number, behind a lock, and the levels that these filters report.
///
/// No thread ever sleeps until the lock is free. If it is taken, the audio thread reads at its next block, and a script tries
/// again and again. So releasing the lock need not wake a thread, and makes no system call.
#[derive(Default)]
pub struct RequestQueue {
    version: AtomicU64,
    requests: Mutex<Requests>,
    /// Levels of the filter that was the last to process a block.
    pub levels: Levels,
}

impl RequestQueue {
    /// Returns how many times the requests have been changed.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Changes the requests. Tries until no other thread holds the lock, so it is not for the audio thread.
    pub fn change(&self, change: impl FnOnce(&mut Requests)) {
        let mut requests = loop {
            match self.try_lock() {
                Some(requests) => break requests,
                None => thread::yield_now(),
            }
        };
        change(&mut requests);
        let Requests { score, scores, .. } = &mut *requests;
        scores.keep(score.as_ref());
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Locks the requests; returns `None` if another thread has locked them. Neither waits nor allocates.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, Requests>> {
        match self.requests.try_lock() {
            Ok(requests) => Some(requests),
            Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_audio_thread_does_not_wait_for_a_script() {
        let queue = RequestQueue::default();
        queue.change(|_| assert!(queue.try_lock().is_none()));
        assert!(queue.try_lock().is_some());
    }
}
