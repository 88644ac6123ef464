//! The tail at any time, for the settings as they are, and the latency as it is.

use crate::plugin::clap_entry::{Guarded, guarded};
use clap_sys::{ext::tail::clap_plugin_tail, plugin::clap_plugin};
use tone_filter_dsp::ToneFilter;

pub static EXTENSION: clap_plugin_tail = clap_plugin_tail { get: Some(get) };

/// Samples from the end of the input to that of the output; for ever while frozen.
pub fn samples(guarded: &Guarded) -> u32 {
    let settings = guarded.params.settings().at_tempo(guarded.tempo());
    if settings.freeze {
        return u32::MAX;
    }
    guarded.samples(ToneFilter::tail(&settings))
}

unsafe extern "C" fn get(plugin: *const clap_plugin) -> u32 {
    // SAFETY: the host has the plugin from `create_plugin`.
    let guarded = unsafe { guarded(plugin) };
    let samples = samples(guarded);
    guarded.told.tail(samples);
    samples
}
