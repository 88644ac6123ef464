//! CLAP's tail extension: the tail for the current settings and latency.

use super::super::shim::shim;
use clap_sys::{ext::tail::clap_plugin_tail, plugin::clap_plugin};

pub static EXTENSION: clap_plugin_tail = clap_plugin_tail { get: Some(get) };

unsafe extern "C" fn get(plugin: *const clap_plugin) -> u32 {
    // SAFETY: the host got `plugin` from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    let samples = shim.tail();
    shim.notifier.tail_read(samples);
    samples
}
