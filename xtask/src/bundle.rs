//! `cargo xtask bundle`: builds the plugin as CLAP and VST3 bundles.

use crate::{audio_unit, root, target};
use anyhow::{Context, Result, ensure};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

const PACKAGE: &str = "tone-filter";
/// The bundles' name, from `bundler.toml`.
const NAME: &str = "Tone Filter";
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
    let args: Vec<_> = args.into_iter().collect();
    let dep_info = dep_info(&args, verb == "bundle-universal")?;
    let mut args = args.into_iter().peekable();
    let named = args.peek().is_some_and(|first| first == "-p" || !first.starts_with('-'));
    let package = (!named).then(|| PACKAGE.to_owned());
    let command = std::iter::once(verb.to_owned()).chain(package).chain(args);
    let command = command.chain(["--lib".to_owned()]).chain(features.map(str::to_owned));
    let started = SystemTime::now();
    nice_plug_xtask::main_with_args("cargo xtask", command)?;
    let mut dep_info = dep_info.iter().filter_map(|path| fs::read_to_string(path).ok());
    let dep_info = dep_info.next().context("cargo has left no list of the sources")?;
    stamp(&stamp_path()?, &inputs(&dep_info, root()), started)
        .context("cannot write to target/bundled")
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
    let remedy = "run `cargo xtask bundle` first, or `cargo xtask test`, which does all";
    ensure!(path.exists(), "{} is missing: {remedy}", path.display());
    // An old bundle is refused, so that the tests never run on an outdated plugin.
    ensure!(is_fresh(&stamp_path()?), "{} is older than the sources: {remedy}", path.display());
    Ok(path)
}

/// Path of the list of files that the last bundles were built of.
fn stamp_path() -> Result<PathBuf> {
    Ok(target()?.join("bundled/.bundled"))
}

/// Places where cargo lists the sources of a build with the options `args`, by the names of libraries on each system.
fn dep_info(args: &[String], universal: bool) -> Result<[PathBuf; 2]> {
    let value = |flag: &str| {
        let separate = args.iter().skip_while(|arg| *arg != flag).nth(1).map(String::as_str);
        separate.or_else(|| args.iter().find_map(|arg| arg.strip_prefix(flag)?.strip_prefix('=')))
    };
    let system = if universal { Some("aarch64-apple-darwin") } else { value("--target") };
    let release = args.iter().any(|arg| arg == "--release").then_some("release");
    let profile = release.or_else(|| value("--profile")).unwrap_or("debug");
    let folder = target()?.join(system.unwrap_or("")).join(profile);
    Ok(["libtone_filter.d", "tone_filter.d"].map(|name| folder.join(name)))
}

/// Files that decide what is built: those in cargo's list `dep_info`, and below `root` the manifests of their packages, the lock and cargo's
/// configuration.
fn inputs(dep_info: &str, root: &Path) -> BTreeSet<PathBuf> {
    let sources = dep_info.lines().next().and_then(|line| line.split_once(": "));
    let sources = sources.map_or("", |(_, sources)| sources).replace("\\ ", "\0");
    let mut inputs: BTreeSet<_> =
        sources.split_whitespace().map(|path| PathBuf::from(path.replace('\0', " "))).collect();
    let folders = inputs.iter().flat_map(|path| path.ancestors());
    let folders = folders.filter(|folder| folder.starts_with(root));
    let manifests: Vec<_> = folders.map(|folder| folder.join("Cargo.toml")).collect();
    let others = ["Cargo.lock", ".cargo/config.toml"].map(|name| root.join(name));
    inputs.extend(manifests.into_iter().chain(others).filter(|path| path.exists()));
    inputs
}

/// Writes the list `inputs` of bundles whose build `started` then: what has changed meanwhile counts as newer.
fn stamp(path: &Path, inputs: &BTreeSet<PathBuf>, started: SystemTime) -> io::Result<()> {
    let lines = inputs.iter().map(|path| format!("{}\n", path.display()));
    fs::write(path, lines.collect::<String>())?;
    fs::File::options().write(true).open(path)?.set_modified(started)
}

/// Whether no file in the list at `stamp` is missing or has changed since the build.
fn is_fresh(stamp: &Path) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    let (Ok(inputs), Ok(built)) = (fs::read_to_string(stamp), modified(stamp)) else {
        return false;
    };
    let unchanged = |path: &str| modified(path.as_ref()).is_ok_and(|changed| changed <= built);
    !inputs.is_empty() && inputs.lines().all(unchanged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_bundle_is_outdated_once_any_input_changes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("with blank");
        let sources = ["src/lib.rs", "build.rs", "crates/a/src/lib.rs", "crates/a/weights.bin"];
        let others = ["Cargo.lock", "Cargo.toml", "crates/a/Cargo.toml"];
        let all: Vec<_> = sources.iter().chain(&others).map(|name| root.join(name)).collect();
        for path in &all {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let escaped = |path: &PathBuf| path.display().to_string().replace(' ', "\\ ");
        let listed: Vec<_> = all[..sources.len()].iter().map(escaped).collect();
        let dep_info = format!("/x/libtone_filter.so: {}\n", listed.join(" "));
        let inputs = inputs(&dep_info, &root);
        assert_eq!(inputs, all.iter().cloned().collect());

        let path = folder.path().join("stamp");
        let started = SystemTime::now() + Duration::from_secs(10);
        stamp(&path, &inputs, started).unwrap();
        assert!(is_fresh(&path));
        for input in &all {
            let touch = |time| {
                let file = fs::File::options().write(true).open(input).unwrap();
                file.set_modified(time).unwrap();
            };
            touch(started + Duration::from_secs(1));
            assert!(!is_fresh(&path), "{}", input.display());
            touch(started - Duration::from_secs(1));
            assert!(is_fresh(&path));
        }
        fs::remove_file(&all[0]).unwrap();
        assert!(!is_fresh(&path), "a source is missing");
        assert!(!is_fresh(&folder.path().join("missing")));
    }
}
