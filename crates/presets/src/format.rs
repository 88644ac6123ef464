//! Preset format, and its versions. In a preset of a newer version, unknown content is skipped.

use super::{
    Preset,
    settings::{self, Object, Unusable},
};
use serde::{
    Deserialize,
    de::{Error, IgnoredAny},
};
use std::{collections::BTreeMap, convert::Infallible};

/// Version of the preset format that this program writes.
///
/// Each new key, entry or range needs a new version. Older programs then leave the new content out instead of refusing the
/// preset.
pub const VERSION: u32 = 1;

/// Result of reading a preset.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Preset, without unknown content.
    pub preset: Preset,
    /// Warning for the user if content was left out.
    pub warning: Option<Warning>,
}

impl From<Preset> for Loaded {
    fn from(preset: Preset) -> Self {
        Self { preset, warning: None }
    }
}

/// Warning that a preset has a newer version than [`VERSION`] and that parts of it are left out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("of a newer version of the program; left out: {}; update the program", .left_out.join(", "))]
pub struct Warning {
    /// Unknown keys, like `"portamento"`, and known keys with an unknown value, like `voice = "choir"`. These settings get
    /// their values in [`Settings::REFERENCE`](tone_filter_dsp::Settings::REFERENCE).
    pub left_out: Vec<String>,
}

/// Fault in the text of a preset.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// Invalid JSON, a missing or unknown key, or a value out of range.
    #[error("not a preset ({0}); correct it there, or save it anew")]
    Invalid(#[from] serde_json::Error),
    /// The preset has a newer version than [`VERSION`], and name or settings cannot be read.
    #[error(
        "a preset of version {version}, and this program reads version {VERSION} ({source}); update the program"
    )]
    Newer {
        /// Version of the preset.
        version: u32,
        /// Fault in the content that this program knows.
        source: serde_json::Error,
    },
}

/// Part of the format that is the same in every version.
#[derive(Deserialize)]
#[serde(expecting = "an object with version, name and settings")]
struct Versioned {
    version: Option<u32>,
}

/// Content of a preset file. `others` has the keys that this program does not know.
#[derive(Deserialize)]
#[serde(expecting = "an object with version, name and settings")]
struct File {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    tags: Vec<String>,
    settings: Object,
    #[serde(flatten)]
    others: BTreeMap<String, IgnoredAny>,
}

pub(super) fn read(json: &str) -> Result<Loaded, FormatError> {
    // Some editors write a byte order mark.
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    let Versioned { version } = serde_json::from_str(json)?;
    match version {
        Some(version) if version > VERSION => {
            read_newer(json).map_err(|source| FormatError::Newer { version, source })
        }
        _ => Ok(read_known(json, version)?.into()),
    }
}

fn read_newer(json: &str) -> Result<Loaded, serde_json::Error> {
    let file: File = serde_json::from_str(json)?;
    let mut left_out: Vec<_> = file.unknown_keys().map(|unknown| unknown.what).collect();
    let Ok(controls) = settings::read(&file.settings.0, |unusable| {
        left_out.push(unusable.what);
        Ok::<(), Infallible>(())
    });
    let warning = (!left_out.is_empty()).then_some(Warning { left_out });
    Ok(Loaded { preset: file.preset(controls.settings), warning })
}

fn read_known(json: &str, version: Option<u32>) -> Result<Preset, serde_json::Error> {
    let file: File = serde_json::from_str(json)?;
    // Checked before a missing version, because the unknown key may be a misspelt `version`.
    if let Some(unknown) = file.unknown_keys().next() {
        return Err(Error::custom(unknown));
    }
    match version {
        None => return Err(Error::missing_field("version")),
        Some(0) => return Err(Error::custom("there is no version 0")),
        Some(_) => {}
    }
    let controls = settings::read(&file.settings.0, Err).map_err(Error::custom)?;
    Ok(file.preset(controls.settings))
}

impl File {
    fn unknown_keys(&self) -> impl Iterator<Item = Unusable> {
        let known = ["version", "name", "description", "tags", "settings"];
        let unknown = self.others.keys().filter(|key| *key != "version");
        unknown.map(move |key| Unusable::key(key, known.into_iter()))
    }

    fn preset(self, settings: tone_filter_dsp::Settings) -> Preset {
        let Self { name, description, tags, .. } = self;
        Preset { description, tags, ..Preset::new(name, settings) }
    }
}
