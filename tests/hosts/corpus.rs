//! Tests with states and presets that released versions have saved. `cargo xtask corpus` writes those of this version.

use serde_json::Value;
use std::{fs, path::PathBuf};
use tone_filter_dsp::{CHOICES, Controls, SPECS, Settings};
use tone_filter_presets::Preset;
use tone_filter_testkit::plugin::{controls_in, instance};

/// Returns the paths of all presets in the corpus. Each has a state of the same name beside it.
fn presets() -> Vec<PathBuf> {
    let versions = fs::read_dir(tone_filter_testkit::root().join("tests/corpus")).unwrap();
    let files = versions.flat_map(|version| fs::read_dir(version.unwrap().path()).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

/// Checks that `controls` have the settings of the preset in `json`, parsed without the code under test.
fn check(controls: &Controls, json: &str) {
    let settings = &controls.settings;
    let preset: Value = serde_json::from_str(json).unwrap();
    let said = preset["settings"].as_object().unwrap();
    for spec in &SPECS {
        let value = said.get(spec.id).map(|value| value.as_f64().unwrap() as f32);
        assert_eq!(spec.get(settings), value.unwrap_or(spec.reference()), "{}", spec.id);
    }
    for choice in &CHOICES {
        let entry = said.get(choice.id).map(|value| match choice.is_switch() {
            true => usize::from(value.as_bool().unwrap()),
            false => choice.entries.iter().position(|(id, _)| value == id).unwrap(),
        });
        assert_eq!(choice.get(controls), entry.unwrap_or(choice.reference()), "{}", choice.id);
    }
    // A released preset has all settings of its version; the first version had 17.
    assert!(said.len() >= 17, "{json}");
    assert_eq!(settings.bands.to_string(), said["bands"].as_str().unwrap());
    assert_eq!(settings.custom.to_string(), said["custom"].as_str().unwrap());
}

#[test]
fn released_states_and_presets_load() {
    let presets = presets();
    assert!(presets.len() >= 11, "the corpus is gone");
    for path in presets {
        let preset = Preset::read(&path).unwrap().preset;
        if path.parent().is_some_and(|version| version.ends_with("0.1.0")) {
            // Settings that the version lacked must have their values of the reference sound.
            let Settings { auto, focus, sensitivity, lookahead, .. } = preset.settings;
            assert_eq!((auto, focus, sensitivity, lookahead), (false, 0.0, 50.0, false));
        }
        check(&preset.settings.into(), &fs::read_to_string(&path).unwrap());
        let state = fs::read(path.with_extension("state")).unwrap();
        let mut instance = instance();
        instance.load(&state).unwrap();
        let loaded = controls_in(&instance.save().unwrap());
        assert_eq!(loaded, preset.settings.into(), "{}", path.display());
    }
}
