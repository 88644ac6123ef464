//! Parameters against the settings they stand for.

use super::*;

/// The parameters that are no numbers, in their order.
const CHOICES: [&str; 4] = ["stereo", "bypass", "root", "scale"];

fn set(params: &ToneFilterParams, id: &str, plain: f32) {
    let (_, param, _) = params.param_map().into_iter().find(|(own, ..)| own == id).unwrap();
    // SAFETY: `params` owns the parameter and is still borrowed.
    unsafe { param._internal_set_normalized_value(param.preview_normalized(plain)) };
}

#[test]
fn defaults_are_the_reference_sound() {
    assert_eq!(ToneFilterParams::default().settings(), Settings::default());
}

#[test]
fn ids_and_order_are_those_of_the_settings() {
    let params = ToneFilterParams::default();
    let ids: Vec<_> = params.param_map().into_iter().map(|(id, ..)| id).collect();
    let expected: Vec<_> = SPECS.iter().map(|spec| spec.id).chain(CHOICES).collect();
    assert_eq!(ids, expected);
}

#[test]
fn every_parameter_is_in_one_group() {
    let mut grouped: Vec<_> =
        GROUPS.iter().chain([&SCALE]).flat_map(|group| group.ids).copied().collect();
    let mut ids: Vec<_> = SPECS.iter().map(|spec| spec.id).chain(CHOICES).collect();
    grouped.sort_unstable();
    ids.sort_unstable();
    assert_eq!(grouped, ids);

    for (id, _, group) in ToneFilterParams::default().param_map() {
        let expected = match id.as_str() {
            "tuning" | "transpose" | "stereo" => "Source",
            "drive" | "tone" => "Voice",
            "mix" | "output" | "bypass" => "Output",
            "root" | "scale" => "Scale",
            _ => "Resonators",
        };
        assert_eq!(group, expected, "{id}");
    }
}

#[test]
fn every_setting_goes_through_its_parameter() {
    for spec in &SPECS {
        for value in [spec.min, spec.max, spec.default] {
            let params = ToneFilterParams::default();
            set(&params, spec.id, value);
            let mut expected = Settings::default();
            spec.set(&mut expected, value);
            let settings = params.settings();
            // A host's 0..1 in f32, bent by a skew of 4, is good for a millionth.
            let error = (spec.get(&settings) - value).abs();
            assert!(error <= 1e-6 * value.abs().max(1.0), "{} {value}: {error}", spec.id);
            spec.set(&mut expected, spec.get(&settings));
            assert_eq!(settings, expected, "{} moved another setting", spec.id);
        }
    }
    let params = ToneFilterParams::default();
    set(&params, "stereo", 1.0);
    set(&params, "bypass", 1.0);
    set(&params, "root", 3.0);
    set(&params, "scale", 11.0);
    params.bands.store(BandMask::ALL.with(7, false));
    params.custom.store(PitchClasses::NONE.with(1, true));
    let expected = Settings {
        stereo: Stereo::Stereo,
        bypass: true,
        root: PitchClass::new(3),
        scale: Scale::Blues,
        bands: BandMask::ALL.with(7, false),
        custom: PitchClasses::NONE.with(1, true),
        ..Settings::default()
    };
    assert_eq!(params.settings(), expected);

    // To a host and back, every choice is what the settings say; the numbers are, nearly.
    let copy = ToneFilterParams::default();
    let mut settings = Settings::default();
    for id in CHOICES {
        let control = copy.control(id).unwrap();
        control.put(&mut settings, control.normalized(&expected));
    }
    assert_eq!(Settings { bands: expected.bands, custom: expected.custom, ..settings }, expected);
}

#[test]
fn what_is_no_parameter_is_saved_too() {
    let params = ToneFilterParams::default();
    params.bands.store(BandMask::NONE.with(12, true));
    params.custom.store(PitchClasses::NONE.with(4, true));
    params.editor_zoom.store(1.5);
    *params.preset.lock().unwrap() = "My \"own\"".to_owned();
    let loaded = ToneFilterParams::default();
    loaded.deserialize_fields(&params.serialize_fields());
    assert_eq!(loaded.settings(), params.settings());
    assert_eq!(loaded.editor_zoom.load(), 1.5);
    assert_eq!(*loaded.preset.lock().unwrap(), "My \"own\"");

    // A state of an older version, or a damaged one.
    for text in ["{}", "\"2222\"", ""] {
        let keys = [BANDS, CUSTOM, EDITOR_ZOOM, PRESET];
        let fields = keys.map(|key| (key.to_owned(), text.to_owned()));
        loaded.deserialize_fields(&BTreeMap::from(fields));
        assert_eq!(loaded.settings(), Settings::default());
        assert_eq!(loaded.editor_zoom.load(), 1.5);
        assert_eq!(*loaded.preset.lock().unwrap(), "Reference");
    }
}

#[test]
fn pitches_survive_a_host_exactly() {
    // A millionth of a semitone is heard as a shift in phase by resonators that ring for seconds.
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
            Taper::Linear => (spec.min + spec.max) / 2.0,
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
            let bare = param.normalized_value_to_string(step as f32 / 100.0, false);
            assert_eq!(format!("{bare} {}", spec.unit), text);
        }
    }
    let params = ToneFilterParams::default();
    assert_eq!(params.bypass.string_to_normalized_value("On"), Some(1.0));
    assert_eq!(params.bypass.string_to_normalized_value("off"), Some(0.0));
    assert_eq!(params.bypass.string_to_normalized_value("perhaps"), None);
    for text in ["Mono", "Stereo"] {
        let value = params.stereo.string_to_normalized_value(text).unwrap();
        assert_eq!(params.stereo.normalized_value_to_string(value, true), text);
    }
}

#[test]
fn any_state_says_something_allowed_of_every_parameter() {
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
            _ => spec.default,
        };
        let value = &state.params[spec.id];
        assert!(matches!(value, ParamValue::F32(v) if *v == expected), "{}: {value:?}", spec.id);
    }
    assert!(matches!(state.params["bypass"], ParamValue::Bool(false)));
    for (id, expected) in [("stereo", "stereo"), ("root", "A"), ("scale", "chromatic")] {
        let value = &state.params[id];
        assert!(
            matches!(value, ParamValue::String(choice) if choice == expected),
            "{id}: {value:?}"
        );
    }
}

#[test]
fn the_window_size_is_saved() {
    let params = ToneFilterParams::default();
    params.editor_size.store([1234.5, 777.0]);
    let saved = params.serialize_fields();
    let loaded = ToneFilterParams::default();
    loaded.deserialize_fields(&saved);
    assert_eq!(loaded.editor_size.load(), [1234.5, 777.0]);

    for (text, expected) in [("[1,1]", [480.0, 300.0]), ("null", [1234.5, 777.0])] {
        loaded.deserialize_fields(&BTreeMap::from([(EDITOR_SIZE.to_owned(), text.to_owned())]));
        assert_eq!(loaded.editor_size.load(), expected, "{text}");
        loaded.editor_size.store([1234.5, 777.0]);
    }
}
