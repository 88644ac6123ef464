//! Verbs that are programs of the testkit and of the manual.

use crate::{bundle, run, target};
#[cfg(target_os = "linux")]
use crate::{python, suite};
use anyhow::Result;
use std::process::Command;

/// The packages of `test-daw`.
#[cfg(target_os = "linux")]
const DAW: [&str; 6] = ["ardour", "python3", "python3-venv", "xvfb", "libgl1", "libgl1-mesa-dri"];

/// The testkit's program `kit` with a verb of its own.
pub fn kit(verb: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--package=tone-filter-testkit", "--features=kit", "--bin=kit", "--", verb]);
    cargo
}

/// The program of the manual.
pub fn manual() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--package=tone-filter-manual", "--bin=tone-filter-manual", "--"]);
    cargo
}

/// Builds the plugin, and writes its states and presets, which all later versions must load.
pub fn corpus() -> Result<()> {
    bundle::bundle_release()?;
    run(&mut kit("corpus"))
}

/// Tries the VST3 bundle in Debian's Ardour.
#[cfg(target_os = "linux")]
pub fn daw() -> Result<()> {
    anyhow::ensure!(suite::on_path("dpkg-query"), "this verb needs Debian, for its Ardour");
    suite::install(&DAW)?;
    python::set_up()?;
    run(&mut kit("daw"))
}

/// Writes the pages of the manual that are made of the tables.
pub fn write_manual() -> Result<()> {
    run(&mut manual())
}

/// Writes the pictures and sounds of README and manual.
#[cfg(target_os = "linux")]
pub fn media() -> Result<()> {
    let media = ["run", "--package=tone-filter-manual", "--features=media", "--bin=media"];
    run(Command::new("cargo").args(media))
}

/// Builds the plugin, runs all long tests on it and prints their figures.
pub fn soak() -> Result<()> {
    bundle::bundle_release()?;
    run(&mut kit("soak"))
}

/// Builds the command, and prints how well it detects the notes of real songs and how loud it renders them. `flags` are passed to the command
/// each time.
pub fn songs(flags: &[String]) -> Result<()> {
    run(Command::new("cargo").args(["build", "--release", "--package=tone-filter-cli"]))?;
    let program = format!("tone-filter{}", std::env::consts::EXE_SUFFIX);
    run(kit("songs").arg(target()?.join("release").join(program)).args(flags))
}

/// Builds the command, and prints which files of `folders` it reads otherwise than ffmpeg does.
pub fn wild(folders: &[String]) -> Result<()> {
    anyhow::ensure!(!folders.is_empty(), "name a folder of sound files: cargo xtask wild FOLDER");
    run(Command::new("cargo").args(["build", "--release", "--package=tone-filter-cli"]))?;
    let program = format!("tone-filter{}", std::env::consts::EXE_SUFFIX);
    run(kit("wild").arg(target()?.join("release").join(program)).args(folders))
}

/// Generates the demo tune.
pub fn tune() -> Result<()> {
    run(&mut kit("tune"))
}
