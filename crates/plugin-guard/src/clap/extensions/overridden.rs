//! nice-plug's own extensions for parameters and state, which afterwards inform the host of other changes.

use super::{
    super::shim::{ClapShim, shim},
    inner_extension,
};
use clap_sys::{
    events::{clap_input_events, clap_output_events},
    ext::{
        params::{CLAP_EXT_PARAMS, clap_plugin_params},
        state::{CLAP_EXT_STATE, clap_plugin_state},
    },
    plugin::clap_plugin,
    stream::clap_istream,
};
use std::{
    ffi::{CStr, c_void},
    ptr,
    sync::{OnceLock, atomic::Ordering},
};

/// nice-plug's extension, and the same with a function of ours.
struct Pair<T> {
    inner: T,
    own: T,
}

/// The extensions, from when the host first asks for them.
#[derive(Default)]
pub struct Overridden {
    params: OnceLock<Pair<clap_plugin_params>>,
    state: OnceLock<Pair<clap_plugin_state>>,
}

/// The extension in `pair`, which is made from nice-plug's by `own`.
///
/// # Safety
/// As for [`inner_extension`].
unsafe fn find<T: Copy>(
    pair: &OnceLock<Pair<T>>,
    shim: &ClapShim,
    id: &CStr,
    own: fn(T) -> T,
) -> Option<*const c_void> {
    if pair.get().is_none() {
        // SAFETY: by the caller.
        let inner = unsafe { inner_extension::<T>(shim, id) }?;
        let _ = pair.set(Pair { inner, own: own(inner) });
    }
    pair.get().map(|pair| ptr::from_ref(&pair.own).cast())
}

impl Overridden {
    /// The extension called `id`, if it is one of these. Hosts ask for them on any thread.
    pub fn find(&self, shim: &ClapShim, id: &CStr) -> Option<*const c_void> {
        // SAFETY: the ids are those of the types.
        unsafe {
            if id == CLAP_EXT_PARAMS {
                let own = |inner| clap_plugin_params { flush: Some(flush), ..inner };
                find(&self.params, shim, CLAP_EXT_PARAMS, own)
            } else if id == CLAP_EXT_STATE {
                let own = |inner| clap_plugin_state { load: Some(load), ..inner };
                find(&self.state, shim, CLAP_EXT_STATE, own)
            } else {
                None
            }
        }
    }
}

unsafe extern "C" fn flush(
    plugin: *const clap_plugin,
    events: *const clap_input_events,
    to: *const clap_output_events,
) {
    // SAFETY: the host has the plugin from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    let inner = shim.overridden.params.get().and_then(|params| params.inner.flush);
    // SAFETY: the arguments are the host's. CLAP calls this on the audio thread if the plugin is active, and otherwise on
    // the main thread.
    unsafe {
        if let Some(inner) = inner {
            inner(plugin, events, to);
        }
        match shim.active.load(Ordering::Relaxed) {
            true => shim.notifier.on_audio_thread(shim),
            false => shim.notifier.on_main_thread(shim),
        }
    }
}

unsafe extern "C" fn load(plugin: *const clap_plugin, stream: *const clap_istream) -> bool {
    // SAFETY: the host has the plugin from `ClapShim::create`.
    let shim = unsafe { shim(plugin) };
    let inner = shim.overridden.state.get().and_then(|state| state.inner.load);
    // SAFETY: the arguments are the host's, which calls this on its main thread.
    unsafe {
        let loaded = inner.is_some_and(|inner| inner(plugin, stream));
        shim.notifier.on_main_thread(shim);
        loaded
    }
}
