//! The tables of settings and presets as JSON.

use serde::Serialize;
use tone_filter_dsp::{CHOICES, Entry, SPECS, Settings};
use tone_filter_presets::{Preset, ids, settings};

/// What a page needs to make its controls.
#[derive(Serialize)]
struct Table {
    numbers: Vec<Number>,
    choices: Vec<Choice>,
    presets: Vec<Sound>,
}

/// A row of [`SPECS`].
#[derive(Serialize)]
struct Number {
    id: &'static str,
    name: &'static str,
    min: f32,
    max: f32,
    unit: &'static str,
    decimals: usize,
    taper: String,
    help: &'static str,
}

/// A row of [`CHOICES`].
#[derive(Serialize)]
struct Choice {
    id: &'static str,
    name: &'static str,
    entries: &'static [Entry],
    help: &'static str,
}

/// A factory preset.
#[derive(Serialize)]
struct Sound {
    id: &'static str,
    name: String,
    description: String,
    #[serde(serialize_with = "settings::serialize")]
    settings: Settings,
}

/// All numbers, choices and factory presets.
pub fn table() -> String {
    let numbers = SPECS.iter().map(|spec| Number {
        id: spec.id,
        name: spec.name,
        min: spec.min,
        max: spec.max,
        unit: spec.unit,
        decimals: spec.decimals,
        taper: format!("{:?}", spec.taper).to_lowercase(),
        help: spec.help,
    });
    let choices = CHOICES.iter().map(|choice| Choice {
        id: choice.id,
        name: choice.name,
        entries: choice.entries,
        help: choice.help,
    });
    let presets = ids().filter_map(|id| {
        let Preset { name, description, settings, .. } = Preset::factory(id)?;
        Some(Sound { id, name, description, settings })
    });
    let table = Table {
        numbers: numbers.collect(),
        choices: choices.collect(),
        presets: presets.collect(),
    };
    serde_json::to_string(&table).expect("numbers and names are JSON")
}
