//! Tests of an instance's life cycle, from its descriptor to its destruction.

use tone_filter_testkit::plugin::{builds, new};

#[test]
fn the_factory_offers_one_plugin_and_nothing_under_any_other_id() {
    for (build, library) in builds(&tone_filter::clap_entry) {
        let plugins = library.plugins().unwrap();
        assert_eq!(plugins.len(), 1, "{build}");
        assert_eq!(plugins[0].id, "org.tone-filter.tone-filter");
        assert_eq!(plugins[0].name, "Tone Filter");
        assert_eq!(plugins[0].version, env!("CARGO_PKG_VERSION"));
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
