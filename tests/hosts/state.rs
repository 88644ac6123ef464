//! Tests that saved states are restored exactly, also those of released versions. `seeds.rs` tests invalid states.

use serde_json::{Value, json};
use std::fs;
use tone_filter_dsp::{BandMask, CHOICES, Controls, SPECS, Settings};
use tone_filter_presets::Preset;
use tone_filter_testkit::{
    plugin::{busy, controls_in, instance, library, saved, state},
    root,
};

#[test]
fn missing_values_of_a_state_are_the_reference() {
    let mut instance = busy(&library());
    let busy = instance.save().unwrap();
    let full = state(&busy);
    let mut load = |state: &Value| {
        instance.load(&busy).unwrap();
        instance.load(&saved(state)).unwrap();
        controls_in(&instance.save().unwrap())
    };
    // A state without any parameters, and a state of a later version with more parameters.
    let nothing = json!({ "params": {}, "fields": {} });
    assert_eq!(load(&nothing), Controls::from(Settings::REFERENCE));
    let mut newer = full.clone();
    newer["version"] = json!("99.0.0");
    newer["params"]["sparkle"] = json!({ "f32": 0.7 });
    newer["fields"]["sparkle"] = json!("[1, 2, 3]");
    newer["sparkle"] = json!({ "everything": true });
    let controls = controls_in(&busy);
    assert_eq!(load(&newer), controls);

    let mut load_with = |id: &str, odd: Value| {
        let mut state = full.clone();
        state["params"][id] = odd;
        load(&state)
    };
    for spec in &SPECS {
        let (mut expected, id) = (controls, spec.id);
        spec.set(&mut expected.settings, spec.reference());
        for odd in [json!({ "i32": 3 }), json!({ "string": "3" }), json!({ "bool": true })] {
            assert_eq!(load_with(id, odd), expected);
        }
        for (odd, bound) in [(3e38, spec.max), (-3e38, spec.min)] {
            let controls = load_with(id, json!({ "f32": odd }));
            assert_eq!(spec.get(&controls.settings), bound, "{id}");
        }
    }
    for choice in &CHOICES {
        let mut expected = controls;
        choice.set(&mut expected, choice.reference());
        for odd in [json!({ "string": "of-the-future" }), json!({ "f32": 1.0 })] {
            assert_eq!(load_with(choice.id, odd), expected, "{}", choice.id);
        }
    }
    let mut odd = full;
    odd["fields"]["bands"] = json!("\"111\"");
    assert_eq!(load(&odd).settings.bands, BandMask::ALL);
}

/// `cargo xtask corpus` writes the corpus. The crate `presets` tests the presets in it.
#[test]
fn released_states_have_the_sound_of_their_presets() {
    let versions = fs::read_dir(root().join("tests/corpus")).unwrap();
    let files = versions.flat_map(|version| fs::read_dir(version.unwrap().path()).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    let mut count = 0;
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "state"))
    {
        let preset = Preset::read(&path.with_extension("json")).unwrap().preset.settings;
        if path.parent().is_some_and(|version| version.ends_with("0.1.0")) {
            // Settings that the version lacked must get their reference values.
            let Settings { auto, focus, sensitivity, lookahead, .. } = preset;
            assert_eq!((auto, focus, sensitivity, lookahead), (false, 0.0, 50.0, false));
        }
        let mut instance = instance();
        instance.load(&fs::read(&path).unwrap()).unwrap();
        let loaded = controls_in(&instance.save().unwrap());
        assert_eq!(loaded, preset.into(), "{}", path.display());
        count += 1;
    }
    assert!(count >= 32, "the corpus is gone");
}
