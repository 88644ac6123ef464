//! Bindings for engines in Rust: the effect for kira, the node for firewheel, the extension for Godot.

use crate::{root, run, suite::step, target};
use anyhow::{Result, ensure};
use std::{fs, path::Path, process::Command};

/// Runs the tests of these bindings, and the examples, which write the processed demo tune into `folder`.
pub fn test(folder: &Path) -> Result<()> {
    step("kira and firewheel: clippy", || {
        cargo(&["clippy", "--all-targets"], &["-D", "warnings"])
    })?;
    step("kira and firewheel: tests", || cargo(&["test", "--tests"], &[]))?;
    step("kira and firewheel: documentation and the lines of the manual", || {
        cargo(&["test", "--doc"], &[])
    })?;
    step("kira and firewheel: examples", || {
        fs::create_dir_all(folder)?;
        let outputs = ["kira", "firewheel"].map(|name| (name, folder.join(name)));
        for (name, output) in &outputs {
            let demo = root().join("assets/demo.wav");
            let files = [demo.as_path(), output].map(|path| path.display().to_string());
            let package = format!("--package=tone-filter-{name}");
            let example = ["run", &package, "--example", name, "--"];
            run(Command::new("cargo").args(example).args(&files))?;
        }
        ensure!(
            fs::read(&outputs[0].1)? == fs::read(&outputs[1].1)?,
            "kira and firewheel: different sound"
        );
        Ok(())
    })?;
    step("Godot: clippy, tests and the entry point", godot)
}

/// Runs the checks of the Godot extension that do not need Godot.
fn godot() -> Result<()> {
    let folder = target()?.join("godot");
    let cargo = |verb, arguments: &[&str]| {
        run(Command::new("cargo")
            .args([verb, "--manifest-path=bindings/godot/Cargo.toml"])
            .args(arguments)
            .env("CARGO_TARGET_DIR", &folder))
    };
    cargo("fmt", &["--check"])?;
    cargo("clippy", &["--locked", "--all-targets", "--", "-D", "warnings"])?;
    cargo("test", &[])?;
    cargo("build", &[])?;
    let library = folder.join("debug/libtone_filter_godot.so");
    let names = Command::new("nm").args(["--dynamic", "--defined-only"]).arg(library).output()?;
    let names = String::from_utf8(names.stdout)?;
    ensure!(names.contains(" gdext_rust_init\n"), "the library has no entry point for Godot");
    Ok(())
}

/// Runs cargo with `arguments` for the packages of kira and firewheel, with Bevy's feature of firewheel. `program` are arguments
/// for the program that cargo starts.
fn cargo(arguments: &[&str], program: &[&str]) -> Result<()> {
    run(Command::new("cargo")
        .args(arguments)
        .args(["--package=tone-filter-kira", "--package=tone-filter-firewheel"])
        .args(["--features=tone-filter-firewheel/bevy", "--"])
        .args(program))
}
