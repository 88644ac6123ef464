use super::*;
use tone_filter_dsp::{BandMask, PitchClass, PitchClasses, Score, Targets};

fn set(params: &ToneFilterParams, id: &str, plain: f32) {
    let param = params.control(id).unwrap().as_ptr();
    // SAFETY: `params` owns the parameter and is still borrowed.
    unsafe { param._internal_set_normalized_value(param.preview_normalized(plain)) };
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
fn fields_are_saved_and_invalid_ones_get_their_defaults() {
    let params = ToneFilterParams::default();
    params.set_texts(&Settings {
        bands: BandMask::NONE.with(12, true),
        custom: PitchClasses::NONE.with(4, true),
        targets: Targets::IDENTITY.with(0, PitchClass::new(11)),
        ..Settings::default()
    });
    params.editor_size.store(Size([1234.5, 777.0]));
    params.editor_zoom.store(1.5);
    params.editor_more.store(true);
    params.editor_roll.store(true);
    params.editor_contrast.store(true);
    params.tempo.store(85.0);
    params.keep.store(Keep { scale: true, tuning: false });
    params.controllers.learn(Some("tone"));
    params.controllers.moved(74);
    params.score.set(Some(("Song".to_owned(), Score::default())));
    *params.preset.lock().unwrap() = "My \"own\"".to_owned();
    let own = params.serialize_fields();
    let loaded = ToneFilterParams::default();
    let default = loaded.serialize_fields();
    assert!(own.iter().all(|(key, text)| *text != default[key]), "every field is saved: {own:?}");
    loaded.deserialize_fields(&own);
    assert_eq!(loaded.serialize_fields(), own);

    // A state of an older version, or a damaged state. The window stays as it is.
    for text in [None, Some("{}"), Some("\"2222\""), Some("")] {
        loaded.deserialize_fields(&own);
        let damaged = own.keys().filter_map(|key| Some((key.clone(), text?.to_owned())));
        loaded.deserialize_fields(&damaged.collect());
        for (key, saved) in loaded.serialize_fields() {
            let expected = match &*key {
                _ if key.starts_with("editor-") => own[&key].as_str(),
                // "2222" is not a valid mask, but a valid name.
                PRESET if text == Some("\"2222\"") => "\"2222\"",
                PRESET => "\"Reference\"",
                _ => default[&key].as_str(),
            };
            assert_eq!(saved, expected, "{key}: {text:?}");
        }
    }
    let load = |key: &str, text: &str| {
        loaded.deserialize_fields(&BTreeMap::from([(key.to_owned(), text.to_owned())]));
    };
    // Unknown parameters and reserved controllers are left out.
    load(CONTROLLERS, r#"{"1":"mix","9":"portamento","64":"tone"}"#);
    assert_eq!(loaded.controllers.save(), BTreeMap::from([(1, "mix".to_owned())]));
    load(EDITOR_SIZE, "[1,1]");
    assert_eq!(loaded.editor_size.load(), Size([480.0, 300.0]));
    for (text, scale, tuning) in [
        ("{\"tuning\":true}", false, true),
        ("{\"scale\":true,\"of-the-future\":1}", true, false),
        ("{\"scale\":1}", false, false),
    ] {
        load(KEEP, text);
        assert_eq!(loaded.keep.load(), Keep { scale, tuning }, "{text}");
    }
}
