//! Tests of the repository: its crates, its pages, and the command line of `cargo xtask`.

mod crates;
mod pages;

use std::process::{Command, Output};

fn xtask(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(args).output().unwrap()
}

#[test]
fn unknown_verbs_checks_and_options_are_refused() {
    for (args, status, start) in [
        (&[][..], 2, "Usage: cargo xtask VERB"),
        (&["nonsense"], 2, "Usage: "),
        (&["demo", "extra"], 2, "Usage: "),
        (&["test", "--fast"], 2, "Usage: "),
        (&["install-c"], 2, "Usage: "),
        (&["verify", "--only"], 1, "error: "),
        (&["verify", "--only", "nonsense"], 1, "error: "),
        (&["verify", "--fast"], 1, "error: "),
    ] {
        let output = xtask(args);
        assert_eq!(output.status.code(), Some(status), "{args:?}");
        assert!(output.stdout.is_empty());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with(start), "{args:?}: {error}");
    }
}

/// Verbs that check nothing, and `verify` itself.
const MAKERS: &str = "bundle bundle-lv2 bundle-universal corpus demo help install install-c manual media package packages songs tune \
                      unity-package verify web wild";

#[test]
fn verify_runs_every_verb_that_checks() {
    let list = String::from_utf8(xtask(&["verify", "--list"]).stdout).unwrap();
    let checks: Vec<_> = list.lines().filter_map(|line| line.split(' ').next()).collect();
    let verbs = include_str!("../../src/main.rs").lines();
    let verbs = verbs.filter_map(|line| line.trim_start().strip_prefix("(\"")?.split('"').next());
    let verbs: Vec<_> = verbs.collect();
    assert!(verbs.len() > 30, "{verbs:?}");
    for verb in verbs {
        assert!(checks.contains(&verb) != MAKERS.split(' ').any(|maker| maker == verb), "{verb}");
    }
}
