//! Tests of the parameters against the settings.

use super::*;
use tone_filter_dsp::{BandMask, Group, PitchClass, PitchClasses, Targets};
use tone_filter_presets::Preset;

fn set(params: &ToneFilterParams, id: &str, plain: f32) {
    let (_, param, _) = params.param_map().into_iter().find(|(own, ..)| own == id).unwrap();
    // SAFETY: `params` owns the parameter and is still borrowed.
    unsafe { param._internal_set_normalized_value(param.preview_normalized(plain)) };
}

#[test]
fn a_new_instance_has_the_sound_of_the_preset_that_it_names() {
    let params = ToneFilterParams::default();
    assert_eq!(params.settings(), Settings::default());
    let preset = Preset::find(&params.preset.lock().unwrap()).unwrap().preset;
    assert_eq!(preset.settings, Settings::default());
}

#[test]
fn ids_and_order_are_those_of_the_settings() {
    let params = ToneFilterParams::default();
    let mapped: Vec<_> = params.param_map().into_iter().map(|(id, ..)| id).collect();
    assert_eq!(mapped, ids().collect::<Vec<_>>());
}

#[test]
fn every_parameter_is_in_one_group() {
    let mut grouped: Vec<_> =
        Group::ALL.into_iter().flat_map(|group| group.ids().iter().copied()).collect();
    let mut ids: Vec<_> = ids().collect();
    grouped.sort_unstable();
    ids.sort_unstable();
    assert_eq!(grouped, ids);

    for (id, _, group) in ToneFilterParams::default().param_map() {
        let expected = match id.as_str() {
            "mix" | "voice" | "sensitivity" | "tone" | "output" | "bypass" => "Main",
            "auto" | "focus" | "lookahead" | "listener" | "listen" | "tuning" | "auto-tuning"
            | "transpose" => "Listening",
            "root" | "scale" | "range" | "map" | "octave" | "voices" | "glide" | "vibrato"
            | "keys" | "freeze" => "Notes",
            "arp" | "duty" | "attack" | "decay" => "Chip",
            "morph" | "midi-out" | "mpe" | "sync-to" => "Output",
            _ => "Resonators",
        };
        assert_eq!(group, expected, "{id}");
    }
}

#[test]
fn every_setting_goes_through_its_parameter() {
    for spec in &SPECS {
        for value in [spec.min, spec.max, spec.reference()] {
            let params = ToneFilterParams::default();
            set(&params, spec.id, value);
            let mut expected = Settings::default();
            spec.set(&mut expected, value);
            let settings = params.settings();
            // A skew of 4 on a host's normalised f32 causes an error of at most a millionth.
            let error = (spec.get(&settings) - value).abs();
            assert!(error <= 1e-6 * value.abs().max(1.0), "{} {value}: {error}", spec.id);
            spec.set(&mut expected, spec.get(&settings));
            assert_eq!(settings, expected, "{} moved another setting", spec.id);
        }
    }
    for choice in &CHOICES {
        for entry in 0..choice.entries.len() {
            let params = ToneFilterParams::default();
            set(&params, choice.id, entry as f32);
            let mut expected = Controls::default();
            choice.set(&mut expected, entry);
            assert_eq!(params.controls(), expected, "{} {entry}", choice.id);
            // The value goes to a host and back.
            let control = params.control(choice.id).unwrap();
            let mut controls = Controls::default();
            control.put(&mut controls, control.normalized(&expected));
            assert_eq!(controls, expected, "{} {entry}", choice.id);
        }
    }
    let params = ToneFilterParams::default();
    let targets = Targets::IDENTITY.with(11, PitchClass::new(10));
    let expected = Settings {
        targets,
        bands: BandMask::ALL.with(7, false),
        custom: PitchClasses::NONE.with(1, true),
        ..Settings::default()
    };
    params.set_texts(&expected);
    assert_eq!(params.settings(), expected);
}

#[test]
fn modulation_changes_the_sound_but_not_the_chosen_settings() {
    let params = ToneFilterParams::default();
    for (id, param, _) in params.param_map() {
        let chosen = params.chosen();
        let place = params.control(&id).unwrap().normalized(&chosen);
        // SAFETY: `params` owns the parameter and is still borrowed.
        unsafe { param._internal_modulate_value(if place > 0.5 { -0.6 } else { 0.6 }) };
        assert_ne!(params.controls(), chosen, "{id}");
        assert_eq!(params.chosen(), chosen, "{id}");
        // SAFETY: as above.
        unsafe { param._internal_modulate_value(0.0) };
        assert_eq!(params.controls(), chosen, "{id}");
    }
}

#[test]
fn fields_other_than_parameters_are_saved_too() {
    let params = ToneFilterParams::default();
    params.set_texts(&Settings {
        bands: BandMask::NONE.with(12, true),
        custom: PitchClasses::NONE.with(4, true),
        targets: Targets::IDENTITY.with(0, PitchClass::new(11)),
        ..Settings::default()
    });
    params.editor_zoom.store(1.5);
    params.editor_roll.store(true);
    params.keep.store(Keep { scale: true, tuning: false });
    params.controllers.learn(Some("tone"));
    params.controllers.moved(74);
    *params.preset.lock().unwrap() = "My \"own\"".to_owned();
    let loaded = ToneFilterParams::default();
    loaded.deserialize_fields(&params.serialize_fields());
    assert_eq!(loaded.settings(), params.settings());
    assert_eq!(loaded.editor_zoom.load(), 1.5);
    assert!(loaded.editor_roll.load());
    assert_eq!(loaded.keep.load(), Keep { scale: true, tuning: false });
    assert_eq!(loaded.controllers.of("tone"), Some(74));
    assert_eq!(*loaded.preset.lock().unwrap(), "My \"own\"");

    // State of an older version, or a damaged state.
    for text in ["{}", "\"2222\"", ""] {
        loaded.keep.store(Keep { scale: true, tuning: true });
        let keys =
            ["bands", "custom", "targets", EDITOR_ZOOM, EDITOR_ROLL, PRESET, KEEP, CONTROLLERS];
        let fields = keys.map(|key| (key.to_owned(), text.to_owned()));
        loaded.deserialize_fields(&BTreeMap::from(fields));
        assert_eq!(loaded.settings(), Settings::default());
        assert_eq!(loaded.editor_zoom.load(), 1.5);
        assert!(loaded.editor_roll.load());
        assert_eq!(loaded.keep.load(), Keep::default());
        assert!(loaded.controllers.save().is_empty());
        // "2222" is not a valid mask, but a valid name.
        let name = if text == "\"2222\"" { "2222" } else { "Reference" };
        assert_eq!(*loaded.preset.lock().unwrap(), name);
    }
}

#[test]
fn pitches_survive_a_host_exactly() {
    // An error of a millionth of a semitone would shift the phase of resonators that ring for seconds.
    let params = ToneFilterParams::default();
    for cents in 0..=8000 {
        let hertz = (40_000 + cents) as f32 / 100.0;
        set(&params, "tuning", hertz);
        assert_eq!(params.settings().tuning, hertz);
    }
    for semitones in -24..=24 {
        set(&params, "transpose", semitones as f32);
        assert_eq!(params.settings().transpose, semitones as f32);
    }
}

#[test]
fn a_logarithmic_setting_has_its_geometric_mean_in_the_middle() {
    for (spec, param) in SPECS.iter().zip(&ToneFilterParams::default().numbers) {
        let middle = match spec.taper {
            Taper::Linear | Taper::Whole => (spec.min + spec.max) / 2.0,
            Taper::Logarithmic => (spec.min * spec.max).sqrt(),
        };
        let error = (param.preview_plain(0.5) - middle).abs();
        assert!(error <= 1e-5 * middle.abs(), "{}", spec.id);
    }
}

#[test]
fn texts_round_trip() {
    for (spec, param) in SPECS.iter().zip(&ToneFilterParams::default().numbers) {
        for step in 0..=100 {
            let text = param.normalized_value_to_string(step as f32 / 100.0, true);
            assert!(text.ends_with(&format!(" {}", spec.unit)), "{text}");
            let back = param.string_to_normalized_value(&text).unwrap();
            assert_eq!(param.normalized_value_to_string(back, true), text, "{}", spec.id);
            let number = param.normalized_value_to_string(step as f32 / 100.0, false);
            assert_eq!(format!("{number}{}", param.unit()), text);
        }
    }
    for param in &ToneFilterParams::default().choices {
        for (index, (id, name)) in param.choice.entries.iter().enumerate() {
            // For enums, nice-plug knows the entries' names only.
            let texts = [*name, if param.choice.is_switch() { id } else { name }];
            for text in texts {
                // SAFETY: the parameter outlives its pointer.
                let value = unsafe { param.as_ptr().string_to_normalized_value(text) };
                assert_eq!(value, Some(param.normalized_entry(index)), "{text}");
            }
            // SAFETY: as above.
            let text = unsafe {
                param.as_ptr().normalized_value_to_string(param.normalized_entry(index), true)
            };
            assert_eq!(text, *name);
        }
        // SAFETY: as above.
        assert_eq!(unsafe { param.as_ptr().string_to_normalized_value("perhaps") }, None);
    }
}

#[test]
fn a_completed_state_has_an_allowed_value_for_every_parameter() {
    let text = |text: &str| ParamValue::String(text.to_owned());
    let params = [
        ("mix", ParamValue::F32(1e9)),
        ("ring", ParamValue::F32(-1.0)),
        ("tone", ParamValue::F32(f32::NAN)),
        ("drive", ParamValue::F32(3.0)),
        ("floor", text("low")),
        ("stereo", text("stereo")),
        ("root", ParamValue::I32(3)),
        ("scale", text("of-the-future")),
        ("bypass", ParamValue::F32(1.0)),
        ("lookahead", ParamValue::Bool(true)),
        ("of-the-future", ParamValue::Bool(true)),
    ];
    let mut state = PluginState {
        version: "9.0.0".to_owned(),
        params: params.map(|(id, value)| (id.to_owned(), value)).into(),
        fields: BTreeMap::new(),
    };
    complete_state(&mut state);
    for spec in &SPECS {
        let expected = match spec.id {
            "mix" => 100.0,
            "ring" => 0.05,
            "drive" => 3.0,
            _ => spec.reference(),
        };
        let value = &state.params[spec.id];
        assert!(matches!(value, ParamValue::F32(v) if *v == expected), "{}: {value:?}", spec.id);
    }
    for choice in &CHOICES {
        let expected = match choice.id {
            "stereo" | "lookahead" => 1,
            _ => choice.reference(),
        };
        let entry = match &state.params[choice.id] {
            ParamValue::Bool(on) if choice.is_switch() => Some(usize::from(*on)),
            ParamValue::String(id) => choice.entries.iter().position(|entry| entry.0 == id),
            _ => None,
        };
        assert_eq!(entry, Some(expected), "{}", choice.id);
    }
}

#[test]
fn a_saved_nan_becomes_the_reference() {
    let params = SPECS.iter().map(|spec| (spec.id.to_owned(), ParamValue::F32(f32::NAN)));
    let mut state = PluginState {
        version: "9.0.0".to_owned(),
        params: params.collect(),
        fields: BTreeMap::new(),
    };
    complete_state(&mut state);
    for spec in &SPECS {
        let value = &state.params[spec.id];
        let reference = spec.reference();
        assert!(matches!(value, ParamValue::F32(v) if *v == reference), "{}: {value:?}", spec.id);
    }
    assert!(SPECS.iter().any(|spec| spec.reference() != spec.default()));
}

#[test]
fn a_state_without_what_to_keep_keeps_nothing() {
    let params = ToneFilterParams::default();
    for (text, expected) in [
        (None, Keep::default()),
        (Some("{\"tuning\":true}"), Keep { scale: false, tuning: true }),
        (Some("{\"scale\":true,\"of-the-future\":1}"), Keep { scale: true, tuning: false }),
        (Some("{\"scale\":1}"), Keep::default()),
    ] {
        params.keep.store(Keep { scale: true, tuning: true });
        let fields = text.map(|text| (KEEP.to_owned(), text.to_owned()));
        params.deserialize_fields(&fields.into_iter().collect());
        assert_eq!(params.keep.load(), expected, "{text:?}");
    }
}

#[test]
fn whether_more_is_open_is_saved_and_closed_at_first() {
    let params = ToneFilterParams::default();
    assert!(!params.editor_more.load());
    params.editor_more.store(true);
    let loaded = ToneFilterParams::default();
    loaded.deserialize_fields(&params.serialize_fields());
    assert!(loaded.editor_more.load());
    // A state of an older version, or a damaged state, leaves the window as it is.
    for fields in [vec![], vec![(EDITOR_MORE.to_owned(), "\"open\"".to_owned())]] {
        loaded.deserialize_fields(&fields.into_iter().collect());
        assert!(loaded.editor_more.load());
    }
}

#[test]
fn the_window_size_is_saved() {
    let params = ToneFilterParams::default();
    params.editor_size.store(Size([1234.5, 777.0]));
    let saved = params.serialize_fields();
    let loaded = ToneFilterParams::default();
    loaded.deserialize_fields(&saved);
    assert_eq!(loaded.editor_size.load(), Size([1234.5, 777.0]));

    for (text, expected) in [("[1,1]", [480.0, 300.0]), ("null", [1234.5, 777.0])] {
        loaded.deserialize_fields(&BTreeMap::from([(EDITOR_SIZE.to_owned(), text.to_owned())]));
        assert_eq!(loaded.editor_size.load(), Size(expected), "{text}");
        loaded.editor_size.store(Size([1234.5, 777.0]));
    }
}
