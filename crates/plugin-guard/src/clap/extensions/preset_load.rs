//! Loads presets from the locations that `preset_discovery.rs` declares.

use super::{
    super::{
        ffi::{c_string, rust_string, without_panic},
        shim::shim,
    },
    overridden,
};
use crate::{Instance, Location, PresetError};
use clap_sys::{
    ext::preset_load::clap_plugin_preset_load,
    factory::preset_discovery::{
        CLAP_PRESET_DISCOVERY_LOCATION_FILE, CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN,
    },
    plugin::clap_plugin,
};
use std::{ffi::c_char, path::Path};

pub static EXTENSION: clap_plugin_preset_load =
    clap_plugin_preset_load { from_location: Some(from_location) };

/// Loads the file at `location`, or the factory preset called `key`, depending on `kind`.
fn load(instance: &dyn Instance, kind: u32, location: &str, key: &str) -> Result<(), PresetError> {
    match kind {
        CLAP_PRESET_DISCOVERY_LOCATION_PLUGIN => instance.load_preset(Location::Factory(key)),
        CLAP_PRESET_DISCOVERY_LOCATION_FILE => {
            instance.load_preset(Location::File(Path::new(location)))
        }
        _ => {
            let message = format!("presets are no locations of kind {kind}");
            Err(PresetError { os_error: 0, message })
        }
    }
}

unsafe extern "C" fn from_location(
    plugin: *const clap_plugin,
    kind: u32,
    location: *const c_char,
    key: *const c_char,
) -> bool {
    // SAFETY: the host got `plugin` from `ClapShim::create`, and calls this on its main thread; CLAP promises strings or null.
    without_panic(false, || unsafe {
        let (shim, at) = (shim(plugin), (kind, location, key));
        overridden::drop_edits(shim);
        match load(&*shim.instance, kind, &rust_string(location), &rust_string(key)) {
            Ok(()) => {
                shim.host.rescan_values();
                shim.notify_on_main_thread();
                shim.host.preset_loaded(at);
                true
            }
            Err(PresetError { os_error, message }) => {
                shim.host.preset_failed(at, os_error, &c_string(&message));
                false
            }
        }
    })
}
