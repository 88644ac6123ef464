//! Traits of a plugin behind the guard.

use crate::{HostLink, Latency, Task};
use nice_plug::prelude::{ClapPlugin, Params, Plugin, Vst3Plugin};
use std::{
    ffi::CStr,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A plugin with what hosts want of it beyond nice-plug.
///
/// Its `task_executor` must return [`Task::run`], and its `editor` must call [`construction::put`](crate::construction::put).
pub trait GuardedPlugin: ClapPlugin + Vst3Plugin + Plugin<BackgroundTask = Task> {
    /// The MIDI controllers that the plugin understands, by VST3's numbers.
    const CONTROLLERS: &'static [i16] = &[];
    /// Id of the plugin's presets in CLAP, as unique as the plugin's own id.
    const PRESETS_ID: &'static CStr;
    /// Description of a preset's file, in a few words and in a sentence, and the file's extension.
    const PRESET_FILE: [&'static CStr; 3];

    /// Pages of a hardware controller.
    fn pages() -> Vec<Page> {
        Vec::new()
    }

    /// Returns the presets that come with the plugin, with their keys.
    fn factory_presets() -> Vec<(&'static str, PresetInfo)>;

    /// Returns the folder of the user's presets, if there is one.
    fn user_presets() -> Option<PathBuf>;

    /// Describes the preset in the file at `path`.
    ///
    /// # Errors
    /// When the file cannot be read or the preset is invalid.
    fn preset_file(path: &Path) -> Result<PresetInfo, PresetError>;
}

/// Part of an instance that its shim shares. All methods are for every thread. Only
/// [`Instance::params`] and [`Instance::load_preset`] allocate, lock or wait.
pub trait Instance: Send + Sync {
    /// Returns the parameters.
    fn params(&self) -> Arc<dyn Params>;

    /// Returns the link between the editor and the host.
    fn link(&self) -> &HostLink;

    /// Returns a number that changes when what another method returns may have changed.
    fn changes(&self) -> u32;

    /// Returns the latency of the sound, to which the plugin reports each activation and deactivation.
    fn latency(&self) -> &Latency;

    /// Returns the latency in samples that the parameters stand for at `sample_rate` in Hz, which may be 0.
    fn wanted_latency(&self, sample_rate: f64) -> u32;

    /// Returns the samples from the end of the input to the end of the output at `sample_rate` in Hz, which may be 0, in a song of `tempo`
    /// beats a minute if the host has one; `u32::MAX` for an endless output.
    fn tail(&self, sample_rate: f64, tempo: Option<f64>) -> u32;

    /// Returns the name of a key by its index, without gaps.
    fn note_name(&self, _index: u32) -> Option<NoteName> {
        None
    }

    /// Returns a number below `u32::MAX` that changes when a host should read the names of keys again: because they are other
    /// ones, or because keys begin or cease to have an effect.
    fn note_names_version(&self) -> u32 {
        0
    }

    /// Loads a preset. On the main thread only. The host must then read all parameters again.
    ///
    /// # Errors
    /// When the preset is missing or invalid.
    fn load_preset(&self, at: Location) -> Result<(), PresetError>;
}

/// The name of a key, on any port and channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoteName {
    /// The key, 0..=127.
    pub key: u8,
    /// Name in ASCII, of at most 255 characters.
    pub name: &'static str,
}

/// Page of controls: its title, and the ids of at most eight parameters.
pub type Page = (&'static str, Vec<&'static str>);

/// Description of a preset for a host.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PresetInfo {
    /// Name for people.
    pub name: String,
    /// Purpose; may be empty.
    pub description: String,
    /// Words to find it by.
    pub tags: Vec<String>,
}

/// Location of a preset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Location<'a> {
    /// Key of a factory preset.
    Factory(&'a str),
    /// Path of a file.
    File(&'a Path),
}

/// Why a preset is not loaded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PresetError {
    /// The system's error, or 0.
    pub os_error: i32,
    /// Message for people.
    pub message: String,
}
