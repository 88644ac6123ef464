//! Latency of the sound. Replaces nice-plug's extension, which also reports a change while the plugin is not active, and
//! requests a restart for the latency of the current activation.

use super::super::shim::shim;
use clap_sys::{ext::latency::clap_plugin_latency, plugin::clap_plugin};

pub static EXTENSION: clap_plugin_latency = clap_plugin_latency { get: Some(get) };

unsafe extern "C" fn get(plugin: *const clap_plugin) -> u32 {
    // SAFETY: the host has the plugin from `ClapShim::create`.
    unsafe { shim(plugin) }.instance.latency().samples()
}
