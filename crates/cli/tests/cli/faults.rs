//! Invalid input: the command prints one line with the file and a remedy, fails, and creates no files. `crates/offline` tests
//! which faults of files are found.

use crate::{Folder, float_wav, integer_wav, signals, silence, text};
use std::fs;
use tone_filter_presets as presets;

#[test]
fn every_verb_refuses_a_faulty_file_in_one_line() {
    let whole = silence();
    let folder = Folder::with(&whole[..whole.len() - 1]);
    fs::write(folder.path("out.wav"), "precious").unwrap();
    let truncated = "in.wav: truncated, 1 of 10 frames are missing; copy or export it again";
    for verb in
        ["render in.wav -o out.wav --force", "bands in.wav --png out.png", "chip in.wav -o out.vgm"]
    {
        assert_eq!(folder.fail(verb, 1), truncated);
    }
    let missing = folder.fail("render --input-list none.txt -o new", 1);
    assert!(missing.starts_with("none.txt: cannot be read ("), "{missing}");
    let missing = folder.fail("render none.wav -o new.wav", 1);
    let end =
        "none.wav: cannot be read (No such file or directory); check the name and the permissions";
    assert!(missing == end || cfg!(windows), "{missing}");
    // In builds with overflow checks, symphonia panics at a frame of more than 65,535 bytes.
    let mut bytes = fs::read("tests/cli/corpus/tone.aiff").unwrap();
    let format = bytes.windows(4).position(|id| id == b"COMM").unwrap() + 8;
    bytes[format..format + 2].copy_from_slice(&20_000u16.to_be_bytes());
    bytes[format + 6..format + 8].copy_from_slice(&32u16.to_be_bytes());
    folder.put("in.aiff", &bytes);
    let line = folder.fail("render in.aiff -o new.wav", 1);
    assert!(line.starts_with("in.aiff: damaged ("), "{line}");
}

#[test]
fn a_folder_without_audio_has_a_list_of_extensions() {
    let folder = Folder::new();
    fs::create_dir(folder.path("in")).unwrap();
    let said = folder.fail("render in -o out", 1);
    let all = ".wav, .wave, .bwf, .rf64, .flac, .aif, .aiff, .aifc, .caf, .mp3, .ogg, .oga, .m4a, .m4b, .mp4, .mov";
    assert_eq!(said, format!("in: holds no audio files; give one with files in {all}"));
    let page = include_str!("../../../../docs/manual/command-line.md");
    assert!(page.contains(&all.replace('.', "")));
}

/// Flags with invalid values, each with the start of its message. A line that begins with a flag is for `render`.
const INVALID: &str = "\
--mix 150 | mix = 150 is out of range; use 0 to 100 %
--threshold -61 | threshold = -61 is out of range; use -60 to -10 dB
--tone 30kHz | tone = 30000 is out of range; use 500 to 20000 Hz
--tone 30dB | tone = \"30dB\" is not a number in Hz; use 500 to 20000 Hz
--ring nan | ring = \"nan\" is not a number in s; use 0.05 to 10 s
--bypass=maybe | bypass = \"maybe\" is unknown; use off or on
--scale custom | scale = custom lets all notes sound; name yours with --custom
--custom 100010010000 | custom has no effect; add --scale custom
--custom 101 | custom = '101' is not a list of 12 switches
--bands 101 | bands = '101' is not a list of 48 or 77 switches
--tail long | tail = \"long\" is unknown; use none, auto or 0 to 3600 seconds
--normalize-peak 3 | normalize-peak = \"3\" is out of range; use -60 to 0 dB
--sample-rate 48dB | sample-rate = \"48dB\" is not a number in Hz; use 1000 to 768000 Hz
--jobs x | jobs = \"x\" is out of range; use 1 to 1024
--suffix a/b | suffix = \"a/b\" has a path separator; use --out for folders
--kernel mmx | this CPU has no kernel 'mmx'; use one of scalar,
bench --seconds 0s | seconds = \"0s\" is out of range; use more than 0 and at most 86400 s
bands in.wav --midi out.mid --quantize 1/3 | '1/3' is not a step; use 1/4,
bands in.wav --midi out.mid --quantize 1/16 --strength 101 | strength = \"101\" is out of range
bands in.wav --csv out.csv --hop 0 | hop = \"0\" is out of range; use 1 to 10000 ms";

#[test]
fn invalid_values_name_the_valid_ones() {
    let folder = Folder::with(&silence());
    for (flags, message) in INVALID.lines().map(|row| row.split_once(" | ").unwrap()) {
        let verb = if flags.starts_with('-') { "render in.wav -o out.wav " } else { "" };
        let line = folder.fail(&format!("{verb}{flags}"), 2);
        assert!(line.starts_with(message), "{line}");
    }
}

#[test]
fn invalid_presets_are_named() {
    let folder = Folder::with(&silence());
    let bad = r#"{ "version": 1, "name": "Bad", "settings": { "mix": 150 } }"#;
    folder.put("bad.json", bad.as_bytes());
    folder.put("key.json", br#"{ "verison": 1, "name": "Bad", "settings": {} }"#);
    let known = presets::ids().collect::<Vec<_>>().join(", ");
    let unknown =
        format!("no preset is called \"loud\"; there are {known}, or give a path like ./loud.json");
    for (preset, message) in [
        ("loud", unknown.as_str()),
        ("loud.json", "loud.json: cannot be read ("),
        ("./in.wav", "./in.wav: "),
        ("bad.json", "bad.json: not a preset (mix = 150 is out of range; use 0 to 100 %"),
        ("key.json", "key.json: not a preset (\"verison\" is unknown; use version, "),
    ] {
        let line = folder.fail(&format!("render in.wav -o out.wav --preset {preset}"), 2);
        assert!(line.starts_with(message), "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_missing_or_full_folder_for_temporary_files_is_named() {
    let folder = Folder::with(&silence());
    for line in ["render - -o out.wav", "render in.wav -o -", "bands in.wav --csv -"] {
        let mut command = folder.command(line);
        let output = command.env("TMPDIR", "/none").write_stdin(silence()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let cause = "error: -: cannot be stored in /none, the folder for temporary files (";
        assert!(said.starts_with(cause), "{line}: {said}");
        assert_eq!(output.status.code(), Some(1), "{line}");
    }
    // Limits the size of files to 512 bytes, which a program cannot tell from a full disk.
    folder.put("long.wav", &integer_wav(44_100, &[0; 4000]));
    const RENDER: &str = "trap '' XFSZ; ulimit -f 1; \"$0\" render - -o out.wav < long.wav";
    let (_, _, said) = folder.shell(RENDER);
    let cause = "error: -: cannot be stored in /tmp";
    assert!(said.starts_with(cause) && said.contains("TMPDIR"), "{said}");
}

/// The test keeps the pipe open: a program that read to the end would wait for ever.
#[test]
fn a_pipe_without_audio_is_refused_at_its_first_bytes() {
    use std::{io::Write, process::Stdio};
    let folder = Folder::new();
    let mut command = folder.program("render - -o out.wav");
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&[b'y'; 64]).unwrap();
    let said = text(child.wait_with_output().unwrap().stderr);
    let cause = "error: -: cannot be decoded (its first bytes are of no known format";
    assert!(said.starts_with(cause), "{said}");
    drop(pipe);
}

#[cfg(unix)]
#[test]
fn control_characters_in_names_are_escaped() {
    let folder = Folder::new();
    folder.put("in/\u{1b}[31mred\u{9b}\n.wav", &silence());
    folder.put("in/\u{7}.wav", b"RIFF");
    for line in ["render in -o out --verbose", "render in -o out2 --dry-run"] {
        let output = folder.command(line).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains("\\u{1b}[31mred\\u{9b}\\u{a}.wav"), "{line}: {said}");
        assert!(!said.replace('\n', "").contains(char::is_control), "{line}: {said:?}");
    }
}

#[test]
fn samples_that_are_not_finite_are_reported() {
    let mut broken = signals::sine(440.0, 0.25, 0.1, 44_100.0);
    [broken[0], broken[2000]] = [f32::NAN, f32::INFINITY];
    let folder = Folder::with(&float_wav(44_100, &[broken]));
    let warning = "warning: in.wav: 2 samples replaced by silence, as they are NaN or infinite\n";
    for line in ["render in.wav -o out.wav --json", "bands in.wav --csv out.csv --json out.json"] {
        let output = folder.command(line).output().unwrap();
        let said = text(output.stderr);
        assert_eq!(said.matches(warning).count(), 1, "{line}: {said}");
        let json: serde_json::Value = match &output.stdout[..] {
            [] => folder.json("out.json"),
            report => {
                serde_json::from_slice::<serde_json::Value>(report).unwrap()["files"][0].take()
            }
        };
        assert_eq!(json["not_finite"], 2, "{line}");
        let quiet = folder.command(&format!("{line} --quiet --force")).output().unwrap();
        assert_eq!(text(quiet.stderr), "", "{line}");
    }
}
