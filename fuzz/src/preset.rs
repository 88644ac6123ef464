//! Fuzz target: any bytes as a preset file.

use tone_filter_presets::{Loaded, Preset};
use tone_filter_testkit::{Draws, controls};

/// Checks that `bytes` as a file's text give a preset with valid settings or an error with a message. Writes and reads this
/// preset, and one with settings drawn by `bytes`: both must stay the same.
pub fn check(bytes: &[u8]) {
    written_and_read(Preset::new("Any", controls(&mut Draws::of(bytes)).settings));
    // Bytes that are not UTF-8 never get here: the reader of files refuses them.
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
