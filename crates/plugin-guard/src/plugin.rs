//! Traits of a guarded plugin and its instances, and their data.

use crate::{HostLink, Latency, Task};
use nice_plug::prelude::{ClapPlugin, Params, Plugin, Vst3Plugin};
use std::{
    ffi::CStr,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A plugin with the features that hosts use and nice-plug lacks.
///
/// Its `task_executor` must return [`Task::run`], and its `editor` must call [`construction::put`](crate::construction::put).
pub trait GuardedPlugin: ClapPlugin + Vst3Plugin + Plugin<BackgroundTask = Task> {
    /// VST3 numbers of the MIDI controllers that VST3 hosts pass to the plugin.
    const CONTROLLERS: &'static [i16] = &[];
    /// Globally unique id of the plugin's preset provider in CLAP.
    const PRESETS_ID: &'static CStr;
    /// File type of presets: a name, a description of one sentence, and the file extension.
    const PRESET_FILE: [&'static CStr; 3];

    /// Returns the pages of parameters for hardware controllers.
    fn pages() -> Vec<Page> {
        Vec::new()
    }

    /// Returns the factory presets, each with its key.
    fn factory_presets() -> Vec<(&'static str, PresetInfo)>;

    /// Returns the folder of the user's presets, if there is one.
    fn user_presets() -> Option<PathBuf>;

    /// Describes the preset in the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read or the preset is invalid.
    fn preset_file(path: &Path) -> Result<PresetInfo, PresetError>;
}

/// State that a plugin instance shares with its shim. All methods but [`Instance::load_preset`] may be called on any thread. Only
/// [`Instance::params`], [`Instance::preset`], [`Instance::spelled`] and [`Instance::load_preset`] may allocate or wait.
pub trait Instance: Send + Sync {
    /// Returns nice-plug's parameters of this instance.
    fn params(&self) -> Arc<dyn Params>;

    /// Returns the link between the editor and the host.
    fn link(&self) -> &HostLink;

    /// Returns a counter of the changes of settings, on which wanted latency, tail and key names depend.
    fn changes(&self) -> u32;

    /// Returns the latency of the output. The plugin must call [`Latency::activate`] and [`Latency::deactivate`] on it.
    fn latency(&self) -> &Latency;

    /// Returns the latency in samples that the current parameters require at `sample_rate` in Hz (0: unknown).
    fn wanted_latency(&self, sample_rate: f64) -> u32;

    /// Returns the tail in samples: the time from the end of the input to the end of the output; `u32::MAX` if the output never
    /// ends. `sample_rate` is in Hz (0: unknown), `tempo` in beats per minute (`None`: the host reports none).
    fn tail(&self, sample_rate: f64, tempo: Option<f64>) -> u32;

    /// Returns the exact name of the choice that a user means by `_text`, for the parameter called `_id`. If it returns `None`,
    /// nice-plug parses `_text` itself and accepts exact names only.
    fn spelled(&self, _id: &str, _text: &str) -> Option<String> {
        None
    }

    /// Returns entry `_index` of the list of key names; `None` after the last one.
    fn note_name(&self, _index: u32) -> Option<NoteName> {
        None
    }

    /// Returns the version of the list of key names, below `u32::MAX`. It must change with each new name, and when keys begin or
    /// cease to have an effect. The host then reads the list again.
    fn note_names_version(&self) -> u32 {
        0
    }

    /// Returns the name of the preset that the sound started from, if the plugin knows it.
    fn preset(&self) -> Option<String> {
        None
    }

    /// Loads a preset. Must be called on the main thread. Afterwards the host must read all parameters again.
    ///
    /// # Errors
    /// If the preset is missing or invalid.
    fn load_preset(&self, at: Location) -> Result<(), PresetError>;
}

/// Name of a key, valid on all ports and channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoteName {
    /// MIDI key number, 0..=127.
    pub key: u8,
    /// Name in ASCII, of at most 255 characters.
    pub name: &'static str,
}

/// Page of a hardware controller: its title, and the ids of at most eight parameters.
pub type Page = (&'static str, Vec<&'static str>);

/// Description of a preset, for a host's browser.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PresetInfo {
    /// Display name.
    pub name: String,
    /// Purpose of the sound; may be empty.
    pub description: String,
    /// Tags for the search in a host's browser.
    pub tags: Vec<String>,
}

/// Location of a preset that the host wants to load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Location<'a> {
    /// Key of a factory preset.
    Factory(&'a str),
    /// Path of a preset file.
    File(&'a Path),
}

/// Error of reading or loading a preset.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PresetError {
    /// Error code of the operating system, or 0.
    pub os_error: i32,
    /// Message for the user.
    pub message: String,
}
