//! State that the engine, the screen and the devices share.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};
use tone_filter_dsp::{Bands, Settings};

pub struct Controls {
    state: Mutex<State>,
    pub quit: AtomicBool,
    pub paused: AtomicBool,
    /// Whether the ring may be empty: before the start, at the end and in a pause. At other times, an empty ring is a gap.
    pub idle: AtomicBool,
    /// Number of gaps in the sound so far.
    pub gaps: AtomicU64,
}

pub struct State {
    pub settings: Settings,
    /// Bands at the end of the sound written to the ring so far.
    pub bands: Bands,
    /// Duration in seconds of the sound written to the ring so far.
    pub seconds: f64,
    /// First error of a device.
    pub failure: Option<String>,
}

impl Controls {
    pub fn new(settings: &Settings) -> Self {
        let state =
            State { settings: *settings, bands: Bands::default(), seconds: 0.0, failure: None };
        Self {
            state: Mutex::new(state),
            quit: false.into(),
            paused: false.into(),
            idle: true.into(),
            gaps: 0.into(),
        }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        // All fields are valid even after a panic of another thread.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn quit(&self) {
        self.quit.store(true, Relaxed);
    }

    /// Ends the playback because a device has failed. The first error is kept.
    pub fn fail(&self, error: String) {
        self.state().failure.get_or_insert(error);
        self.quit();
    }

    /// Sets the settings from the next chunk on. Lookahead does not change, because it would change the latency.
    pub fn set_settings(&self, settings: Settings) {
        let state = &mut self.state().settings;
        *state = Settings { lookahead: state.lookahead, ..settings };
    }

    /// Counts a gap: sound should play, but the ring is empty, or the device reports an xrun. Does nothing while the ring may
    /// be empty.
    pub fn count_gap(&self) {
        if !self.idle.load(Relaxed) {
            self.gaps.fetch_add(1, Relaxed);
        }
    }
}
