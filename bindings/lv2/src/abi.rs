//! LV2's types that host and plugin share, with the layouts of its C headers.

use std::ffi::{c_char, c_void};

/// `LV2_URID`: the host's number for a URI.
pub type Urid = u32;

/// `LV2_Feature`: a feature that a host offers, with data such as [`UridMap`].
#[repr(C)]
#[derive(Debug)]
pub struct Feature {
    /// URI that identifies the feature.
    pub uri: *const c_char,
    /// Data, of a type that the URI defines.
    pub data: *mut c_void,
}

/// `LV2_URID_Map`, the data of the feature [`uri::MAP`].
#[repr(C)]
#[derive(Debug)]
pub struct UridMap {
    /// First argument of `map`.
    pub handle: *mut c_void,
    /// Returns the number of a URI; 0 if the host has none.
    pub map: unsafe extern "C" fn(handle: *mut c_void, uri: *const c_char) -> Urid,
}

/// `LV2_Handle`: a plugin instance.
pub type Handle = *mut c_void;

/// `LV2_Descriptor`: the functions of a plugin.
#[repr(C)]
#[derive(Debug)]
pub struct Descriptor {
    /// The plugin's URI.
    pub uri: *const c_char,
    /// Creates an instance; NULL on failure.
    pub instantiate: unsafe extern "C" fn(
        descriptor: *const Descriptor,
        rate: f64,
        bundle: *const c_char,
        features: *const *const Feature,
    ) -> Handle,
    /// Sets the address of a port's data.
    pub connect_port: unsafe extern "C" fn(instance: Handle, port: u32, data: *mut c_void),
    /// Resets the instance before a sequence of calls of `run`.
    pub activate: Option<unsafe extern "C" fn(instance: Handle)>,
    /// Processes a block of `frames` frames, from and to the data of the ports.
    pub run: unsafe extern "C" fn(instance: Handle, frames: u32),
    /// Ends a sequence of calls of `run`.
    pub deactivate: Option<unsafe extern "C" fn(instance: Handle)>,
    /// Frees the instance.
    pub cleanup: unsafe extern "C" fn(instance: Handle),
    /// Returns the functions of an extension; NULL if the plugin lacks it.
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
#[derive(Debug)]
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

/// `LV2_Atom`: head of a value or a sequence.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atom {
    /// Size in bytes of the content behind the head. In a plugin's output, the host first sets it to the available size.
    pub size: u32,
    /// Type of the content.
    pub kind: Urid,
}

/// The URIs of features, extensions and types.
pub mod uri {
    use std::ffi::CStr;

    /// Feature with the data [`UridMap`](super::UridMap).
    pub const MAP: &CStr = c"http://lv2plug.in/ns/ext/urid#map";
    /// Extension with the functions in [`StateInterface`](super::StateInterface).
    pub const STATE: &CStr = c"http://lv2plug.in/ns/ext/state#interface";
    /// Type of a sequence of events.
    pub const SEQUENCE: &CStr = c"http://lv2plug.in/ns/ext/atom#Sequence";
    /// Type of an object with properties.
    pub const OBJECT: &CStr = c"http://lv2plug.in/ns/ext/atom#Object";
    /// Type of a text.
    pub const STRING: &CStr = c"http://lv2plug.in/ns/ext/atom#String";
    /// Type of a 32-bit float.
    pub const FLOAT: &CStr = c"http://lv2plug.in/ns/ext/atom#Float";
    /// Type of a MIDI message.
    pub const MIDI: &CStr = c"http://lv2plug.in/ns/ext/midi#MidiEvent";
    /// Type of an object: the transport position of the host.
    pub const POSITION: &CStr = c"http://lv2plug.in/ns/ext/time#Position";
    /// Property of a position: beats a minute.
    pub const TEMPO: &CStr = c"http://lv2plug.in/ns/ext/time#beatsPerMinute";
    /// Property of a position: speed, 0 while the song is stopped.
    pub const SPEED: &CStr = c"http://lv2plug.in/ns/ext/time#speed";
}
