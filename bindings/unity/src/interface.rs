//! Unity's interface for native audio plugins, version 1.4.2: the types of `AudioPluginInterface.h` that an effect needs.

#![expect(missing_docs, reason = "the fields are Unity's")]

use std::ffi::{c_char, c_float, c_int, c_uint, c_void};

/// Version of the interface: 1.4.2.
pub const API_VERSION: u32 = 0x01_04_02;

/// Result of a callback: success.
pub const OK: c_int = 0;
/// Result of a callback: failure, or not supported.
pub const UNSUPPORTED: c_int = 1;

/// Flag of an [`EffectDefinition`]: Unity gives the effect a sidechain, to which groups of a mixer can send.
pub const IS_SIDE_CHAIN_TARGET: u64 = 1;

/// State of an instance, which Unity passes to all callbacks.
///
/// Hosts of version 1.0 have no fields behind `internal`.
#[repr(C)]
#[derive(Default)]
pub struct EffectState {
    pub struct_size: u32,
    pub sample_rate: u32,
    /// Start of the block, in frames since the audio system started.
    pub current_dsp_tick: u64,
    pub previous_dsp_tick: u64,
    /// Sidechain, with as many frames and channels as the input; null without one.
    pub sidechain: *const c_float,
    /// Effect's own data: its instance, which the callback `create` sets.
    pub effect_data: *mut c_void,
    pub flags: u32,
    pub internal: *mut c_void,
    pub spatializer: *mut c_void,
    pub dsp_buffer_size: u32,
    pub host_api_version: u32,
    pub ambisonic: *mut c_void,
}

/// Definition of a parameter. Texts end with a NUL.
#[repr(C)]
pub struct ParameterDefinition {
    /// Name under which mixers save the value.
    pub name: [c_char; 16],
    /// Unit to display; empty without one.
    pub unit: [c_char; 16],
    /// Effect of the parameter in a sentence, to display.
    pub description: *const c_char,
    pub min: c_float,
    pub max: c_float,
    pub default_value: c_float,
    /// Factor from the value to the displayed value.
    pub display_scale: c_float,
    /// Exponent of the slider: at `x` of 0..1, the value is `min + (max - min) * x.powf(display_exponent)`.
    pub display_exponent: c_float,
}

/// Creates, releases or resets an instance.
pub type Manage = unsafe extern "system" fn(*mut EffectState) -> c_int;
/// Filters a block: state, input, output, frames, channels of the input, channels of the output. Samples are interleaved.
pub type Process = unsafe extern "system" fn(
    *mut EffectState,
    *const c_float,
    *mut c_float,
    c_uint,
    c_int,
    c_int,
) -> c_int;
/// Sets the position of an audio source, in samples.
pub type SetPosition = unsafe extern "system" fn(*mut EffectState, c_uint) -> c_int;
/// Sets a parameter, on any thread: state, index, value.
pub type SetParameter = unsafe extern "system" fn(*mut EffectState, c_int, c_float) -> c_int;
/// Reads a parameter, on any thread: state, index, destinations of the value and of a text. Each destination may be null.
pub type GetParameter =
    unsafe extern "system" fn(*mut EffectState, c_int, *mut c_float, *mut c_char) -> c_int;
/// Reads numbers for a display, on any thread: state, name, destination, count.
pub type GetBuffer =
    unsafe extern "system" fn(*mut EffectState, *const c_char, *mut c_float, c_int) -> c_int;

#[repr(C)]
pub struct EffectDefinition {
    pub struct_size: u32,
    pub parameter_struct_size: u32,
    pub api_version: u32,
    /// Version of the effect: `major << 16 | minor << 8 | patch`.
    pub plugin_version: u32,
    /// Number of channels; 0 for any number.
    pub channels: u32,
    pub parameter_count: u32,
    /// Flags, such as [`IS_SIDE_CHAIN_TARGET`].
    pub flags: u64,
    /// Name under which mixers save the effect; ends with a NUL.
    pub name: [c_char; 32],
    pub create: Option<Manage>,
    /// Frees an instance. No other callback follows.
    pub release: Option<Manage>,
    pub reset: Option<Manage>,
    pub process: Option<Process>,
    pub set_position: Option<SetPosition>,
    pub parameters: *const ParameterDefinition,
    pub set_parameter: Option<SetParameter>,
    pub get_parameter: Option<GetParameter>,
    pub get_buffer: Option<GetBuffer>,
}
