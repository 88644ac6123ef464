//! Tests of the definitions that Unity reads before it creates an instance, and of the lists in `ToneFilter.cs`.

use crate::host::{Instance, definition, loaded, names, owned};
use AudioPluginToneFilter::{
    interface::{EffectDefinition, ParameterDefinition},
    parameters::{PARAMETERS, PRESETS, Parameter},
};
use std::{collections::BTreeSet, env, fmt::Write, fs, path::Path};
use tone_filter_dsp::{CHOICES, SPECS, Setting, Taper};
use tone_filter_presets::ids;

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
        let description = owned(defined.description);
        let &ParameterDefinition { min, max, default_value, display_exponent, .. } = defined;
        assert!(min < max && (min..=max).contains(&default_value), "{name}");
        assert!(description.ends_with('.') && defined.display_scale == 1.0, "{name}");
        let Parameter::Setting(own) = parameter else { continue };
        assert_eq!(own.id(), name.to_lowercase().replace(' ', "-"));
        for (index, (entry, _)) in own.entries().iter().enumerate() {
            assert!(description.contains(&format!("{index}: {entry}.")), "{name}: {entry}");
        }
        let middle = min + (max - min) * 0.5_f32.powf(display_exponent);
        let wanted = match own {
            Setting::Number(spec) if spec.taper == Taper::Logarithmic => (min * max).sqrt(),
            _ => f32::midpoint(min, max),
        };
        assert!((middle - wanted).abs() <= 1e-4 * wanted.abs(), "{name} {middle}");
    }
}

#[test]
fn every_factory_preset_has_a_number() {
    let numbered: BTreeSet<_> = PRESETS.into_iter().collect();
    assert_eq!(numbered, ids().collect(), "append new ones to PRESETS");
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

/// Environment variable that makes the test write the lists instead of comparing them.
const UPDATE: &str = "UPDATE_CSHARP";

const MARKS: [&str; 2] = ["        // <generated>\n", "        // </generated>\n"];

/// Returns C# constants of the parameters' names, and a table of the entries of lists.
fn lists() -> String {
    let mut text = String::new();
    for parameter in PARAMETERS.iter() {
        let (name, [min, max]) = (parameter.name(), parameter.range());
        let words = name.split(' ').map(|word| word[..1].to_uppercase() + &word[1..]);
        let constant: String = words.collect();
        let help = parameter.description();
        // Lists have their entries in the table below.
        let help = match help.split_once(" 0: ") {
            Some((help, _)) => help.to_owned(),
            None => {
                format!("{help} {}.", format!("{min} to {max} {}", parameter.unit()).trim_end())
            }
        };
        writeln!(text, "        /// <summary>{help}</summary>").unwrap();
        writeln!(text, "        public const string {constant} = \"{name}\";\n").unwrap();
    }
    text.push_str(
        "        /// <summary>The entries of each list, in the order of their numbers.</summary>\n",
    );
    text.push_str("        public static readonly Dictionary<string, string[]> Entries = new Dictionary<string, string[]>\n        {\n");
    for parameter in PARAMETERS.iter().filter(|parameter| !parameter.entries().is_empty()) {
        let entries: Vec<_> = parameter.entries().iter().map(|id| format!("\"{id}\"")).collect();
        let (name, entries) = (parameter.name(), entries.join(", "));
        writeln!(text, "            {{ \"{name}\", new[] {{ {entries} }} }},").unwrap();
    }
    text.push_str("        };\n");
    text
}

#[test]
fn the_lists_are_those_of_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ToneFilter.cs");
    let file = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let (before, rest) = file.split_once(MARKS[0]).unwrap();
    let (_, after) = rest.split_once(MARKS[1]).unwrap();
    let made = [before, MARKS[0], &lists(), MARKS[1], after].concat();
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, &made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    assert!(committed == made, "write them with {UPDATE}=1 cargo test -p tone-filter-unity");
}
