//! Preset format, and its versions. In a preset of a newer version, unknown content is skipped.

use super::{
    Preset,
    settings::{self, Object, Unusable},
};
use serde::{
    Deserialize,
    de::{Error, IgnoredAny},
};
use std::collections::BTreeMap;

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

/// Content of a preset file. `others` has all other keys: `version`, and those that this program does not know.
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
    read_as(version, json).map_err(|source| match version {
        Some(version) if version > VERSION => FormatError::Newer { version, source },
        _ => source.into(),
    })
}

/// Reads a preset of `version`. Unknown content is an error, except in a newer version, where it is left out.
fn read_as(version: Option<u32>, json: &str) -> Result<Loaded, serde_json::Error> {
    let File { name, description, tags, settings, others } = serde_json::from_str(json)?;
    let mut left_out = Vec::new();
    let mut refuse = |unusable: Unusable| -> Result<(), serde_json::Error> {
        if version.is_none_or(|version| version <= VERSION) {
            return Err(Error::custom(unusable));
        }
        left_out.push(unusable.what);
        Ok(())
    };
    let known = ["version", "name", "description", "tags", "settings"];
    let unknown = others.keys().filter(|key| *key != "version");
    // Checked before a missing version, because the unknown key may be a misspelt `version`.
    unknown.map(|key| Unusable::key(key, known.into_iter())).try_for_each(&mut refuse)?;
    match version {
        None => return Err(Error::missing_field("version")),
        Some(0) => return Err(Error::custom("there is no version 0")),
        Some(_) => {}
    }
    let settings = settings::read(&settings.0, refuse)?.settings;
    let warning = (!left_out.is_empty()).then_some(Warning { left_out });
    let preset = Preset { description, tags, ..Preset::new(name, settings) };
    Ok(Loaded { preset, warning })
}
