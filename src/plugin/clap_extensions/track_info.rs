//! The track that the plugin is on, for the editor. nice-plug's own extension has only one of the two ids, and keeps a
//! name that the host has taken back.

use super::without_panic;
use crate::plugin::clap_entry::{Guarded, guarded};
use clap_sys::{ext::track_info::clap_plugin_track_info, plugin::clap_plugin};

pub static EXTENSION: clap_plugin_track_info = clap_plugin_track_info { changed: Some(changed) };

/// Reads it from the host.
///
/// # Safety
/// On the main thread only.
pub unsafe fn read(guarded: &Guarded) {
    // SAFETY: the caller is on the main thread.
    without_panic((), || guarded.presets.host.set_track(unsafe { guarded.host.track() }));
}

unsafe extern "C" fn changed(plugin: *const clap_plugin) {
    // SAFETY: the host has the plugin from `create_plugin`, and calls this on its main thread.
    unsafe { read(guarded(plugin)) };
}
