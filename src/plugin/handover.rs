//! Takes what a plugin shares with its guard from the plugin's construction by nice-plug, which keeps the plugin to
//! itself, to the guard of `clap_entry.rs` or `vst3_entry.rs`, which has it constructed.

use super::{ToneFilterPlugin, latency::Latency, restart::Restart};
use crate::editor::PresetLoader;
use nice_plug::prelude::AsyncExecutor;
use std::{cell::Cell, sync::Arc};

/// What a plugin and its guard share.
pub struct Shared {
    /// Loads presets into the plugin and its editor.
    pub presets: PresetLoader,
    /// The latency of the plugin's sound.
    pub latency: Arc<Latency>,
    /// What asks a VST3 host to activate the plugin again.
    pub restart: Arc<Restart>,
    /// Has [`Restart::run`] called on the host's thread.
    pub executor: AsyncExecutor<ToneFilterPlugin>,
}

thread_local! {
    static CREATED: Cell<Option<Shared>> = const { Cell::new(None) };
}

/// A plugin and its editor have been constructed.
pub fn put(shared: Shared) {
    CREATED.set(Some(shared));
}

/// What the plugin that was constructed last on this thread shares; it is taken once.
pub fn take() -> Option<Shared> {
    CREATED.take()
}
