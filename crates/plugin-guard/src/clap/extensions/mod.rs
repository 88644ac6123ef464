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
                Request::Menu(place) => context_menu::open(shim, place),
                Request::Perform { id, action } => context_menu::perform(shim, id, action),
            }
        }
        shim.notify_on_main_thread();
        shim.request_flush();
    });
}
