//! Tests of the plugin's descriptor, and of the parameters that hosts read, set and store.

use std::iter::repeat;
use tone_filter_dsp::{CHOICES, SPECS};
use tone_filter_hosts::RATE;
use tone_filter_testkit::{
    Draws,
    clap::{Change, Extensions, Parameter, parameter_id},
    plugin::{TYPED, any_value, instance, library, music, settings},
};

#[test]
fn the_factory_offers_one_plugin_under_one_id() {
    let library = library();
    let plugin = library.plugin().unwrap();
    assert_eq!(plugin.id(), Some(c"org.tone-filter.tone-filter"));
    assert_eq!(plugin.name(), Some(c"Tone Filter"));
    assert_eq!(plugin.version().unwrap().to_str(), Ok(env!("CARGO_PKG_VERSION")));
    for feature in [c"audio-effect", c"filter", c"distortion", c"mono", c"stereo"] {
        assert!(plugin.features().any(|known| known == feature), "{feature:?}");
    }
    for id in
        [c"", c"org.tone-filter", c"org.tone-filter.tone-filter.", c"ORG.TONE-FILTER.TONE-FILTER"]
    {
        assert!(library.instantiate(id, Extensions::All).is_err(), "{id:?}");
    }
}

#[test]
fn an_invalid_rate_is_refused() {
    let mut instance = instance();
    for rate in [0.0, -RATE, 999.0, f64::INFINITY, f64::NAN] {
        assert!(instance.activate(rate, 512).is_err(), "{rate}");
    }
    instance.activate(RATE, 512).unwrap();
}

#[test]
fn every_setting_is_a_parameter() {
    let mut instance = instance();
    let parameters = instance.parameters().unwrap();
    assert_eq!(parameters.len(), SPECS.len() + CHOICES.len());
    for (spec, parameter) in SPECS.iter().zip(&parameters) {
        let mut text = |value| instance.value_to_text(parameter.id, value).unwrap();
        assert_eq!(parameter.id, parameter_id(spec.id), "{}", spec.id);
        assert_eq!(parameter.name, spec.name);
        assert!(!parameter.group.is_empty());
        assert!(parameter.automatable && !parameter.stepped && !parameter.bypass);
        // The unit is always in the plural: `1 notes`.
        let shown = |value: f32| format!("{} {}", spec.number(value, spec.decimals), spec.unit);
        assert_eq!(text(parameter.min), shown(spec.min));
        assert_eq!(text(parameter.max), shown(spec.max));
        assert_eq!(text(parameter.default), shown(spec.default()));
    }

    for (choice, parameter) in CHOICES.iter().zip(&parameters[SPECS.len()..]) {
        let Parameter { id, min, max, default, .. } = *parameter;
        assert_eq!((id, &*parameter.name), (parameter_id(choice.id), choice.name));
        assert!(parameter.stepped);
        let last = choice.entries.len() - 1;
        assert_eq!([min, max, default], [0, last, choice.default()].map(|x| x as f64));
        for (index, (_, name)) in choice.entries.iter().enumerate() {
            assert_eq!(instance.value_to_text(id, index as f64).unwrap(), *name);
        }
    }
    let bypasses: Vec<_> = parameters.iter().filter(|p| p.bypass).map(|p| p.id).collect();
    assert_eq!(bypasses, [parameter_id("bypass")], "a host finds the bypass by its flag");
    for id in [0, 1, 0x7FFF_FFFF] {
        assert!(instance.value(id).is_err() && instance.value_to_text(id, 0.5).is_err());
        assert_eq!(instance.text_to_value(id, "1").unwrap(), None);
    }
}

#[test]
fn values_and_texts_go_both_ways() {
    let (mut instance, draws) = (instance(), &mut Draws::seeded(5));
    for parameter in instance.parameters().unwrap() {
        assert_eq!(instance.value(parameter.id).unwrap(), parameter.default);
        for _ in 0..100 {
            let value = any_value(draws, &parameter);
            instance.set(&[Change { frame: 0, parameter: parameter.id, value }]).unwrap();
            let read = instance.value(parameter.id).unwrap();
            let error = (read - value).abs() / (parameter.max - parameter.min);
            // The normalised value may have fewer digits than the value. Then the texts must be equal.
            let mut text = |value| instance.value_to_text(parameter.id, value).unwrap();
            let (was, is) = (text(value), text(read));
            assert!(error <= 1e-5 || was == is, "{}: {is}, not {was}", parameter.name);
            let back = instance.text_to_value(parameter.id, &was).unwrap().unwrap();
            assert_eq!(instance.value_to_text(parameter.id, back).unwrap(), was);
        }
        // The text in the host is the library's.
        if let Some(spec) = SPECS.iter().find(|spec| parameter_id(spec.id) == parameter.id) {
            let (shown, settings) =
                (instance.value(parameter.id).unwrap(), settings(&mut instance));
            let text = format!("{} {}", spec.number(spec.get(&settings), spec.decimals), spec.unit);
            assert_eq!(instance.value_to_text(parameter.id, shown).unwrap(), text);
        }
    }
}

#[test]
fn invalid_texts_are_refused_and_typed_ones_read() {
    let mut instance = instance();
    let parameters = instance.parameters().unwrap();
    for (title, typed, shown) in TYPED {
        let id = parameters.iter().find(|parameter| parameter.name == title).unwrap().id;
        let value = instance.text_to_value(id, typed).unwrap();
        let value = value.unwrap_or_else(|| panic!("{title}: {typed}"));
        assert_eq!(instance.value_to_text(id, value).unwrap(), shown);
    }
    for Parameter { id, name, min, max, .. } in parameters {
        for text in ["", " ", "nonsense", "٣", "--3", "1e", "\u{1F3B5}", "NaN"] {
            assert_eq!(instance.text_to_value(id, text).unwrap(), None, "{name}: {text:?}");
        }
        if let Some(value) = instance.text_to_value(id, &"9".repeat(10_000)).unwrap() {
            assert!((min..=max).contains(&value), "{value}");
        }
        // Values that are out of range or not finite may give any text, but must not crash.
        for value in [f64::NAN, f64::INFINITY, -1e300, 1e300] {
            let _ = instance.value_to_text(id, value);
        }
    }
}

#[test]
fn values_out_of_range_are_clamped_and_invalid_ones_ignored() {
    let mut instance = instance();
    for Parameter { id, name, min, max, default, .. } in instance.parameters().unwrap() {
        for (value, expected) in [
            (f64::NAN, default),
            (f64::INFINITY, default),
            (f64::NEG_INFINITY, default),
            (1e300, max),
            (max + 1.0, max),
            (-1e300, min),
            (min - 1.0, min),
        ] {
            for value in [default, value] {
                instance.set(&[Change { frame: 0, parameter: id, value }]).unwrap();
            }
            let read = instance.value(id).unwrap();
            assert!((read - expected).abs() <= 1e-6, "{name} = {value}: {read}");
        }
    }
}

#[test]
fn a_host_reads_values_without_its_modulation() {
    let mut instance = instance();
    let mut processor = instance.activate(RATE, 512).unwrap();
    for Parameter { id, name, min, max, default, .. } in instance.parameters().unwrap() {
        let value = if default > (min + max) / 2.0 { min - max } else { max - min };
        processor.modulation = vec![Change { frame: 0, parameter: id, value }];
        processor.run(&mut music(0.001, RATE), true, &mut repeat(512), &[]).unwrap();
        let read = instance.value(id).unwrap();
        assert!((read - default).abs() <= 1e-6, "{name}: {read} for {default}");
    }
    instance.deactivate(processor);
}

#[test]
fn an_unknown_parameter_is_ignored() {
    let mut instance = instance();
    let before = instance.save().unwrap();
    let change = Change { frame: 0, parameter: 12_345, value: 0.5 };
    instance.set(&[change]).unwrap();
    let mut processor = instance.activate(RATE, 512).unwrap();
    processor.run(&mut music(0.05, RATE), true, &mut repeat(512), &[change]).unwrap();
    instance.deactivate(processor);
    assert_eq!(instance.save().unwrap(), before);
}
