//! What a saved state has beside the values of the ports: the settings that are no numbers, as the texts that presets have.

use crate::{
    abi::{BAD_TYPE, Feature, Handle, PLAIN, Retrieve, SUCCESS, StateInterface, Store, Urid},
    instance::Instance,
};
use std::ffi::{CStr, c_void};
use tone_filter_dsp::Settings;

/// The keys of the state: the settings `bands`, `custom` and `targets`.
pub const KEYS: [&CStr; 3] =
    [c"urn:tone-filter:bands", c"urn:tone-filter:custom", c"urn:tone-filter:targets"];

/// The functions for [`uri::STATE`](crate::abi::uri::STATE).
pub static INTERFACE: StateInterface = StateInterface { save, restore };

/// The values of [`KEYS`].
pub fn texts(settings: &Settings) -> [String; KEYS.len()] {
    let Settings { bands, custom, targets, .. } = settings;
    [bands.to_string(), custom.to_string(), targets.to_string()]
}

/// Puts what [`texts`] has returned into `settings`; what is missing or invalid has no effect. Whether all is valid.
fn put(settings: &mut Settings, texts: [Option<&str>; KEYS.len()]) -> bool {
    /// Whether `text` is missing or valid.
    fn parse<T: std::str::FromStr>(place: &mut T, text: Option<&str>) -> bool {
        text.is_none_or(|text| text.parse().map(|value| *place = value).is_ok())
    }
    let [bands, custom, targets] = texts;
    let valid = [
        parse(&mut settings.bands, bands),
        parse(&mut settings.custom, custom),
        parse(&mut settings.targets, targets),
    ];
    valid.iter().all(|valid| *valid)
}

unsafe extern "C" fn save(
    instance: Handle,
    store: Store,
    handle: *mut c_void,
    _flags: u32,
    _features: *const *const Feature,
) -> u32 {
    // SAFETY: by LV2, it comes from `instantiate`, and nothing changes it meanwhile.
    let instance = unsafe { &*instance.cast::<Instance>() };
    let texts = texts(&instance.portless);
    let stored = instance.urids.keys.iter().zip(texts).map(|(key, text)| {
        let text = text + "\0";
        // SAFETY: the host's function is called with the host's handle, and copies the text.
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
    // SAFETY: by LV2, it comes from `instantiate`, and nothing else uses it meanwhile.
    let instance = unsafe { &mut *instance.cast::<Instance>() };
    let text = |key: Urid| {
        let (mut size, mut kind, mut flags) = (0, 0, 0);
        // SAFETY: the host's function is called with the host's handle and valid pointers.
        let value = unsafe { retrieve(handle, key, &mut size, &mut kind, &mut flags) };
        if value.is_null() || kind != instance.urids.string {
            return None;
        }
        // SAFETY: by LV2, the value has so many bytes, until the end of this call.
        let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), size) };
        str::from_utf8(bytes).ok().map(|text| text.trim_end_matches('\0'))
    };
    let texts = instance.urids.keys.map(text);
    // What an older state lacks has the value of a new instance.
    instance.portless = Settings::default();
    if put(&mut instance.portless, texts) { SUCCESS } else { BAD_TYPE }
}
