//! State that hosts save beside the ports' values: the text settings, each as the text that a preset has for it.

use crate::{
    abi::{BAD_TYPE, Feature, Handle, PLAIN, Retrieve, SUCCESS, StateInterface, Store, Urid},
    instance::Instance,
};
use std::ffi::{CString, c_void};
use tone_filter_dsp::{Settings, TEXTS, Text};

/// Returns the URI that is the key of a text setting in a saved state.
pub fn key(text: &Text) -> CString {
    CString::new(format!("urn:tone-filter:{}", text.id)).expect("an id has no zero")
}

/// Functions with which hosts save and restore the state, for [`uri::STATE`](crate::abi::uri::STATE).
pub static INTERFACE: StateInterface = StateInterface { save, restore };

unsafe extern "C" fn save(
    instance: Handle,
    store: Store,
    handle: *mut c_void,
    _flags: u32,
    _features: *const *const Feature,
) -> u32 {
    // SAFETY: LV2 hosts pass a handle from `instantiate`, and nothing changes the instance meanwhile.
    let instance = unsafe { &*instance.cast::<Instance>() };
    let stored = instance.urids.keys.iter().zip(&TEXTS).map(|(key, text)| {
        let text = text.get(&instance.portless) + "\0";
        // SAFETY: the host's function gets the host's handle, and copies the text.
        unsafe {
            store(handle, *key, text.as_ptr().cast(), text.len(), instance.urids.string, PLAIN)
        }
    });
    stored.fold(SUCCESS, u32::max)
}

unsafe extern "C" fn restore(
    instance: Handle,
    retrieve: Retrieve,
    handle: *mut c_void,
    _flags: u32,
    _features: *const *const Feature,
) -> u32 {
    // SAFETY: LV2 hosts pass a handle from `instantiate`, and nothing else uses the instance meanwhile.
    let instance = unsafe { &mut *instance.cast::<Instance>() };
    let text = |key: Urid| {
        let (mut size, mut kind, mut flags) = (0, 0, 0);
        // SAFETY: the host's function gets the host's handle and valid pointers.
        let value = unsafe { retrieve(handle, key, &mut size, &mut kind, &mut flags) };
        if value.is_null() || kind != instance.urids.string {
            return None;
        }
        // SAFETY: by LV2, the value has `size` bytes until the end of this call.
        let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), size) };
        str::from_utf8(bytes).ok().map(|text| text.trim_end_matches('\0'))
    };
    let texts = instance.urids.keys.map(text);
    // An older state may lack texts; these get the values of a new instance.
    instance.portless = Settings::default();
    let settings = &mut instance.portless;
    let mut status = SUCCESS;
    for (setting, text) in TEXTS.iter().zip(texts) {
        if text.is_some_and(|text| setting.set(settings, text).is_err()) {
            status = BAD_TYPE;
        }
    }
    status
}
