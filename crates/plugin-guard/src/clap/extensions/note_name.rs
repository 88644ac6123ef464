//! CLAP's note name extension: names of keys.

use super::super::{c_text::c_text, shim::shim};
use clap_sys::{
    ext::note_name::{clap_note_name, clap_plugin_note_name},
    plugin::clap_plugin,
};

pub static EXTENSION: clap_plugin_note_name =
    clap_plugin_note_name { count: Some(count), get: Some(get) };

unsafe extern "C" fn count(plugin: *const clap_plugin) -> u32 {
    // SAFETY: the host got `plugin` from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    shim.notifier.names_read(shim.instance.note_names_version());
    (0..).take_while(|index| shim.instance.note_name(*index).is_some()).count() as u32
}

unsafe extern "C" fn get(plugin: *const clap_plugin, index: u32, to: *mut clap_note_name) -> bool {
    // SAFETY: the host got `plugin` from `ClapShim::create`.
    let note = unsafe { shim(plugin) }.instance.note_name(index);
    let Some(note) = note.filter(|_| !to.is_null()) else { return false };
    let (name, key) = (c_text(note.name), i16::from(note.key));
    let content = clap_note_name { name, port: -1, key, channel: -1 };
    // SAFETY: CLAP promises room for a name.
    unsafe { to.write(content) };
    true
}
