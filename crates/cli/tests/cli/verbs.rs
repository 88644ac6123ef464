//! Verbs with few flags: presets, completions, man pages, bench.

use crate::{Folder, batch::json, silence};
use std::fs;
use tone_filter_dsp::Settings;
use tone_filter_presets::{self as presets, Preset};

fn stdout(folder: &Folder, line: &str) -> String {
    let output = folder.command(line).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{line}");
    assert!(output.stderr.is_empty(), "{line}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn presets_are_listed_shown_and_exported() {
    let folder = Folder::with(&silence());
    let list = stdout(&folder, "presets list");
    let listed: Vec<&str> =
        list.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(listed, presets::ids().collect::<Vec<_>>());
    for (id, line) in presets::ids().zip(list.lines()) {
        let preset = Preset::factory(id).unwrap();
        assert!(!preset.tags.is_empty() && !preset.description.is_empty());
        assert!(line.ends_with(&preset.description), "{line}");
    }
    for id in ["reference", "chord-pad"] {
        let expected = Preset::factory(id).unwrap().to_json();
        assert_eq!(stdout(&folder, &format!("presets show {id}")), expected);
        folder.run(&format!("presets export {id} {id}.json"));
        assert_eq!(fs::read_to_string(folder.path(&format!("{id}.json"))).unwrap(), expected);
    }
    folder.run("render in.wav -o out.wav --preset chord-pad.json");
    let line = folder.fail("presets export chord-pad chord-pad.json", 1);
    assert!(line.starts_with("chord-pad.json: already exists;"), "{line}");
    let line = folder.fail("presets show none", 2);
    assert!(line.starts_with("no preset is called \"none\";"), "{line}");
}

#[test]
fn what_is_new_in_a_preset_of_a_newer_version_is_left_out_with_a_warning() {
    let folder = Folder::with(&silence());
    let newer = r#"{"version":9,"name":"x","settings":{"mix":70,"voice":"choir","portamento":1}}"#;
    folder.put("newer.json", newer.as_bytes());
    let warning = "warning: newer.json: of a newer version of the program; \
                   left out: \"portamento\", voice = \"choir\"; update the program\n";
    let line = "render in.wav -o out.wav --preset newer.json";
    let said = folder.run(line);
    assert!(said.starts_with(warning), "{said}");
    assert_eq!(folder.run(&format!("{line} --force --quiet")), "");
    assert_eq!(folder.run("presets export newer.json known.json"), warning);
    let expected = Preset::new("x", Settings { mix: 70.0, ..Settings::REFERENCE });
    assert_eq!(fs::read_to_string(folder.path("known.json")).unwrap(), expected.to_json());
}

#[cfg(not(feature = "play"))]
#[test]
fn a_build_without_speakers_names_the_one_that_has_them() {
    let folder = Folder::new();
    for (verb, package) in
        [("app --input-device default", "libjack"), ("play in.wav", "libasound2")]
    {
        let said = folder.fail(verb, 2);
        let verb = verb.split(' ').next().unwrap();
        let expected = format!(
            "{verb} is not in this build; install it with `cargo install --locked --path crates/cli --features {verb}`"
        );
        assert!(said.starts_with(&expected), "{said}");
        assert_eq!(said.contains(package), cfg!(target_os = "linux"), "{said}");
    }
}

#[test]
fn every_verb_has_a_man_page() {
    let folder = Folder::new();
    folder.run("man pages/man1");
    for verb in ["", "-render", "-presets-export"] {
        assert!(folder.path(&format!("pages/man1/tone-filter{verb}.1")).exists(), "{verb}");
    }
    let page = fs::read_to_string(folder.path("pages/man1/tone-filter-render.1")).unwrap();
    assert!(page.contains("skip\\-existing") && page.contains("Examples:"), "{page}");
}

#[test]
fn the_speed_of_a_voice_is_measured() {
    let folder = Folder::new();
    for voice in ["soft", "saw"] {
        let line = format!("bench --seconds 0.05 --kernel scalar --voice {voice} --json");
        let report = json(&folder, &line, 0);
        assert_eq!(report["signal"], format!("{voice} with noise"));
        for key in ["mega_samples_per_second", "stereo", "masked"] {
            assert!(report["kernels"][0][key].as_f64().unwrap() > 0.0, "{voice}: {key}");
        }
    }
    assert!(folder.fail("bench --voice harp", 2).contains("use soft, sine, square"));
}

#[test]
fn a_run_is_compared_with_another_one() {
    let folder = Folder::new();
    let line = "bench --seconds 0.05 --kernel scalar --kernel portable";
    let mut before = json(&folder, &format!("{line} --json"), 0);
    // Changes the report of the earlier run: its speeds become a million times as low.
    for kernel in before["kernels"].as_array_mut().unwrap() {
        let speed = kernel["mega_samples_per_second"].as_f64().unwrap();
        kernel["mega_samples_per_second"] = (1e-6 * speed).into();
    }
    before["kernels"].as_array_mut().unwrap().pop();
    fs::write(folder.path("before.json"), before.to_string()).unwrap();
    let table = stdout(&folder, &format!("{line} --against before.json"));
    let last =
        |row: usize| table.lines().nth(row).unwrap().split(' ').next_back().unwrap().to_owned();
    assert_eq!(last(0), "before");
    let ratio: f64 = last(1).parse().unwrap();
    assert!(ratio > 1e4, "{table}");
    assert_eq!(last(2), "-", "no such kernel before: {table}");

    fs::write(folder.path("other.json"), "{}").unwrap();
    let error = folder.fail(&format!("{line} --against other.json"), 1);
    assert!(error.contains("other.json: not a report"), "{error}");
    let error = folder.fail(&format!("{line} --against none.json"), 1);
    assert!(error.starts_with("none.json: cannot be read ("), "{error}");
    let line = format!("{line} --voice saw --against before.json");
    assert!(folder.fail(&line, 1).contains("it is of soft with noise, this run of saw with noise"));
}
