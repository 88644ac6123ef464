//! Conversion of presets and JSON to settings and routing.

use crate::{Status, status::fail};
use tone_filter_dsp::Controls;
use tone_filter_presets::{self as presets, Preset};

/// Returns the settings of a factory preset, with the default routing.
pub fn of_preset(id: &str) -> Result<Controls, Status> {
    let preset = Preset::factory(id);
    let unknown = || {
        fail(
            Status::Preset,
            format_args!("no factory preset has the id {id:?}; tf_preset_at() lists them"),
        )
    };
    preset.map(|preset| preset.settings.into()).ok_or_else(unknown)
}

/// Returns the settings and routing in a preset file's text or a JSON object of settings.
pub fn of_json(json: &str) -> Result<Controls, Status> {
    let object: serde_json::Map<_, _> = serde_json::from_str(json).map_err(of_syntax)?;
    if object.contains_key("settings") {
        let loaded = Preset::from_json(json).map_err(|error| fail(Status::Json, error))?;
        return Ok(loaded.preset.settings.into());
    }
    presets::settings::from_json(json).map_err(of_syntax)
}

fn of_syntax(error: serde_json::Error) -> Status {
    fail(Status::Json, error)
}
