//! Settings as JSON, and presets: those that come with the program, and those of the user.
//!
//! ```json
//! { "version": 1, "name": "Quiet Music", "settings": { "floor": -70 } }
//! ```
//!
//! Settings that a preset does not mention have their values in [`Settings::REFERENCE`]. Unknown keys and values out of range
//! are errors in presets up to this program's [`VERSION`]. In presets of a newer version, they are left out, with a
//! [`Warning`].

mod files;
mod format;
pub mod settings;
/// Compiles and runs the Rust in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod sounds;
#[cfg(test)]
mod tests;

pub use files::{Error, Folder, file_name, folded};
pub use format::{FormatError, Loaded, VERSION, Warning};

use serde::Serialize;
use tone_filter_dsp::Settings;

/// Factory presets: id and content.
const FACTORY: [(&str, &str); 26] = [
    ("tone-filter", include_str!("../factory/tone-filter.json")),
    ("reference", include_str!("../factory/reference.json")),
    ("hacking", include_str!("../factory/hacking.json")),
    ("subtle-edge", include_str!("../factory/subtle-edge.json")),
    ("extreme-8-bit", include_str!("../factory/extreme-8-bit.json")),
    ("chord-pad", include_str!("../factory/chord-pad.json")),
    ("stereo-wide", include_str!("../factory/stereo-wide.json")),
    ("drums-tamed", include_str!("../factory/drums-tamed.json")),
    ("lead-only", include_str!("../factory/lead-only.json")),
    ("bass-octave", include_str!("../factory/bass-octave.json")),
    ("pentatonic", include_str!("../factory/pentatonic.json")),
    ("nes-lead", include_str!("../factory/nes-lead.json")),
    ("sound-chip", include_str!("../factory/sound-chip.json")),
    ("game-boy", include_str!("../factory/game-boy.json")),
    ("organ", include_str!("../factory/organ.json")),
    ("sub-triangle", include_str!("../factory/sub-triangle.json")),
    ("saw-choir", include_str!("../factory/saw-choir.json")),
    ("one-note", include_str!("../factory/one-note.json")),
    ("octave-up", include_str!("../factory/octave-up.json")),
    ("thin-pulse", include_str!("../factory/thin-pulse.json")),
    ("arcade", include_str!("../factory/arcade.json")),
    ("pizzicato", include_str!("../factory/pizzicato.json")),
    ("robot", include_str!("../factory/robot.json")),
    ("drum-machine", include_str!("../factory/drum-machine.json")),
    ("fuzz", include_str!("../factory/fuzz.json")),
    ("crystal", include_str!("../factory/crystal.json")),
];

/// Named settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preset {
    version: u32,
    /// Display name.
    pub name: String,
    /// Purpose of the preset in a sentence; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Search words: genre and character.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Filter settings. The routing is not part of a preset.
    #[serde(serialize_with = "settings::serialize")]
    pub settings: Settings,
}

/// Returns the ids of the factory presets: the default sound first, then the reference sound.
pub fn ids() -> impl Iterator<Item = &'static str> {
    FACTORY.iter().map(|(id, _)| *id)
}

impl Preset {
    /// Creates a preset of `settings` called `name`.
    pub fn new(name: impl Into<String>, settings: Settings) -> Self {
        let (description, tags) = (String::new(), Vec::new());
        Self { version: VERSION, name: name.into(), description, tags, settings }
    }

    /// Returns the factory preset with this `id`, if there is one.
    ///
    /// # Panics
    /// Never: a test parses all factory presets.
    ///
    /// ```
    /// use tone_filter_dsp::ToneFilter;
    /// use tone_filter_presets::Preset;
    ///
    /// let preset = Preset::factory("nes-lead").ok_or("no such preset")?;
    /// let filter = ToneFilter::new(48_000.0, &preset.settings)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn factory(id: &str) -> Option<Self> {
        let (_, json) = FACTORY.iter().find(|(known, _)| *known == id)?;
        Some(Self::from_json(json).expect("the factory presets are presets").preset)
    }

    /// Parses a preset file of any version of the format.
    ///
    /// # Errors
    /// If `json` is not a preset. Up to this [`VERSION`], unknown keys and values out of range are errors, too; in a newer
    /// version, they are left out, with a warning.
    ///
    /// ```
    /// use tone_filter_dsp::Settings;
    /// use tone_filter_presets::Preset;
    ///
    /// let json = r#"{ "version": 1, "name": "Quiet", "settings": { "floor": -70 } }"#;
    /// let preset = Preset::from_json(json)?.preset;
    /// assert_eq!(preset.settings, Settings { floor: -70.0, ..Settings::REFERENCE });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_json(json: &str) -> Result<Loaded, FormatError> {
        format::read(json)
    }

    /// Returns the preset as the content of a preset file: indented JSON with a final newline.
    ///
    /// # Panics
    /// Never: any settings can be written.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("numbers and names are JSON");
        json.push('\n');
        json
    }
}
