//! nice-plug's extensions for parameters and state. Here, they also notify the host of changed tail, names and latency, and read
//! what people type into a host's field.

use super::super::{
    c_text::{c_string, rust_string},
    shim::{ClapShim, Pair, shim},
};
use clap_sys::{
    events::{clap_input_events, clap_output_events},
    ext::{
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

/// Returns the extension in `pair`. On first use, `own` makes it from nice-plug's extension called `id`.
///
/// # Safety
/// The requirements of [`ClapShim::inner_extension`] apply.
unsafe fn of<T: Copy>(
    pair: &OnceLock<Pair<T>>,
    shim: &ClapShim,
    id: &CStr,
    own: fn(T) -> T,
) -> Option<*const c_void> {
    if pair.get().is_none() {
        // SAFETY: guaranteed by the caller.
        let inner = unsafe { shim.inner_extension::<T>(id) }?;
        let _ = pair.set(Pair { inner, own: own(inner) });
    }
    pair.get().map(|pair| ptr::from_ref(&pair.own).cast())
}

/// Returns the extension called `id`, if this module replaces it. Hosts call this on any thread.
pub fn find(shim: &ClapShim, id: &CStr) -> Option<*const c_void> {
    // SAFETY: each id belongs to the type of its extension.
    unsafe {
        if id == CLAP_EXT_PARAMS {
            let own = |inner| clap_plugin_params {
                flush: Some(flush),
                text_to_value: Some(text_to_value),
                ..inner
            };
            of(&shim.overridden.params, shim, CLAP_EXT_PARAMS, own)
        } else if id == CLAP_EXT_STATE {
            let own = |inner| clap_plugin_state { load: Some(load), ..inner };
            of(&shim.overridden.state, shim, CLAP_EXT_STATE, own)
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
    let inner = shim.overridden.params.get().and_then(|params| params.inner.flush);
    // SAFETY: the arguments are the host's. CLAP calls this on the audio thread if the plugin is active, and otherwise on
    // the main thread.
    unsafe {
        if let Some(inner) = inner {
            inner(plugin, events, to);
        }
        match shim.active.load(Ordering::Relaxed) {
            true => shim.notify_on_audio_thread(),
            false => shim.notify_on_main_thread(),
        }
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
    let inner = shim.overridden.params.get().and_then(|params| params.inner.text_to_value);
    // SAFETY: the arguments are the host's, which calls this on its main thread.
    unsafe {
        let mut ids = shim.parameter_ids().iter();
        let id = ids.find(|(_, number)| *number == parameter);
        let spelled = id.and_then(|(id, _)| shim.instance.spelled(id, &rust_string(text)));
        let spelled = spelled.map(|text| c_string(&text));
        let text = spelled.as_ref().map_or(text, |text| text.as_ptr());
        inner.is_some_and(|inner| inner(plugin, parameter, text, value))
    }
}

unsafe extern "C" fn load(plugin: *const clap_plugin, stream: *const clap_istream) -> bool {
    // SAFETY: the host got `plugin` from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    let inner = shim.overridden.state.get().and_then(|state| state.inner.load);
    // SAFETY: the arguments are the host's, which calls this on its main thread.
    unsafe {
        let loaded = inner.is_some_and(|inner| inner(plugin, stream));
        shim.notify_on_main_thread();
        loaded
    }
}
