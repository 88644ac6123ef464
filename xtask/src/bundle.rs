//! `cargo xtask bundle`: builds the plugin and puts it into CLAP and VST3 bundles.

use crate::target;
use anyhow::{Result, ensure};
use std::path::PathBuf;

const PACKAGE: &str = "tone-filter";
/// The bundles' name, from `bundler.toml`.
const NAME: &str = "Tone Filter";

/// Builds and bundles with the options of `cargo build` in `args`. The package may be named or not.
///
/// # Errors
/// When it does not build.
pub fn bundle(args: impl IntoIterator<Item = String>) -> Result<()> {
    let mut args = args.into_iter().peekable();
    let named = args.peek().is_some_and(|first| first == "-p" || !first.starts_with('-'));
    let package = (!named).then(|| PACKAGE.to_owned());
    let command = std::iter::once("bundle".to_owned()).chain(package).chain(args);
    nice_plug_xtask::main_with_args("cargo xtask", command)
}

/// Builds and bundles what users get.
///
/// # Errors
/// When it does not build.
pub fn bundle_release() -> Result<()> {
    bundle(["--release", "--lib"].map(String::from))
}

/// The CLAP bundle that was built last.
///
/// # Errors
/// When there is none; says how to make one.
pub fn clap() -> Result<PathBuf> {
    built("clap")
}

/// The VST3 bundle that was built last.
///
/// # Errors
/// When there is none; says how to make one.
pub fn vst3() -> Result<PathBuf> {
    built("vst3")
}

fn built(extension: &str) -> Result<PathBuf> {
    let path = target()?.join("bundled").join(format!("{NAME}.{extension}"));
    ensure!(
        path.exists(),
        "{} is missing: run `cargo xtask bundle --release` first, or `cargo xtask test`, which does all",
        path.display()
    );
    Ok(path)
}
