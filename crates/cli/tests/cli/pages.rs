//! Every command of `tone-filter` in the project's pages is valid. A random tenth of the code blocks also runs as written; in
//! `cargo xtask verify`, all blocks do. Commands that need a device or minutes (`play`, `app` and `bench`) are only parsed, and
//! only if this build has them.

use crate::{Folder, float_wav, signals};
use std::{fs, os::unix::fs::PermissionsExt, process::Command};
use tone_filter_manual::pages;
use tone_filter_testkit::sweep;

/// Replacement for sox's `play`, as there may be no audio device: it reads the sound to its end.
const PLAYER: &str = "#!/bin/sh\nexec sox -t wav - -n\n";

#[test]
fn every_command_of_the_pages_runs() {
    let originals = originals();
    let parsed = copy_of(&originals);
    let ours = |line: &str| pages::runs_tone_filter(line) || line.starts_with("mkdir ");
    let pages = pages::all().unwrap();
    let blocks = pages.iter().flat_map(|page| {
        let blocks = page.shell().into_iter();
        let blocks = blocks.map(|lines| lines.into_iter().filter(|line| ours(line)).collect());
        blocks.map(|lines: Vec<_>| (&page.path, lines))
    });
    let blocks: Vec<_> = blocks.filter(|(_, lines)| !lines.is_empty()).collect();
    let count: usize = blocks.iter().map(|(_, lines)| lines.len()).sum();
    assert!(count > 80, "only {count} commands found");
    let run = sweep::tenth(0..blocks.len());
    for (index, (path, lines)) in blocks.iter().enumerate() {
        let check = |folder: &Folder, line: &str, runs| {
            let output = shell(folder, line, runs);
            let said = String::from_utf8_lossy(&output.stderr);
            let place = format!("{}: {line}\n{said}", path.display());
            assert!(output.status.success(), "{place}");
            assert!(!said.contains("has no effect"), "{place}");
        };
        if run.contains(&index) {
            // All lines of a block run in the same folder, one after the other.
            let folder = copy_of(&originals);
            lines.iter().for_each(|line| check(&folder, line, true));
        } else {
            // Here `tone-filter` only parses its arguments. It writes nothing, so the other programs of a pipe are left out.
            let parts = lines.iter().flat_map(|line| line.split('|'));
            parts.filter(|part| ours(part)).for_each(|part| check(&parsed, part, false));
        }
    }
}

/// Returns a script that stands for the program. To have arguments only parsed, it appends `--help`: the program checks the
/// arguments before `--help`, and prints help.
fn stand_in() -> String {
    let program = env!("CARGO_BIN_EXE_tone-filter");
    let parse = format!("exec '{program}' \"$@\" --help");
    let parse_here = format!("{parse};;");
    let [play, app] = [cfg!(feature = "play"), cfg!(feature = "app")];
    let [play, app] = [play, app].map(|is_here| if is_here { &*parse_here } else { "exit;;" });
    format!(
        "#!/bin/sh\ncase $1 in\nplay) {play}\napp) {app}\nbench) {parse_here}\nesac\ntest $PARSE && {parse}\nexec '{program}' \"$@\"\n"
    )
}

/// Runs a line in `folder` as a user's shell does. If not `runs`, `tone-filter` only parses its arguments. The line fails if
/// any program of a pipe fails.
fn shell(folder: &Folder, line: &str, runs: bool) -> std::process::Output {
    let found = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{found}", folder.path("bin").display());
    let mut shell = Command::new("bash");
    shell.args(["-o", "pipefail", "-c", line]).current_dir(folder.path("")).env("PATH", path);
    shell.env("PARSE", if runs { "" } else { "1" });
    shell.env("HOME", folder.path("home")).stdin(std::process::Stdio::null()).output().unwrap()
}

/// Returns a folder with all files that the pages name.
fn originals() -> Folder {
    // The lowest rate and the shortest length that suit all commands: some begin a loop at 1.5 s.
    let (rate, seconds) = (22_050, 1.6);
    let mut swell = signals::noisy_chord(seconds, f64::from(rate));
    let frames = swell.len() as f32;
    swell.iter_mut().enumerate().for_each(|(frame, sample)| *sample *= frame as f32 / frames);
    let folder = Folder::with(&float_wav(rate, &[swell.clone(), swell]));
    folder.tool("ffmpeg -v error -i in.wav -c:a pcm_s16le song.wav");
    let song = folder.bytes("song.wav");
    let names = "music loop theme drone voice strings samples/one samples/more/two songs/song drums/kick drums/snare";
    for name in names.split(' ') {
        folder.put(&format!("{name}.wav"), &song);
    }
    for name in ["song.flac", "theme.flac", "song.mp3", "song.ogg"] {
        folder.tool(&format!("ffmpeg -v error -i song.wav {name}"));
    }
    folder.tool("ffmpeg -v error -i song.wav -c:a pcm_s16le film.mkv");
    folder.tool("ffmpeg -v error -i song.wav song.m4a");
    folder.put("list.txt", b"samples/one.wav\nsong.flac\n");
    for name in ["melody", "chords", "lead", "solo"] {
        folder.run(&format!("bands song.wav --midi {name}.mid"));
    }
    folder.run("presets export organ mine.json");
    for (name, script) in [("play", PLAYER), ("tone-filter", &stand_in())] {
        let path = format!("bin/{name}");
        folder.put(&path, script.as_bytes());
        fs::set_permissions(folder.path(&path), fs::Permissions::from_mode(0o755)).unwrap();
    }
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
