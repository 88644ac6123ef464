//! Settings as a map from ids to values: [`Controls`] in JSON, and, with `#[serde(with)]`, [`Settings`] in any format.
//!
//! Numbers are in the unit of the setting. Switches are booleans, other choices are the ids of their entries, and texts are
//! strings. Readers also accept numbers and choices as strings, as people type them. Missing settings have their values in
//! [`Settings::REFERENCE`], so that a preset keeps its sound in later versions. Binary formats store the JSON as one string.
//!
//! The keys of [`Routing`](tone_filter_dsp::Routing) are not part of [`Settings`]. A preset or `#[serde(with)]` checks their
//! values and ignores them.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use tone_filter_dsp::Settings;
//!
//! #[derive(Serialize, Deserialize)]
//! struct Level {
//!     #[serde(with = "tone_filter_presets::settings")]
//!     sound: Settings,
//! }
//! ```

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
    ser::{Error as _, SerializeMap},
};
use serde_json::{Map, Value};
use std::fmt;
use tone_filter_dsp::{Choice, Controls, Setting, Settings, TEXTS};

/// Returns `controls` as JSON on one line.
///
/// # Panics
/// Never: any settings can be written.
pub fn to_json(controls: &Controls) -> String {
    serde_json::to_string(&Written(controls, true)).expect("numbers and ids are JSON")
}

/// Parses the text that [`to_json`] writes.
///
/// # Errors
/// If `json` is not JSON, or has a duplicate key, an unknown key or a value out of range.
///
/// ```
/// use tone_filter_dsp::Settings;
/// use tone_filter_presets::settings;
///
/// let controls = settings::from_json(r#"{ "mix": 70, "auto": true, "bypass": true }"#)?;
/// assert_eq!(controls.settings, Settings { mix: 70.0, auto: true, ..Settings::REFERENCE });
/// assert!(controls.routing.bypass);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_json(json: &str) -> Result<Controls, serde_json::Error> {
    let Object(object) = serde_json::from_str(json)?;
    read(&object, Err).map_err(Error::custom)
}

/// Serializes `settings`, for `#[serde(with)]`.
///
/// # Errors
/// If the serializer fails.
pub fn serialize<S: Serializer>(settings: &Settings, serializer: S) -> Result<S::Ok, S::Error> {
    let controls = Controls::from(*settings);
    let written = Written(&controls, false);
    if serializer.is_human_readable() {
        return written.serialize(serializer);
    }
    let json = serde_json::to_string(&written).map_err(S::Error::custom)?;
    serializer.serialize_str(&json)
}

/// Serializer of settings as a map. The second field tells whether to include the routing.
struct Written<'a>(&'a Controls, bool);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(controls, routed) = self;
        let mut map = serializer.serialize_map(None)?;
        for setting in in_files().filter(|setting| *routed || !setting.is_routing()) {
            match setting {
                Setting::Number(spec) => {
                    map.serialize_entry(spec.id, &spec.get(&controls.settings))?
                }
                Setting::Choice(choice) if choice.is_switch() => {
                    map.serialize_entry(choice.id, &(choice.get(controls) == 1))?;
                }
                _ => map.serialize_entry(setting.id(), &setting.text(controls))?,
            }
        }
        map.end()
    }
}

/// Deserializes settings that [`serialize`] wrote, for `#[serde(with)]`.
///
/// # Errors
/// If the deserializer fails, a key is a duplicate or unknown, or a value is out of range.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Settings, D::Error> {
    if !deserializer.is_human_readable() {
        let controls = from_json(&String::deserialize(deserializer)?);
        return controls.map(|controls| controls.settings).map_err(D::Error::custom);
    }
    let Object(object) = Object::deserialize(deserializer)?;
    read(&object, Err).map(|controls| controls.settings).map_err(D::Error::custom)
}

/// Returns the settings in `object`. Calls `refuse` for each unknown key or invalid value: if it returns `Ok`, the key is
/// skipped, otherwise its error is returned.
pub(crate) fn read<E>(
    object: &Map<String, Value>,
    mut refuse: impl FnMut(Unusable) -> Result<(), E>,
) -> Result<Controls, E> {
    let mut controls = Controls::from(Settings::REFERENCE);
    for (key, value) in object {
        set(&mut controls, key, value).or_else(&mut refuse)?;
    }
    Ok(controls)
}

/// Unknown key or invalid value, with the reason.
#[derive(Debug, thiserror::Error)]
#[error("{what} {reason}")]
pub(crate) struct Unusable {
    /// Key, and for a known key its value.
    pub what: String,
    reason: String,
}

impl Unusable {
    /// Creates the error for an unknown `key`; the reason lists the valid `keys`.
    pub fn key(key: &str, keys: impl Iterator<Item = &'static str>) -> Self {
        let keys = keys.collect::<Vec<_>>().join(", ");
        Self { what: format!("{key:?}"), reason: format!("is unknown; use {keys}") }
    }

    fn value(key: &str, value: &Value, reason: String) -> Self {
        Self { what: format!("{key} = {value}"), reason }
    }
}

fn set(controls: &mut Controls, key: &str, value: &Value) -> Result<(), Unusable> {
    match Setting::find(key).ok_or_else(|| Unusable::key(key, Setting::all().map(Setting::id)))? {
        Setting::Number(spec) => {
            let wrong = |what: &str| {
                let reason = format!("is {what}; use {} to {} {}", spec.min, spec.max, spec.unit);
                Unusable::value(key, value, reason)
            };
            let number = value.as_f64().map(|number| number as f32);
            let number = number.or_else(|| spec.parse(value.as_str()?));
            let number = number.ok_or_else(|| wrong("not a number"))?;
            spec.check(number).map_err(|_| wrong("out of range"))?;
            spec.set(&mut controls.settings, number);
        }
        Setting::Choice(choice) => choice.set(controls, entry(choice, value)?),
        Setting::Text(row) => {
            let set = |text| row.set(&mut controls.settings, text).ok();
            let reason = || format!("is unknown; use {}", row.of);
            let found = value.as_str().and_then(set);
            found.ok_or_else(|| Unusable::value(key, value, reason()))?;
        }
    }
    Ok(())
}

/// Parses `value` as an entry of `choice`. Returns the index of the entry.
fn entry(choice: &Choice, value: &Value) -> Result<usize, Unusable> {
    let state = value.as_bool().filter(|_| choice.is_switch()).map(usize::from);
    let ids: Vec<_> = choice.entries.iter().map(|entry| entry.0).collect();
    let allowed = if choice.is_switch() { "true, false".to_owned() } else { ids.join(", ") };
    let reason = || format!("is unknown; use {allowed}");
    let found = state.or_else(|| choice.parse(value.as_str()?));
    found.ok_or_else(|| Unusable::value(choice.id, value, reason()))
}

/// Returns all settings in the order in which they are written. A text comes directly before the setting in its field `before`.
fn in_files() -> impl Iterator<Item = Setting> {
    let others = Setting::all().filter(|setting| !matches!(setting, Setting::Text(_)));
    others.flat_map(|setting| {
        let before = TEXTS.iter().filter(move |text| text.before == setting.id());
        before.map(Setting::Text).chain([setting])
    })
}

/// Object in which duplicate keys are errors: otherwise, the last one would win silently.
pub(crate) struct Object(pub Map<String, Value>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("settings by their ids")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Object, A::Error> {
                let mut object = Map::new();
                while let Some((key, value)) = entries.next_entry::<String, Value>()? {
                    if object.contains_key(&key) {
                        return Err(A::Error::custom(format_args!("{key:?} is there twice")));
                    }
                    object.insert(key, value);
                }
                Ok(Object(object))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}
