//! The tail at any time, for the settings as they are, and the latency as it is.

use super::super::shim::shim;
use clap_sys::{ext::tail::clap_plugin_tail, plugin::clap_plugin};

pub static EXTENSION: clap_plugin_tail = clap_plugin_tail { get: Some(get) };

unsafe extern "C" fn get(plugin: *const clap_plugin) -> u32 {
    // SAFETY: the host has the plugin from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    let samples = shim.tail();
    shim.notifier.tail(samples);
    samples
}
