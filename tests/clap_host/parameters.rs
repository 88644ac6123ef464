//! Tests of the parameters that the host reads and stores.

use tone_filter_dsp::{CHOICES, SPECS};
use tone_filter_testkit::{
    clap::{Parameter, parameter_id},
    plugin::{instance, set, settings, sounds},
};

#[test]
fn every_setting_is_a_parameter_with_its_name_range_default_and_texts() {
    let mut instance = instance();
    let parameters = instance.parameters().unwrap();
    assert_eq!(parameters.len(), SPECS.len() + CHOICES.len());
    for (spec, parameter) in SPECS.iter().zip(&parameters) {
        let mut text = |value| instance.value_to_text(parameter.id, value).unwrap();
        assert_eq!(parameter.id, parameter_id(spec.id), "{}", spec.id);
        assert_eq!(parameter.name, spec.name);
        assert!(!parameter.group.is_empty());
        assert!(parameter.automatable && !parameter.stepped && !parameter.bypass);
        // The unit is a fixed text here: `1 notes`.
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
            let value = index as f64;
            let text = instance.value_to_text(id, value).unwrap();
            assert_eq!(text, *name);
            let back = instance.text_to_value(id, &text).unwrap().unwrap();
            // nice-plug keeps the index of the entry as an f32 from 0 to 1.
            assert!((back - value).abs() <= max * f64::from(f32::EPSILON), "{text}: {back}");
            assert_eq!(instance.value_to_text(id, back).unwrap(), text);
        }
    }
    let bypasses: Vec<_> = parameters.iter().filter(|p| p.bypass).map(|p| p.id).collect();
    assert_eq!(bypasses, [parameter_id("bypass")], "a host finds the bypass by its flag");
}

#[test]
fn typed_values_arrive_as_typed() {
    for sound in sounds() {
        let mut instance = instance();
        set(&mut instance, &sound);
        let actual = settings(&mut instance);
        for spec in &SPECS {
            assert_eq!(
                spec.format(spec.get(&actual)),
                spec.format(spec.get(&sound)),
                "{}",
                spec.id
            );
        }
        for choice in &CHOICES {
            assert_eq!(choice.get(&actual.into()), choice.get(&sound.into()), "{}", choice.id);
        }
        assert_eq!((actual.bands, actual.custom), (sound.bands, sound.custom));
    }
}
