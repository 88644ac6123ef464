//! nice-plug's extensions for parameters, state and editor, with some functions replaced.
//!
//! * `flush` corrects events as `process` does. `flush` and `load` notify the host of a changed latency and of changed key names;
//!   `flush` on the audio thread also of a changed tail.
//! * `get_value` leaves the host's modulation out: a host takes the value for the one that it has set, and adds its modulation.
//! * `load` drops the window's edits that the host has not fetched: nice-plug would apply them to the loaded state.
//! * `text_to_value` also accepts inexact names, see [`Instance::spelled`](crate::Instance::spelled).
//! * `create` fails in a host without windows, where nice-plug would panic. Every host is offered the extension: some programs scan
//!   plugins with a host object that has no extensions.

use super::super::{
    events::ClampedEvents,
    ffi::{c_string, rust_string},
    shim::{ClapShim, shim},
};
use clap_sys::{
    events::{clap_event_header, clap_input_events, clap_output_events},
    ext::{
        gui::{CLAP_EXT_GUI, clap_plugin_gui},
        params::{CLAP_EXT_PARAMS, clap_plugin_params},
        state::{CLAP_EXT_STATE, clap_plugin_state},
    },
    id::clap_id,
    plugin::clap_plugin,
    stream::clap_istream,
};
use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
    sync::{OnceLock, atomic::Ordering},
};

/// Returns the host's version of nice-plug's extension called `id`. At the first call, `replace` makes it from nice-plug's; then
/// `cell` stores it.
///
/// # Safety
/// The requirements of [`ClapShim::inner_extension`] apply.
unsafe fn replaced<T: Copy>(
    cell: &OnceLock<T>,
    shim: &ClapShim,
    id: &CStr,
    replace: fn(T) -> T,
) -> Option<*const c_void> {
    // SAFETY: guaranteed by the caller.
    let inner = unsafe { shim.inner_extension::<T>(id) }?;
    Some(ptr::from_ref(cell.get_or_init(|| replace(inner))).cast())
}

/// Returns the extension called `id`, if this module replaces it. Hosts call this on any thread.
pub fn find(shim: &ClapShim, id: &CStr) -> Option<*const c_void> {
    // SAFETY: each id belongs to the type of its extension.
    unsafe {
        if id == CLAP_EXT_PARAMS {
            let replace = |inner| clap_plugin_params {
                flush: Some(flush),
                get_value: Some(get_value),
                text_to_value: Some(text_to_value),
                ..inner
            };
            replaced(&shim.overridden.params, shim, CLAP_EXT_PARAMS, replace)
        } else if id == CLAP_EXT_STATE {
            let replace = |inner| clap_plugin_state { load: Some(load), ..inner };
            replaced(&shim.overridden.state, shim, CLAP_EXT_STATE, replace)
        } else if id == CLAP_EXT_GUI {
            let replace = |inner| clap_plugin_gui { create: Some(create), ..inner };
            replaced(&shim.overridden.gui, shim, CLAP_EXT_GUI, replace)
        } else {
            None
        }
    }
}

unsafe extern "C" fn flush(
    plugin: *const clap_plugin,
    events: *const clap_input_events,
    to: *const clap_output_events,
) {
    // SAFETY: the host got `plugin` from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    let inner = shim.inner_params().and_then(|params| params.flush);
    shim.edits_sent();
    // SAFETY: CLAP promises a list or null.
    let clamped = unsafe { events.as_ref() }.map(|events| ClampedEvents::new(events, 1, None));
    let list = clamped.as_ref().map(ClampedEvents::list);
    // SAFETY: the host guarantees the arguments, except the events, which live until the call returns. CLAP calls this on the
    // audio thread if the plugin is active, and otherwise on the main thread.
    unsafe {
        if let Some(inner) = inner {
            inner(plugin, list.as_ref().map_or(ptr::null(), ptr::from_ref), to);
        }
        match shim.active.load(Ordering::Relaxed) {
            true => shim.notify_on_audio_thread(),
            false => shim.notify_on_main_thread(),
        }
    }
}

unsafe extern "C" fn get_value(
    plugin: *const clap_plugin,
    parameter: clap_id,
    value: *mut f64,
) -> bool {
    // SAFETY: the host got `plugin` from `ClapShim::create`, and guarantees room for a value. It calls this on its main thread.
    unsafe {
        let Some((_, param)) = shim(plugin).parameter(parameter) else { return false };
        let steps = param.step_count().unwrap_or(1) as f64;
        value.write(f64::from(param.unmodulated_normalized_value()) * steps);
        true
    }
}

unsafe extern "C" fn text_to_value(
    plugin: *const clap_plugin,
    parameter: clap_id,
    text: *const c_char,
    value: *mut f64,
) -> bool {
    // SAFETY: the host got `plugin` from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    let inner = shim.inner_params().and_then(|params| params.text_to_value);
    // SAFETY: the host guarantees the arguments, and calls this on its main thread.
    unsafe {
        let known = shim.parameter(parameter);
        let spelled = known.and_then(|(id, _)| shim.instance.spelled(id, &rust_string(text)));
        let spelled = spelled.map(|text| c_string(&text));
        let text = spelled.as_ref().map_or(text, |text| text.as_ptr());
        inner.is_some_and(|inner| inner(plugin, parameter, text, value))
    }
}

unsafe extern "C" fn load(plugin: *const clap_plugin, stream: *const clap_istream) -> bool {
    // SAFETY: the host got `plugin` from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    // SAFETY: the extension is of this type; the host guarantees the arguments, and calls this on its main thread.
    unsafe {
        let inner = shim.inner_extension::<clap_plugin_state>(CLAP_EXT_STATE);
        drop_edits(shim);
        let load = inner.and_then(|state| state.load);
        let loaded = load.is_some_and(|load| load(plugin, stream));
        shim.notify_on_main_thread();
        loaded
    }
}

/// Makes nice-plug forget the window's edits that the host has not fetched.
///
/// # Safety
/// Must be called on the main thread.
pub unsafe fn drop_edits(shim: &ClapShim) {
    unsafe extern "C" fn forget(_: *const clap_output_events, _: *const clap_event_header) -> bool {
        true
    }
    let nowhere = clap_output_events { ctx: ptr::null_mut(), try_push: Some(forget) };
    if let Some(flush) = shim.inner_params().and_then(|params| params.flush) {
        // SAFETY: without input, nice-plug only empties its queue, which any thread may do.
        unsafe { flush(&shim.plugin, ptr::null(), &nowhere) };
    }
}

unsafe extern "C" fn create(
    plugin: *const clap_plugin,
    api: *const c_char,
    is_floating: bool,
) -> bool {
    // SAFETY: the host got `plugin` from `ClapShim::create`, and guarantees the other arguments; the extension is of this type.
    unsafe {
        let shim = shim(plugin);
        let inner = shim.inner_extension::<clap_plugin_gui>(CLAP_EXT_GUI);
        let create = inner.and_then(|gui| gui.create).filter(|_| shim.host.has_gui());
        create.is_some_and(|create| create(plugin, api, is_floating))
    }
}
