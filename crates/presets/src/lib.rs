//! Settings as JSON, and the sounds that come with the program.
//!
//! ```json
//! { "version": 1, "name": "Quiet Music", "settings": { "floor": -70 } }
//! ```
//!
//! Settings that a preset does not mention are those of [`Settings::REFERENCE`].

mod files;
#[cfg(test)]
mod sounds;

pub use files::{Error, Folder};

use serde::{Deserialize, Serialize};
use tone_filter_dsp::Settings;

/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// The factory presets: id and file.
const FACTORY: [(&str, &str); 21] = [
    ("tone-filter", include_str!("../../../assets/presets/tone-filter.json")),
    ("reference", include_str!("../../../assets/presets/reference.json")),
    ("quiet-music", include_str!("../../../assets/presets/quiet-music.json")),
    ("subtle-edge", include_str!("../../../assets/presets/subtle-edge.json")),
    ("extreme-8-bit", include_str!("../../../assets/presets/extreme-8-bit.json")),
    ("fast-song", include_str!("../../../assets/presets/fast-song.json")),
    ("chord-pad", include_str!("../../../assets/presets/chord-pad.json")),
    ("stereo-wide", include_str!("../../../assets/presets/stereo-wide.json")),
    ("drums-tamed", include_str!("../../../assets/presets/drums-tamed.json")),
    ("lead-only", include_str!("../../../assets/presets/lead-only.json")),
    ("bass-octave", include_str!("../../../assets/presets/bass-octave.json")),
    ("pentatonic", include_str!("../../../assets/presets/pentatonic.json")),
    ("nes-lead", include_str!("../../../assets/presets/nes-lead.json")),
    ("sound-chip", include_str!("../../../assets/presets/sound-chip.json")),
    ("game-boy", include_str!("../../../assets/presets/game-boy.json")),
    ("organ", include_str!("../../../assets/presets/organ.json")),
    ("sub-triangle", include_str!("../../../assets/presets/sub-triangle.json")),
    ("saw-choir", include_str!("../../../assets/presets/saw-choir.json")),
    ("one-note", include_str!("../../../assets/presets/one-note.json")),
    ("octave-up", include_str!("../../../assets/presets/octave-up.json")),
    ("thin-pulse", include_str!("../../../assets/presets/thin-pulse.json")),
];

/// A named sound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    version: u32,
    /// Its name for people.
    pub name: String,
    /// What it is for, in a sentence; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Words to find it by: genre and character.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The sound.
    pub settings: Settings,
}

/// What is wrong with a preset's text.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// It is not JSON, lacks something, has an unknown key or a value out of range.
    #[error("not a preset ({0}); correct it there, or save it anew")]
    Invalid(#[from] serde_json::Error),
    /// It was written by another version of the program.
    #[error(
        "a preset of version {0}, and this program reads version {VERSION}; update the program"
    )]
    Version(u32),
}

/// The factory presets' ids: the default sound first, then the reference sound.
pub fn ids() -> impl Iterator<Item = &'static str> {
    FACTORY.iter().map(|(id, _)| *id)
}

impl Preset {
    /// `settings` under a name.
    pub fn new(name: impl Into<String>, settings: Settings) -> Self {
        let (description, tags) = (String::new(), Vec::new());
        Self { version: VERSION, name: name.into(), description, tags, settings }
    }

    /// The factory preset with this id, if there is one.
    ///
    /// # Panics
    /// Never: a test reads all of them.
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
        Some(Self::from_json(json).expect("the factory presets are presets"))
    }

    /// Reads what [`Preset::to_json`] writes.
    ///
    /// # Errors
    /// When it is not a preset of this [`VERSION`], has unknown keys or values out of range.
    ///
    /// ```
    /// use tone_filter_dsp::Settings;
    /// use tone_filter_presets::Preset;
    ///
    /// let preset = Preset::from_json(r#"{ "version": 1, "name": "Quiet", "settings": { "floor": -70 } }"#)?;
    /// assert_eq!(preset.settings, Settings { floor: -70.0, ..Settings::REFERENCE });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_json(json: &str) -> Result<Self, FormatError> {
        /// Only the version, as another version may have other keys. A missing version is no error here: then an error
        /// about an unknown key is more helpful.
        #[derive(Deserialize)]
        struct Versioned {
            version: Option<u32>,
        }
        let Versioned { version } = serde_json::from_str(json)?;
        match version {
            Some(version) if version != VERSION => Err(FormatError::Version(version)),
            _ => Ok(serde_json::from_str(json)?),
        }
    }

    /// The content of a preset file.
    ///
    /// # Panics
    /// Never: any settings can be written.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("numbers and names are JSON");
        json.push('\n');
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tone_filter_dsp::{CHOICES, SPECS};

    #[test]
    fn factory_presets_are_valid_and_differ_from_each_other() {
        let presets: Vec<Preset> = ids().map(|id| Preset::factory(id).unwrap()).collect();
        assert_eq!(presets[0].settings, Settings::default(), "the first is that of a new instance");
        assert_eq!(presets[1].settings, Settings::REFERENCE);
        assert_eq!([&*presets[0].name, &*presets[1].name], ["Tone Filter", "Reference"]);
        for (index, (preset, id)) in presets.iter().zip(ids()).enumerate() {
            assert_eq!(preset.name.to_lowercase().replace(' ', "-"), id);
            assert!(!preset.settings.bypass, "{id}");
            for other in &presets[..index] {
                assert_ne!(preset.settings, other.settings, "{id} and {}", other.name);
            }
        }
    }

    #[test]
    fn missing_settings_are_those_of_the_reference_sound() {
        let json = r#"{ "version": 1, "name": "x", "settings": { "floor": -70 } }"#;
        let expected = Settings { floor: -70.0, ..Settings::REFERENCE };
        assert_eq!(Preset::from_json(json).unwrap(), Preset::new("x", expected));
        let Settings { auto, focus, sensitivity, lookahead, .. } = expected;
        assert_eq!((auto, focus, sensitivity, lookahead), (false, 0.0, 50.0, false));
    }

    #[test]
    fn an_invalid_preset_is_refused_with_the_reason() {
        let refused = |json: &str| Preset::from_json(json).unwrap_err().to_string();
        for (json, reason) in [
            ("", "EOF"),
            ("RIFF", "expected value"),
            ("{}", "missing field `version`"),
            (r#"{"version":1,"name":"x"}"#, "missing field `settings`"),
            (r#"{"version":1,"name":"x","settings":{},"colour":3}"#, "unknown field `colour`"),
            (r#"{"versoin":1,"name":"x","settings":{}}"#, "unknown field `versoin`"),
            (r#"{"name":"x","settings":{}}"#, "missing field `version`"),
            (r#"{"version":1,"name":"x","settings":{"mixx":3}}"#, "unknown field `mixx`"),
            (r#"{"version":1,"name":"x","settings":{"mix":"wet"}}"#, "invalid type"),
            (
                r#"{"version":1,"name":"x","settings":{"mix":101}}"#,
                "mix = 101 is out of range; use 0 to 100 %",
            ),
            (r#"{"version":1,"name":"x","settings":{"stereo":"wide"}}"#, "expected `mono`"),
        ] {
            let error = refused(json);
            assert!(error.contains(reason), "{json}: {error}");
            assert!(error.ends_with("; correct it there, or save it anew"), "{error}");
        }
        let error = refused(r#"{"version":2,"presets":[]}"#);
        assert!(error.contains("version 2") && error.contains("update"), "{error}");
    }

    proptest! {
        #[test]
        fn any_preset_round_trips(
            name: String,
            places in prop::array::uniform15(0f32..=1.0),
            entries in prop::array::uniform7(any::<usize>()),
        ) {
            let mut settings = Settings::default();
            for (choice, entry) in CHOICES.iter().zip(entries) {
                choice.set(&mut settings, entry % choice.entries.len());
            }
            for (spec, place) in SPECS.iter().zip(places) {
                let value = spec.min + place * (spec.max - spec.min);
                spec.set(&mut settings, value.clamp(spec.min, spec.max));
            }
            let preset = Preset::new(name, settings);
            prop_assert_eq!(Preset::from_json(&preset.to_json()).unwrap(), preset);
        }
    }
}
