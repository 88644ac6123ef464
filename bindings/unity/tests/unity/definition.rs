//! Tests of the definitions that Unity reads before it creates an instance.

use crate::host::{Instance, definition, loaded, names, owned};
use AudioPluginToneFilter::{
    interface::{EffectDefinition, EffectState, ParameterDefinition},
    parameters::{PARAMETERS, PRESETS, Parameter, RawValues},
};
use std::{collections::BTreeSet, fmt::Write, mem::offset_of};
use tone_filter_dsp::{CHOICES, Controls, SPECS, Taper};
use tone_filter_presets::ids;

macro_rules! layout {
    ($text:ident, $name:ident: $($field:ident),*) => {
        writeln!($text, "{} {}", stringify!($name), size_of::<$name>()).unwrap();
        $(writeln!($text, "{}.{} {}", stringify!($name), stringify!($field), offset_of!($name, $field)).unwrap();)*
    };
}

/// `cargo xtask test-engines` compares `layout.txt` with a C compiler's layout.
#[test]
#[cfg(target_pointer_width = "64")]
fn sizes_and_offsets_are_those_of_c() {
    let mut text = String::new();
    layout!(text, EffectState: struct_size, sample_rate, current_dsp_tick, previous_dsp_tick, sidechain,
        effect_data, flags, internal, spatializer, dsp_buffer_size, host_api_version, ambisonic);
    layout!(text, ParameterDefinition: name, unit, description, min, max, default_value, display_scale, display_exponent);
    layout!(text, EffectDefinition: struct_size, parameter_struct_size, api_version, plugin_version,
        channels, parameter_count, flags, name, create, release, reset, process, set_position,
        parameters, set_parameter, get_parameter, get_buffer);
    assert_eq!(text, include_str!("../c/layout.txt").replace("\r\n", "\n"));
}

#[test]
fn there_is_one_effect_for_any_number_of_channels_with_a_sidechain() {
    let effect = definition(loaded());
    assert_eq!(owned(effect.name.as_ptr()), "Tone Filter");
    let sizes = [size_of::<EffectDefinition>(), size_of::<ParameterDefinition>()];
    assert_eq!([effect.struct_size, effect.parameter_struct_size].map(|s| s as usize), sizes);
    assert_eq!((effect.api_version, effect.channels, effect.flags), (0x010402, 0, 1));
    let [major, minor, patch] = [16, 8, 0].map(|shift| effect.plugin_version >> shift & 0xFF);
    assert_eq!(format!("{major}.{minor}.{patch}"), env!("CARGO_PKG_VERSION"));
    assert!(effect.create.and(effect.release).and(effect.reset).and(effect.process).is_some());
    assert!(effect.set_parameter.and(effect.get_parameter).and(effect.get_buffer).is_some());
    // SAFETY: null is allowed.
    assert_eq!(unsafe { loaded()(std::ptr::null_mut()) }, 0);
}

#[test]
fn parameters_fit_unity_and_are_those_of_the_tables() {
    let effect = definition(loaded());
    let names = names(effect);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "a name twice");
    // Without MIDI out and MPE, with preset and instance.
    assert_eq!(names.len(), SPECS.len() + CHOICES.len() - 2 + 2);
    for (index, parameter) in PARAMETERS.iter().enumerate() {
        // SAFETY: the definition has a parameter for each of the table.
        let defined = unsafe { &*effect.parameters.add(index) };
        let name = &names[index];
        assert_eq!(*name, parameter.name(), "Unity has room for 15 characters");
        assert_eq!(owned(defined.unit.as_ptr()), parameter.unit(), "{name}");
        assert!(owned(defined.description).ends_with('.'), "{name}");
        let &ParameterDefinition { min, max, default_value, display_exponent, .. } = defined;
        assert!(min < max && (min..=max).contains(&default_value), "{name}");
        assert_eq!(defined.display_scale, 1.0);
        let id = name.to_lowercase().replace(' ', "-");
        match parameter {
            Parameter::Number(spec) => {
                assert_eq!((spec.id, spec.min, spec.max), (&*id, min, max));
                assert_eq!(default_value, spec.default());
                let middle = min + (max - min) * 0.5_f32.powf(display_exponent);
                let wanted = match spec.taper {
                    Taper::Logarithmic => (min * max).sqrt(),
                    _ => f32::midpoint(min, max),
                };
                assert!(
                    (middle / wanted - 1.0).abs() < 1e-4 || middle == wanted,
                    "{name} {middle}"
                );
            }
            Parameter::Choice(choice) => {
                assert_eq!((choice.id, 0.0, (choice.entries.len() - 1) as f32), (&*id, min, max));
                assert_eq!(default_value, choice.default() as f32);
                for (index, (entry, _)) in choice.entries.iter().enumerate() {
                    let listed = format!("{index}: {entry}.");
                    assert!(owned(defined.description).contains(&listed), "{name}: {listed}");
                }
            }
            Parameter::Preset | Parameter::Instance => assert_eq!((min, default_value), (0.0, 0.0)),
        }
    }
}

#[test]
fn every_factory_preset_has_a_number() {
    let numbered: BTreeSet<_> = PRESETS.into_iter().collect();
    assert_eq!(numbered, ids().collect(), "append new ones to PRESETS");
}

#[test]
fn every_parameter_sets_its_own_setting() {
    for (index, parameter) in PARAMETERS.iter().enumerate() {
        let (values, mut controls) = (RawValues::default(), Controls::default());
        assert_eq!(values.read().controls, controls);
        let [_, max] = parameter.range();
        assert!(values.set(index, max));
        match parameter {
            Parameter::Number(spec) => spec.set(&mut controls.settings, max),
            Parameter::Choice(choice) => choice.set(&mut controls, max as usize),
            Parameter::Preset => assert_eq!(values.read().preset, Some(PRESETS.len() - 1)),
            Parameter::Instance => assert_eq!(values.read().instance, 63),
        }
        assert_eq!(values.read().controls, controls, "{}", parameter.name());
    }
}

#[test]
fn values_out_of_range_become_the_nearest_and_nonsense_is_refused() {
    let instance = Instance::new();
    for (name, value, wanted) in [
        ("Mix", 140.0, 100.0),
        ("Mix", f32::NEG_INFINITY, 0.0),
        ("Voice", 2.4, 2.0),
        ("Octave", 0.6, 1.0),
        ("Ring", 0.123, 0.123),
        ("Instance", 99.0, 63.0),
    ] {
        instance.set(name, value);
        assert_eq!(instance.get(name), wanted, "{name} = {value}");
    }
    assert_eq!(instance.set_index(instance.index("Mix"), f32::NAN), 1);
    assert_eq!(instance.get("Mix"), 0.0);
    let count = PARAMETERS.len() as i32;
    assert_eq!([-1, count, i32::MAX, i32::MIN].map(|i| instance.set_index(i, 0.0)), [1; 4]);
}
