//! `cargo xtask test-engines`: tests of the bindings for game audio engines and for programs in other languages.

use crate::{
    commands::{Unavailable, cargo, output, root, run, step, target},
    debian::{apt_install, missing_programs},
};
use anyhow::{Result, ensure};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// Programs that the tests need, with their Debian packages.
const PROGRAMS: &str = "gcc g++ make pkg-config valgrind mcs=mono-mcs mono=mono-runtime";

/// Arguments of cargo for both Rust bindings, with firewheel's feature for Bevy.
const RUST: &str = "--package=tone-filter-kira --package=tone-filter-firewheel \
                    --features=tone-filter-firewheel/bevy";

pub fn test() -> Result<()> {
    step("tools", tools)?;
    let folder = target()?.join("engines");
    // Removes the files of earlier runs.
    let _ = fs::remove_dir_all(&folder);
    for (name, line) in [
        ("clippy", format!("clippy --all-targets {RUST} -- -D warnings")),
        ("tests", format!("test --tests {RUST}")),
        ("documentation and the lines of the manual", format!("test --doc {RUST}")),
    ] {
        step(&format!("kira and firewheel: {name}"), || run(cargo(&line)))?;
    }
    step("kira and firewheel: examples", || examples(&folder))?;
    step("Godot: clippy, tests and the entry point", godot)?;
    for package in ["--package=tone-filter-unity", "--package=tone-filter-capi"] {
        step("the crate's tests", || run(cargo("test").arg(package)))?;
        run(cargo("test --features=programs --test=programs").arg(package))?;
    }
    Ok(())
}

fn tools() -> Result<()> {
    let needs = "this verb needs Linux: valgrind, and libraries as there";
    ensure!(cfg!(target_os = "linux"), Unavailable(needs.into()));
    let mut missing = missing_programs(PROGRAMS);
    let mut yaml = Command::new("python3");
    if !yaml.args(["-c", "import yaml"]).stderr(Stdio::null()).status()?.success() {
        missing.push("python3-yaml");
    }
    apt_install(&missing)
}

/// Runs the examples of kira and firewheel, which write the processed demo tune into `folder`.
fn examples(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let [kira, firewheel] = ["kira", "firewheel"].map(|name| -> Result<_> {
        let (demo, played) = (root().join("assets/demo.wav"), folder.join(name));
        let mut example = cargo(&format!("run --package=tone-filter-{name} --example {name} --"));
        run(example.args([&demo, &played]))?;
        Ok(fs::read(played)?)
    });
    ensure!(kira? == firewheel?, "kira and firewheel: different sound");
    Ok(())
}

/// Runs the checks of the Godot extension that do not need Godot.
fn godot() -> Result<()> {
    let folder = target()?.join("godot");
    for line in ["fmt --check", "clippy --locked --all-targets -- -D warnings", "test", "build"] {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let manifest = "--manifest-path=bindings/godot/Cargo.toml";
        run(cargo(&format!("{verb} {manifest} {rest}")).env("CARGO_TARGET_DIR", &folder))?;
    }
    let library = folder.join("debug/libtone_filter_godot.so");
    let names = output(Command::new("nm").args(["--dynamic", "--defined-only"]).arg(library))?;
    ensure!(
        names.lines().any(|line| line.ends_with(" gdext_rust_init")),
        "the library has no entry point for Godot"
    );
    Ok(())
}
