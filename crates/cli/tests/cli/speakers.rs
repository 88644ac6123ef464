//! Tests of `tone-filter play` with an ALSA device that writes to a file. `cargo xtask test-play` runs them.

use crate::{Folder, float_wav, terminal::script};
use std::{
    fs,
    io::{Read, Write},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

/// Bytes that a terminal sends for the key Right.
const RIGHT: &str = "\x1b[C";
/// Bytes that a terminal sends for the key Down.
const DOWN: &str = "\x1b[B";

/// Length of the played part of the demo tune in seconds.
const SECONDS: u32 = 3;

/// Returns the first [`SECONDS`] of the demo tune.
fn tune() -> Vec<Vec<f32>> {
    let demo = tone_filter_testkit::root().join("assets/demo.wav");
    let (mut tune, rate) = tone_filter_testkit::wav::read(&demo).unwrap();
    tune.iter_mut().for_each(|channel| channel.truncate((SECONDS * rate) as usize));
    tune
}

/// Folder with `in.wav`, the start of the demo tune in stereo, and an ALSA device called tape.
struct Studio(Folder);

impl Studio {
    fn new() -> Self {
        let folder = Folder::with(&float_wav(44_100, &tune()));
        // The device takes samples as fast as they come.
        let devices = format!(
            "</usr/share/alsa/alsa.conf>\npcm.tape {{ type file slave.pcm null file \"{}\" format raw }}\n",
            folder.path("tape.raw").display()
        );
        folder.put("asound.conf", devices.as_bytes());
        Self(folder)
    }

    /// Returns the command `tone-filter` with the arguments in `line`, and access to the device.
    fn command(&self, line: &str) -> Command {
        let mut command = self.0.program(line);
        command.env("ALSA_CONFIG_PATH", self.0.path("asound.conf"));
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// Runs `line`, which must exit with `code`, and returns its standard error.
    fn run(&self, line: &str, code: i32) -> String {
        let output = self.command(line).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}: {said}");
        said
    }

    /// Returns the recorded stereo frames. Leaves out silent ones: the device starts and ends with some.
    fn heard(&self) -> Vec<[f32; 2]> {
        let bytes = self.0.bytes("tape.raw");
        let samples: Vec<f32> =
            bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        without_silence(samples.as_chunks().0)
    }

    /// Returns the output of `render` for `input`. Leaves out silent frames.
    fn rendered(&self, input: &str, flags: &str) -> Vec<[f32; 2]> {
        self.run(&format!("render {input} -o out.wav --force --bit-depth 32f {flags}"), 0);
        let channels = self.0.floats("out.wav");
        let frames = channels[0].iter().zip(&channels[1]).map(|(left, right)| [*left, *right]);
        without_silence(&frames.collect::<Vec<_>>())
    }
}

fn without_silence(frames: &[[f32; 2]]) -> Vec<[f32; 2]> {
    frames.iter().copied().filter(|frame| *frame != [0.0; 2]).collect()
}

/// Sends SIGTERM to `child`, and returns its exit code.
fn end(mut child: Child) -> i32 {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    child.wait().unwrap().code().unwrap()
}

#[test]
fn what_is_played_is_what_is_rendered() {
    let studio = Studio::new();
    for flags in ["--preset reference", "--mix 80", "--lookahead=off --preset nes-lead"] {
        let said = studio.run(&format!("play in.wav --output-device tape {flags}"), 0);
        assert!(said.starts_with("in.wav on tape: 3.00 s"), "{said}");
        let (heard, rendered) = (studio.heard(), studio.rendered("in.wav", flags));
        assert!(rendered.len() > 100_000, "{flags}: {} frames sound", rendered.len());
        assert!(heard == rendered, "{flags}: {} and {} frames", heard.len(), rendered.len());
    }
}

#[test]
fn a_loop_has_no_seam_and_ends_when_the_user_wants() {
    let studio = Studio::new();
    let twice: Vec<_> = tune().iter().map(|channel| channel.repeat(2)).collect();
    studio.0.put("twice.wav", &float_wav(44_100, &twice));
    let rendered = studio.rendered("twice.wav", "--preset reference");

    let line = "play in.wav --loop --output-device tape --preset reference --quiet";
    let child = studio.command(line).spawn().unwrap();
    let start = Instant::now();
    let long = |studio: &Studio| {
        fs::metadata(studio.0.path("tape.raw"))
            .is_ok_and(|tape| tape.len() > 16 * rendered.len() as u64)
    };
    while !long(&studio) {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing is played");
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(end(child), 0);
    let heard = studio.heard();
    assert!(heard[..rendered.len()] == rendered, "another sound");
}

#[test]
fn samples_that_are_not_finite_are_reported() {
    let studio = Studio::new();
    let mut broken = vec![0.1; 44_100];
    [5000, 15_000, 25_000, 35_000].into_iter().for_each(|frame| broken[frame] = f32::NAN);
    studio.0.put("broken.wav", &float_wav(44_100, &[broken]));
    let warning = "warning: broken.wav: 4 samples replaced by silence, as they are NaN or infinite";
    let said = studio.run("play broken.wav --output-device tape", 0);
    assert_eq!(said.lines().next(), Some(warning), "{said}");
    assert_eq!(studio.run("play broken.wav --output-device tape --quiet", 0), "");
}

#[test]
fn a_microphone_is_played_until_the_user_ends_it() {
    let studio = Studio::new();
    let child = studio.command("play --device null --output-device tape --quiet").spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    assert_eq!(end(child), 0);
    assert!(fs::metadata(studio.0.path("tape.raw")).unwrap().len() > 0);
}

#[test]
fn what_cannot_be_played_is_told_in_one_line() {
    let studio = Studio::new();
    studio.0.put("words.wav", b"words");
    for (line, code, words) in [
        ("play in.wav --output-device gramophone", 2, "unknown device \"gramophone\""),
        ("play --device gramophone", 2, "unknown device \"gramophone\"; --list-devices"),
        ("play words.wav --output-device tape", 1, "words.wav: cannot be decoded"),
        ("play missing.wav --output-device tape", 1, "missing.wav: cannot be read"),
    ] {
        let said = studio.run(line, code);
        assert!(said.contains(words), "{line}: {said}");
    }
    let listed = studio.command("play --list-devices").stderr(Stdio::null()).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("For --output-device:\n") && listed.contains("\n  tape"), "{listed}");
}

#[test]
fn the_terminal_shows_the_bands_and_takes_keys() {
    let studio = Studio::new();
    let line = "play in.wav --loop --output-device tape --mix 50";
    let mut script = script(&studio.0, line, "cols 100 rows 60")
        .env("ALSA_CONFIG_PATH", studio.0.path("asound.conf"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`script` runs");
    let mut keys = script.stdin.take().unwrap();
    let mut screen = script.stdout.take().unwrap();
    let shown = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&shown);
    let reader = thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(read @ 1..) = screen.read(&mut bytes) {
            seen.lock().unwrap().extend_from_slice(&bytes[..read]);
        }
    });
    let shows = |words: &str| String::from_utf8_lossy(&shown.lock().unwrap()).contains(words);
    let wait_for = |words: &str| {
        let start = Instant::now();
        while !shows(words) {
            assert!(start.elapsed() < Duration::from_secs(30), "{words:?} is not on the screen");
            thread::sleep(Duration::from_millis(20));
        }
    };
    let mut press = |key: &str| keys.write_all(key.as_bytes()).unwrap();
    for words in
        ["in.wav on tape", " G#7 ", "  A3 ", "\u{2588}", "Mix 50 %  own sound", "Space pause"]
    {
        wait_for(words);
    }
    // Bright green, the colour of a band that sounds.
    wait_for("\x1b[38;5;10m");
    assert!(!shows("Mix 55 %") && !shows("paused"));
    press(RIGHT);
    wait_for("playing  Mix 55 %  own sound");
    press(DOWN);
    wait_for("playing  Mix 50 %  tone-filter");
    press(" ");
    wait_for("paused  Mix 50 %  tone-filter");
    press("q");
    assert!(script.wait().unwrap().success());
    reader.join().unwrap();
    // The program leaves the alternate screen, so the terminal is restored.
    assert!(shows("\x1b[?1049h") && shows("\x1b[?1049l"), "the screen stays");
}
