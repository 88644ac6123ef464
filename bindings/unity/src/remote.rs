//! Requests of scripts to the filters with a number: score, position, preset, tempo and keys.

use crate::{levels::Levels, parameters::INSTANCES};
use std::{
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, TryLockError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};
use tone_filter_dsp::{DEFAULT_TEMPO, Keyboard, Score, Settings, SharedScores};

/// A number for each instance that scripts can address.
pub static REMOTES: LazyLock<Vec<Remote>> =
    LazyLock::new(|| (0..INSTANCES).map(|_| Remote::default()).collect());

/// Requests.
#[derive(Clone)]
pub struct Requests {
    /// Settings in place of the parameters, as of a factory preset.
    pub preset: Option<Settings>,
    /// Beats a minute.
    pub tempo: f64,
    /// The keys that are held.
    pub keyboard: Keyboard,
    /// Decides which notes are played.
    pub score: Option<Arc<Score>>,
    /// Time of the music.
    pub position: Position,
}

/// A time of the score.
#[derive(Debug, Clone, Copy, Default)]
pub struct Position {
    /// Counts the positions that have been set.
    pub count: u64,
    /// Seconds from the start of the score.
    pub seconds: f64,
    /// When it is that time, in seconds of Unity's DSP clock; `None` for the start of the next block.
    pub dsp_time: Option<f64>,
    /// Seconds after which the score begins again; `None` for never.
    pub length: Option<f64>,
}

impl Position {
    /// Seconds of the score at `now` on Unity's DSP clock, in which the next block starts.
    pub fn at(&self, now: f64) -> f64 {
        self.seconds + self.dsp_time.map_or(0.0, |then| now - then)
    }
}

impl Requests {
    /// Sets the time of the music.
    pub fn seek(&mut self, position: Position) {
        self.position = Position { count: self.position.count + 1, ..position };
    }
}

impl Default for Requests {
    fn default() -> Self {
        let (preset, score) = (None, None);
        let (keyboard, position) = (Keyboard::default(), Position::default());
        Self { preset, tempo: DEFAULT_TEMPO, keyboard, score, position }
    }
}

/// Requests to a number, and the levels of the filter with that number.
///
/// No thread ever waits within the lock's code: if a script holds the lock, the audio thread reads at its next block, and
/// another script tries again. So releasing the lock wakes nobody, and is no system call.
#[derive(Default)]
pub struct Remote {
    version: AtomicU64,
    state: Mutex<State>,
    /// Levels of the filter that has last processed a block.
    pub levels: Levels,
}

#[derive(Default)]
struct State {
    requests: Requests,
    scores: SharedScores,
}

impl Remote {
    /// Counts the changes.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Passes the requests to `take`, unless a script is setting some at this moment. Neither waits nor allocates.
    pub fn try_read<T>(&self, take: impl FnOnce(&Requests) -> T) -> Option<T> {
        self.try_lock().map(|state| take(&state.requests))
    }

    /// Changes the requests. Not for the audio thread.
    pub fn change(&self, change: impl FnOnce(&mut Requests)) {
        let mut state = loop {
            match self.try_lock() {
                Some(state) => break state,
                None => thread::yield_now(),
            }
        };
        let State { requests, scores } = &mut *state;
        change(requests);
        scores.keep(requests.score.as_ref());
        self.version.fetch_add(1, Ordering::Release);
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, State>> {
        match self.state.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
