//! Verbs that run programs and tests of other crates.

use crate::{
    bundles,
    commands::{Unavailable, cargo, command, kit, root, run, step, target},
    debian, files, python, suite,
};
use anyhow::{Result, ensure};
use std::{
    env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX},
    path::Path,
    process::Command,
};

/// Arguments of cargo that build plugin and host for the demo. Window and optimisation would take minutes, so they are left out.
/// The tests share the built crates.
const DEMO: &str = "build --package=tone-filter --lib --no-default-features \
                    --package=tone-filter-testkit --features=tone-filter-testkit/demo --bin=demo";

/// Debian packages for `test-hosts`, beside a display: hosts, and programs for windows and sound.
const HOSTS: &str = "qtractor ardour audacity jalv lilv-utils jackd2 openbox xdotool x11-utils \
                     imagemagick gcc python3 python3-venv";

/// Debian packages for `test-lv2`: LV2's schemas and validators, and hosts.
const LV2: &str = "lv2-dev sordi lilv-utils ffmpeg pipewire pipewire-bin libpipewire-0.3-modules \
                   libspa-0.2-modules wireplumber dbus-daemon";

/// Debian packages with which `tone-filter` is built with all features: the headers of ALSA and JACK.
pub const HEADERS: &str = "libasound2-dev libjack-jackd2-dev pkg-config";

/// Arguments of `tone-filter` that open the editor without an audio device.
pub const APP: [&str; 2] = ["app", "--backend=dummy"];

pub fn demo() -> Result<()> {
    println!(
        "Building the plugin without its window, and a CLAP host. The first time, this takes some\n\
         2 minutes. Then the host plays assets/demo.wav, and says what it found and wrote.\n"
    );
    run(cargo(DEMO))?;
    let folder = target()?.join("debug");
    let plugin = folder.join(format!("{DLL_PREFIX}tone_filter{DLL_SUFFIX}"));
    println!("\nPlaying assets/demo.wav.");
    let mut host = Command::new(folder.join(format!("demo{EXE_SUFFIX}")));
    run(host.arg(plugin).arg(target()?.join("demo")))
}

pub fn corpus() -> Result<()> {
    bundles::bundle_release()?;
    run(kit("corpus"))
}

/// Builds the plugin, and tests it in real hosts whose names contain one of `hosts`, or in all if `hosts` is empty.
pub fn test_hosts(hosts: &[String]) -> Result<()> {
    debian::need(&[HOSTS, debian::DISPLAY].join(" "))?;
    python::set_up()?;
    python::install(&target()?.join("venv"), [Path::new("JACK-Client==0.5.5")])?;
    bundles::bundle(&[])?;
    bundles::bundle_lv2(&[])?;
    let command = command(&[])?;
    let target = target()?;
    run(Command::new(python::interpreter()?)
        .arg(root().join("crates/testkit/hosts/hosts.py"))
        .args([target.join("bundled"), command, target.join("test-hosts")])
        .arg(root().join("docs/hosts.md"))
        .args(hosts))
}

pub fn test_lv2() -> Result<()> {
    step("tools", || debian::need(LV2))?;
    let built = bundles::bundle_lv2(&["--release".to_owned()])?;
    // A separate folder, as lilv complains about bundles of other formats.
    let folder = tempfile::tempdir()?;
    let bundle = files::copy_into(&built, &folder.path().join("lv2"))?;
    let test = "test --package=tone-filter-lv2 --features=programs --test=programs";
    run(cargo(test).env("BUNDLE", bundle))
}

pub fn test_play() -> Result<()> {
    if debian::is_here() {
        debian::install(&[HEADERS, debian::DISPLAY].join(" "))?;
    }
    let package = "--locked --package=tone-filter-cli --features=app";
    run(cargo(&format!("clippy {package} --all-targets -- -Dwarnings")))?;
    run(cargo(&format!("test {package} --bin=tone-filter")))?;
    run(cargo(&format!("test {package} --test=cli -- speakers:: pages::")))?;
    let app = command(&["--features=app"])?;
    run(kit("window").arg(target()?.join("app.png")).args(["", "--"]).arg(app).args(APP))
}

pub fn media() -> Result<()> {
    ensure!(
        cfg!(target_os = "linux"),
        Unavailable("this verb needs Linux, for its display".into())
    );
    bundles::bundle(&[])?;
    run(cargo("run --package=tone-filter-manual --features=media --bin=media"))
}

pub fn soak() -> Result<()> {
    bundles::bundle_release()?;
    run(cargo("test --package=tone-filter-hosts --test=alone soak"))
}

pub fn songs(flags: &[String]) -> Result<()> {
    run(kit("songs").arg(command(&["--release"])?).args(flags))
}

pub fn wild(folders: &[String]) -> Result<()> {
    ensure!(!folders.is_empty(), "name a folder of sound files: cargo xtask wild FOLDER");
    run(kit("wild").arg(command(&["--release"])?).args(folders))
}

pub fn test_tracker(songs: &[String]) -> Result<()> {
    suite::need("furnace")?;
    let songs = songs.iter().map(std::fs::canonicalize).collect::<std::io::Result<Vec<_>>>()?;
    let test = "test --package=tone-filter-song --features=furnace --lib furnace_ -- --nocapture";
    run(cargo(test).env("TRACKER_SONGS", std::env::join_paths(songs)?))
}
