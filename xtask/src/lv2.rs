//! `cargo xtask bundle-lv2` and `test-lv2`: builds the LV2 bundle, and tests it in LV2 hosts.

use crate::{install, run, suite, target};
use anyhow::{Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const BUNDLE: &str = "tone-filter.lv2";

/// Debian packages with LV2's schemas and validators, and with hosts.
const PACKAGES: [&str; 10] = [
    "lv2-dev",
    "sordi",
    "lilv-utils",
    "ffmpeg",
    "pipewire",
    "pipewire-bin",
    "libpipewire-0.3-modules",
    "libspa-0.2-modules",
    "wireplumber",
    "dbus-daemon",
];

/// Builds with `args`, the options of `cargo build`, and makes the bundle in `target/bundled`. Returns its path. Linux only.
pub fn bundle(args: &[String]) -> Result<PathBuf> {
    ensure!(cfg!(target_os = "linux"), "the LV2 bundle is for Linux, and is made there");
    run(Command::new("cargo").args(["build", "--package=tone-filter-lv2", "--lib"]).args(args))?;
    let value = |flag: &str| args.iter().skip_while(|arg| *arg != flag).nth(1);
    let profile = match args.iter().any(|arg| arg == "--release") {
        true => "release",
        false => "debug",
    };
    let built = value("--target").map_or_else(target, |triple| Ok(target()?.join(triple)))?;
    let library = built.join(profile).join("libtone_filter_lv2.so");
    let bundle = target()?.join("bundled").join(BUNDLE);
    install::remove(&bundle)?;
    fs::create_dir_all(&bundle)?;
    // The program that describes the plugin runs on this system, so it is built without `--target`.
    let release = (profile == "release").then_some("--release");
    let describe = ["run", "--package=tone-filter-lv2", "--example=describe"];
    run(Command::new("cargo").args(describe).args(release).arg("--").args([&library, &bundle]))?;
    println!("{}", bundle.display());
    Ok(bundle)
}

/// Builds the bundle, validates its description, and runs the plugin in ffmpeg and PipeWire.
pub fn test() -> Result<()> {
    ensure!(suite::on_path("dpkg-query"), "this verb needs Debian, for its hosts");
    suite::step("tools", || suite::install(&PACKAGES))?;
    let built = bundle(&["--release".to_owned()])?;
    let folder = tempfile::tempdir()?;
    // In a separate folder, as lilv complains about bundles of other formats.
    let bundle = folder.path().join("lv2").join(BUNDLE);
    fs::create_dir_all(folder.path().join("lv2"))?;
    install::copy(&built, &bundle)?;
    let programs = ["test", "--package=tone-filter-lv2", "--features=programs", "--test=programs"];
    run(Command::new("cargo").args(programs).env("BUNDLE", bundle))
}

/// Runs the LV2 bundle in `folder` in ffmpeg, which finds it by `LV2_PATH` as all hosts do.
pub fn loads(folder: &Path) -> Result<()> {
    suite::install(&["ffmpeg"])?;
    run(Command::new("ffmpeg")
        .args(["-v", "error", "-f", "lavfi", "-i", "sine=duration=1", "-af"])
        .arg("aformat=channel_layouts=stereo,lv2=urn\\\\:tone-filter\\\\:stereo")
        .args(["-f", "null", "-"])
        .env("LV2_PATH", format!("{}:/usr/lib/lv2", folder.display())))
}
