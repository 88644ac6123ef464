//! Tests of CLAP's preset discovery and preset loading.

use std::{env, fs, path::PathBuf};
use tempfile::TempDir;
use tone_filter_dsp::Settings;
use tone_filter_presets::{Preset, ids};
use tone_filter_testkit::{
    clap::{
        Call::{Latency, Rescan, Restart},
        Extensions,
    },
    plugin::{assert_near, library, settings, state},
};

/// Redirects the user's configuration to a temporary folder. Returns that folder, and the path of the user's presets in it, which
/// does not exist yet.
fn home() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    // SAFETY: this process has no other thread yet.
    unsafe { env::set_var("XDG_CONFIG_HOME", home.path()) };
    let presets = home.path().join("tone-filter/presets");
    (home, presets)
}

pub fn a_host_finds_the_presets() {
    let ((_home, folder), library) = (home(), library());
    let (declared, told) = library.discover(&[None]).unwrap();
    let factory = "location 1 Factory plugin";
    assert_eq!(declared, ["type json", factory], "no folder of the user's");
    assert!(!folder.exists(), "and none is made");
    let lines = &told[0];
    let names: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("preset ")).collect();
    let name = |id| format!("{} {id}", Preset::factory(id).unwrap().name);
    assert_eq!(names, ids().map(name).collect::<Vec<_>>());
    let start = lines.iter().position(|line| line.ends_with(" chord-pad")).unwrap();
    let of_pad = [
        "preset Chord Pad chord-pad",
        "for clap org.tone-filter.tone-filter",
        "flags 1",
        "by Tone Filter",
        "is Long, soft tones that form a pad behind the chords.",
        "tag chords",
        "tag ambient",
        "tag soft",
    ];
    assert_eq!(lines[start..start + of_pad.len()], of_pad);

    fs::create_dir_all(&folder).unwrap();
    let mut preset = Preset::new("In it", Settings::default());
    (preset.description, preset.tags) = ("Mine\0.".to_owned(), vec!["loud".to_owned()]);
    preset.write(&folder.join("By File.json")).unwrap();
    fs::write(folder.join("broken.json"), "{").unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let paths = ["By File.json", "broken.json", "none.json", ""].map(path);
    let (declared, told) =
        library.discover(&paths.each_ref().map(|path| Some(path.as_str()))).unwrap();
    let user = format!("location 2 Your own {}", folder.display());
    assert_eq!(declared, ["type json", factory, &user]);
    let by_file = [
        "preset By File none",
        "for clap org.tone-filter.tone-filter",
        "flags 2",
        "is Mine.",
        "tag loud",
    ];
    assert_eq!(told[0], by_file);
    for (lines, expected) in told[1..].iter().zip(["error 0 ", "error 2 ", "error 0 "]) {
        assert!(lines.len() == 1 && lines[0].starts_with(expected), "{lines:?}");
        assert!(lines[0].contains("presets"), "{lines:?} names the file");
    }
}

pub fn a_host_loads_the_presets() {
    let ((_home, folder), library) = (home(), library());
    fs::create_dir_all(&folder).unwrap();
    let mine = Settings {
        mix: 12.0,
        bands: Settings::default().bands.with(3, false),
        lookahead: true,
        ..Settings::REFERENCE
    };
    let path = folder.join("Mine.json");
    Preset::new("Other", mine).write(&path).unwrap();
    let path = path.to_str().unwrap();
    let pad = Preset::factory("chord-pad").unwrap().settings;
    for extensions in [Extensions::All, Extensions::Draft] {
        let mut instance = library.instance_in(extensions).unwrap();
        for is_active in [false, true] {
            let mut pad_calls = vec![Rescan];
            let _processor = is_active.then(|| instance.activate(48_000.0, 512).unwrap());
            if is_active {
                assert_eq!(instance.take_calls(), [Latency]);
                pad_calls.insert(0, Restart);
            }
            for (at, key, loaded, name, expected, calls) in [
                (None, Some("chord-pad"), "plugin chord-pad", "Chord Pad", pad, pad_calls),
                (Some(path), None, &format!("{path} none"), "Mine", mine, vec![Rescan]),
            ] {
                assert!(instance.load_preset(at, key).unwrap());
                instance.idle();
                assert_eq!(instance.take_calls(), calls);
                assert_eq!(instance.take_log(), [format!("loaded {loaded}")]);
                assert_near(&settings(&mut instance), &expected);
                let state = state(&instance.save().unwrap());
                assert_eq!(state["fields"]["preset"], format!("{name:?}"));
            }
            let before = instance.save().unwrap();
            for (at, key, message) in [
                (Some("/none.json"), None, "/none.json none 2: /none.json: cannot be read"),
                (Some("/"), None, "/ none 0: /: cannot be read (it is not a file)"),
                (None, Some("none"), "plugin none 0: no preset is called \"none\""),
                (None, None, "plugin none 0: no preset is called \"\""),
            ] {
                assert!(!instance.load_preset(at, key).unwrap());
                let log = instance.take_log();
                let expected = format!("error {message}");
                assert!(log.len() == 1 && log[0].starts_with(&expected), "{log:?}");
            }
            assert_eq!(instance.take_calls(), []);
            assert_eq!(instance.save().unwrap(), before, "nothing has changed");
        }
    }
}
