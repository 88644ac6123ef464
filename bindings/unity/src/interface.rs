//! Unity's interface for native audio plugins, version 1.4.2: the types of `AudioPluginInterface.h` that an effect of a mixer needs.

use std::ffi::{c_char, c_float, c_int, c_uint, c_void};

/// The version of the interface.
pub const API_VERSION: u32 = 0x01_04_02;

/// Result of a callback: success.
pub const OK: c_int = 0;
/// Result of a callback: it cannot do that.
pub const UNSUPPORTED: c_int = 1;

/// Flag of an [`EffectDefinition`]: Unity gives the effect a second input, to which groups of a mixer send.
pub const IS_SIDE_CHAIN_TARGET: u64 = 1;

/// An instance of an effect, as Unity passes it to all callbacks.
///
/// Hosts of version 1.0 have no fields behind `internal`.
#[repr(C)]
#[derive(Debug)]
pub struct EffectState {
    /// Bytes of this struct.
    pub struct_size: u32,
    /// Hz.
    pub sample_rate: u32,
    /// Frames since the audio system started, at the start of the block.
    pub current_dsp_tick: u64,
    /// State at the block before.
    pub previous_dsp_tick: u64,
    /// The second input, with as many frames and channels as the first; null without one.
    pub sidechain: *const c_float,
    /// The effect's own data.
    pub effect_data: *mut c_void,
    /// Flags: the game plays, is paused, or the effect is muted in the editor.
    pub flags: u32,
    /// Unity's own.
    pub internal: *mut c_void,
    /// Data for spatializers.
    pub spatializer: *mut c_void,
    /// Frames of a block.
    pub dsp_buffer_size: u32,
    /// The version of the interface that Unity has.
    pub host_api_version: u32,
    /// Data for ambisonic decoders.
    pub ambisonic: *mut c_void,
}

/// A parameter. Texts end with a NUL.
#[repr(C)]
#[derive(Debug)]
pub struct ParameterDefinition {
    /// Name, under which mixers are saved.
    pub name: [c_char; 16],
    /// Unit.
    pub unit: [c_char; 16],
    /// Description.
    pub description: *const c_char,
    /// The least value.
    pub min: c_float,
    /// The greatest value.
    pub max: c_float,
    /// The value of a new instance.
    pub default_value: c_float,
    /// Factor of the displayed value.
    pub display_scale: c_float,
    /// A slider at `x` of 0..1 means `min + (max - min) * x.powf(display_exponent)`.
    pub display_exponent: c_float,
}

/// Creates or releases an instance, or resets it.
pub type Manage = unsafe extern "system" fn(*mut EffectState) -> c_int;
/// Filters a block: state, input, output, frames, channels of the input and of the output. Samples alternate between the channels.
pub type Process = unsafe extern "system" fn(
    *mut EffectState,
    *const c_float,
    *mut c_float,
    c_uint,
    c_int,
    c_int,
) -> c_int;
/// Moves a source of sound to a position in samples.
pub type SetPosition = unsafe extern "system" fn(*mut EffectState, c_uint) -> c_int;
/// Sets a parameter: state, index, value.
pub type SetParameter = unsafe extern "system" fn(*mut EffectState, c_int, c_float) -> c_int;
/// Reads a parameter: state, index, and where to put the value and a text. Both may be null.
pub type GetParameter =
    unsafe extern "system" fn(*mut EffectState, c_int, *mut c_float, *mut c_char) -> c_int;
/// Reads numbers for a display: state, name, and where to put how many.
pub type GetBuffer =
    unsafe extern "system" fn(*mut EffectState, *const c_char, *mut c_float, c_int) -> c_int;

/// An effect.
#[repr(C)]
#[derive(Debug)]
pub struct EffectDefinition {
    /// Bytes of this struct.
    pub struct_size: u32,
    /// Bytes of a [`ParameterDefinition`].
    pub parameter_struct_size: u32,
    /// [`API_VERSION`].
    pub api_version: u32,
    /// The effect's version.
    pub plugin_version: u32,
    /// 0 for an effect that takes any number of channels.
    pub channels: u32,
    /// Number of parameters.
    pub parameter_count: u32,
    /// Capabilities.
    pub flags: u64,
    /// Name, under which mixers are saved; ends with a NUL.
    pub name: [c_char; 32],
    /// Creates an instance.
    pub create: Option<Manage>,
    /// Frees it. No other callback follows.
    pub release: Option<Manage>,
    /// Resets it.
    pub reset: Option<Manage>,
    /// Filters a block.
    pub process: Option<Process>,
    /// Seeks in a source of sound.
    pub set_position: Option<SetPosition>,
    /// The parameters.
    pub parameters: *const ParameterDefinition,
    /// Sets a parameter.
    pub set_parameter: Option<SetParameter>,
    /// Reads a parameter.
    pub get_parameter: Option<GetParameter>,
    /// Reads numbers for a display.
    pub get_buffer: Option<GetBuffer>,
}
