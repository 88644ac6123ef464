//! `cargo xtask test-engines`: tests of the bindings for game audio engines and for programs in other languages.

mod rust;

use crate::{
    run,
    suite::{apt_install, on_path, step},
    target,
};
use anyhow::{Result, ensure};
use std::{fs, process::Command};

/// Programs that the tests need, and the Debian packages that contain them.
const PROGRAMS: [(&str, &str); 7] = [
    ("gcc", "gcc"),
    ("g++", "g++"),
    ("make", "make"),
    ("pkg-config", "pkg-config"),
    ("valgrind", "valgrind"),
    ("mcs", "mono-mcs"),
    ("mono", "mono-runtime"),
];

/// Runs all checks. A check that cannot run is an error.
pub fn test() -> Result<()> {
    step("tools", tools)?;
    let folder = target()?.join("engines");
    // No file of an earlier run may be tested.
    let _ = fs::remove_dir_all(&folder);
    rust::test(&folder)?;
    for package in ["--package=tone-filter-unity", "--package=tone-filter-capi"] {
        step("the crate's tests", || run(Command::new("cargo").args(["test", package])))?;
        let programs = ["test", package, "--features=programs", "--test=programs"];
        run(Command::new("cargo").args(programs))?;
    }
    Ok(())
}

fn tools() -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "this verb needs Linux: valgrind, and libraries as there");
    let missing = PROGRAMS.into_iter().filter(|(program, _)| !on_path(program));
    let mut missing: Vec<_> = missing.map(|(_, package)| package).collect();
    let yaml = Command::new("python3").args(["-c", "import yaml"]).output();
    if !yaml.is_ok_and(|output| output.status.success()) {
        missing.push("python3-yaml");
    }
    if missing.is_empty() { Ok(()) } else { apt_install(&missing) }
}
