//! The names of keys: those of the bands that they play.

use super::c_text;
use crate::plugin::clap_entry::{Guarded, guarded};
use clap_sys::{
    ext::note_name::{clap_note_name, clap_plugin_note_name},
    plugin::clap_plugin,
};
use tone_filter_dsp::{
    Keys,
    notes::{TONES, midi_note, name},
};

pub static EXTENSION: clap_plugin_note_name =
    clap_plugin_note_name { count: Some(count), get: Some(get) };

/// The key of the lowest band.
fn first_key(guarded: &Guarded) -> u32 {
    midi_note(0, guarded.params.chosen().transpose) as u32
}

/// A number that changes when a host should read the names again: because they are other ones, or because keys begin or
/// cease to play.
pub fn state(guarded: &Guarded) -> u32 {
    first_key(guarded) | u32::from(guarded.params.chosen().keys != Keys::Off) << 8
}

unsafe extern "C" fn count(plugin: *const clap_plugin) -> u32 {
    // SAFETY: the host has the plugin from `create_plugin`.
    let guarded = unsafe { guarded(plugin) };
    guarded.told.names(state(guarded));
    // The highest bands may have no key.
    let keys = 128 - first_key(guarded);
    keys.min(TONES as u32)
}

unsafe extern "C" fn get(plugin: *const clap_plugin, index: u32, to: *mut clap_note_name) -> bool {
    // SAFETY: the host has the plugin from `create_plugin`.
    let first = first_key(unsafe { guarded(plugin) });
    let key = first + index;
    if index >= TONES as u32 || key > 127 || to.is_null() {
        return false;
    }
    // The name of the band, on any port and channel.
    let (name, key) = (c_text(name(index as usize)), key as i16);
    let content = clap_note_name { name, port: -1, key, channel: -1 };
    // SAFETY: CLAP promises room for a name.
    unsafe { to.write(content) };
    true
}
