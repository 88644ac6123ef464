//! Tests of the repository: its crates, its pages, and the command line of `cargo xtask`.

mod crates;
mod pages;

use std::process::{Command, Output};

fn xtask(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(args).output().unwrap()
}

#[test]
fn an_unknown_verb_gets_the_usage_and_status_2() {
    for args in [&[][..], &["nonsense"], &["demo", "extra"], &["test", "--fast"], &["install-c"]] {
        let output = xtask(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty());
        let usage = String::from_utf8(output.stderr).unwrap();
        assert!(usage.starts_with("Usage: cargo xtask VERB"), "{usage}");
    }
}

/// Verbs that check nothing.
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

#[test]
fn verify_refuses_unknown_checks_and_options() {
    for args in
        [&["verify", "--only"][..], &["verify", "--only", "nonsense"], &["verify", "--fast"]]
    {
        let output = xtask(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: "));
    }
}
