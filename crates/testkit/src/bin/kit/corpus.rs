//! Writer of this version's states and presets, which all later versions must load.

use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::fs;
use tone_filter_dsp::{CHOICES, SPECS, Settings};
use tone_filter_presets::{Preset, ids};
use tone_filter_testkit::{
    bundle,
    clap::{Instance, Library},
    plugin::{saved, state},
    root,
};

/// Writes the plugin's state and the preset file of every factory preset into `tests/corpus/VERSION/`. The folder must not exist:
/// files of released versions are never changed.
pub fn write() -> Result<()> {
    let library = Library::load(&bundle::clap()?)?;
    let plugin = library.plugins()?.into_iter().next().context("the bundle is empty")?;
    let folder = root().join("tests/corpus").join(&plugin.version);
    ensure!(!folder.exists(), "{} exists already", folder.display());
    fs::create_dir_all(&folder)?;
    for id in ids() {
        let preset = Preset::factory(id).context("every id has a preset")?;
        let mut instance = library.instantiate(&plugin.id)?;
        set(&mut instance, &preset.settings)?;
        fs::write(folder.join(format!("{id}.state")), instance.save()?)?;
        preset.write(&folder.join(format!("{id}.json")))?;
    }
    println!("Wrote {}", folder.display());
    Ok(())
}

/// Loads a state with `settings` into `instance`. All other fields keep their values in the plugin's own state.
fn set(instance: &mut Instance, settings: &Settings) -> Result<()> {
    let mut state = state(&instance.save()?);
    for spec in &SPECS {
        state["params"][spec.id] = json!({ "f32": spec.get(settings) });
    }
    for choice in &CHOICES {
        let entry = choice.get(&(*settings).into());
        state["params"][choice.id] = match choice.is_switch() {
            true => json!({ "bool": entry == 1 }),
            false => json!({ "string": choice.entries[entry].0 }),
        };
    }
    state["fields"]["bands"] = json!(json!(settings.bands.to_string()).to_string());
    state["fields"]["custom"] = json!(json!(settings.custom.to_string()).to_string());
    instance.load(&saved(&state))
}
