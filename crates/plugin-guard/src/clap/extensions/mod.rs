//! CLAP extensions beside nice-plug's, and in place of some of them.

mod context_menu;
mod latency;
mod note_name;
mod overridden;
mod param_indication;
mod preset_load;
mod remote_controls;
mod tail;
pub mod track_info;

pub use overridden::Overridden;

use super::shim::ClapShim;
use crate::Request;
use clap_sys::{
    ext::{
        gui::CLAP_EXT_GUI,
        latency::CLAP_EXT_LATENCY,
        note_name::CLAP_EXT_NOTE_NAME,
        param_indication::{CLAP_EXT_PARAM_INDICATION, CLAP_EXT_PARAM_INDICATION_COMPAT},
        params::{CLAP_EXT_PARAMS, clap_param_info, clap_plugin_params},
        preset_load::{CLAP_EXT_PRESET_LOAD, CLAP_EXT_PRESET_LOAD_COMPAT},
        remote_controls::{CLAP_EXT_REMOTE_CONTROLS, CLAP_EXT_REMOTE_CONTROLS_COMPAT},
        state::CLAP_EXT_STATE,
        tail::CLAP_EXT_TAIL,
        track_info::{CLAP_EXT_TRACK_INFO, CLAP_EXT_TRACK_INFO_COMPAT},
    },
    id::clap_id,
};
use std::{
    ffi::{CStr, CString, c_char, c_void},
    mem::MaybeUninit,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

/// The extension called `id`, if it is one of these.
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
    } else if is(&[CLAP_EXT_PARAMS, CLAP_EXT_STATE]) {
        shim.overridden.find(shim, id)
    } else if is(&[CLAP_EXT_GUI]) && !shim.host.has_gui() {
        // nice-plug would panic when such a host opens the editor.
        Some(ptr::null())
    } else {
        None
    }
}

/// Does what waits for the main thread.
///
/// # Safety
/// On the main thread only.
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
        shim.notifier.on_main_thread(shim);
    });
}

/// The result of `call`, or `otherwise` if it panics: a panic must not reach the host.
pub fn without_panic<T>(otherwise: T, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(otherwise)
}

/// `text`, which is short ASCII, as C has it.
fn c_text<const N: usize>(text: &str) -> [c_char; N] {
    let mut chars = [0; N];
    for (char, byte) in chars[..N - 1].iter_mut().zip(text.bytes()) {
        *char = byte as c_char;
    }
    chars
}

/// `text` as C has it, without zeros in it.
pub fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// The host's text at `text`; empty for null.
///
/// # Safety
/// It must be null or a string that ends with a zero.
pub unsafe fn rust_string(text: *const c_char) -> String {
    // SAFETY: by the caller.
    let text = if text.is_null() { c"" } else { unsafe { CStr::from_ptr(text) } };
    text.to_string_lossy().into_owned()
}

/// The parameters' ids with those that nice-plug gives the host, which has them in the order of the map.
///
/// # Safety
/// On the main thread only.
unsafe fn parameter_ids(shim: &ClapShim) -> &[(String, clap_id)] {
    shim.parameters.get_or_init(|| {
        // SAFETY: by the caller; the extension is nice-plug's own, and there is room for what it fills in.
        let number = |index: usize| unsafe {
            let params = inner_extension::<clap_plugin_params>(shim, CLAP_EXT_PARAMS)?;
            let mut info = MaybeUninit::<clap_param_info>::uninit();
            let found = params.get_info?(&shim.inner, index as u32, info.as_mut_ptr());
            found.then(|| (*info.as_ptr()).id)
        };
        let ids = shim.instance.params().param_map().into_iter().enumerate();
        ids.filter_map(|(index, (id, ..))| Some((id, number(index)?))).collect()
    })
}

/// nice-plug's extension called `id`.
///
/// # Safety
/// The id must be that of a `T`.
unsafe fn inner_extension<T: Copy>(shim: &ClapShim, id: &CStr) -> Option<T> {
    let get = shim.inner.get_extension?;
    // SAFETY: nice-plug's data pointer is in its own functions, and its extensions live as long as the plugin.
    unsafe { get(&shim.inner, id.as_ptr()).cast::<T>().as_ref().copied() }
}
