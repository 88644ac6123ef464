//! Bad input: one line that names the file and the remedy, an exit code, and no new files.

use crate::{Folder, Wav, silence};
use std::fs;
use tone_filter_presets as presets;

/// Checks that `bytes`, which begin like no known format, are refused with `reason`.
fn not_audio(bytes: &[u8], reason: &str) {
    refused(
        bytes,
        &format!(
            "in.wav: cannot be decoded ({reason}); give WAV, FLAC, AIFF, CAF, MP3, Ogg Vorbis, MP4 (AAC, ALAC)"
        ),
    );
}

/// Checks that both verbs refuse `bytes` as `in.wav` with exactly this line.
fn refused(bytes: &[u8], line: &str) {
    let folder = Folder::with(bytes);
    assert_eq!(folder.fail("render in.wav -o out.wav", 1), line);
    assert_eq!(folder.fail("bands in.wav --png out.png", 1), line);
}

fn not_wav(bytes: &[u8], reason: &str) {
    let line =
        format!("in.wav: not a WAV file ({reason}); convert it to WAV, with ffmpeg for example");
    refused(bytes, &line);
}

fn coding(wav: &Wav, coding: &str) {
    let line =
        format!("in.wav: unsupported coding {coding}; convert the file: ffmpeg -i in.wav in.flac");
    refused(&wav.bytes(), &line);
}

#[test]
fn inputs_that_are_not_there() {
    let folder = Folder::new();
    let said = folder.fail("render in.wav -o out.wav", 1);
    assert!(said.starts_with("in.wav: cannot be read ("), "{said}");
    assert!(said.ends_with("); check the name and the permissions"), "{said}");
    fs::create_dir(folder.path("in.wav")).unwrap();
    let said = folder.fail("render in.wav -o out", 1);
    let all = ".wav, .wave, .bwf, .rf64, .flac, .aif, .aiff, .aifc, .caf, .mp3, .ogg, .oga, .m4a, .m4b, .mp4, .mov";
    assert_eq!(said, format!("in.wav: holds no audio files; give one with files in {all}"));
    let page = include_str!("../../../../docs/manual/command-line.md");
    assert!(page.contains(&all.replace('.', "")));
}

#[test]
fn files_that_are_not_wav() {
    not_audio(b"", "it is empty");
    not_audio(b"An MP3 file, for all we know", "its first bytes are of no known format");
    not_wav(b"RIFF", "it ends before its samples begin");
    not_wav(b"RIFF\0\0\0\0AVI LIST\0\0\0\0", "it has no RIFF WAVE header");
    let rf64 = b"RF64\xFF\xFF\xFF\xFFWAVE".to_vec();
    let fmt = silence().bytes()[12..36].to_vec();
    not_wav(&[&rf64[..], &fmt, b"data\x28\0\0\0"].concat(), "it is RF64 without its lengths");
    not_wav(b"RIFF\x24\0\0\0WAVEdata\x04\0\0\0abcd", "it has no format chunk");
    not_wav(b"RIFF\x24\0\0\0WAVEfmt \x0E\0\0\0", "its format chunk has a wrong length");
    not_wav(b"RIFF\x24\0\0\0WAVEfmt \xFF\xFF\xFF\x7F", "its format chunk has a wrong length");
}

#[test]
fn headers_cut_off_anywhere() {
    let bytes = silence().bytes();
    for len in 4..44 {
        not_wav(&bytes[..len], "it ends before its samples begin");
    }
}

#[test]
fn headers_that_cannot_be() {
    not_wav(&Wav { channels: 0, ..silence() }.bytes(), "it has no channels");
    for odd in [42, 43] {
        let folder = Folder::with(&Wav { data: vec![0; odd], ..silence() }.bytes());
        let said = folder.run("render in.wav -o out.wav");
        assert!(
            said.contains("note: in.wav: part of a frame behind the last one is ignored"),
            "{said}"
        );
        assert_eq!(folder.integers("out.wav").len(), 20);
    }
    // 16 bits in 4 bytes per sample.
    let mut bytes = Wav { bits: 32, ..silence() }.bytes();
    bytes[34] = 16;
    not_wav(&bytes, "its format chunk contradicts itself");
}

#[test]
fn rates_that_are_none() {
    for rate in [0, 1, 999, 1_000_000_001, u32::MAX] {
        let line = format!("in.wav: {rate} Hz is not a sample rate; use 1000 Hz to 1 GHz");
        refused(&Wav { rate, ..silence() }.bytes(), &line);
    }
    for rate in [1000, 11_025, 44_056, 768_000, 4_000_000] {
        let folder = Folder::with(&Wav { rate, ..silence() }.bytes());
        folder.run("render in.wav -o out.wav");
        assert_eq!(folder.spec("out.wav").sample_rate, rate);
    }
}

#[test]
fn codings_that_are_not_read() {
    coding(&Wav { bits: 64, data: vec![0; 64], ..silence() }, "64-bit integer");
    coding(&Wav { bits: 12, ..silence() }, "12-bit integer");
    coding(&Wav { tag: 2, bits: 4, ..silence() }, "ADPCM");
    coding(&Wav { tag: 0x11, bits: 4, ..silence() }, "ADPCM");
    coding(&Wav { tag: 0x1234, ..silence() }, "format 0x1234");
}

#[test]
fn files_without_samples() {
    let empty = Wav { data: vec![], ..silence() };
    refused(&empty.bytes(), "in.wav: holds no samples; record or export it again");
}

#[test]
fn truncated_files() {
    let bytes = silence().bytes();
    for (kept, missing) in [(39, 1), (36, 1), (35, 2), (4, 9), (0, 10)] {
        let line = format!(
            "in.wav: truncated, {missing} of 10 frames are missing; copy or export it again"
        );
        refused(&bytes[..44 + kept], &line);
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = Folder::with(&silence().bytes());
    let line = folder.fail("render in.wav -o in.wav/out.wav", 1);
    assert!(line.starts_with("in.wav/out.wav: cannot be written ("), "{line}");
    let line = folder.fail("render in.wav -o .", 2);
    assert_eq!(line, "./in.wav: is an input; choose another name or folder for the output");
    let line = folder.fail("render in.wav", 2);
    assert!(line.contains("--out") && line.contains("--suffix"), "{line}");
}

#[cfg(target_os = "linux")]
#[test]
fn outputs_that_the_system_refuses() {
    let folder = Folder::with(&silence().bytes());
    // Not even root can create files in /proc.
    for (verb, name) in
        [("render in.wav -o", "wav"), ("bands in.wav --csv", "csv"), ("chip in.wav -o", "vgm")]
    {
        let line = folder.fail(&format!("{verb} /proc/out.{name}"), 1);
        let reason =
            "(No such file or directory); check the folder, its permissions and the space left";
        assert_eq!(line, format!("/proc/out.{name}: cannot be written {reason}"));
    }
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("socket")).unwrap();
    let line = folder.fail("render in.wav -o socket --force", 1);
    assert_eq!(line, "socket: is a disk or a socket; choose another name for the output");
}

#[test]
fn outputs_that_no_wav_file_can_hold() {
    let wide = Wav { channels: 255, rate: 5_000_000, bits: 8, data: vec![0; 255], ..silence() };
    let folder = Folder::with(&wide.bytes());
    let line = folder.fail("render in.wav -o out.wav --bit-depth 32f", 1);
    assert!(line.starts_with("out.wav: 255 channels at 5000000 Hz do not fit"), "{line}");
    folder.run("render in.wav -o out.wav");
    assert_eq!(folder.spec("out.wav").channels, 255);
}

#[test]
fn settings_that_cannot_be() {
    let folder = Folder::with(&silence().bytes());
    let said = |flag: &str| folder.fail(&format!("render in.wav -o out.wav {flag}"), 2);
    assert_eq!(said("--mix 150"), "mix = 150 is out of range; use 0 to 100 %");
    assert_eq!(said("--threshold -61"), "threshold = -61 is out of range; use -60 to -10 dB");
    assert_eq!(said("--tone 30kHz"), "tone = 30000 is out of range; use 500 to 20000 Hz");
    assert_eq!(said("--tone 30dB"), "tone = \"30dB\" is not a number in Hz; use 500 to 20000 Hz");
    assert_eq!(said("--ring nan"), "ring = \"nan\" is not a number in s; use 0.05 to 10 s");
    assert_eq!(said("--stereo wide"), "stereo = \"wide\" is unknown; use mono, stereo or place");
    assert_eq!(said("--bypass=maybe"), "bypass = \"maybe\" is unknown; use off or on");
    assert!(
        said("--scale jazz").starts_with("scale = \"jazz\" is unknown; use chromatic, major, ")
    );
    assert_eq!(
        said("--root H"),
        "root = \"H\" is unknown; use A, A#, B, C, C#, D, D#, E, F, F#, G or G#"
    );
    assert_eq!(
        said("--scale penta"),
        "scale = \"penta\" is ambiguous; use major-pentatonic or minor-pentatonic"
    );
    assert_eq!(said("--scale whole"), "scale = \"whole\" is unknown; did you mean whole-tone?");
    assert_eq!(
        said("--scale custom"),
        "scale = custom lets all notes sound; name yours with --custom"
    );
    assert_eq!(said("--custom 100010010000"), "custom has no effect; add --scale custom");
    assert!(said("--custom 101").starts_with("custom = '101' is not a list of 12 switches"));
    assert!(said("--bands 101").starts_with("bands = '101' is not a list of 48 or 77 switches"));
    assert_eq!(
        said("--tail long"),
        "tail = \"long\" is unknown; use none, auto or 0 to 3600 seconds"
    );
    assert_eq!(
        said("--normalize-peak 3"),
        "normalize-peak = \"3\" is out of range; use -60 to 0 dB"
    );
    assert_eq!(
        said("--suffix a/b"),
        "suffix = \"a/b\" has a path separator; use --out for folders"
    );
}

#[test]
fn presets_that_cannot_be() {
    let folder = Folder::with(&silence().bytes());
    let said =
        |preset: &str| folder.fail(&format!("render in.wav -o out.wav --preset {preset}"), 2);
    let known: Vec<&str> = presets::ids().collect();
    assert_eq!(
        said("loud"),
        format!(
            "no preset is called \"loud\"; there are {}, or give a path like ./loud.json",
            known.join(", ")
        )
    );
    let line = said("loud.json");
    assert!(line.starts_with("loud.json: cannot be read ("), "{line}");
    let line = said("./in.wav");
    assert!(line.starts_with("./in.wav: ") && !line.contains('\n'), "{line}");
    fs::write(
        folder.path("bad.json"),
        r#"{ "version": 1, "name": "Bad", "settings": { "mix": 150 } }"#,
    )
    .unwrap();
    let line = said("bad.json");
    assert!(line.starts_with("bad.json: not a preset (mix = 150 is out of range; use 0 to 100 %"));
    folder.put("key.json", br#"{ "verison": 1, "name": "Bad", "settings": {} }"#);
    let line = said("key.json");
    assert!(
        line.starts_with("key.json: not a preset (\"verison\" is unknown; use version, "),
        "{line}"
    );
}

#[test]
fn a_decoder_that_panics_is_reported_in_one_line() {
    // With overflow checks, symphonia panics at a frame of more than 65,535 bytes.
    let mut bytes = include_bytes!("corpus/tone.aiff").to_vec();
    let format = bytes.windows(4).position(|id| id == b"COMM").unwrap() + 8;
    bytes[format..format + 2].copy_from_slice(&20_000u16.to_be_bytes());
    bytes[format + 6..format + 8].copy_from_slice(&32u16.to_be_bytes());
    let folder = Folder::with(&bytes);
    let line = folder.fail("render in.wav -o out.wav", 1);
    assert!(line.starts_with("in.wav: damaged ("), "{line}");
}

#[test]
fn ogg_files_of_other_codings() {
    for (name, coding) in [("OpusHead", "Opus"), ("Speex   ", "Speex")] {
        let bytes = [b"OggS", &[0; 24][..], name.as_bytes(), &[0; 60]].concat();
        let line = format!(
            "in.wav: unsupported coding {coding}; convert the file: ffmpeg -i in.wav in.flac"
        );
        refused(&bytes, &line);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_for_temporary_files_that_is_not_there_or_full_is_named() {
    let folder = Folder::with(&silence().bytes());
    for line in ["render - -o out.wav", "render in.wav -o -", "bands in.wav --csv -"] {
        let mut command = folder.command(line);
        let output =
            command.env("TMPDIR", "/none").write_stdin(silence().bytes()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let cause = "error: -: cannot be stored in /none, the folder for temporary files (";
        assert!(said.starts_with(cause), "{line}: {said}");
        assert_eq!(output.status.code(), Some(1), "{line}");
    }
    // Limits files to a block of 512 bytes: to a program, this looks like a full disk.
    folder.put("long.wav", &Wav { data: vec![0; 4000], ..silence() }.bytes());
    const RENDER: &str = "trap '' XFSZ; ulimit -f 1; \"$0\" render - -o out.wav < long.wav";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", RENDER]).arg(assert_cmd::cargo::cargo_bin!("tone-filter"));
    let output = command.current_dir(folder.path("")).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("error: -: cannot be stored in /tmp") && said.contains("TMPDIR"),
        "{said}"
    );
}

/// Writes to a pipe that stays open: a program that reads it to its end would wait for ever.
#[test]
fn a_pipe_with_what_is_no_audio_is_refused_at_its_first_bytes() {
    use std::{io::Write, process::Stdio};
    let folder = Folder::new();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("tone-filter"))
        .current_dir(folder.path(""))
        .args(["render", "-", "-o", "out.wav"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&[b'y'; 64]).unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(
        said.starts_with("error: -: cannot be decoded (its first bytes are of no known format"),
        "{said}"
    );
    drop(pipe);
}

#[cfg(unix)]
#[test]
fn names_with_control_characters_command_no_terminal() {
    let folder = Folder::new();
    let name = "in/\u{1b}[31mred\u{9b}\n.wav";
    folder.put(name, &silence().bytes());
    folder.put("in/\u{7}.wav", b"RIFF");
    for line in ["render in -o out --verbose", "render in -o out2 --dry-run"] {
        let output = folder.command(line).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains("\\u{1b}[31mred\\u{9b}\\u{a}.wav"), "{line}: {said}");
        assert!(!said.replace('\n', "").contains(char::is_control), "{line}: {said:?}");
    }
}
