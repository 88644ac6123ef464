//! CLAP extensions that nice-plug lacks, and replacements for some that it has.

mod context_menu;
mod latency;
mod note_name;
mod overridden;
mod param_indication;
mod preset_load;
mod remote_controls;
mod tail;
pub mod track_info;

use super::{shim::ClapShim, without_panic::without_panic};
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
use std::ffi::{CStr, c_void};

/// Returns the extension called `id`, if this module has it.
pub fn find(shim: &ClapShim, id: &CStr) -> Option<*const c_void> {
    let is = |ids: &[&CStr]| ids.contains(&id);
    if is(&[CLAP_EXT_REMOTE_CONTROLS, CLAP_EXT_REMOTE_CONTROLS_COMPAT]) {
        Some((&raw const remote_controls::EXTENSION).cast())
    } else if is(&[CLAP_EXT_CONTEXT_MENU, CLAP_EXT_CONTEXT_MENU_COMPAT]) {
        Some((&raw const context_menu::EXTENSION).cast())
    } else if is(&[CLAP_EXT_NOTE_NAME]) {
        Some((&raw const note_name::EXTENSION).cast())
    } else if is(&[CLAP_EXT_LATENCY]) {
        Some((&raw const latency::EXTENSION).cast())
    } else if is(&[CLAP_EXT_TAIL]) {
        Some((&raw const tail::EXTENSION).cast())
    } else if is(&[CLAP_EXT_PRESET_LOAD, CLAP_EXT_PRESET_LOAD_COMPAT]) {
        Some((&raw const preset_load::EXTENSION).cast())
    } else if is(&[CLAP_EXT_PARAM_INDICATION, CLAP_EXT_PARAM_INDICATION_COMPAT]) {
        Some((&raw const param_indication::EXTENSION).cast())
    } else if is(&[CLAP_EXT_TRACK_INFO, CLAP_EXT_TRACK_INFO_COMPAT]) {
        Some((&raw const track_info::EXTENSION).cast())
    } else {
        overridden::find(shim, id)
    }
}

/// Serves the requests and notifications that wait for the main thread.
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

/// Gives the window the size that the host grants, if it does so for `size` in pixels.
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
        // The host need not set the size, but may have set another one.
        if granted && now() == before {
            gui.set_size.map(|set| set(&shim.inner, size[0], size[1]));
        }
        granted
    }
}
