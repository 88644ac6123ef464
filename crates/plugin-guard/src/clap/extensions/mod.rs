//! CLAP extensions that nice-plug lacks, and replacements for some that it has.

mod answers;
mod context_menu;
pub mod host_data;
mod overridden;
mod preset_load;

use super::{ffi::without_panic, shim::ClapShim};
use crate::Request;
use clap_sys::ext::{
    context_menu::{CLAP_EXT_CONTEXT_MENU, CLAP_EXT_CONTEXT_MENU_COMPAT},
    gui::{CLAP_EXT_GUI, clap_plugin_gui},
    latency::CLAP_EXT_LATENCY,
    note_name::CLAP_EXT_NOTE_NAME,
    param_indication::{CLAP_EXT_PARAM_INDICATION, CLAP_EXT_PARAM_INDICATION_COMPAT},
    preset_load::{CLAP_EXT_PRESET_LOAD, CLAP_EXT_PRESET_LOAD_COMPAT},
    remote_controls::{CLAP_EXT_REMOTE_CONTROLS, CLAP_EXT_REMOTE_CONTROLS_COMPAT},
    tail::CLAP_EXT_TAIL,
    track_info::{CLAP_EXT_TRACK_INFO, CLAP_EXT_TRACK_INFO_COMPAT},
};
use std::{
    ffi::{CStr, c_void},
    ptr::from_ref,
};

/// Returns the extension called `id`, if this module has it.
pub fn find(shim: &ClapShim, id: &CStr) -> Option<*const c_void> {
    let own: [(&[&CStr], *const c_void); 8] = [
        (&[CLAP_EXT_LATENCY], from_ref(&answers::LATENCY).cast()),
        (&[CLAP_EXT_TAIL], from_ref(&answers::TAIL).cast()),
        (&[CLAP_EXT_NOTE_NAME], from_ref(&answers::NOTE_NAME).cast()),
        (&REMOTE_CONTROLS, from_ref(&answers::REMOTE_CONTROLS).cast()),
        (&CONTEXT_MENU, from_ref(&context_menu::EXTENSION).cast()),
        (&PRESET_LOAD, from_ref(&preset_load::EXTENSION).cast()),
        (&PARAM_INDICATION, from_ref(&host_data::INDICATION).cast()),
        (&TRACK_INFO, from_ref(&host_data::TRACK).cast()),
    ];
    let found = own.into_iter().find(|(ids, _)| ids.contains(&id));
    found.map(|(_, extension)| extension).or_else(|| overridden::find(shim, id))
}

const REMOTE_CONTROLS: [&CStr; 2] = [CLAP_EXT_REMOTE_CONTROLS, CLAP_EXT_REMOTE_CONTROLS_COMPAT];
const CONTEXT_MENU: [&CStr; 2] = [CLAP_EXT_CONTEXT_MENU, CLAP_EXT_CONTEXT_MENU_COMPAT];
const PRESET_LOAD: [&CStr; 2] = [CLAP_EXT_PRESET_LOAD, CLAP_EXT_PRESET_LOAD_COMPAT];
const PARAM_INDICATION: [&CStr; 2] = [CLAP_EXT_PARAM_INDICATION, CLAP_EXT_PARAM_INDICATION_COMPAT];
const TRACK_INFO: [&CStr; 2] = [CLAP_EXT_TRACK_INFO, CLAP_EXT_TRACK_INFO_COMPAT];

/// Serves the editor's requests, and sends the notifications that have waited for the main thread.
///
/// # Safety
/// Must be called on the main thread.
pub unsafe fn on_main_thread(shim: &ClapShim) {
    // SAFETY: the caller is on the main thread.
    without_panic((), || unsafe {
        for request in shim.instance.link().take_requests() {
            match request {
                Request::MarkDirty => shim.host.mark_dirty(),
                Request::ReadValues => shim.host.rescan_values(),
                Request::Resize(size) => {
                    shim.instance.link().answer_resize(resize(shim, size));
                }
                Request::Menu(place) => context_menu::open(shim, place),
                Request::Perform { id, action } => context_menu::perform(shim, id, action),
            }
        }
        shim.notify_on_main_thread();
        shim.request_flush();
    });
}

/// Requests the window size `size` in pixels from the host. If the host grants the size, resizes the window and returns true.
///
/// # Safety
/// Must be called on the main thread.
unsafe fn resize(shim: &ClapShim, size: [u32; 2]) -> bool {
    // SAFETY: guaranteed by the caller; the extension is nice-plug's own, and there is room for the answers.
    unsafe {
        let Some(gui) = shim.inner_extension::<clap_plugin_gui>(CLAP_EXT_GUI) else { return false };
        let now = || {
            let [mut width, mut height] = [0; 2];
            gui.get_size.map(|get| get(&shim.inner, &mut width, &mut height));
            [width, height]
        };
        let before = now();
        let granted = shim.host.request_resize(size);
        // If the host has already resized the window, perhaps to another size, that size stays.
        if granted && now() == before {
            gui.set_size.map(|set| set(&shim.inner, size[0], size[1]));
        }
        granted
    }
}
