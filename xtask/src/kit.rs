//! Verbs that run programs of the testkit and of the manual.

use crate::{bundle, run, suite, target};
#[cfg(target_os = "linux")]
use crate::{lv2, python, root};
use anyhow::Result;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::Command;

/// Debian packages for `test-hosts`: hosts, and what they run on.
#[cfg(target_os = "linux")]
const HOSTS: [&str; 16] = [
    "qtractor",
    "ardour",
    "audacity",
    "jalv",
    "lilv-utils",
    "jackd2",
    "xvfb",
    "openbox",
    "xdotool",
    "x11-utils",
    "imagemagick",
    "libgl1",
    "libgl1-mesa-dri",
    "gcc",
    "python3",
    "python3-venv",
];

/// Returns a command that runs `verb` of the testkit's program `kit`.
pub fn kit(verb: &str) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--package=tone-filter-testkit", "--features=kit", "--bin=kit", "--", verb]);
    cargo
}

/// Returns a command that runs the manual's program.
pub fn manual() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--package=tone-filter-manual", "--bin=tone-filter-manual", "--"]);
    cargo
}

/// Builds the plugin, and writes its states and presets into the corpus, which all later versions must load.
pub fn corpus() -> Result<()> {
    bundle::bundle_release()?;
    run(&mut kit("corpus"))
}

/// Builds the plugin, and tests it in real hosts: in those whose names contain one of `hosts`, or in all.
#[cfg(target_os = "linux")]
pub fn hosts(hosts: &[String]) -> Result<()> {
    anyhow::ensure!(suite::on_path("dpkg-query"), "this verb needs Debian, for its hosts");
    suite::install(&HOSTS)?;
    python::set_up()?;
    python::install(&target()?.join("venv"), [Path::new("JACK-Client==0.5.5")])?;
    bundle::bundle(std::iter::empty())?;
    lv2::bundle(&[])?;
    run(Command::new("cargo").args(["build", "--package=tone-filter-cli"]))?;
    let target = target()?;
    run(Command::new(python::interpreter()?)
        .arg(root().join("crates/testkit/hosts/hosts.py"))
        .args(["bundled", "debug/tone-filter", "test-hosts"].map(|own| target.join(own)))
        .arg(root().join("docs/hosts.md"))
        .args(hosts))
}

/// Writes the generated pages of the manual.
pub fn write_manual() -> Result<()> {
    run(&mut manual())
}

/// Writes the pictures and sounds of the README and the manual.
#[cfg(target_os = "linux")]
pub fn media() -> Result<()> {
    let media = ["run", "--package=tone-filter-manual", "--features=media", "--bin=media"];
    run(Command::new("cargo").args(media))
}

/// Builds the plugin, runs all long tests on it, and prints their measurements.
pub fn soak() -> Result<()> {
    bundle::bundle_release()?;
    run(&mut kit("soak"))
}

/// Builds the command, and prints how well it detects the notes of real songs and how loud it renders them. Every run of the
/// command gets `flags`.
pub fn songs(flags: &[String]) -> Result<()> {
    run(Command::new("cargo").args(["build", "--release", "--package=tone-filter-cli"]))?;
    let program = format!("tone-filter{}", std::env::consts::EXE_SUFFIX);
    run(kit("songs").arg(target()?.join("release").join(program)).args(flags))
}

/// Builds the command, and prints which files of `folders` it reads differently from ffmpeg.
pub fn wild(folders: &[String]) -> Result<()> {
    anyhow::ensure!(!folders.is_empty(), "name a folder of sound files: cargo xtask wild FOLDER");
    run(Command::new("cargo").args(["build", "--release", "--package=tone-filter-cli"]))?;
    let program = format!("tone-filter{}", std::env::consts::EXE_SUFFIX);
    run(kit("wild").arg(target()?.join("release").join(program)).args(folders))
}

/// Writes the demo tune to `assets/demo.wav`.
pub fn tune() -> Result<()> {
    run(&mut kit("tune"))
}

/// Plays songs for trackers in Furnace, and compares its sound with ours: of the tests' songs, and of the files `songs`.
pub fn tracker(songs: &[String]) -> Result<()> {
    anyhow::ensure!(
        suite::on_path("furnace"),
        "no `furnace` on the PATH, so nothing was tested: build Furnace's player from its source \
         (cmake -DBUILD_GUI=OFF), and put it there"
    );
    let songs = songs.iter().map(std::fs::canonicalize).collect::<std::io::Result<Vec<_>>>()?;
    let test = ["test", "--package=tone-filter-offline", "--features=furnace", "--test=tracker"];
    let songs = std::env::join_paths(songs)?;
    run(Command::new("cargo").args(test).args(["--", "--nocapture"]).env("TRACKER_SONGS", songs))
}
