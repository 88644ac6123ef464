//! Extensions that answer the host: latency, tail, names of keys, and pages of parameters for hardware controllers.

use super::super::{ffi::c_text, shim::shim};
use clap_sys::{
    ext::{
        latency::clap_plugin_latency,
        note_name::{clap_note_name, clap_plugin_note_name},
        remote_controls::{clap_plugin_remote_controls, clap_remote_controls_page},
        tail::clap_plugin_tail,
    },
    id::CLAP_INVALID_ID,
    plugin::clap_plugin,
};

/// Replaces nice-plug's extension. nice-plug also reports changes while the plugin is inactive, and requests a restart even for
/// the latency with which the plugin has just been activated.
pub static LATENCY: clap_plugin_latency = clap_plugin_latency { get: Some(latency) };

pub static TAIL: clap_plugin_tail = clap_plugin_tail { get: Some(tail) };

pub static NOTE_NAME: clap_plugin_note_name =
    clap_plugin_note_name { count: Some(name_count), get: Some(name) };

pub static REMOTE_CONTROLS: clap_plugin_remote_controls =
    clap_plugin_remote_controls { count: Some(page_count), get: Some(page) };

unsafe extern "C" fn latency(plugin: *const clap_plugin) -> u32 {
    // SAFETY: the host got `plugin` from `ClapShim::create`.
    unsafe { shim(plugin) }.instance.latency().samples()
}

unsafe extern "C" fn tail(plugin: *const clap_plugin) -> u32 {
    // SAFETY: as above.
    unsafe { shim(plugin) }.read_tail()
}

unsafe extern "C" fn name_count(plugin: *const clap_plugin) -> u32 {
    // SAFETY: as above.
    let shim = unsafe { shim(plugin) };
    shim.names_read();
    (0..).take_while(|index| shim.instance.note_name(*index).is_some()).count() as u32
}

unsafe extern "C" fn name(plugin: *const clap_plugin, index: u32, to: *mut clap_note_name) -> bool {
    // SAFETY: as above.
    let note = unsafe { shim(plugin) }.instance.note_name(index);
    let Some(note) = note.filter(|_| !to.is_null()) else { return false };
    let (name, key) = (c_text(note.name), i16::from(note.key));
    let content = clap_note_name { name, port: -1, key, channel: -1 };
    // SAFETY: CLAP promises room for a name.
    unsafe { to.write(content) };
    true
}

unsafe extern "C" fn page_count(plugin: *const clap_plugin) -> u32 {
    // SAFETY: as above.
    unsafe { shim(plugin) }.pages.len() as u32
}

unsafe extern "C" fn page(
    plugin: *const clap_plugin,
    index: u32,
    page: *mut clap_remote_controls_page,
) -> bool {
    // SAFETY: as above.
    let shim = unsafe { shim(plugin) };
    let Some((title, ids)) = shim.pages.get(index as usize).filter(|_| !page.is_null()) else {
        return false;
    };
    let mut param_ids = [CLAP_INVALID_ID; 8];
    for (slot, id) in param_ids.iter_mut().zip(ids) {
        // SAFETY: this is the main thread.
        *slot = unsafe { shim.clap_id(id) }.unwrap_or(CLAP_INVALID_ID);
    }
    let content = clap_remote_controls_page {
        section_name: c_text(shim.name),
        page_id: index,
        page_name: c_text(title),
        param_ids,
        is_for_preset: false,
    };
    // SAFETY: CLAP promises room for a page.
    unsafe { page.write(content) };
    true
}
