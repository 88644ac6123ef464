//! Tests of the definitions that Unity reads before it creates an instance.

use crate::host::{Entry, Instance, definition, owned};
use AudioPluginToneFilter::{
    UnityGetAudioEffectDefinitions,
    interface::{EffectState, ParameterDefinition},
    parameters::{PARAMETERS, Parameter},
};
use libloading::Library;
use std::{
    collections::BTreeSet,
    env::{consts, current_exe},
    mem::offset_of,
};
use tone_filter_dsp::{CHOICES, SPECS, Setting, Taper};
use tone_filter_presets::ids;

#[test]
fn the_built_library_has_an_effect_for_any_layout() {
    let name = format!("{}AudioPluginToneFilter{}", consts::DLL_PREFIX, consts::DLL_SUFFIX);
    let path = current_exe().unwrap().with_file_name(name);
    // SAFETY: the library runs no code when it is loaded.
    let library = Box::leak(Box::new(unsafe { Library::new(path) }.unwrap()));
    // SAFETY: the function has this type.
    let entry: Entry = unsafe { *library.get(b"UnityGetAudioEffectDefinitions").unwrap() };
    let effect = definition(entry);
    assert_eq!(owned(effect.name.as_ptr()), "Tone Filter");
    // The sizes in Unity's header, for pointers of 64 bits.
    assert_eq!((effect.struct_size, effect.parameter_struct_size), (136, 64));
    assert_eq!((size_of::<EffectState>(), offset_of!(EffectState, sidechain)), (80, 24));
    assert_eq!((effect.api_version, effect.channels, effect.flags), (0x010402, 0, 1));
    let [major, minor, patch] = [16, 8, 0].map(|shift| effect.plugin_version >> shift & 0xFF);
    assert_eq!(format!("{major}.{minor}.{patch}"), env!("CARGO_PKG_VERSION"));
    assert!(effect.create.and(effect.release).and(effect.reset).and(effect.process).is_some());
    assert!(effect.set_parameter.and(effect.get_parameter).and(effect.get_buffer).is_some());
    // SAFETY: null is allowed.
    assert_eq!(unsafe { entry(std::ptr::null_mut()) }, 0);
}

#[test]
fn parameters_fit_unity_and_match_the_tables() {
    let effect = definition(UnityGetAudioEffectDefinitions);
    let count = effect.parameter_count as usize;
    // SAFETY: the definition has `parameter_count` parameters.
    let all = unsafe { std::slice::from_raw_parts(effect.parameters, count) };
    let names: Vec<_> = all.iter().map(|defined| owned(defined.name.as_ptr())).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "a name twice");
    // Without MIDI out and MPE, with preset and instance.
    assert_eq!(names.len(), SPECS.len() + CHOICES.len() - 2 + 2);
    for ((parameter, defined), name) in PARAMETERS.iter().zip(all).zip(&names) {
        assert_eq!(*name, parameter.name(), "Unity has room for 15 characters");
        assert_eq!(owned(defined.unit.as_ptr()), parameter.unit(), "{name}");
        let description = owned(defined.description);
        let &ParameterDefinition { min, max, default_value, display_exponent, .. } = defined;
        assert!(min < max && (min..=max).contains(&default_value), "{name}");
        assert!(description.ends_with('.') && defined.display_scale == 1.0, "{name}");
        let Parameter::Setting(setting) = parameter else { continue };
        assert_eq!(setting.id(), name.to_lowercase().replace(' ', "-"));
        for (index, (entry, _)) in setting.entries().iter().enumerate() {
            assert!(description.contains(&format!("{index}: {entry}.")), "{name}: {entry}");
        }
        let middle = min + (max - min) * 0.5_f32.powf(display_exponent);
        let wanted = match setting {
            Setting::Number(spec) if spec.taper == Taper::Logarithmic => (min * max).sqrt(),
            _ => f32::midpoint(min, max),
        };
        assert!((middle - wanted).abs() <= 1e-4 * wanted.abs(), "{name} {middle}");
    }
}

#[test]
fn factory_presets_keep_their_numbers() {
    const NUMBERED: &str = "tone-filter reference hacking subtle-edge extreme-8-bit chord-pad stereo-wide drums-tamed \
        lead-only bass-octave pentatonic nes-lead sound-chip game-boy organ sub-triangle saw-choir one-note octave-up \
        thin-pulse arcade pizzicato robot drum-machine fuzz crystal";
    let all = ids().collect::<Vec<_>>().join(" ");
    assert!(all.starts_with(NUMBERED), "mixers save a preset's number: append new ones to {all}");
}

#[test]
fn values_are_limited_and_invalid_ones_refused() {
    let mut instance = Instance::new();
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
