//! Fuzz target: any bytes as a preset file.

use tone_filter_presets::{Loaded, Preset};
use tone_filter_testkit::{Draws, controls};

/// Checks that the text is either a valid preset or refused with an error, and that presets survive writing and reading.
pub fn check(bytes: &[u8]) {
    written_and_read(Preset::new("Any", controls(&mut Draws::of(bytes)).settings));
    // The reader of files refuses bytes that are not UTF-8.
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Preset::from_json(text) {
        Ok(Loaded { preset, .. }) => {
            preset.settings.validate().unwrap();
            written_and_read(preset);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn written_and_read(preset: Preset) {
    assert_eq!(Preset::from_json(&preset.to_json()).unwrap(), preset.into());
}
