//! The track that the plugin is on, for the editor. nice-plug's own extension answers to only one of CLAP's two ids for it, and
//! keeps a name that the host has removed.

use super::super::{
    shim::{ClapShim, shim},
    without_panic::without_panic,
};
use clap_sys::{ext::track_info::clap_plugin_track_info, plugin::clap_plugin};

pub static EXTENSION: clap_plugin_track_info = clap_plugin_track_info { changed: Some(changed) };

/// Reads the track from the host.
///
/// # Safety
/// Must be called on the main thread.
pub unsafe fn read(shim: &ClapShim) {
    // SAFETY: the caller is on the main thread.
    without_panic((), || shim.instance.link().set_track(unsafe { shim.host.track() }));
}

unsafe extern "C" fn changed(plugin: *const clap_plugin) {
    // SAFETY: the host got `plugin` from `ClapShim::create`, and calls this on its main thread.
    unsafe { read(shim(plugin)) };
}
