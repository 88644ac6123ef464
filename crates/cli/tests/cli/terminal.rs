//! Output when standard output and error are a terminal.

use crate::{Folder, float_wav, silence};
use std::process::Command;

/// Returns a command that runs `tone-filter` with the arguments in `line` on a terminal of the `size`, like `cols 40 rows 24`.
pub fn script(folder: &Folder, line: &str, size: &str) -> Command {
    let tool = assert_cmd::cargo::cargo_bin!("tone-filter");
    let line = format!("stty {size}; exec '{}' {line}", tool.display());
    // A part of util-linux.
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path(""));
    command.env("SHELL", "/bin/sh").env("TERM", "xterm");
    command
}

/// Runs `line` on a terminal of `columns` columns. Returns the output on the terminal, and the exit code.
fn on_terminal(folder: &Folder, line: &str, columns: usize) -> (String, i32) {
    let mut script = script(folder, line, &format!("cols {columns} rows 24"));
    let output = script.stdin(std::process::Stdio::null()).output().expect("`script` runs");
    (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
}

#[test]
fn a_terminal_is_not_filled_with_what_is_no_text() {
    let folder = Folder::with(&silence());
    for line in ["render in.wav -o -", "bands in.wav --png -", "bands in.wav --midi -"] {
        let (said, code) = on_terminal(&folder, line, 200);
        assert_eq!(code, 2, "{line}: {said}");
        assert!(said.starts_with("error: - is the terminal, and the output is binary;"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let (said, code) = on_terminal(&folder, "bands in.wav --csv - --quiet", 200);
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("time,E1,"), "{said}");
}

#[test]
fn bars_move_on_a_terminal_and_nowhere_else() {
    let folder = Folder::new();
    for name in ["one", "two"] {
        folder.put(&format!("in/{name}.wav"), &float_wav(44_100, &[vec![0.1; 44_100]]));
    }
    let (said, code) = on_terminal(&folder, "render in -o out", 40);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("\u{2591} 0 of 2, 0 s"), "the bar for all: {said:?}");
    assert!(said.contains("  \u{2591}"), "and one for a worker: {said:?}");
    let (said, _) = on_terminal(&folder, "render in -o out --force --quiet", 40);
    assert_eq!(said, "");
    for (line, bar) in [
        ("bands in/one.wav --midi out/one.mid", "\u{2591} one.wav, 0 s"),
        ("bench --kernel scalar --seconds 0.1", "\u{2591} bench, 0 s"),
    ] {
        let (said, code) = on_terminal(&folder, line, 40);
        assert!(code == 0 && said.contains(bar), "{line}: {said:?}");
    }
    assert_eq!(on_terminal(&folder, "bands in/one.wav --csv a.csv --quiet", 40).0, "");
    let said = folder.run("render in -o out --force --mix 0");
    assert!(said.starts_with("2 files done: ") && said.lines().count() == 1, "{said}");
}
