//! Every command of `tone-filter` in the project's pages runs as written. Commands that need a device or minutes (`play`, `app`
//! and `bench`) are only parsed, in a test of the parser.

use crate::{Folder, float_wav, interop::tool, signals};
use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};
use tone_filter_manual::pages;

/// Commands that are not run.
const NOT_RUN: [&str; 3] = ["tone-filter play", "tone-filter app", "tone-filter bench"];

/// Script in place of sox's `play`, which has no device here: reads the sound to its end.
const PLAYER: &str = "#!/bin/sh\nexec sox -t wav - -n\n";

#[test]
fn every_command_of_the_pages_runs() {
    let originals = originals();
    let mut run = 0;
    for page in pages::all().unwrap() {
        for block in page.shell() {
            let ours = |line: &&String| pages::runs_tone_filter(line) || line.starts_with("mkdir ");
            let taken = |line: &&String| !NOT_RUN.iter().any(|verb| line.contains(verb));
            let lines: Vec<_> = block.iter().filter(ours).filter(taken).collect();
            if lines.is_empty() {
                continue;
            }
            // The lines of a block run one after the other.
            let folder = copy_of(&originals);
            for line in lines {
                let output = shell(&folder, line);
                let said = String::from_utf8_lossy(&output.stderr);
                let place = format!("{}: {line}\n{said}", page.path.display());
                assert!(output.status.success(), "{place}");
                assert!(!said.contains("has no effect"), "{place}");
                run += 1;
            }
        }
    }
    assert!(run > 60, "only {run} commands found");
}

/// Runs a line in `folder` as a user's shell does. The line fails if any program of a pipe fails.
fn shell(folder: &Folder, line: &str) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_tone-filter")).parent().unwrap();
    let found = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{}:{found}", folder.path("bin").display(), program.display());
    let mut shell = Command::new("bash");
    shell.args(["-o", "pipefail", "-c", line]).current_dir(folder.path("")).env("PATH", path);
    shell.env("HOME", folder.path("home")).stdin(std::process::Stdio::null()).output().unwrap()
}

/// Returns a folder with all files that the pages name.
fn originals() -> Folder {
    let mut noise = signals::noise(5);
    // A chord that swells, with a burst of noise at the start, 2 s.
    let chord = |frame: usize| {
        let time = frame as f64 / 44_100.0;
        let tones = [220.0, 440.0, 554.37, 659.26];
        let tone = |hertz: &f64| (std::f64::consts::TAU * hertz * time).sin();
        0.1 * tones.iter().map(tone).sum::<f64>() * time.min(0.5)
    };
    let mut channel = || {
        let frames = 0..88_200;
        frames
            .map(|frame| (chord(frame) + 0.1 * noise() * (-(frame as f64) / 2000.0).exp()) as f32)
            .collect::<Vec<_>>()
    };
    let folder = Folder::with(&float_wav(44_100, &[channel(), channel()]));
    tool(&folder, "sox in.wav -b 16 song.wav");
    let song = fs::read(folder.path("song.wav")).unwrap();
    for name in [
        "music",
        "loop",
        "theme",
        "drone",
        "voice",
        "strings",
        "samples/one",
        "samples/more/two",
        "songs/song",
        "drums/kick",
        "drums/snare",
    ] {
        folder.put(&format!("{name}.wav"), &song);
    }
    for name in ["song.flac", "theme.flac", "song.mp3", "song.ogg"] {
        tool(&folder, &format!("ffmpeg -v error -i song.wav {name}"));
    }
    tool(&folder, "ffmpeg -v error -i song.wav -c:a pcm_s16le film.mkv");
    tool(&folder, "ffmpeg -v error -i song.wav song.m4a");
    folder.put("list.txt", b"samples/one.wav\nsong.flac\n");
    for name in ["melody", "chords", "lead", "solo"] {
        folder.run(&format!("bands song.wav --midi {name}.mid"));
    }
    folder.run("presets export organ mine.json");
    folder.put("bin/play", PLAYER.as_bytes());
    let player = folder.path("bin/play");
    fs::set_permissions(player, fs::Permissions::from_mode(0o755)).unwrap();
    folder.put("home/.keep", b"");
    folder.put("Assets/.keep", b"");
    folder
}

fn copy_of(folder: &Folder) -> Folder {
    let copy = Folder::new();
    let mut command = Command::new("cp");
    let status = command.arg("-a").arg(folder.path(".")).arg(copy.path("")).status().unwrap();
    assert!(status.success());
    copy
}
