//! Tests of the preset format, and of the factory presets as data.

use super::*;
use proptest::prelude::*;
use tone_filter_dsp::{PitchClass, Scale, Voice};
use tone_filter_testkit::{Draws, controls};

/// Keys of the routing, which old presets contain.
const ROUTING: [&str; 3] = [r#""bypass":"#, r#""midi-out":"#, r#""listen":"#];

#[test]
fn factory_presets_are_valid_and_differ_from_each_other() {
    let presets: Vec<Preset> = ids().map(|id| Preset::factory(id).unwrap()).collect();
    assert_eq!(presets[0].settings, Settings::default(), "the first is that of a new instance");
    assert_eq!(presets[1].settings, Settings::REFERENCE);
    assert_eq!([&*presets[0].name, &*presets[1].name], ["Tone Filter", "Reference"]);
    for (index, (preset, id)) in presets.iter().zip(ids()).enumerate() {
        assert_eq!(preset.name.to_lowercase().replace(' ', "-"), id);
        for other in &presets[..index] {
            assert_ne!(preset.settings, other.settings, "{id} and {}", other.name);
        }
    }
}

/// Returns the result of reading a preset of `version` with these `settings`.
fn read(version: u32, settings: &str) -> Result<Loaded, FormatError> {
    let head = format!(r#""version":{version},"name":"x""#);
    Preset::from_json(&format!(r#"{{{head},"settings":{settings}}}"#))
}

#[test]
fn missing_settings_are_those_of_the_reference_sound() {
    let expected = Settings { floor: -70.0, ..Settings::REFERENCE };
    let Loaded { preset, warning } = read(1, r#"{ "floor": -70 }"#).unwrap();
    assert_eq!((&preset, warning), (&Preset::new("x", expected), None));
    let marked = format!("\u{feff}{}", preset.to_json());
    assert_eq!(Preset::from_json(&marked).unwrap().preset, preset, "a byte order mark is skipped");
    let typed = r#"{ "floor": "-70,0 dB", "voice": "Square", "root": "Bb", "scale": "minor", "auto": "ON" }"#;
    let (voice, root, scale) = (Voice::Square, PitchClass::new(1), Scale::NaturalMinor);
    let typed_settings = Settings { voice, root, scale, auto: true, ..expected };
    assert_eq!(read(1, typed).unwrap().preset.settings, typed_settings);
    let Settings { auto, focus, sensitivity, lookahead, .. } = expected;
    assert_eq!((auto, focus, sensitivity, lookahead), (false, 0.0, 50.0, false));
}

#[test]
fn an_invalid_preset_is_refused_with_the_reason() {
    let refused = |json: &str| Preset::from_json(json).unwrap_err().to_string();
    for (json, reason) in [
        ("", "EOF"),
        ("RIFF", "expected value"),
        ("{}", "missing field `name`"),
        ("[1]", "expected an object with version, name and settings"),
        ("1", "expected an object with version, name and settings"),
        (r#"{"version":1,"name":"x"}"#, "missing field `settings`"),
        (
            r#"{"version":1,"name":"x","settings":{},"colour":3}"#,
            r#""colour" is unknown; use version, name, description, tags, settings"#,
        ),
        (r#"{"versoin":1,"name":"x","settings":{}}"#, r#""versoin" is unknown"#),
        (r#"{"name":"x","settings":{}}"#, "missing field `version`"),
        (r#"{"version":0,"name":"x","settings":{}}"#, "there is no version 0"),
        (r#"{"version":1,"version":1,"name":"x","settings":{}}"#, "duplicate field `version`"),
        (r#"{"version":1,"name":"x","settings":[]}"#, "expected settings by their ids"),
    ] {
        let error = refused(json);
        assert!(error.contains(reason), "{json}: {error}");
        assert!(error.ends_with("; correct it there, or save it anew"), "{error}");
    }
    let error = refused(r#"{"version":9,"presets":[]}"#);
    assert!(error.contains("version 9") && error.contains("missing field `name`"), "{error}");
    assert!(error.ends_with("; update the program"), "{error}");
}

#[test]
fn an_unknown_key_and_a_value_out_of_range_are_refused_in_this_version() {
    for (settings, reason) in [
        (r#"{"mixx":3}"#, r#""mixx" is unknown; use mix, output, drive, "#),
        (r#"{"mix":"wet"}"#, r#"mix = "wet" is not a number; use 0 to 100 %"#),
        (r#"{"mix":null}"#, "mix = null is not a number; use 0 to 100 %"),
        (r#"{"mix":101}"#, "mix = 101 is out of range; use 0 to 100 %"),
        (r#"{"drive":1e39}"#, "drive = 1e+39 is out of range; use 1 to 400 x"),
        (r#"{"mix":3,"mix":3}"#, r#""mix" is there twice"#),
        (r#"{"stereo":"wide"}"#, r#"stereo = "wide" is unknown; use mono, stereo"#),
        (r#"{"voice":"choir"}"#, r#"voice = "choir" is unknown; use soft, "#),
        (r#"{"root":"H"}"#, r#"root = "H" is unknown; use A, A#, "#),
        (r#"{"scale":"Bb"}"#, r#"scale = "Bb" is unknown; use chromatic, "#),
        (r#"{"auto":"perhaps"}"#, r#"auto = "perhaps" is unknown; use true, false"#),
        (r#"{"output":"-66,5 dB"}"#, r#"output = "-66,5 dB" is out of range; use -24 to 12 dB"#),
        (
            r#"{"custom":"111"}"#,
            r#"custom = "111" is unknown; use 12 digits, 1 for on and 0 for off"#,
        ),
        (r#"{"custom":111111111111}"#, "custom = 111111111111 is unknown; use 12 digits"),
        (r#"{"bands":"1"}"#, r#"bands = "1" is unknown; use 48 or 77 digits"#),
    ] {
        let error = read(VERSION, settings).unwrap_err().to_string();
        assert!(error.contains(reason), "{settings}: {error}");
        if !reason.contains("twice") {
            let error = settings::from_json(settings).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{settings}: {error}");
        }
    }
}

#[test]
fn what_is_new_in_a_newer_version_is_left_out_and_named() {
    let json = r#"{
        "version": 9, "name": "x", "description": "New.", "tags": ["new"], "colour": "red",
        "settings": {
            "mix": 300, "drive": 7, "tone": "auto", "voice": "choir", "auto": true, "freeze": 1,
            "bands": "111", "custom": "100000000000", "portamento": {"ms": 40}
        }
    }"#;
    let Loaded { preset, warning } = Preset::from_json(json).unwrap();
    let custom = tone_filter_dsp::PitchClasses::NONE.with(0, true);
    let settings = Settings { drive: 7.0, auto: true, custom, ..Settings::REFERENCE };
    let (description, tags) = ("New.".into(), vec!["new".into()]);
    assert_eq!(preset, Preset { description, tags, ..Preset::new("x", settings) });
    let warning = warning.unwrap();
    let left_out = [
        r#""colour""#,
        r#"bands = "111""#,
        "freeze = 1",
        "mix = 300",
        r#""portamento""#,
        r#"tone = "auto""#,
        r#"voice = "choir""#,
    ];
    assert_eq!(warning.left_out, left_out);
    for left_out in left_out {
        assert!(warning.to_string().contains(left_out), "{warning}");
    }

    // `to_json` writes this program's version, so reading it again gives no warning.
    let json = preset.to_json();
    assert!(json.starts_with(&format!("{{\n  \"version\": {VERSION},\n")), "{json}");
    assert_eq!(Preset::from_json(&json).unwrap(), preset.into());
    // A preset of a newer version without new content causes no warning.
    assert_eq!(read(9, r#"{"mix": 3}"#).unwrap().warning, None);
}

#[test]
fn released_presets_are_written_with_the_same_lines() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus");
    let mut count = 0;
    for version in std::fs::read_dir(corpus).unwrap() {
        for file in std::fs::read_dir(version.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let released = std::fs::read_to_string(&path).unwrap();
            let written = Preset::from_json(&released).unwrap().preset.to_json();
            // Later versions have further settings between these, and no routing.
            let mut lines = written.lines().map(|line| line.trim_end_matches(','));
            let is_routing = |line: &str| ROUTING.iter().any(|id| line.contains(id));
            for line in released
                .lines()
                .filter(|line| !is_routing(line))
                .map(|line| line.trim_end_matches(','))
            {
                assert!(lines.any(|known| known == line), "{}: {line}", path.display());
            }
            count += 1;
        }
    }
    assert!(count >= 32, "the corpus is gone");
}

/// Struct of a user, which stores a sound.
#[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
struct Game {
    #[serde(with = "settings")]
    sound: Settings,
    lives: u8,
}

proptest! {
    #[test]
    fn any_preset_round_trips_in_any_format(name: String, seed: u64) {
        let controls = controls(&mut Draws::seeded(seed));
        let preset = Preset::new(name, controls.settings);
        prop_assert_eq!(Preset::from_json(&preset.to_json()).unwrap(), preset.into());
        let all = settings::to_json(&controls);
        prop_assert_eq!(settings::from_json(&all).unwrap(), controls);
        let game = Game { sound: controls.settings, lives: 3 };
        // JSON as text; CBOR below as bytes, where the settings are one text.
        let json = serde_json::to_string(&game).unwrap();
        prop_assert!(ROUTING.iter().all(|id| !json.contains(id)));
        prop_assert_eq!(&serde_json::from_str::<Game>(&json).unwrap(), &game);
        // The routing in the settings of an older version is left out.
        let json = format!(r#"{{"sound":{all},"lives":3}}"#);
        prop_assert_eq!(&serde_json::from_str::<Game>(&json).unwrap(), &game);
        let mut bytes = Vec::new();
        ciborium::into_writer(&game, &mut bytes).unwrap();
        prop_assert_eq!(ciborium::from_reader::<Game, _>(&bytes[..]).unwrap(), game);
    }
}
