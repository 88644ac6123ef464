//! Test of the command line of `cargo xtask`.

use std::process::{Command, Output};

fn xtask(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(args).output().unwrap()
}

#[test]
fn an_unknown_verb_is_answered_with_the_usage_and_status_2() {
    for args in [&[][..], &["nonsense"], &["demo", "extra"], &["test", "--fast"], &["install-c"]] {
        let output = xtask(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty());
        let usage = String::from_utf8(output.stderr).unwrap();
        assert!(usage.starts_with("Usage: cargo xtask VERB"), "{usage}");
    }
}

#[test]
fn help_is_no_error() {
    for word in ["help", "--help", "-h"] {
        let output = xtask(&[word]);
        assert!(output.status.success());
        let usage = String::from_utf8(output.stdout).unwrap();
        for verb in [
            "demo",
            "install",
            "install-c",
            "test",
            "lint",
            "test-arm",
            "test-engines",
            "test-hosts",
            "test-lv2",
            "test-package",
            "test-play",
            "test-python",
            "test-release",
            "test-web",
            "test-windows",
            "check-macos",
            "package",
            "web",
            "soak",
            "deny",
            "corpus",
            "manual",
            "media",
            "bundle",
            "bundle-lv2",
            "tune",
        ] {
            assert!(usage.contains(&format!("\n  {verb} ")), "{verb} is missing in\n{usage}");
        }
    }
}
