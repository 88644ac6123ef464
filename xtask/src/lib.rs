//! Development tasks: the verbs of `cargo xtask`. It needs few crates, so that it is built in seconds: what a verb needs beyond them is in
//! programs and tests of other crates, which it runs with cargo.

pub mod arm;
mod audio_unit;
pub mod bundle;
pub mod c_library;
pub mod demo;
pub mod engines;
mod foreign;
pub mod install;
pub mod kit;
#[cfg(target_os = "linux")]
pub mod lv2;
pub mod macos;
mod npm;
mod pack;
pub mod package;
pub mod python;
pub mod release;
mod sbom;
#[cfg(target_os = "linux")]
pub mod speakers;
pub mod suite;
pub mod unity;
#[cfg(target_os = "linux")]
pub mod unpack;
pub mod web;
pub mod wheel;
#[cfg(target_os = "linux")]
pub mod windows;
#[cfg(target_os = "linux")]
mod xvfb;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// The workspace, as `cargo metadata` describes it with `options`.
///
/// # Errors
/// When it fails.
pub fn metadata(options: &[&str]) -> Result<Value> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version=1"]).args(options).current_dir(root());
    let output = cargo.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "`cargo metadata` failed");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Cargo's target folder, by the user's configuration.
///
/// # Errors
/// When `cargo metadata` fails.
pub fn target() -> Result<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    Ok(metadata["target_directory"].as_str().context("no target folder")?.into())
}

/// Runs a command in the repository's root.
///
/// # Errors
/// When it cannot be started or fails.
pub fn run(command: &mut Command) -> Result<()> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let status = command.current_dir(root()).status();
    if !status.with_context(|| format!("cannot start `{line}`"))?.success() {
        bail!("`{line}` failed");
    }
    Ok(())
}
