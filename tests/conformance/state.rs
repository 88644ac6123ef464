//! Tests that saved states are restored exactly, and that invalid states change nothing.

use serde_json::{Value, json};
use tone_filter_dsp::{BandMask, CHOICES, Controls, SPECS, Settings};
use tone_filter_testkit::{
    Draws, controls,
    plugin::{builds, busy, controls_in, new, saved, set_controls, state, without_window},
};

#[test]
fn a_state_may_be_loaded_into_either_build() {
    let [(_, linked), (_, bundled)] = builds(&tone_filter::clap_entry);
    let saved = busy(&linked).save().unwrap();
    let mut instance = new(&bundled);
    instance.load(&saved).unwrap();
    assert_eq!(instance.save().unwrap(), saved);
}

#[test]
fn half_a_state_and_random_bytes_are_refused() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        let full = new(&library).save().unwrap();
        let mut instance = busy(&library);
        let before = instance.save().unwrap();
        let mut refuses = |bytes: &[u8]| {
            assert!(instance.load(bytes).is_err(), "{build}: {} bytes", bytes.len());
        };
        let with_length = |length: u64, bytes: &[u8]| [&length.to_le_bytes()[..], bytes].concat();
        (0..full.len()).for_each(|length| refuses(&full[..length]));
        // Truncated states with a matching length field are refused, too.
        for length in (0..full.len() - 8).step_by(7) {
            refuses(&with_length(length as u64, &full[8..]));
        }
        let draws = &mut Draws::seeded(8);
        for length in [0, 1, 7, 8, 9, 64, 1000, 65_536, 1 << 20] {
            for _ in 0..if length > 1000 { 3 } else { 100 } {
                let bytes: Vec<u8> = (0..length).map(|_| draws.below(256) as u8).collect();
                refuses(&bytes);
                refuses(&with_length(length as u64, &bytes));
            }
        }
        for length in [u64::MAX, u64::MAX / 2, 1 << 40, 1 << 31] {
            refuses(&with_length(length, b"{}"));
        }
        // Nested deeper than any stack, and a key longer than any other.
        for json in ["[".repeat(1 << 20), format!("{{\"{}\":1}}", "x".repeat(1 << 20))] {
            refuses(&with_length(json.len() as u64, json.as_bytes()));
        }
        for none in [json!(null), json!([]), json!({}), json!({ "params": [], "fields": {} })] {
            refuses(&saved(&none));
        }
        assert_eq!(instance.save().unwrap(), before, "{build}");
    }
}

#[test]
fn a_state_with_a_few_wrong_bytes_is_refused_or_loaded_whole() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        // Two instances that differ in every setting show whether the state leaves a parameter unset.
        let mut instances = [busy(&library), new(&library)];
        let draws = &mut Draws::seeded(9);
        let original = {
            let mut instance = new(&library);
            set_controls(&mut instance, &controls(draws));
            instance.save().unwrap()
        };
        let mut loaded = 0;
        for _ in 0..1000 {
            let mut bytes = original.clone();
            for _ in 0..=draws.below(3) {
                let place = 8 + draws.below(bytes.len() - 8);
                bytes[place] = draws.pick(b"0123456789{}[]\",:.-eaz \\\xFF");
            }
            let [first, second] = &mut instances;
            let before = [first.save().unwrap(), second.save().unwrap()];
            let result = first.load(&bytes);
            assert_eq!(result.is_ok(), second.load(&bytes).is_ok());
            let after = [first.save().unwrap(), second.save().unwrap()];
            if result.is_ok() {
                let [first, second] = after.each_ref().map(|saved| without_window(saved));
                assert_eq!(first, second, "{build}: {}", String::from_utf8_lossy(&bytes[8..]));
                loaded += 1;
                instances = [busy(&library), new(&library)];
            } else {
                assert_eq!(after, before, "{build}");
            }
        }
        assert!(loaded > 30, "{loaded}");
    }
}

#[test]
fn what_a_state_does_not_say_is_as_in_the_reference_sound() {
    let reference = Controls::from(Settings::REFERENCE);
    for (build, library) in builds(&tone_filter::clap_entry) {
        let full = state(&busy(&library).save().unwrap());
        let load = |state: &Value| {
            let mut instance = busy(&library);
            instance.load(&saved(state)).unwrap();
            controls_in(&instance.save().unwrap())
        };
        // A state without any parameters, and a state of a later version with more parameters.
        assert_eq!(load(&json!({ "params": {}, "fields": {} })), reference, "{build}");
        let mut newer = full.clone();
        newer["version"] = json!("99.0.0");
        newer["params"]["sparkle"] = json!({ "f32": 0.7 });
        newer["fields"]["sparkle"] = json!("[1, 2, 3]");
        newer["sparkle"] = json!({ "everything": true });
        assert_eq!(load(&newer), load(&full), "{build}");

        for spec in &SPECS {
            for odd in [json!({ "i32": 3 }), json!({ "string": "3" }), json!({ "bool": true })] {
                let mut state = full.clone();
                state["params"][spec.id] = odd;
                let mut expected = load(&full);
                spec.set(&mut expected.settings, spec.reference());
                assert_eq!(load(&state), expected, "{build}");
            }
            for (odd, bound) in [(3e38, spec.max), (-3e38, spec.min)] {
                let mut state = full.clone();
                state["params"][spec.id] = json!({ "f32": odd });
                assert_eq!(spec.get(&load(&state).settings), bound, "{build}, {}", spec.id);
            }
        }
        for choice in &CHOICES {
            for odd in [json!({ "string": "of-the-future" }), json!({ "f32": 1.0 })] {
                let mut state = full.clone();
                state["params"][choice.id] = odd;
                let mut expected = load(&full);
                choice.set(&mut expected, choice.reference());
                assert_eq!(load(&state), expected, "{build}, {}", choice.id);
            }
        }
        let mut odd = full.clone();
        odd["fields"]["bands"] = json!("\"111\"");
        assert_eq!(load(&odd).settings.bands, BandMask::ALL, "{build}");
    }
}
