//! Presets that the host loads, by the locations that `preset_discovery.rs` has told it.

use super::{c_string, rust_string, without_panic};
use crate::plugin::clap_entry::{Guarded, guarded};
use clap_sys::{
    ext::preset_load::clap_plugin_preset_load,
    factory::preset_discovery::{
        CLAP_PRESET_DISCOVERY_LOCATION_FILE, CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN,
    },
    plugin::clap_plugin,
};
use std::{ffi::c_char, path::Path};
use tone_filter_presets::Error;

pub static EXTENSION: clap_plugin_preset_load =
    clap_plugin_preset_load { from_location: Some(from_location) };

/// The system's error behind `error`, or 0.
pub fn os_error(error: &Error) -> i32 {
    match error {
        Error::Read { source, .. } => source.raw_os_error().unwrap_or(0),
        _ => 0,
    }
}

/// Loads the preset of this kind at `location`, or under `key`. The error is the system's, or 0, with a message.
fn load(guarded: &Guarded, kind: u32, location: &str, key: &str) -> Result<(), (i32, String)> {
    let loaded = match kind {
        CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN => guarded.presets.factory(key),
        CLAP_PRESET_DISCOVERY_LOCATION_FILE => guarded.presets.file(Path::new(location)),
        _ => return Err((0, format!("presets are no locations of kind {kind}"))),
    };
    loaded.map_err(|error| (os_error(&error), error.to_string()))
}

unsafe extern "C" fn from_location(
    plugin: *const clap_plugin,
    kind: u32,
    location: *const c_char,
    key: *const c_char,
) -> bool {
    // SAFETY: the host has the plugin from `create_plugin`, and calls this on its main thread; CLAP promises texts or null.
    without_panic(false, || unsafe {
        let (guarded, at) = (guarded(plugin), (kind, location, key));
        match load(guarded, kind, &rust_string(location), &rust_string(key)) {
            Ok(()) => {
                guarded.host.rescan_values();
                guarded.told.on_main_thread(guarded);
                guarded.host.preset_loaded(at);
                true
            }
            Err((os_error, message)) => {
                guarded.host.preset_failed(at, os_error, &c_string(&message));
                false
            }
        }
    })
}
