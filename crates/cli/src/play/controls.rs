//! State that the engine, the screen and the devices share.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};
use tone_filter_dsp::{Bands, Settings};

pub struct Controls {
    state: Mutex<State>,
    quit: AtomicBool,
    paused: AtomicBool,
    /// Whether the ring may be empty: before the start, at the end and in a pause. At other times, an empty ring is a gap.
    idle: AtomicBool,
    /// Number of gaps in the sound so far.
    gaps: AtomicU64,
}

struct State {
    settings: Settings,
    bands: Bands,
    /// Duration in seconds of the sound written to the ring so far.
    seconds: f64,
    /// First error of a device.
    failure: Option<String>,
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

    fn state(&self) -> MutexGuard<'_, State> {
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

    /// Returns the error of the device that has failed, if any.
    pub fn failure(&self) -> Option<String> {
        self.state().failure.clone()
    }

    pub fn toggle_pause(&self) {
        self.paused.fetch_xor(true, Relaxed);
    }

    pub fn paused(&self) -> bool {
        self.paused.load(Relaxed)
    }

    pub fn settings(&self) -> Settings {
        self.state().settings
    }

    /// Sets the settings from the next chunk on. Lookahead does not change, because it would change the latency.
    pub fn set_settings(&self, settings: Settings) {
        let state = &mut self.state().settings;
        *state = Settings { lookahead: state.lookahead, ..settings };
    }

    /// Sets the duration of the sound written to the ring so far, and the `bands` at its end.
    pub fn advance(&self, bands: Bands, seconds: f64) {
        let mut state = self.state();
        (state.bands, state.seconds) = (bands, seconds);
    }

    pub fn set_idle(&self, idle: bool) {
        self.idle.store(idle, Relaxed);
    }

    pub fn has_quit(&self) -> bool {
        self.quit.load(Relaxed)
    }

    pub fn bands(&self) -> Bands {
        self.state().bands
    }

    /// Returns the duration in seconds of the sound written to the ring so far.
    pub fn seconds(&self) -> f64 {
        self.state().seconds
    }

    /// Returns whether the ring may be empty, because nothing should play.
    pub fn is_idle(&self) -> bool {
        self.idle.load(Relaxed)
    }

    /// Counts a gap: sound should play, but the ring is empty. Does nothing at times when the ring may be empty.
    pub fn count_gap(&self) {
        if !self.is_idle() {
            self.gaps.fetch_add(1, Relaxed);
        }
    }

    pub fn gaps(&self) -> u64 {
        self.gaps.load(Relaxed)
    }
}
