//! Test that the parser accepts every command of `tone-filter` in the project's pages, including `play`, `app` and `bench`, which
//! no test runs. A build without the features `play` and `app` skips their commands.

use super::{Cli, reference::is_here};
use clap::CommandFactory;
use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};
use tone_filter_manual::pages;

/// Script in place of the command: appends its arguments to a file, each followed by a NUL, and then a line feed.
const STAND_IN: &str =
    "#!/bin/sh\nprintf '%s\\0' \"$@\" >> \"$ARGUMENTS\"\necho >> \"$ARGUMENTS\"\n";

#[test]
fn the_parser_takes_every_command_of_the_pages() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("tone-filter");
    fs::write(&program, STAND_IN).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    // Folders that the lines write to.
    for place in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"]
    {
        fs::create_dir_all(folder.path().join(place)).unwrap();
    }
    let (mut checked, mut left) = (0, 0);
    for page in pages::all().unwrap() {
        for line in page.shell().into_iter().flatten().filter(|line| pages::runs_tone_filter(line))
        {
            for args in arguments(&line, folder.path()) {
                let cli = Cli::command();
                if !is_here(&args[0]) {
                    left += 1;
                    continue;
                }
                let words = std::iter::once("tone-filter".to_owned()).chain(args);
                if let Err(error) = cli.try_get_matches_from(words) {
                    let asked = !error.use_stderr();
                    assert!(asked, "{}: {line}\n{error}", page.path.display());
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 80, "only {checked} commands found");
    assert_eq!(left == 0, cfg!(feature = "app"), "{left} commands left out");
}

/// Returns the arguments of each run of `tone-filter` in a line of shell, which finds no other program.
fn arguments(line: &str, folder: &Path) -> Vec<Vec<String>> {
    let record = folder.join("arguments");
    let _ = fs::remove_file(&record);
    let mut shell = Command::new("/bin/bash");
    shell.args(["-c", line]).current_dir(folder).env("PATH", folder).env("HOME", folder);
    shell.env("ARGUMENTS", &record);
    shell.output().unwrap();
    let runs = fs::read_to_string(&record).unwrap_or_default();
    let runs = runs.split_terminator("\0\n");
    let runs: Vec<_> = runs.map(|run| run.split('\0').map(str::to_owned).collect()).collect();
    assert!(!runs.is_empty(), "{line}: runs no tone-filter");
    runs
}
