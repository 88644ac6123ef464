//! States and presets that released versions have saved (`cargo xtask corpus` makes those of this one).

use crate::hosting::{builds, new, settings};
use serde_json::Value;
use std::{fs, path::PathBuf};
use tone_filter::{
    dsp::{SPECS, Settings},
    presets::Preset,
};

/// Every pair of a state and a preset, by the preset's path.
fn presets() -> Vec<PathBuf> {
    let versions = fs::read_dir(xtask::root().join("tests/corpus")).unwrap();
    let files = versions.flat_map(|version| fs::read_dir(version.unwrap().path()).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

/// What the JSON says, read without our own reader.
fn check(settings: &Settings, json: &str) {
    let preset: Value = serde_json::from_str(json).unwrap();
    let said = preset["settings"].as_object().unwrap();
    assert_eq!(said.len(), SPECS.len() + 6, "a released preset says everything");
    for spec in &SPECS {
        assert_eq!(
            f64::from(spec.get(settings)),
            f64::from(said[spec.id].as_f64().unwrap() as f32)
        );
    }
    assert_eq!(serde_json::to_value(settings.stereo).unwrap(), said["stereo"]);
    assert_eq!(serde_json::to_value(settings.scale).unwrap(), said["scale"]);
    assert_eq!(settings.bypass, said["bypass"].as_bool().unwrap());
    assert_eq!(settings.root.name(), said["root"]);
    assert_eq!(settings.bands.to_string(), said["bands"].as_str().unwrap());
    assert_eq!(settings.custom.to_string(), said["custom"].as_str().unwrap());
}

#[test]
fn what_was_ever_released_still_loads() {
    let presets = presets();
    assert!(presets.len() >= 11, "the corpus is gone");
    for path in presets {
        let preset = Preset::read(&path).unwrap();
        check(&preset.settings, &fs::read_to_string(&path).unwrap());
        let state = fs::read(path.with_extension("state")).unwrap();
        for (build, library) in builds() {
            let mut instance = new(&library);
            instance.load(&state).unwrap();
            assert_eq!(settings(&mut instance), preset.settings, "{build}, {}", path.display());
        }
    }
}
