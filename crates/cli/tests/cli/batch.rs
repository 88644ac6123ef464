//! Batches: names and content of the outputs with any number of workers, reports, dry runs.

use crate::{Folder, float_wav, signals, silence, slashes, text};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Returns a folder with short files of noise in `in` and its subfolders, and files that are not audio.
pub fn samples() -> Folder {
    let folder = Folder::new();
    for (index, name) in
        ["a.wav", "b.WAV", "drums/kick.wav", "drums/deep/snare.wav", "x y.wav"].iter().enumerate()
    {
        let mut noise = signals::noise(index as u64 + 1);
        let channels = vec![(0..3000 * (index + 1)).map(|_| (0.5 * noise()) as f32).collect(); 2];
        folder.put(&format!("in/{name}"), &float_wav(44_100, &channels));
    }
    folder.put("in/readme.txt", b"no audio");
    folder.put("in/drums/._kick.wav", b"hidden");
    folder.put("in/.git/hidden.wav", b"hidden");
    folder
}

/// Returns all files below `name`, with their content.
pub fn tree(folder: &Folder, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(root: &Path, path: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(path).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, all);
            } else {
                all.insert(path.strip_prefix(root).unwrap().into(), fs::read(&path).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    walk(&folder.path(name), &folder.path(name), &mut all);
    all
}

/// Returns the files' names, with slashes on all systems.
pub fn names(tree: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    tree.keys().map(|path| slashes(path.to_str().unwrap())).collect()
}

const ALL: [&str; 5] = ["a.wav", "b.wav", "drums/deep/snare.wav", "drums/kick.wav", "x y.wav"];

/// Runs `line`, which must exit with `code`, and returns its standard output, which is JSON.
pub fn json(folder: &Folder, line: &str, code: i32) -> Value {
    let output = folder.command(line).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    // JSON writes a backslash as two.
    serde_json::from_str(&if cfg!(windows) { text.replace(r"\\", "/") } else { text }).unwrap()
}

#[test]
fn an_output_folder_within_the_input_is_not_read_again() {
    let folder = samples();
    folder.run("render in -o in/out");
    folder.run("render in -o in/out --force");
    assert_eq!(names(&tree(&folder, "in/out")), ALL);
}

#[test]
fn a_suffix_puts_outputs_beside_their_inputs_and_is_known_again() {
    let folder = samples();
    for _ in 0..2 {
        folder.run("render in/drums --suffix -8bit --skip-existing");
        let all = tree(&folder, "in/drums");
        let expected =
            ["._kick.wav", "deep/snare-8bit.wav", "deep/snare.wav", "kick-8bit.wav", "kick.wav"];
        assert_eq!(names(&all), expected);
    }
    folder.run("render in/a.wav in/b.WAV -o new/folder --suffix _x");
    assert_eq!(names(&tree(&folder, "new/folder")), ["a_x.wav", "b_x.wav"]);
}

#[test]
fn one_file_goes_into_a_folder_that_exists_or_is_meant() {
    let folder = samples();
    fs::create_dir(folder.path("there")).unwrap();
    folder.run("render in/a.wav -o there");
    folder.run("render in/a.wav -o new/");
    assert_eq!(names(&tree(&folder, "there")), ["a.wav"]);
    assert_eq!(names(&tree(&folder, "new")), ["a.wav"]);
}

#[test]
fn patterns_that_the_shell_left_alone_are_matched() {
    let folder = samples();
    folder.run("render in/?.wav in/dr*/*.wav -o out");
    // As in a shell, `*` does not match hidden files, and case matters.
    assert_eq!(names(&tree(&folder, "out")), ["a.wav", "kick.wav"]);
    let line = folder.fail("render in/*.mp3 -o out2", 1);
    assert_eq!(line, "in/*.mp3: matches no file; check the name");
    folder.put("[a].wav", &silence());
    folder.run("render [a].wav -o out3/");
    assert_eq!(names(&tree(&folder, "out3")), ["[a].wav"]);
    // Brackets in a part of the path that exists are literal.
    folder.put("in/Album[FLAC]/CD[1]/b.wav", &silence());
    for pattern in ["in/Album[FLAC]/CD[1]/?.wav", "in/Album[FLAC]/*/[b].wav", "in/Album[FLAC]/C*"] {
        folder.run(&format!("render {pattern} -o out4/"));
        assert_eq!(tree(&folder, "out4").len(), 1, "{pattern}");
        fs::remove_dir_all(folder.path("out4")).unwrap();
    }
}

#[test]
fn conflicting_inputs_and_outputs_are_refused_before_any_work() {
    let folder = samples();
    folder.put("other/a.wav", &silence());
    folder.put("in/a.flac", b"");
    let over_input = ".wav: is an input; choose another name or folder for the output";
    let file_name = ": is a file's name, and several outputs need a folder";
    for (line, reason) in [
        (
            "render in/a.wav other/a.wav -o out",
            "in/a.wav and other/a.wav would both become out/a.wav; ",
        ),
        ("render in -o out", "would both become out/a.wav; "),
        ("render in -o out", "add {ext} to the --out of render"),
        (
            "bands in/a.wav in/a.flac --csv out",
            "would both become out/a.csv; give them in separate runs",
        ),
        ("render in/drums -o in/drums --force", over_input),
        ("render in/a.wav in/drums -o in --force", over_input),
        ("render in/drums -o in/a.wav --force", file_name),
        ("render in/drums -o out.wav", file_name),
        ("render in/a.wav in/b.WAV -o out.flac", file_name),
        ("bands in/drums --midi out.mid", file_name),
        ("render - in/a.wav -o out", "- stands for one file"),
        ("render in/drums -o -", "- stands for one file"),
        ("render - -o in", "- stands for one file"),
        ("render - --suffix x", "- stands for one file"),
        ("bands in/drums --csv -", "- stands for one file"),
        ("render in/a.wav -o - --json", "--json: the report would be mixed with the sound"),
        (
            "render in/a.wav -o out.wav --preset organ,arcade",
            "several presets need {preset} in --out or --suffix",
        ),
        (
            "render in/a.wav -o {preset}.wav --preset organ,Organ",
            "two presets are called organ; give one of them alone",
        ),
        ("render in/a.wav -o {preset}.wav --preset organ,none", "no preset is called \"none\""),
    ] {
        let said = folder.fail(line, 2);
        assert!(said.contains(reason), "{line}: {said}");
    }
    for flags in ["-o x-{name}.wav", "-o {name}/x.wav", "-o {name}.mp3", "-o {name}.wav --suffix x"]
    {
        let said = folder.fail(&format!("render in/a.wav {flags}"), 2);
        let reason = "{name} begins the name of a file that ends in .wav or .flac";
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn a_file_that_is_named_twice_is_rendered_once_and_that_is_told() {
    let folder = samples();
    let report = json(&folder, "render in/a.wav in ./in/a.wav -o out --json", 0);
    assert_eq!(report["summary"]["done"], 5);
    let said = folder.run("render in/a.wav ./in/a.wav -o out2 --mix 0");
    let note = "note: ./in/a.wav: named more than once, read once\n1 file done: ";
    assert!(said.starts_with(note), "{said}");
}

#[test]
fn patterns_and_slashes_name_folders_of_outputs() {
    let folder = samples();
    folder.run("render in/drums -o out/{name}.flac");
    assert_eq!(names(&tree(&folder, "out")), ["deep/snare.flac", "kick.flac"]);
    folder.run("render in -o out.wav/");
    assert_eq!(names(&tree(&folder, "out.wav")), ALL);
}

#[test]
fn the_summary_counts_what_there_is() {
    let folder = samples();
    let said = folder.run("render in/a.wav in/b.WAV -o out --mix 0");
    assert!(said.starts_with("2 files done: 0.20 s of audio in "), "{said}");
    assert!(said.contains(" times real time, ") && said.ends_with(" M samples/s\n"), "{said}");
    assert_eq!(folder.run("render in/a.wav in/b.WAV -o out --skip-existing"), "2 files skipped\n");
    let said = folder.run("render in -o out --skip-existing --mix 0");
    assert!(said.starts_with("3 files done, 2 skipped: "), "{said}");
    let said = folder.command("render none.wav nothing.wav -o out").output().unwrap().stderr;
    assert!(text(said).ends_with("\n2 files failed\n"));
}

#[test]
fn a_bad_file_fails_alone_and_is_named() {
    let folder = samples();
    folder.put("in/bad.wav", b"RIFF");
    folder.put("in/zero.wav", b"");
    let output = folder.command("render in none.wav -o out --json").output().unwrap();
    let said = text(output.stderr);
    assert_eq!(output.status.code(), Some(1));
    for error in [
        "error: in/bad.wav: not a WAV file",
        "error: in/zero.wav: cannot be decoded (it is empty)",
        "error: none.wav: cannot be read (",
        "5 files done, 3 failed: ",
    ] {
        assert!(said.contains(error), "{said}");
    }
    assert_eq!(names(&tree(&folder, "out")), ALL);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let files = report["files"].as_array().unwrap();
    let statuses: Vec<_> = files.iter().map(|file| file["status"].as_str().unwrap()).collect();
    let expected = ["done", "done", "failed", "done", "done", "done", "failed", "failed"];
    assert_eq!(statuses, expected, "in the order of the inputs: {said}");
    let error = slashes(files[2]["error"].as_str().unwrap());
    assert!(error.starts_with("in/bad.wav: not a WAV file"), "{error}");
}

#[test]
fn the_report_tells_levels_and_notes() {
    let folder = Folder::with(&float_wav(48_000, &[signals::sine(440.0, 0.5, 2.0, 48_000.0)]));
    let report =
        json(&folder, "render in.wav -o out.wav --json --mix 0 --output 12 --bit-depth 16", 0);
    let file = &report["files"][0];
    assert_eq!((&file["input"], &file["output"]), (&"in.wav".into(), &"out.wav".into()));
    let near = |key: &str, value: f64| {
        let told = file[key].as_f64().unwrap();
        assert!((told - value).abs() < 0.02, "{key}: {told}");
    };
    near("duration_seconds", 2.0);
    near("peak_before_db", -6.02);
    near("rms_before_db", -9.03);
    near("peak_after_db", 5.98);
    near("rms_after_db", 2.97);
    // Clips where 4 * 0.5 |sin| > 1: from 30 to 150 degrees, two thirds of the time.
    let clipped = file["clipped_samples"].as_f64().unwrap() / 96_000.0;
    assert!((clipped - 2.0 / 3.0).abs() < 0.01, "{clipped}");
    let notes = file["active_notes"].as_array().unwrap();
    assert!(notes.contains(&"A4".into()), "{notes:?}");
    assert!(!notes.contains(&"A5".into()), "{notes:?}");
    assert_eq!(report["summary"]["done"], 1);

    let silent = Folder::with(&silence());
    let report = json(&silent, "render in.wav -o out.wav --json", 0);
    assert_eq!(report["files"][0]["peak_after_db"], Value::Null);
    assert_eq!(report["files"][0]["active_notes"], Value::Array(vec![]));
}

#[test]
fn the_report_tells_the_loudness_that_ebu_r128_has_for_its_own_sine() {
    // EBU Tech 3341, case 1: 1 kHz at -23 dB full scale in both channels is -23 LUFS.
    let sine = signals::sine(1000.0, 10f64.powf(-23.0 / 20.0), 5.0, 48_000.0);
    let folder = Folder::with(&float_wav(48_000, &[sine.clone(), sine]));
    let report = json(&folder, "render in.wav -o out.wav --json --mix 0 --output 12", 0);
    for (key, expected) in [("loudness_before_lufs", -23.0), ("loudness_after_lufs", -11.0)] {
        let loudness = report["files"][0][key].as_f64().unwrap();
        assert!((loudness - expected).abs() < 0.1, "{key}: {loudness}");
    }
    let short = Folder::with(&silence());
    let report = json(&short, "render in.wav -o out.wav --json", 0);
    assert_eq!(report["files"][0]["loudness_after_lufs"], Value::Null);
}

#[test]
fn a_dry_run_says_all_and_does_nothing() {
    let folder = samples();
    folder.put("out/a.wav", b"old");
    let output =
        folder.command("render in none.wav -o out --dry-run --skip-existing").output().unwrap();
    let (said, errors) = (text(output.stdout), text(output.stderr));
    assert!(said.lines().any(|line| line == "in/drums/kick.wav -> out/drums/kick.wav"), "{said}");
    let inputs: Vec<_> = said.lines().filter_map(|line| Some(line.split_once(" -> ")?.0)).collect();
    let longest_first = ["in/x y.wav", "in/drums/deep/snare.wav", "in/drums/kick.wav", "in/b.WAV"];
    assert_eq!(inputs, longest_first);
    assert!(errors.contains("in/a.wav -> out/a.wav: exists, skipped"), "{errors}");
    assert!(errors.contains("error: none.wav: cannot be read ("), "{errors}");
    assert_eq!(names(&tree(&folder, "out")), ["a.wav"]);
    let output = folder.command("render in -o out --dry-run").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "an output exists");

    let report = json(&folder, "render in none.wav -o out --dry-run --skip-existing --json", 1);
    assert_eq!(report["version"], 1);
    let files = report["files"].as_array().unwrap();
    assert!(files.contains(&serde_json::json!({
        "input": "in/drums/kick.wav", "output": "out/drums/kick.wav", "status": "planned"
    })));
    let count = |status: &str| files.iter().filter(|file| file["status"] == status).count();
    assert_eq!((count("planned"), count("skipped"), count("failed")), (4, 1, 1));
    let summary = serde_json::json!({ "planned": 4, "skipped": 1, "failed": 1, "left_out": 0 });
    assert_eq!(report["summary"], summary);
    assert_eq!(names(&tree(&folder, "out")), ["a.wav"]);
}

#[test]
fn existing_outputs_fail_are_skipped_or_overwritten() {
    let folder = samples();
    folder.put("out/a.wav", b"old");
    let report = json(&folder, "render in -o out --json", 1);
    assert_eq!((&report["summary"]["done"], &report["summary"]["failed"]), (&4.into(), &1.into()));
    let report = json(&folder, "render in -o out --json --skip-existing", 0);
    assert_eq!(report["summary"]["skipped"], 5);
    assert_eq!(tree(&folder, "out")[Path::new("a.wav")], b"old");
    let report = json(&folder, "render in -o out --json --force", 0);
    assert_eq!(report["summary"]["done"], 5);
    assert!(tree(&folder, "out")[Path::new("a.wav")].starts_with(b"RIFF"));
}

#[test]
fn outputs_can_be_as_old_as_their_inputs() {
    let folder = samples();
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let file = fs::File::options().write(true).open(folder.path("in/a.wav")).unwrap();
    file.set_modified(old).unwrap();
    folder.run("render in -o out --keep-mtime");
    let modified = |name: &str| fs::metadata(folder.path(name)).unwrap().modified().unwrap();
    assert_eq!(modified("out/a.wav"), old);
    assert_ne!(modified("out/drums/kick.wav"), old);
}

#[test]
fn the_talk_is_as_long_as_asked_for() {
    let folder = samples();
    assert_eq!(folder.run("render in -o out --quiet"), "");
    assert_eq!(folder.run("render in -o out2 --mix 0").lines().count(), 1);
    assert_eq!(folder.run("render in -o out3 --verbose --mix 0").lines().count(), 5 + 1);
}

#[test]
fn audio_of_formats_that_are_not_read_is_told() {
    let folder = samples();
    for name in ["in/b.m4a", "in/c.Opus", "in/deep/d.w64", "in/e.ape", "in/.f.m4a"] {
        folder.put(name, b"");
    }
    let reason = "an unsupported format, such as Opus; give WAV, FLAC, AIFF, CAF, MP3, Ogg Vorbis, MP4 (AAC, ALAC)";
    let note = format!("note: in/b.m4a and 3 more: left out, {reason}\n");
    let said = folder.run("render in -o out --mix 0");
    assert!(said.starts_with(&format!("{note}5 files done, 4 left out: ")), "{said}");
    assert_eq!(folder.run("render in -o out --force --quiet"), "");
    for (flags, key) in [("--force", "done"), ("--force --dry-run", "planned")] {
        let report = json(&folder, &format!("render in -o out --json {flags}"), 0);
        assert_eq!(
            (&report["summary"][key], &report["summary"]["left_out"]),
            (&5.into(), &4.into())
        );
        let left_out = &report["left_out"];
        assert_eq!(left_out[0]["input"], "in/b.m4a");
        assert_eq!(left_out[3]["reason"], reason);
    }
}

#[test]
fn hidden_audio_is_told_and_read_if_it_is_named() {
    let folder = samples();
    folder.put("in/.b.wav", &silence());
    let said = folder.run("render in -o out");
    let note = "note: in/.b.wav: left out, hidden by the dot at the start of its name; name it to read it\n";
    assert!(said.contains(&format!("{note}5 files done, 1 left out: ")), "{said}");
    folder.run("render in/.b.wav -o named/");
    assert_eq!(names(&tree(&folder, "named")), [".b.wav"]);
}

#[test]
fn quiet_says_nothing_of_samples_that_are_cut() {
    let folder = Folder::with(&float_wav(44_100, &[vec![2.0; 100]]));
    let line = "render in.wav -o out.wav --mix 0 --bit-depth 16";
    let warning = "warning: out.wav: 100 samples clipped; lower --output by 6.1 dB";
    assert!(folder.run(line).contains(warning));
    assert_eq!(folder.run(&format!("{line} --force --quiet")), "");
}
