//! Text as a preset file.

use tone_filter_presets::{Loaded, Preset};

/// It is refused with a reason, or it is a valid preset that does not change when it is written and read again.
pub fn check(bytes: &[u8]) {
    // Bytes that are not UTF-8 are refused when the file is read.
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Preset::from_json(text) {
        Ok(Loaded { preset, .. }) => {
            preset.settings.validate().unwrap();
            assert_eq!(Preset::from_json(&preset.to_json()).unwrap(), preset.into());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
