//! Tests of the parameters that hosts read and set.

use std::collections::HashSet;
use tone_filter_dsp::{SPECS, Settings};
use tone_filter_testkit::{
    Draws,
    clap::Change,
    plugin::{TYPED, any_value, builds, music, new, settings},
};

#[test]
fn ids_are_unlike_each_other_and_values_within_their_bounds() {
    for (_, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        let parameters = instance.parameters().unwrap();
        let ids: HashSet<u32> = parameters.iter().map(|parameter| parameter.id).collect();
        assert_eq!(ids.len(), parameters.len());
        for parameter in &parameters {
            assert!(parameter.min < parameter.max && !parameter.name.is_empty());
            let start = instance.value(parameter.id).unwrap();
            assert_eq!(start, parameter.default);
            assert!((parameter.min..=parameter.max).contains(&start));
        }
        for id in [0, 1, 0x7FFF_FFFF] {
            assert!(!ids.contains(&id) && instance.value(id).is_err());
            assert!(instance.value_to_text(id, 0.5).is_err());
            assert_eq!(instance.text_to_value(id, "1").unwrap(), None);
        }
    }
}

#[test]
fn a_value_that_is_set_is_the_value_that_is_read() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        let draws = &mut Draws::seeded(5);
        for _ in 0..300 {
            for parameter in instance.parameters().unwrap() {
                let value = any_value(draws, &parameter);
                let change = Change { frame: 0, parameter: parameter.id, value };
                instance.set(&[change]).unwrap();
                let read = instance.value(parameter.id).unwrap();
                let error = (read - value).abs() / (parameter.max - parameter.min);
                // If the text has more digits than the normalised value, the texts must be equal.
                let mut text = |value| instance.value_to_text(parameter.id, value).unwrap();
                let (was, is) = (text(value), text(read));
                assert!(error <= 1e-5 || was == is, "{build}, {}: {is}, not {was}", parameter.name);
            }
        }
    }
}

#[test]
fn what_is_no_value_is_not_taken_and_what_is_too_large_is_brought_into_range() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        for parameter in instance.parameters().unwrap() {
            let set = |value| Change { frame: 0, parameter: parameter.id, value };
            for (value, expected) in [
                (f64::NAN, parameter.default),
                (f64::INFINITY, parameter.default),
                (f64::NEG_INFINITY, parameter.default),
                (1e300, parameter.max),
                (parameter.max + 1.0, parameter.max),
                (-1e300, parameter.min),
                (parameter.min - 1.0, parameter.min),
            ] {
                instance.set(&[set(parameter.default)]).unwrap();
                instance.set(&[set(value)]).unwrap();
                let read = instance.value(parameter.id).unwrap();
                let error = (read - expected).abs();
                assert!(error <= 1e-6, "{build}, {} = {value}: {read}", parameter.name);
            }
            instance.set(&[set(parameter.default)]).unwrap();
        }
        let actual = settings(&mut instance);
        for spec in &SPECS {
            let (actual, default) = (spec.get(&actual), spec.get(&Settings::default()));
            assert!((actual - default).abs() <= 1e-5 * default.abs().max(1.0), "{}", spec.id);
        }
    }
}

#[test]
fn texts_go_both_ways_and_nonsense_means_nothing() {
    let long = "9".repeat(10_000);
    let nonsense = ["", " ", "nonsense", "٣", "--3", "1e", "\u{1F3B5}", "NaN"];
    for (build, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        let parameters = instance.parameters().unwrap();
        for (title, typed, shown) in TYPED {
            let id = parameters.iter().find(|parameter| parameter.name == title).unwrap().id;
            let value = instance.text_to_value(id, typed).unwrap();
            let value = value.unwrap_or_else(|| panic!("{build}, {title}: {typed}"));
            assert_eq!(instance.value_to_text(id, value).unwrap(), shown, "{build}");
        }
        let draws = &mut Draws::seeded(6);
        for parameter in instance.parameters().unwrap() {
            for _ in 0..200 {
                let value = any_value(draws, &parameter);
                let text = instance.value_to_text(parameter.id, value).unwrap();
                let back = instance.text_to_value(parameter.id, &text).unwrap().unwrap();
                assert_eq!(instance.value_to_text(parameter.id, back).unwrap(), text, "{build}");
            }
            for text in nonsense {
                let value = instance.text_to_value(parameter.id, text).unwrap();
                assert_eq!(value, None, "{build}, {}: {text:?}", parameter.name);
            }
            if let Some(value) = instance.text_to_value(parameter.id, &long).unwrap() {
                assert!((parameter.min..=parameter.max).contains(&value), "{value}");
            }
            // For values out of range or not finite, any text will do, but no crash.
            for value in [f64::NAN, f64::INFINITY, -1e300, 1e300] {
                let _ = instance.value_to_text(parameter.id, value);
            }
        }
    }
}

#[test]
fn an_unknown_parameter_is_passed_over() {
    for (_, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        let before = instance.save().unwrap();
        instance.set(&[Change { frame: 0, parameter: 12_345, value: 0.5 }]).unwrap();
        assert_eq!(instance.save().unwrap(), before);
        let mut processor = instance.activate(48_000.0, 512).unwrap();
        let mut signal = music(0.05, 48_000.0);
        let changes = [Change { frame: 100, parameter: 12_345, value: 0.5 }];
        processor.run(&mut signal, true, &mut std::iter::repeat(512), &changes).unwrap();
        instance.deactivate(processor);
        assert_eq!(instance.save().unwrap(), before);
    }
}
