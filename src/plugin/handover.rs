//! Takes what a plugin shares with its guard from the plugin's construction by nice-plug, which keeps the plugin to
//! itself, to the guard of `clap_entry.rs` or `vst3_entry.rs`, which has it constructed.

use crate::editor::PresetLoader;
use std::cell::Cell;

thread_local! {
    static CREATED: Cell<Option<PresetLoader>> = const { Cell::new(None) };
}

/// A plugin and its editor have been constructed, whose presets this loads.
pub fn put(presets: PresetLoader) {
    CREATED.set(Some(presets));
}

/// What loads the presets of the plugin that was constructed last on this thread; it is taken once.
pub fn take() -> Option<PresetLoader> {
    CREATED.take()
}
