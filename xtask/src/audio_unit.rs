//! AU bundle for macOS. It has the library of the CLAP bundle, which has the entry points of both formats.
//!
//! AU is a wrapper around CLAP (`clap-wrapper`, feature `au`, in `bundle-universal` only), so that VST3 remains nice-plug's and
//! keeps its ids. The AU is an effect without MIDI (`aufx`), as Logic offers effects with MIDI only as instruments: Keys and MIDI
//! out need CLAP or VST3. The AU has never been built: its C++ needs Apple's SDK.

use crate::{install, pack};
use anyhow::{Context, Result};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Property list, which macOS reads before it loads the bundle. The type `aufx` is an effect, which Logic offers on every track.
const PROPERTIES: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
    <key>CFBundleExecutable</key><string>Tone Filter</string>
    <key>CFBundleIdentifier</key><string>tone-filter.audio-unit</string>
    <key>CFBundleInfoDictionaryVersion</key><string>6.0</string>
    <key>CFBundleName</key><string>Tone Filter</string>
    <key>CFBundlePackageType</key><string>BNDL</string>
    <key>CFBundleShortVersionString</key><string>{version}</string>
    <key>CFBundleVersion</key><string>{version}</string>
    <key>AudioComponents</key>
    <array>
        <dict>
            <key>type</key><string>aufx</string>
            <key>subtype</key><string>ToFi</string>
            <key>manufacturer</key><string>ToFi</string>
            <key>name</key><string>Tone Filter: Tone Filter</string>
            <key>description</key><string>Tone Filter</string>
            <key>version</key><integer>{number}</integer>
            <key>factoryFunction</key><string>GetPluginFactoryAUV2</string>
        </dict>
    </array>
</dict>
</plist>
"#;

/// Makes `Tone Filter.component` beside the bundle `clap` and returns its path.
pub fn make(clap: &Path) -> Result<PathBuf> {
    let version = pack::version()?;
    let unit = clap.with_extension("component");
    install::remove(&unit)?;
    let contents = unit.join("Contents");
    fs::create_dir_all(contents.join("MacOS"))?;
    install::copy(&clap.join("Contents/MacOS/Tone Filter"), &contents.join("MacOS/Tone Filter"))
        .with_context(|| format!("{} is no bundle of macOS", clap.display()))?;
    fs::write(contents.join("PkgInfo"), "BNDL????")?;
    let properties = PROPERTIES
        .replace("{version}", &version)
        .replace("{number}", &number(&version)?.to_string());
    fs::write(contents.join("Info.plist"), properties)?;
    Ok(unit)
}

/// Returns a version such as 1.10.3 as Apple's number: a byte for each part, the last part in the lowest byte.
fn number(version: &str) -> Result<u32> {
    version.split('.').try_fold(0, |number, part| {
        let part: u8 = part.parse().with_context(|| format!("{version} is no plain version"))?;
        Ok(number << 8 | u32::from(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_has_the_library_of_the_clap_and_names_its_entry() {
        let folder = tempfile::tempdir().unwrap();
        let clap = folder.path().join("Tone Filter.clap");
        fs::create_dir_all(clap.join("Contents/MacOS")).unwrap();
        fs::write(clap.join("Contents/MacOS/Tone Filter"), "library").unwrap();
        // Twice, as the second bundle must replace the first one.
        for _ in 0..2 {
            assert_eq!(make(&clap).unwrap(), folder.path().join("Tone Filter.component"));
        }
        let read = |name: &str| {
            fs::read_to_string(folder.path().join("Tone Filter.component/Contents").join(name))
        };
        assert_eq!(read("MacOS/Tone Filter").unwrap(), "library");
        let properties = read("Info.plist").unwrap();
        assert!(properties.contains("<string>GetPluginFactoryAUV2</string>"), "{properties}");
        assert!(!properties.contains('{'), "{properties}");
        assert!(make(folder.path()).is_err());
    }

    #[test]
    fn versions_count_by_bytes() {
        assert_eq!(number("0.2.0").unwrap(), 0x0200);
        assert_eq!(number("1.10.3").unwrap(), 0x0001_0A03);
        assert!(number("1.0.0-beta").is_err());
    }
}
