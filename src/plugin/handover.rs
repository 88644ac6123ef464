//! Takes what a plugin shares with its guard from the plugin's construction by nice-plug, which keeps the plugin to
//! itself, to the guard of `clap_entry.rs` or `vst3_entry.rs`, which has it constructed.

use super::worker::Executor;
use crate::editor::PresetLoader;
use std::cell::Cell;

/// What a plugin shares.
pub struct Created {
    /// Loads its presets.
    pub presets: PresetLoader,
    /// Posts tasks in its name.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "see `worker.rs`"))]
    pub executor: Executor,
}

thread_local! {
    static CREATED: Cell<Option<Created>> = const { Cell::new(None) };
}

/// A plugin and its editor have been constructed, which share this.
pub fn put(created: Created) {
    CREATED.set(Some(created));
}

/// What the plugin shares that was constructed last on this thread; it is taken once.
pub fn take() -> Option<Created> {
    CREATED.take()
}
