//! Test with saved states of released versions, which `cargo xtask corpus` writes. The crate `presets` tests the presets in
//! these folders.

use std::fs;
use tone_filter_dsp::Settings;
use tone_filter_presets::Preset;
use tone_filter_testkit::plugin::{controls_in, instance};

#[test]
fn released_states_have_the_sound_of_their_presets() {
    let versions = fs::read_dir(tone_filter_testkit::root().join("tests/corpus")).unwrap();
    let files = versions.flat_map(|version| fs::read_dir(version.unwrap().path()).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    let mut count = 0;
    for path in paths.filter(|path| path.extension().is_some_and(|own| own == "state")) {
        let preset = Preset::read(&path.with_extension("json")).unwrap().preset.settings;
        if path.parent().is_some_and(|version| version.ends_with("0.1.0")) {
            // Settings that the version lacked must get their reference values.
            let Settings { auto, focus, sensitivity, lookahead, .. } = preset;
            assert_eq!((auto, focus, sensitivity, lookahead), (false, 0.0, 50.0, false));
        }
        let mut instance = instance();
        instance.load(&fs::read(&path).unwrap()).unwrap();
        let loaded = controls_in(&instance.save().unwrap());
        assert_eq!(loaded, preset.into(), "{}", path.display());
        count += 1;
    }
    assert!(count >= 32, "the corpus is gone");
}
