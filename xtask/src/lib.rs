//! Development tasks: `cargo xtask`, and helpers for the package's tests.

pub mod arm;
mod audio_unit;
mod automation;
mod bits;
pub mod bundle;
pub mod c_library;
pub mod corpus;
#[cfg(target_os = "linux")]
pub mod daw;
pub mod demo;
#[cfg(target_os = "linux")]
pub mod display;
pub mod engines;
mod foreign;
pub mod host;
pub mod install;
#[cfg(target_os = "linux")]
pub mod lv2;
pub mod macos;
pub mod manual;
#[cfg(target_os = "linux")]
pub mod media;
mod pack;
pub mod package;
pub mod pages;
pub mod python;
pub mod release;
mod sbom;
pub mod soak;
pub mod songs;
#[cfg(target_os = "linux")]
pub mod speakers;
pub mod suite;
pub mod tune;
pub mod unity;
#[cfg(target_os = "linux")]
pub mod unpack;
pub mod web;
pub mod wheel;
#[cfg(target_os = "linux")]
pub mod windows;

use anyhow::{Context, Result, bail};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// Cargo's target folder, by the user's configuration.
///
/// # Errors
/// When `cargo metadata` fails.
pub fn target() -> Result<PathBuf> {
    // Where tests run in an emulated system, there is no cargo to ask.
    if let Some(folder) = std::env::var_os("CARGO_TARGET_DIR") {
        return Ok(root().join(folder));
    }
    let mut command = cargo_metadata::MetadataCommand::new();
    let metadata = command.manifest_path(root().join("Cargo.toml")).no_deps().exec()?;
    Ok(metadata.target_directory.into())
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
