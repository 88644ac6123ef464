//! `cargo xtask bundle`: builds the plugin as CLAP and VST3 bundles.

use crate::{audio_unit, root, target};
use anyhow::{Context, Result, ensure};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

const PACKAGE: &str = "tone-filter";
/// The bundles' name, from `bundler.toml`.
const NAME: &str = "Tone Filter";
/// The folders of the crates that a bundle is built of.
const SOURCES: [&str; 9] = [
    "src",
    "patches",
    "crates/dsp",
    "crates/listener",
    "crates/midi",
    "crates/plugin-guard",
    "crates/presets",
    "crates/simd",
    "crates/spectrum",
];

/// Builds and bundles with the options of `cargo build` in `args`. The package may be named or not.
///
/// # Errors
/// When it does not build.
pub fn bundle(args: impl IntoIterator<Item = String>) -> Result<()> {
    bundle_as("bundle", None, args)
}

/// The same as a universal binary for both CPU types of Macs, and as AU. On macOS only, with both targets installed.
///
/// # Errors
/// When it does not build.
pub fn bundle_universal(args: impl IntoIterator<Item = String>) -> Result<()> {
    bundle_as("bundle-universal", Some("--features=au"), args)?;
    audio_unit::make(&clap()?).map(drop)
}

/// Runs nice-plug's command `verb`.
fn bundle_as(
    verb: &str,
    features: Option<&str>,
    args: impl IntoIterator<Item = String>,
) -> Result<()> {
    let mut args = args.into_iter().peekable();
    let named = args.peek().is_some_and(|first| first == "-p" || !first.starts_with('-'));
    let package = (!named).then(|| PACKAGE.to_owned());
    let command = std::iter::once(verb.to_owned()).chain(package).chain(args);
    let command = command.chain(["--lib".to_owned()]).chain(features.map(str::to_owned));
    nice_plug_xtask::main_with_args("cargo xtask", command)?;
    fs::write(stamp()?, "").context("cannot write to target/bundled")
}

/// Builds and bundles the release build.
///
/// # Errors
/// When it does not build.
pub fn bundle_release() -> Result<()> {
    bundle(["--release".to_owned()])
}

/// The CLAP bundle that was built last.
///
/// # Errors
/// If the bundle is missing, or older than the sources. The message names the command that builds it.
pub fn clap() -> Result<PathBuf> {
    built("clap")
}

/// The AU bundle that was built last with [`bundle_universal`].
///
/// # Errors
/// If the bundle is missing, or older than the sources. The message names the command that builds it.
pub fn audio_unit() -> Result<PathBuf> {
    built("component")
}

/// The VST3 bundle that was built last.
///
/// # Errors
/// If the bundle is missing, or older than the sources. The message names the command that builds it.
pub fn vst3() -> Result<PathBuf> {
    built("vst3")
}

fn built(extension: &str) -> Result<PathBuf> {
    let path = target()?.join("bundled").join(format!("{NAME}.{extension}"));
    let bundled = fs::metadata(stamp()?).and_then(|stamp| stamp.modified());
    let remedy = "run `cargo xtask bundle --release` first, or `cargo xtask test`, which does all";
    ensure!(path.exists() && bundled.is_ok(), "{} is missing: {remedy}", path.display());
    // An old bundle is refused, so that the tests never run on an outdated plugin.
    let bundled = bundled?;
    let mut fresh = true;
    for folder in SOURCES {
        fresh &= newest(&root().join(folder))? <= bundled;
    }
    ensure!(fresh, "{} is older than the sources: {remedy}", path.display());
    Ok(path)
}

/// A file whose modification time is that of the last bundling; that of the bundle may be the time of a copied file.
fn stamp() -> Result<PathBuf> {
    Ok(target()?.join("bundled/.bundled"))
}

/// The latest modification time of the files in `folder`.
fn newest(folder: &Path) -> io::Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let time =
            if metadata.is_dir() { self::newest(&entry.path())? } else { metadata.modified()? };
        newest = newest.max(time);
    }
    Ok(newest)
}
