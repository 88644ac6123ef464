//! Takes what a plugin shares with its guard from the plugin's construction by nice-plug, which keeps the plugin to
//! itself, to the guard of `clap_entry.rs` or `vst3_entry.rs`, which has it constructed.

use crate::{editor::PresetLoader, params::ToneFilterParams};
use std::{cell::Cell, sync::Arc};

thread_local! {
    static CREATED: Cell<Option<Arc<ToneFilterParams>>> = const { Cell::new(None) };
    static PRESETS: Cell<Option<PresetLoader>> = const { Cell::new(None) };
}

/// A plugin with these parameters has been constructed.
pub fn put(params: &Arc<ToneFilterParams>) {
    CREATED.set(Some(params.clone()));
}

/// The parameters of the plugin that was constructed last on this thread; they are taken once.
pub fn take() -> Option<Arc<ToneFilterParams>> {
    CREATED.take()
}

/// An editor has been constructed whose presets this loads.
pub fn put_presets(presets: PresetLoader) {
    PRESETS.set(Some(presets));
}

/// What loads the presets of the editor that was constructed last on this thread; it is taken once.
pub fn take_presets() -> Option<PresetLoader> {
    PRESETS.take()
}
