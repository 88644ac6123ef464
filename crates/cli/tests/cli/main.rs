//! Tests that run the built program `tone-filter`.

mod batch;
mod chip;
mod faults;
mod files;
mod interruptions;
mod keys;
mod notes;
#[cfg(unix)]
mod pages;
mod plugin;
mod routes;
mod score;
#[cfg(target_os = "linux")]
mod shells;
mod songs;
mod sound;
#[cfg(all(feature = "play", target_os = "linux"))]
mod speakers;
mod tempo;
#[cfg(target_os = "linux")]
mod terminal;
mod usage;
mod verbs;

use assert_cmd::Command;
use std::{collections::BTreeMap, fs, path::PathBuf};
use tempfile::TempDir;
use tone_filter_testkit::{signals, wav};

/// Returns `text` with a slash for every backslash, the separator of Windows.
fn slashes(text: &str) -> String {
    if cfg!(windows) { text.replace('\\', "/") } else { text.into() }
}

/// Converts the output of a program to text, with slashes.
fn text(bytes: Vec<u8>) -> String {
    slashes(&String::from_utf8(bytes).unwrap())
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Creates a folder with `bytes` in the file `in.wav`.
    fn with(bytes: &[u8]) -> Self {
        let folder = Self::new();
        fs::write(folder.path("in.wav"), bytes).unwrap();
        folder
    }

    /// Writes a file, and creates its folders.
    fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the command `tone-filter` with the arguments in `line`, separated by spaces.
    fn command(&self, line: &str) -> Command {
        let mut command = assert_cmd::cargo::cargo_bin_cmd!("tone-filter");
        command.current_dir(&self.0).args(line.split_whitespace());
        command
    }

    /// Works like [`Folder::command`], but returns a command that can be started.
    fn program(&self, line: &str) -> std::process::Command {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("tone-filter"));
        command.current_dir(&self.0).args(line.split_whitespace());
        command
    }

    /// Runs `line`, which must succeed and leave stdout empty, and returns its stderr.
    fn run(&self, line: &str) -> String {
        let output = self.command(line).output().unwrap();
        let said = text(output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}: {said}");
        assert!(output.stdout.is_empty(), "{line}: stdout is for data");
        said
    }

    /// Runs `line`, which must fail with exit code `code` and one line on stderr, and must leave all files as they are. Returns
    /// that line without `error: `.
    fn fail(&self, line: &str, code: i32) -> String {
        let before = self.files();
        let output = self.command(line).output().unwrap();
        let said = text(output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {said}");
        assert!(output.stdout.is_empty(), "{line}: stdout is for data");
        assert_eq!(said.lines().count(), 1, "{line}: {said}");
        assert_eq!(self.files(), before, "{line}: changed files");
        said.strip_prefix("error: ").expect(&said).trim_end().to_owned()
    }

    /// Returns the paths of all files, folders and links directly in this folder, with their content. Folders and broken links
    /// have none.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let paths = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        paths.map(|path| (path.clone(), fs::read(&path).unwrap_or_default())).collect()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }

    /// Runs `line` with a shell, in which `$0` is the program. Returns exit code, stdout and stderr.
    fn shell(&self, line: &str) -> (i32, Vec<u8>, String) {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", line]).arg(assert_cmd::cargo::cargo_bin!("tone-filter"));
        let output = shell.current_dir(&self.0).output().unwrap();
        (output.status.code().unwrap(), output.stdout, String::from_utf8(output.stderr).unwrap())
    }

    /// Returns the samples of a WAV file, one vector per channel.
    fn floats(&self, name: &str) -> Vec<Vec<f32>> {
        wav::read(&self.path(name)).unwrap().0
    }

    /// Runs `line` with a shell, which must succeed without messages, and returns its standard output.
    fn tool(&self, line: &str) -> Vec<u8> {
        let (code, output, said) = self.shell(line);
        let hint = "`cargo xtask test` installs sox and ffmpeg";
        assert!(code == 0 && said.is_empty(), "{line}: {said}; {hint}");
        output
    }
}

/// Warning that is printed if `in.wav` is silent.
const SILENT: &str =
    "warning: in.wav: no note sounds, as the input is silent; check the recording\n";

/// Returns ten frames of 16-bit stereo silence at 44.1 kHz.
fn silence() -> Vec<u8> {
    integer_wav(44_100, &[0; 40])
}

/// Returns a 16-bit stereo WAV file with the samples `data`.
fn integer_wav(rate: u32, data: &[u8]) -> Vec<u8> {
    let [riff, len] = [36, 0].map(|header| (data.len() as u32 + header).to_le_bytes());
    let [rate, bytes] = [rate, 4 * rate].map(u32::to_le_bytes);
    let format = [b"WAVEfmt \x10\0\0\0\x01\0\x02\0", &rate[..], &bytes, &[4, 0, 16, 0]].concat();
    [b"RIFF", &riff[..], &format, b"data", &len, data].concat()
}

fn float_wav(rate: u32, channels: &[Vec<f32>]) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    wav::write(file.path(), &channels.to_vec(), rate).unwrap();
    fs::read(file.path()).unwrap()
}
