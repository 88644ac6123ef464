//! CLAP's latency extension. nice-plug's own has two faults: it also reports changes while the plugin is inactive, and it
//! requests a restart for the latency of the current activation.

use super::super::shim::shim;
use clap_sys::{ext::latency::clap_plugin_latency, plugin::clap_plugin};

pub static EXTENSION: clap_plugin_latency = clap_plugin_latency { get: Some(get) };

unsafe extern "C" fn get(plugin: *const clap_plugin) -> u32 {
    // SAFETY: the host got `plugin` from `ClapShim::create`.
    unsafe { shim(plugin) }.instance.latency().samples()
}
