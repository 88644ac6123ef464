//! Text as a preset file.

use tone_filter::presets::Preset;

/// It is refused with a reason, or a preset in range that is written and read again as it is.
pub fn check(bytes: &[u8]) {
    // What is no text does not get past the reading of the file.
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Preset::from_json(text) {
        Ok(preset) => {
            preset.settings.validate().unwrap();
            assert_eq!(Preset::from_json(&preset.to_json()).unwrap(), preset);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
