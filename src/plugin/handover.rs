//! Takes a plugin's parameters from its construction by nice-plug, which keeps the plugin to itself, to the guard of
//! `clap_entry.rs` or `vst3_entry.rs`, which has it constructed.

use crate::params::ToneFilterParams;
use std::{cell::Cell, sync::Arc};

thread_local! {
    static CREATED: Cell<Option<Arc<ToneFilterParams>>> = const { Cell::new(None) };
}

/// A plugin with these parameters has been constructed.
pub fn put(params: &Arc<ToneFilterParams>) {
    CREATED.set(Some(params.clone()));
}

/// The parameters of the plugin that was constructed last on this thread; they are taken once.
pub fn take() -> Option<Arc<ToneFilterParams>> {
    CREATED.take()
}
