//! Tests of an instance's life cycle, from its descriptor to its destruction.

use tone_filter_dsp::Settings;
use tone_filter_testkit::{
    clap::parameter_id,
    plugin::{assert_same, builds, change, expected, music, new, settings},
};

#[test]
fn the_factory_offers_one_plugin_and_nothing_under_any_other_id() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        let plugins = library.plugins().unwrap();
        assert_eq!(plugins.len(), 1, "{build}");
        assert_eq!(plugins[0].id, "org.tone-filter.tone-filter");
        for feature in ["audio-effect", "filter", "distortion", "mono", "stereo"] {
            assert!(plugins[0].features.iter().any(|own| own == feature), "{build}: {feature}");
        }
        for id in
            ["", "org.tone-filter", "org.tone-filter.tone-filter.", "ORG.TONE-FILTER.TONE-FILTER"]
        {
            assert!(library.instantiate(id).is_err(), "{build}: {id:?}");
        }
    }
}

#[test]
fn instances_come_and_go_without_ever_being_active() {
    for (_, library) in builds(&tone_filter::clap_entry) {
        for _ in 0..50 {
            drop(new(&library));
        }
        let mut many: Vec<_> = (0..50).map(|_| new(&library)).collect();
        for (index, instance) in many.iter_mut().enumerate() {
            instance.set(&[change(0, "mix", index as f64 / 64.0)]).unwrap();
        }
        for (index, instance) in many.iter_mut().enumerate() {
            let value = instance.value(parameter_id("mix")).unwrap();
            assert_eq!(value, index as f64 / 64.0, "each has parameters of its own");
        }
    }
}

#[test]
fn activation_at_any_rate_and_block_size_starts_afresh() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        for (rate, block) in [
            (1234.5678, 1),
            (1234.5678, 16_384),
            (44_100.0, 2),
            (48_000.0, 333),
            (96_000.0, 64),
            (192_000.0, 4096),
            (768_000.0, 16_384),
        ] {
            let input = music(0.1, rate);
            let mut output = input.clone();
            let mut processor = instance.activate(rate, block).unwrap();
            processor.run(&mut output, false, &mut std::iter::repeat(block), &[]).unwrap();
            instance.deactivate(processor);
            // nice-plug passes the sample rate as an f32.
            let library = expected(&Settings::default(), f64::from(rate as f32), &input, &[]);
            assert_same(&output, &library, &format!("{build}, {rate} Hz in blocks of {block}"));
        }
    }
}

#[test]
fn activation_without_a_block_changes_nothing() {
    for (_, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        instance.set(&[change(0, "drive", 0.25)]).unwrap();
        let before = (settings(&mut instance), instance.save().unwrap());
        for _ in 0..100 {
            let processor = instance.activate(48_000.0, 512).unwrap();
            instance.deactivate(processor);
        }
        assert_eq!((settings(&mut instance), instance.save().unwrap()), before);
    }
}

#[test]
fn a_rate_that_is_none_is_refused_and_the_next_one_taken() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        for rate in [0.0, -48_000.0, 999.0, f64::INFINITY, f64::NAN] {
            assert!(instance.activate(rate, 512).is_err(), "{build}: {rate}");
        }
        let processor = instance.activate(48_000.0, 512).unwrap();
        instance.deactivate(processor);
    }
}

#[test]
fn a_reset_leaves_nothing_of_what_was_heard() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        let mut instance = new(&library);
        let mut processor = instance.activate(48_000.0, 512).unwrap();
        let play = |processor: &mut tone_filter_testkit::clap::Processor| {
            let mut signal = music(0.3, 48_000.0);
            processor.run(&mut signal, true, &mut std::iter::repeat(100), &[]).unwrap();
            signal
        };
        let first = play(&mut processor);
        for _ in 0..3 {
            processor.reset();
            assert!(play(&mut processor) == first, "{build}");
        }
        instance.deactivate(processor);
    }
}
