//! File names that are valid on all systems, and text in a common spelling for searches.

/// Maximum length of a name in characters, so that it fits into a line of the editor.
const LONGEST: usize = 64;

/// Maximum length of a name in bytes: with `.json`, less than the 255 that most systems allow for a file name.
const LONGEST_BYTES: usize = 240;

/// Returns `name` as a file name that is valid on all systems: trimmed and shortened, with `_` for dots at the end and for
/// characters that some system forbids, and with `_` after the name of a device.
pub fn file_name(name: &str) -> String {
    let allowed = |c: char| !c.is_control() && !r#"/\:*?"<>|"#.contains(c);
    let clean = name.trim().chars().map(|c| if allowed(c) { c } else { '_' });
    let mut bytes = 0;
    let fits = |c: &char| {
        bytes += c.len_utf8();
        bytes <= LONGEST_BYTES
    };
    let name: String = clean.take(LONGEST).take_while(fits).collect();
    let name = name.trim_end();
    let end = name.trim_end_matches('.');
    let mut name = end.to_owned() + &"_".repeat(name.len() - end.len());
    let device = name.split('.').next().unwrap_or_default().trim_end();
    if is_device(device) {
        name.insert(device.len(), '_');
    }
    name
}

/// Returns whether `name`, a file name without extension, is reserved for a device on Windows, like `CON` or `COM1`.
fn is_device(name: &str) -> bool {
    let name = name.to_uppercase();
    // Windows accepts superscript digits, too.
    let unnumbered = name.strip_suffix(|c: char| c.is_numeric());
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"].contains(&name.as_str())
        || unnumbered.is_some_and(|device| ["COM", "LPT"].contains(&device))
}

/// Base letters, each followed by its accented forms.
const MARKED: &str = "aàáâãäåāăą cçćĉċč dď eèéêëēĕėęě gĝğġģǧ hĥ iìíîïĩīĭį jĵ kķ lĺļľ nñńņň oòóôõöōŏő rŕŗř sśŝşšș tţťț \
                      uùúûũüūŭůűų wŵ yýŷÿ zźżž αά εέ ηή ιί οό υύ ωώ ий её ії";

/// Returns `text` in lower case and without accents, for searches. Removes combining marks, and replaces common accented letters.
pub fn folded(text: &str) -> String {
    let letters = text.chars().flat_map(char::to_lowercase);
    let letters = letters.filter(|c| !('\u{300}'..='\u{36f}').contains(c));
    let plain = |c| MARKED.split(' ').find(|group| group.contains(c))?.chars().next();
    letters.map(|c| if c.is_ascii() { c } else { plain(c).unwrap_or(c) }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Folder, Preset};
    use std::{fs, path::Path};
    use tone_filter_dsp::Settings;

    fn preset(name: &str, mix: f32) -> Preset {
        Preset::new(name, Settings { mix, ..Settings::default() })
    }

    /// Asserts that `name` is a plain file name by the rules of all systems.
    fn assert_harmless(name: &str) {
        assert!(!name.is_empty() && name.len() + ".json".len() <= 255, "{name:?}");
        assert!(!name.contains(|c: char| c.is_control() || r#"<>:"/\|?*"#.contains(c)), "{name:?}");
        assert!(!name.starts_with(' ') && !name.ends_with([' ', '.']), "{name:?}");
        let upper = name.split('.').next().unwrap().trim_end().to_uppercase();
        assert!(!["CON", "PRN", "AUX", "NUL", "CONIN$"].contains(&upper.as_str()), "{name}");
        let unnumbered = upper.strip_suffix(|c: char| "0123456789¹²³".contains(c));
        assert!(unnumbered.is_none_or(|port| !["COM", "LPT"].contains(&port)), "{name}");
        let parts: Vec<_> = Path::new(name).components().collect();
        assert!(matches!(parts[..], [std::path::Component::Normal(_)]), "{name:?}");
    }

    #[test]
    fn names_with_a_special_meaning_to_a_system_are_saved_as_plain_files() {
        let long = ["x".repeat(5000), "é".repeat(300), "長".repeat(300), "𝒳".repeat(300)];
        let devices =
            ["CON", "prn", "Aux", "NUL", "COM0", "com1", "LPT9", "COM¹", "lpt²", "Com³", "CON_"];
        let devices = devices.iter().flat_map(|name| {
            ["", ".txt", ".json", ".", " ", ":", ". .", "\0"].map(|end| format!("{name}{end}"))
        });
        let others = "..;.;../up;..\\up;a/../../up;/etc/passwd;//server/share;\\\\server\\share;C:\\Windows\\win.ini;C:up;\
                      \\\\?\\C:\\up;\\\\.\\pipe\\up;file:///up;~;~root/up;$HOME;%APPDATA%;`up`;-rf;a\0b;\0;a\nb;\u{1b}[2J;a:stream;\
                      a.json;.hidden;dots...;spaces   ;\u{a0}blank\u{a0};\u{202e}nosj;∕;／up;．．／up;‥;\u{feff};e\u{301};🎵;a\tb;*;?;\
                      <>|\";CONIN$;CONOUT$;CLOCK$";
        let names = long.into_iter().chain(devices).chain(others.split(';').map(String::from));
        for name in names {
            let home = tempfile::tempdir().unwrap();
            fs::write(home.path().join("up.json"), preset("up", 1.0).to_json()).unwrap();
            let folder = Folder::new(home.path().join("presets"));
            let saved = folder.save(&preset(&name, 7.0)).unwrap();
            assert_eq!(folder.replaced_by(&name).as_ref(), Some(&saved), "{name:?}");
            assert_harmless(&saved);
            assert_eq!(folder.names(), std::slice::from_ref(&saved));
            assert_eq!(folder.load(&saved).unwrap(), Some(preset(&saved, 7.0).into()));
            assert_eq!(fs::read_dir(home.path().join("presets")).unwrap().count(), 1);
            if saved != name {
                // The original name must not load or delete the preset under the changed name.
                assert_eq!(folder.load(&name).unwrap(), None, "{name:?}");
                assert!(folder.delete(&name).is_err(), "{name:?}");
            }
            folder.delete(&saved).unwrap();
            assert!(folder.names().is_empty());
            assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "{name:?}");
        }
    }

    #[test]
    fn names_that_all_systems_take_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path());
        let look = ["Coma", "COM", "Com12", "Console", "Null", "LPT one", "Auxiliary 1", ".hidden"];
        let marked = ["Lead v1.2", "🎵 👩‍🎤", "e\u{301}tude", "~50 % = $2; [x] {y}!", "हिन्दी"];
        for name in look.into_iter().chain(marked) {
            assert_eq!(folder.save(&preset(name, 1.0)).unwrap(), name);
            assert_eq!(folder.load(name).unwrap(), Some(preset(name, 1.0).into()));
        }
    }
}
