//! Types of LV2 that host and plugin share, with the layouts of LV2's C headers, and the numbers that the host has for URIs.

#![expect(missing_docs, reason = "the fields are LV2's")]

use crate::state::key;
use std::ffi::{CStr, c_char, c_void};
use tone_filter_dsp::TEXTS;

/// `LV2_URID`: the host's number for a URI.
pub type Urid = u32;

/// `LV2_Feature`: a feature that a host offers, with data such as [`UridMap`].
#[repr(C)]
pub struct Feature {
    pub uri: *const c_char,
    pub data: *mut c_void,
}

/// `LV2_URID_Map`, the data of the feature [`uri::MAP`].
#[repr(C)]
pub struct UridMap {
    pub handle: *mut c_void,
    /// Returns the number of a URI; 0 if the host has none.
    pub map: unsafe extern "C" fn(handle: *mut c_void, uri: *const c_char) -> Urid,
}

/// `LV2_Handle`: a plugin instance.
pub type Handle = *mut c_void;

/// `LV2_Descriptor`: the functions of a plugin.
#[repr(C)]
pub struct Descriptor {
    pub uri: *const c_char,
    pub instantiate: unsafe extern "C" fn(
        descriptor: *const Descriptor,
        rate: f64,
        bundle: *const c_char,
        features: *const *const Feature,
    ) -> Handle,
    pub connect_port: unsafe extern "C" fn(instance: Handle, port: u32, data: *mut c_void),
    pub activate: Option<unsafe extern "C" fn(instance: Handle)>,
    /// Processes a block of `frames` frames, from and to the data of the ports.
    pub run: unsafe extern "C" fn(instance: Handle, frames: u32),
    pub deactivate: Option<unsafe extern "C" fn(instance: Handle)>,
    pub cleanup: unsafe extern "C" fn(instance: Handle),
    pub extension_data: unsafe extern "C" fn(uri: *const c_char) -> *const c_void,
}

// SAFETY: a descriptor and everything that it points to are constant.
unsafe impl Sync for Descriptor {}

/// `LV2_State_Store_Function`: saves a value; returns 0 on success.
pub type Store = unsafe extern "C" fn(
    handle: *mut c_void,
    key: Urid,
    value: *const c_void,
    size: usize,
    kind: Urid,
    flags: u32,
) -> u32;

/// `LV2_State_Retrieve_Function`: returns a saved value, or NULL.
pub type Retrieve = unsafe extern "C" fn(
    handle: *mut c_void,
    key: Urid,
    size: *mut usize,
    kind: *mut Urid,
    flags: *mut u32,
) -> *const c_void;

/// `LV2_State_Interface`: the functions of the extension [`uri::STATE`].
#[repr(C)]
pub struct StateInterface {
    /// Passes the state's values to `store`. Returns a status, such as [`SUCCESS`].
    pub save: unsafe extern "C" fn(
        instance: Handle,
        store: Store,
        handle: *mut c_void,
        flags: u32,
        features: *const *const Feature,
    ) -> u32,
    /// Restores a state with the values from `retrieve`. Returns a status, such as [`SUCCESS`].
    pub restore: unsafe extern "C" fn(
        instance: Handle,
        retrieve: Retrieve,
        handle: *mut c_void,
        flags: u32,
        features: *const *const Feature,
    ) -> u32,
}

/// `LV2_STATE_IS_POD | LV2_STATE_IS_PORTABLE`: flags of a value that can be copied, and read on any computer.
pub const PLAIN: u32 = 1 | 1 << 1;
/// `LV2_STATE_SUCCESS`: the state was saved or restored.
pub const SUCCESS: u32 = 0;
/// `LV2_STATE_ERR_BAD_TYPE`: a value is invalid.
pub const BAD_TYPE: u32 = 2;

/// `LV2_Atom`: head of a value, such as an object or a sequence of events. The content lies behind it in memory.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atom {
    /// Size in bytes of the content behind the head. In a plugin's output, the host first sets it to the available size.
    pub size: u32,
    pub kind: Urid,
}

/// Host's numbers for the URIs that the plugin uses. A field has the number of the URI with the field's name in [`uri`].
pub struct Urids {
    pub sequence: Urid,
    pub object: Urid,
    pub float: Urid,
    pub midi: Urid,
    pub position: Urid,
    pub tempo: Urid,
    pub speed: Urid,
    pub string: Urid,
    /// Numbers of the state's keys, one for each text setting in the order of [`TEXTS`].
    pub keys: [Urid; TEXTS.len()],
}

impl Urids {
    /// Asks the host for its numbers; `None` if it lacks [`uri::MAP`], which the plugin's description requires.
    ///
    /// # Safety
    /// `features` must be NULL or a NULL-terminated array of valid pointers. The data of [`uri::MAP`] must be a [`UridMap`].
    pub unsafe fn new(features: *const *const Feature) -> Option<Self> {
        if features.is_null() {
            return None;
        }
        // SAFETY: the caller guarantees an array that ends with NULL.
        let mut all = (0..).map_while(|index| unsafe { (*features.add(index)).as_ref() });
        // SAFETY: LV2 requires a C string.
        let map = all.find(|feature| unsafe { CStr::from_ptr(feature.uri) } == uri::MAP)?;
        // SAFETY: the caller guarantees it.
        let map = unsafe { map.data.cast::<UridMap>().as_ref() }?;
        // SAFETY: the host's function gets the host's handle and a C string.
        let number = |uri: &CStr| unsafe { (map.map)(map.handle, uri.as_ptr()) };
        Some(Self {
            sequence: number(uri::SEQUENCE),
            object: number(uri::OBJECT),
            float: number(uri::FLOAT),
            midi: number(uri::MIDI),
            position: number(uri::POSITION),
            tempo: number(uri::TEMPO),
            speed: number(uri::SPEED),
            string: number(uri::STRING),
            keys: TEXTS.each_ref().map(|text| number(&key(text))),
        })
    }
}

/// URIs of features, extensions, types and properties.
pub mod uri {
    use std::ffi::CStr;

    pub const MAP: &CStr = c"http://lv2plug.in/ns/ext/urid#map";
    pub const STATE: &CStr = c"http://lv2plug.in/ns/ext/state#interface";
    pub const SEQUENCE: &CStr = c"http://lv2plug.in/ns/ext/atom#Sequence";
    pub const OBJECT: &CStr = c"http://lv2plug.in/ns/ext/atom#Object";
    pub const STRING: &CStr = c"http://lv2plug.in/ns/ext/atom#String";
    pub const FLOAT: &CStr = c"http://lv2plug.in/ns/ext/atom#Float";
    pub const MIDI: &CStr = c"http://lv2plug.in/ns/ext/midi#MidiEvent";
    pub const POSITION: &CStr = c"http://lv2plug.in/ns/ext/time#Position";
    pub const TEMPO: &CStr = c"http://lv2plug.in/ns/ext/time#beatsPerMinute";
    pub const SPEED: &CStr = c"http://lv2plug.in/ns/ext/time#speed";
}
