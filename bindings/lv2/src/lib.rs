//! Tone Filter as an LV2 plugin: an adapter around the filter, without an editor.
//!
//! [`ports`] is the table of plugins and ports, made of the tables of settings. By this table, an instance reads the settings
//! from its ports, and [`turtle`] generates the files that describe the plugin to hosts.
//!
//! * Hosts save a choice as the index of its entry, so new entries come last.
//! * Stereo, mono and sidechain are three plugins: hosts such as ffmpeg count optional audio inputs as channels, too.
//! * There is no window: the editor needs the CLAP and VST3 plugin, whose `Session`, `Meters` and `HostLink` it shows, and
//!   nice-plug's parameters, which it sets.
//! * LV2 cannot request a restart, so the sound and the latency port follow the setting Lookahead at once, with a crossfade.

pub mod abi;
mod events;
mod instance;
pub mod ports;
pub mod state;
pub mod turtle;

use abi::{Descriptor, Feature, Handle, uri};
use instance::Instance;
use ports::VARIANTS;
use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
};

/// Descriptors of the plugins, in the order of [`VARIANTS`].
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

/// Returns the plugin with this index, or NULL. This is LV2's entry point.
// SAFETY: no other symbol has this name.
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
    // SAFETY: LV2 hosts pass valid features.
    let instance = unsafe { Instance::new(&VARIANTS[VARIANT], rate, features) };
    instance.map_or(ptr::null_mut(), |instance| Box::into_raw(Box::new(instance)).cast())
}

/// Returns the instance to which a host's handle points.
///
/// # Safety
/// The handle must come from [`instantiate`]. Nothing else may use it during `'a`: LV2 hosts call one function at a time.
unsafe fn instance<'a>(handle: Handle) -> &'a mut Instance {
    // SAFETY: the caller guarantees it.
    unsafe { &mut *handle.cast() }
}

unsafe extern "C" fn connect_port(handle: Handle, port: u32, data: *mut c_void) {
    // SAFETY: LV2 hosts pass a valid handle and call one function at a time.
    unsafe { instance(handle) }.connect(port, data);
}

unsafe extern "C" fn activate(handle: Handle) {
    // SAFETY: LV2 hosts pass a valid handle and call one function at a time.
    unsafe { instance(handle) }.activate();
}

unsafe extern "C" fn run(handle: Handle, frames: u32) {
    // SAFETY: LV2 hosts pass a valid handle, and have connected the ports to valid data.
    unsafe { instance(handle).run(frames) }
}

unsafe extern "C" fn cleanup(handle: Handle) {
    // SAFETY: LV2 hosts pass a handle from `instantiate` and do not use it again.
    drop(unsafe { Box::from_raw(handle.cast::<Instance>()) });
}

unsafe extern "C" fn extension_data(uri: *const c_char) -> *const c_void {
    // SAFETY: LV2 hosts pass a C string.
    match unsafe { CStr::from_ptr(uri) } == uri::STATE {
        true => ptr::from_ref(&state::INTERFACE).cast(),
        false => ptr::null(),
    }
}
