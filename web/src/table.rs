//! Settings and presets as JSON.

use serde_json::{Value, json};
use tone_filter::{
    dsp::{CHOICES, SPECS, Settings, Taper},
    presets::{Preset, ids},
};

/// `settings` as a preset has them.
pub fn json(settings: &Settings) -> String {
    serde_json::to_string(settings).expect("numbers and names are JSON")
}

/// All numbers, choices and factory presets.
pub fn table() -> Value {
    let numbers = SPECS.iter().map(|spec| {
        let taper = match spec.taper {
            Taper::Linear => "linear",
            Taper::Logarithmic => "logarithmic",
            Taper::Whole => "whole",
        };
        json!({
            "id": spec.id, "name": spec.name, "min": spec.min, "max": spec.max, "unit": spec.unit,
            "decimals": spec.decimals, "taper": taper, "help": spec.help,
        })
    });
    let choices = CHOICES.iter().map(|choice| {
        json!({
            "id": choice.id, "name": choice.name, "entries": choice.entries, "help": choice.help,
        })
    });
    let presets = ids().filter_map(|id| {
        let Preset { name, description, settings, .. } = Preset::factory(id)?;
        Some(json!({ "id": id, "name": name, "description": description, "settings": settings }))
    });
    json!({
        "numbers": numbers.collect::<Value>(),
        "choices": choices.collect::<Value>(),
        "presets": presets.collect::<Value>(),
    })
}
