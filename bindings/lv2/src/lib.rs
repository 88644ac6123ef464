//! Tone Filter as an LV2 plugin: an adapter around the filter, without an editor.
//!
//! [`ports`] is the table of plugins and ports, by which an instance reads the settings, and of which [`turtle`] makes the files
//! that describe the plugin to hosts. So the tables of settings and presets remain their only description.
//!
//! * The order of a list's entries is part of the description: hosts save the number of a choice, so new entries come last.
//! * Stereo, mono and sidechain are three plugins: ffmpeg and others give a plugin as many channels as it has audio inputs,
//!   optional or not.
//! * No window: the editor shows `Session`, `Meters` and `HostLink` of the CLAP and VST3 plugin and sets nice-plug's
//!   parameters.
//! * LV2 has no request for a restart, so sound and latency port follow Lookahead at once, by a crossfade.

pub mod abi;
mod events;
mod instance;
mod keys;
pub mod ports;
pub mod state;
pub mod turtle;
pub mod urids;

use abi::{Descriptor, Feature, Handle, uri};
use instance::Instance;
use ports::VARIANTS;
use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
};

/// The plugins, in the order of [`VARIANTS`].
static DESCRIPTORS: [Descriptor; VARIANTS.len()] =
    [descriptor::<0>(), descriptor::<1>(), descriptor::<2>()];

const fn descriptor<const VARIANT: usize>() -> Descriptor {
    Descriptor {
        uri: VARIANTS[VARIANT].uri.as_ptr(),
        instantiate: instantiate::<VARIANT>,
        connect_port,
        activate: Some(activate),
        run,
        deactivate: None,
        cleanup,
        extension_data,
    }
}

/// The plugin with this index, or NULL: the entry of LV2.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
pub extern "C" fn lv2_descriptor(index: u32) -> *const Descriptor {
    DESCRIPTORS.get(index as usize).map_or(ptr::null(), ptr::from_ref)
}

unsafe extern "C" fn instantiate<const VARIANT: usize>(
    _descriptor: *const Descriptor,
    rate: f64,
    _bundle: *const c_char,
    features: *const *const Feature,
) -> Handle {
    // SAFETY: by LV2, these are the host's features.
    let instance = unsafe { Instance::new(&VARIANTS[VARIANT], rate, features) };
    instance.map_or(ptr::null_mut(), |instance| Box::into_raw(Box::new(instance)).cast())
}

/// Returns the instance of a handle.
///
/// # Safety
/// The instance comes from [`instantiate`], and nothing else uses it for `'a`: by LV2, hosts call one function of an instance at a time.
unsafe fn instance<'a>(handle: Handle) -> &'a mut Instance {
    // SAFETY: by the caller.
    unsafe { &mut *handle.cast() }
}

unsafe extern "C" fn connect_port(handle: Handle, port: u32, data: *mut c_void) {
    // SAFETY: by LV2.
    unsafe { instance(handle) }.connect(port, data);
}

unsafe extern "C" fn activate(handle: Handle) {
    // SAFETY: by LV2.
    unsafe { instance(handle) }.activate();
}

unsafe extern "C" fn run(handle: Handle, frames: u32) {
    // SAFETY: by LV2, for the handle and for what the ports are connected to.
    unsafe { instance(handle).run(frames) }
}

unsafe extern "C" fn cleanup(handle: Handle) {
    // SAFETY: by LV2, it comes from `instantiate` and is not used any more.
    drop(unsafe { Box::from_raw(handle.cast::<Instance>()) });
}

unsafe extern "C" fn extension_data(uri: *const c_char) -> *const c_void {
    // SAFETY: by LV2, it is a C string.
    match unsafe { CStr::from_ptr(uri) } == uri::STATE {
        true => ptr::from_ref(&state::INTERFACE).cast(),
        false => ptr::null(),
    }
}
