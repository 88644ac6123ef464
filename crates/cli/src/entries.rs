//! Choices (settings with named entries) on the command line: names of their flags, and parsing of their entries.

use tone_filter_dsp::{Choice, PitchClass, choice};

pub fn flag_name(choice: &Choice) -> &'static str {
    match choice.id {
        // `--keys` is the flag for the MIDI file, because users give a file more often than a mode.
        "keys" => "key-mode",
        id => id,
    }
}

/// Parses an entry of `choice`. Returns its index, or an error with a hint.
pub fn entry(choice: &Choice, text: &str) -> Result<usize, String> {
    choice.parse(text).ok_or_else(|| {
        if let Some(hint) = key_hint(choice, text) {
            return format!("{} = {text:?} {hint}", choice.id);
        }
        let (id, wanted) = (flag_name(choice), text.to_lowercase().replace(' ', "-"));
        let ids = || choice.entries.iter().map(|entry| entry.0);
        let near: Vec<_> = ids().filter(|id| !wanted.is_empty() && id.contains(&wanted)).collect();
        match &near[..] {
            [] => format!("{id} = {text:?} is unknown; use {}", or(&ids().collect::<Vec<_>>())),
            [only] => format!("{id} = {text:?} is unknown; did you mean {only}?"),
            _ => format!("{id} = {text:?} is ambiguous; use {}", or(&near)),
        }
    })
}

/// Returns a hint if the text `key`, given for the setting `root` or `scale`, is a musical key like `C minor`, `F#m` or `Bb`.
fn key_hint(choice: &Choice, key: &str) -> Option<String> {
    let scale = self::choice("scale")?;
    if !["root", "scale"].contains(&choice.id) {
        return None;
    }
    let ends = key.char_indices().skip(1).take(2).map(|(end, _)| end);
    // Tries long roots first, so that an accidental counts as part of the root.
    let ends: Vec<usize> = ends.chain([key.len()]).collect();
    ends.into_iter().rev().find_map(|end| {
        let root = key[..end].parse::<PitchClass>().ok()?.name();
        let mode = match key[end..].trim_matches([' ', '-']) {
            "" => {
                return Some(format!(
                    "is a root; give --root {root}, and a scale like --scale minor"
                ));
            }
            "m" => "minor",
            mode => mode,
        };
        let mode = scale.entries[scale.parse(mode)?].0;
        Some(format!("names a key; give its root and its scale: --root {root} --scale {mode}"))
    })
}

/// Joins `words` into an enumeration: `a, b or c`.
pub fn or(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

pub fn voices() -> &'static Choice {
    choice("voice").expect("it is a setting")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_entries_have_a_hint() {
        let key = |flags: &str| format!("names a key; give its root and its scale: {flags}");
        for (id, text, hint) in [
            ("stereo", "wide", "is unknown; use mono, stereo or place"),
            ("stereo", "A", "is unknown; did you mean place?"),
            ("scale", "jazz", "is unknown; use chromatic, major, "),
            ("scale", "penta", "is ambiguous; use major-pentatonic or minor-pentatonic"),
            ("scale", "whole", "is unknown; did you mean whole-tone?"),
            // Not taken for a key, whatever its first letter.
            ("scale", "blu", "is unknown; did you mean blues?"),
            ("scale", "b", "is a root; give --root B, and a scale like --scale minor"),
            ("root", "H", "is unknown; use A, A#, B, C, C#, D, D#, E, F, F#, G or G#"),
            ("root", "Dm", &key("--root D --scale natural-minor")),
            ("scale", "C minor", &key("--root C --scale natural-minor")),
            ("scale", "Bb-Major", &key("--root A# --scale major")),
            ("scale", "f# harmonic minor", &key("--root F# --scale harmonic-minor")),
            ("scale", "ebmaj", &key("--root D# --scale major")),
        ] {
            let error = entry(choice(id).unwrap(), text).unwrap_err();
            assert!(error.starts_with(&format!("{id} = {text:?} {hint}")), "{error}");
        }
    }
}
