//! Batches: content of the outputs with any number of workers, reports, messages, dry runs. The tests of `crates/offline` cover
//! which inputs a batch has, and the names of its outputs.

use crate::{Folder, float_wav, integer_wav, signals, silence, slashes, text};
use serde_json::Value;
use std::{fs, path::Path};

/// Returns a folder with short files of noise in `in` and its subfolders, and files that are not audio.
fn samples() -> Folder {
    let folder = Folder::new();
    for (index, name) in
        ["a.wav", "b.WAV", "drums/kick.wav", "drums/deep/snare.wav", "x y.wav"].iter().enumerate()
    {
        let mut noise = signals::noise(index as u64 + 1);
        let channels = vec![(0..1000 * (index + 2)).map(|_| (0.5 * noise()) as f32).collect(); 2];
        folder.put(&format!("in/{name}"), &float_wav(44_100, &channels));
    }
    for name in ["readme.txt", "drums/._kick.wav", ".git/hidden.wav"] {
        folder.put(&format!("in/{name}"), b"no audio");
    }
    folder
}

/// Returns the sorted names of all files below `name`, with slashes on all systems.
fn names(folder: &Folder, name: &str) -> Vec<String> {
    fn walk(root: &Path, path: &Path, names: &mut Vec<String>) {
        for entry in fs::read_dir(path).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, names);
            } else {
                names.push(slashes(path.strip_prefix(root).unwrap().to_str().unwrap()));
            }
        }
    }
    let mut names = Vec::new();
    walk(&folder.path(name), &folder.path(name), &mut names);
    names.sort();
    names
}

const ALL: [&str; 5] = ["a.wav", "b.wav", "drums/deep/snare.wav", "drums/kick.wav", "x y.wav"];

/// Runs `line`, which must exit with `code`. Returns its standard output, which is JSON, and its standard error.
fn report(folder: &Folder, line: &str, code: i32) -> (Value, String) {
    let output = folder.command(line).output().unwrap();
    let said = text(output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line}: {said}");
    let text = String::from_utf8(output.stdout).unwrap();
    // In JSON, a backslash is written as two.
    let text = if cfg!(windows) { text.replace(r"\\", "/") } else { text };
    (serde_json::from_str(&text).unwrap(), said)
}

/// Works like [`report`], but returns the JSON alone.
pub fn json(folder: &Folder, line: &str, code: i32) -> Value {
    report(folder, line, code).0
}

#[test]
fn each_file_of_a_batch_has_the_outputs_of_a_single_run() {
    let folder = samples();
    let said = folder.run("bands in --midi notes --csv tables/ --json tables --png pictures/ -j 2");
    assert!(said.contains("5 files done: "), "{said}");
    for (out, extension) in [("notes", "mid"), ("pictures", "png")] {
        assert_eq!(names(&folder, out), ALL.map(|name| name.replace("wav", extension)));
    }
    assert_eq!(names(&folder, "tables").len(), 10);
    folder.run("bands in/drums/kick.wav --midi k.mid --csv k.csv --json k.json --png k.png");
    folder.run("render in/a.wav in/b.WAV -o out/{name}-{preset}.wav --preset organ,arcade");
    let four = ["a-arcade.wav", "a-organ.wav", "b-arcade.wav", "b-organ.wav"];
    assert_eq!(names(&folder, "out"), four);
    folder.run("render in/a.wav -o organ.wav --preset organ");
    for (one, many) in [
        ("k.mid", "notes/drums/kick.mid"),
        ("k.csv", "tables/drums/kick.csv"),
        ("k.json", "tables/drums/kick.json"),
        ("k.png", "pictures/drums/kick.png"),
        ("organ.wav", "out/a-organ.wav"),
    ] {
        assert!(folder.bytes(one) == folder.bytes(many), "{many}");
    }
}

#[test]
fn lists_name_inputs_and_serve_all_presets() {
    let folder = samples();
    let line = "render --input-list - -o out/{name}-{preset}.wav --preset organ,arcade";
    let output = folder.command(line).write_stdin("in/a.wav\n").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(names(&folder, "out"), ["in/a-arcade.wav", "in/a-organ.wav"]);

    let pipes = if cfg!(target_os = "linux") { &["-", "/dev/stdin"][..] } else { &["-"] };
    for pipe in pipes {
        let line = format!("render {pipe} -o {{preset}}.wav --preset organ,arcade");
        let output = folder.command(&line).write_stdin(silence()).output().unwrap();
        let reason = "can be read once only; give one preset, or name a file";
        assert_eq!(text(output.stderr), format!("error: {pipe}: {reason}\n"));
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_bad_file_fails_alone_and_is_named() {
    let folder = samples();
    folder.put("in/bad.wav", b"RIFF");
    folder.put("in/zero.wav", b"");
    let (report, said) = report(&folder, "render in none.wav -o out --json", 1);
    for error in [
        "error: in/bad.wav: not a WAV file",
        "error: in/zero.wav: cannot be decoded (it is empty)",
        "error: none.wav: cannot be read (",
        "5 files done, 3 failed: ",
    ] {
        assert!(said.contains(error), "{said}");
    }
    assert_eq!(names(&folder, "out"), ALL);
    let files = report["files"].as_array().unwrap();
    let statuses: Vec<_> = files.iter().map(|file| file["status"].as_str().unwrap()).collect();
    let expected = ["done", "done", "failed", "done", "done", "done", "failed", "failed"];
    assert_eq!(statuses, expected, "in the order of the inputs: {said}");
    let error = files[2]["error"].as_str().unwrap();
    assert!(error.starts_with("in/bad.wav: not a WAV file"), "{error}");

    folder.put("notes/a.mid", b"old");
    let output = folder.command("bands in --midi notes --quiet").output().unwrap();
    let said = text(output.stderr);
    assert_eq!((output.status.code(), said.lines().count()), (Some(1), 3), "{said}");
    assert!(said.contains("error: notes/a.mid: already exists;"), "{said}");
    assert_eq!(folder.bytes("notes/a.mid"), b"old");
    assert!(folder.path("notes/drums/kick.mid").exists());
}

#[test]
fn the_report_tells_levels_loudness_and_notes() {
    // A full-scale sine of 1 kHz in both channels has 0 LUFS (EBU Tech 3341, case 1). B5 is close to 1 kHz.
    let sine = signals::sine(987.77, 0.5, 2.0, 48_000.0);
    let folder = Folder::with(&float_wav(48_000, &[sine.clone(), sine]));
    let line = "render in.wav -o out.wav --json --mix 0 --output 12 --bit-depth 16";
    let (report, said) = report(&folder, line, 0);
    let file = &report["files"][0];
    assert_eq!((&file["input"], &file["output"]), (&"in.wav".into(), &"out.wav".into()));
    for (key, expected) in [
        ("duration_seconds", 2.0),
        ("peak_before_db", -6.02),
        ("rms_before_db", -9.03),
        ("loudness_before_lufs", -6.02),
        ("peak_after_db", 5.98),
        ("rms_after_db", 2.97),
        ("loudness_after_lufs", 5.98),
    ] {
        let told = file[key].as_f64().unwrap();
        assert!((told - expected).abs() < 0.1, "{key}: {told}");
    }
    // A sine clips where 4 * 0.5 |sin| > 1: from 30 to 150 degrees, two thirds of the time.
    let clipped = file["clipped_samples"].as_f64().unwrap() / 192_000.0;
    assert!((clipped - 2.0 / 3.0).abs() < 0.01, "{clipped}");
    assert!(said.contains(" samples clipped; lower --output by 6.1 dB or "), "{said}");
    let quiet = folder.run(&format!("{} --force --quiet", line.replace(" --json", "")));
    assert_eq!(quiet, "");
    let notes = file["active_notes"].as_array().unwrap();
    assert!(notes.contains(&"B5".into()) && !notes.contains(&"B4".into()), "{notes:?}");

    folder.put("in.wav", &silence());
    let report = json(&folder, "render in.wav -o silent.wav --json", 0);
    let file = &report["files"][0];
    assert!(file["peak_after_db"].is_null() && file["loudness_after_lufs"].is_null(), "{file}");
    assert_eq!(file["active_notes"], Value::Array(vec![]));
}

#[test]
fn a_dry_run_says_all_and_does_nothing() {
    let folder = samples();
    folder.put("out/a.wav", b"old");
    let line = "render in none.wav -o out --dry-run --skip-existing";
    let output = folder.command(line).output().unwrap();
    let (said, errors) = (text(output.stdout), text(output.stderr));
    let longest_first = ["x y.wav", "drums/deep/snare.wav", "drums/kick.wav", "b.WAV"];
    let lines =
        longest_first.map(|name| format!("in/{name} -> out/{}\n", name.replace("WAV", "wav")));
    assert_eq!(said, lines.concat());
    assert!(errors.contains("in/a.wav -> out/a.wav: exists, skipped"), "{errors}");
    assert!(errors.contains("error: none.wav: cannot be read ("), "{errors}");

    let report = json(&folder, &format!("{line} --json"), 1);
    assert_eq!(report["version"], 1);
    let files = report["files"].as_array().unwrap();
    assert!(files.contains(&serde_json::json!({
        "input": "in/drums/kick.wav", "output": "out/drums/kick.wav", "status": "planned"
    })));
    let count = |status: &str| files.iter().filter(|file| file["status"] == status).count();
    assert_eq!((count("planned"), count("skipped"), count("failed")), (4, 1, 1));
    let summary = serde_json::json!({ "planned": 4, "skipped": 1, "failed": 1, "left_out": 0 });
    assert_eq!(report["summary"], summary);
    assert_eq!(names(&folder, "out"), ["a.wav"]);
}

#[test]
fn existing_outputs_fail_are_skipped_or_overwritten() {
    let folder = samples();
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let file = fs::File::options().write(true).open(folder.path("in/a.wav")).unwrap();
    file.set_modified(old).unwrap();
    let existing = |name: &str| format!("error: out/{name}: already exists; ");
    let hint = "outputs exist; --skip-existing leaves them as they are, --force overwrites them\n";
    folder.put("out/a.wav", b"old");
    for (line, code, said) in [
        ("in -o out --mix 0", 1, &["4 files done, 1 failed: ", &existing("a.wav")][..]),
        ("in -o out", 1, &["5 ", hint, &existing("a.wav"), "5 files failed\n"]),
        ("in -o out --skip-existing", 0, &["5 files skipped\n"]),
        ("in -o out --force --keep-mtime", 0, &["5 files done: 0.45 s of audio in "]),
    ] {
        let output = folder.command(&format!("render {line}")).output().unwrap();
        let all = text(output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {all}");
        said.iter().for_each(|words| assert!(all.contains(words), "{line}: {all}"));
        assert_eq!(folder.bytes("out/a.wav") == b"old", !line.contains("--force"), "{line}");
        assert_eq!(all.contains("outputs exist"), line == "in -o out", "{all}");
    }
    let modified = |name: &str| fs::metadata(folder.path(name)).unwrap().modified().unwrap();
    assert_eq!(modified("out/a.wav"), old);
    assert_ne!(modified("out/drums/kick.wav"), old);

    // Only one file lacks its table, so only this file is analysed.
    folder.run("bands in/drums --midi notes --csv notes");
    fs::remove_file(folder.path("notes/kick.csv")).unwrap();
    folder.put("notes/kick.mid", b"old");
    let said = folder.run("bands in/drums --midi notes --csv notes --skip-existing --verbose");
    assert!(said.contains("in/drums/deep/snare.wav: all outputs exist, skipped\n"), "{said}");
    assert!(said.contains("1 file done, 1 skipped: "), "{said}");
    assert_eq!(folder.bytes("notes/kick.mid"), b"old");
    assert!(folder.path("notes/kick.csv").exists());
}

#[test]
fn the_talk_is_as_long_as_asked_for() {
    let folder = samples();
    assert_eq!(folder.run("render in -o out --quiet"), "");
    assert_eq!(folder.run("render in -o out --force --verbose --mix 0").lines().count(), 5 + 1);
    let said = folder.run("render in/a.wav ./in/a.wav -o out --force --mix 0");
    let note = "note: ./in/a.wav: named more than once, read once\n1 file done: ";
    assert!(said.starts_with(note) && said.ends_with(" M samples/s\n"), "{said}");
    assert!(said.contains(" times real time, "), "{said}");

    folder.put("odd.wav", &integer_wav(44_100, &[0; 42]));
    let said = folder.run("render odd.wav -o odd/");
    let note = "note: odd.wav: part of a frame behind the last one is ignored\n";
    assert!(said.contains(note), "{said}");

    for name in ["in/b.m4a", "in/c.Opus", "in/e.ape"] {
        folder.put(name, b"");
    }
    folder.put("in/.b.wav", &silence());
    let reason = "an unsupported format, such as Opus; give WAV, FLAC, AIFF, CAF, MP3, Ogg Vorbis, MP4 (AAC, ALAC)";
    let format = format!("note: in/b.m4a and 2 more: left out, {reason}\n");
    let hidden = "note: in/.b.wav: left out, hidden by the dot at the start of its name; name it to read it\n";
    let said = folder.run("render in -o out --force --mix 0");
    assert!(said.starts_with(&format!("{format}{hidden}5 files done, 4 left out: ")), "{said}");
    let said = folder.run("render in -o out --force --verbose --mix 0");
    assert!(said.contains(&format!("note: in/e.ape: left out, {reason}\n")), "{said}");
    let report = json(&folder, "render in -o out --force --json --dry-run", 0);
    let summary = serde_json::json!({ "planned": 5, "skipped": 0, "failed": 0, "left_out": 4 });
    assert_eq!(report["summary"], summary);
    assert_eq!(report["left_out"][0]["input"], "in/.b.wav");
    assert_eq!(report["left_out"][3]["reason"], reason);
}

#[test]
fn each_cause_of_silence_has_one_line() {
    let folder = Folder::new();
    let white = float_wav(44_100, &[signals::white(0.5, 44_100.0)]);
    let tones = [220.0, 277.18, 329.63].map(|hertz| signals::sine(hertz, 0.1, 1.0, 44_100.0));
    let chord = (0..44_100).map(|t| tones.iter().map(|tone| tone[t]).sum()).collect();
    let chord = float_wav(44_100, &[chord]);
    for (name, bytes) in [("a", &white), ("b", &white), ("c", &chord), ("silent", &silence())] {
        folder.put(&format!("in/{name}.wav"), bytes);
    }
    for verb in ["render in -o out", "bands in --csv out"] {
        // The custom scale has only A#. The chord has A, C# and E.
        let said = folder.run(&format!("{verb} --scale custom --custom 010000000000"));
        let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("warning")).collect();
        assert_eq!(warnings.len(), 3, "{said}");
        for (cause, count) in [("as in drums", 2), ("--scale mutes all", 1), ("is silent", 1)] {
            let start = format!("warning: {count} of 4 files: no note ");
            let found = |line: &&str| line.starts_with(&start) && line.contains(cause);
            assert!(warnings.iter().any(found), "{said}");
        }
    }
    let cause = "no note sounds, as the input is silent; check the recording\n";
    for (line, file) in
        [("render in/silent.wav -o", "out.wav"), ("bands in/silent.wav --csv", "out.csv")]
    {
        let named = if line.starts_with("render") { file } else { "in/silent.wav" };
        let said = folder.run(&format!("{line} {file}"));
        assert_eq!(said.matches(&format!("warning: {named}: {cause}")).count(), 1, "{said}");
        assert_eq!(folder.run(&format!("{line} {file} --force --quiet")), "");
    }
    // With these flags the output is dry, so there is no warning.
    for flags in ["--bypass", "--mix 0"] {
        let said = folder.run(&format!("render in/silent.wav -o out.wav --force {flags}"));
        assert!(!said.contains("warning"), "{flags}: {said}");
    }
}

/// A song follows the left channel if left and right cancel in mono.
#[test]
fn a_song_of_channels_that_cancel_has_the_notes_of_one() {
    let chord = signals::noisy_chord(1.0, 44_100.0);
    let opposite = chord.iter().map(|sample| -sample).collect();
    let folder = Folder::with(&float_wav(44_100, &[chord.clone(), opposite]));
    folder.put("left.wav", &float_wav(44_100, &[chord]));
    for out in ["out.vgm", "out.fur"] {
        let [both, left] = ["in.wav", "left.wav"].map(|name| {
            let said = folder.run(&format!("chip {name} -o {out} --force"));
            assert!(!said.contains("warning"), "{said}");
            let (before, _) = said.split_once(" notes, ").unwrap();
            before.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
        });
        assert!(left > 0.0 && (both / left - 1.0).abs() < 0.1, "{out}: {both}, not {left}");
    }
}
