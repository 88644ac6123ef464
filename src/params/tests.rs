//! Tests of the parameters against the settings.

use super::*;
use tone_filter_dsp::{BandMask, PitchClass, PitchClasses, Score, Targets};
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

/// Returns all fields of the state that are not parameters, as texts.
fn fields(params: &ToneFilterParams) -> [String; 7] {
    let texts = TEXTS.iter().map(|text| text.get(&params.settings())).collect::<Vec<_>>();
    let preset = params.preset.lock().unwrap().clone();
    let (size, zoom) = (params.editor_size.load().0, params.editor_zoom.load());
    let (more, roll) = (params.editor_more.load(), params.editor_roll.load());
    let (keep, controllers) = (params.keep.load(), params.controllers.save());
    [
        format!("{texts:?}"),
        format!("{:?} {:?}", keep.scale, keep.tuning),
        format!("{controllers:?} {:?}", params.score.name()),
        preset,
        format!("{size:?}"),
        format!("{zoom} {more}"),
        format!("{roll}"),
    ]
}

#[test]
fn fields_are_saved_and_an_invalid_one_is_the_reference_or_stays() {
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
    params.keep.store(Keep { scale: true, tuning: false });
    params.controllers.learn(Some("tone"));
    params.controllers.moved(74);
    params.score.set(Some(("Song".to_owned(), Score::default())));
    *params.preset.lock().unwrap() = "My \"own\"".to_owned();
    let own = fields(&params);
    let loaded = ToneFilterParams::default();
    loaded.deserialize_fields(&params.serialize_fields());
    assert_eq!(fields(&loaded), own);

    // A state of an older version, or a damaged state. The window stays as it is.
    let [_, _, _, _, window @ ..] = own;
    let default = fields(&ToneFilterParams::default());
    for text in [None, Some("{}"), Some("\"2222\""), Some("")] {
        loaded.deserialize_fields(&params.serialize_fields());
        let keys = ["bands", "custom", "targets", EDITOR_SIZE, EDITOR_ZOOM, EDITOR_MORE];
        let keys = keys.into_iter().chain([EDITOR_ROLL, PRESET, KEEP, CONTROLLERS]);
        let damaged = keys.filter_map(|key| Some((key.to_owned(), text?.to_owned())));
        loaded.deserialize_fields(&damaged.collect());
        // "2222" is not a valid mask, but a valid name.
        let name = if text == Some("\"2222\"") { "2222" } else { "Reference" };
        let [texts, keep, controllers, preset, rest @ ..] = fields(&loaded);
        assert_eq!([texts, keep, controllers], default[..3], "{text:?}");
        assert_eq!((preset.as_str(), rest), (name, window.clone()), "{text:?}");
    }
    let load = |key: &str, text: &str| {
        loaded.deserialize_fields(&BTreeMap::from([(key.to_owned(), text.to_owned())]));
    };
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
