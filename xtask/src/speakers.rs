//! `cargo xtask test-play`: tests of `tone-filter play` on a device that writes a file, and of the window of `tone-filter app`.

use crate::{kit::kit, run, suite, target};
use anyhow::Result;
use std::process::Command;

/// Debian packages with the headers of ALSA and JACK, and with a display.
const PACKAGES: [&str; 6] =
    ["libasound2-dev", "libjack-jackd2-dev", "pkg-config", "xvfb", "libgl1", "libgl1-mesa-dri"];

/// Arguments with which the command opens the editor without an audio device.
pub const APP: [&str; 2] = ["app", "--backend=dummy"];

/// Builds the command, and runs its tests of playback and of the window.
pub fn test() -> Result<()> {
    if suite::on_path("dpkg-query") {
        suite::install(&PACKAGES)?;
    }
    let cargo = |verb: &str, arguments: &[&str]| {
        let package = [verb, "--locked", "--package=tone-filter-cli", "--features=app"];
        run(Command::new("cargo").args(package).args(arguments))
    };
    cargo("clippy", &["--all-targets", "--", "-Dwarnings"])?;
    cargo("test", &["--bin=tone-filter"])?;
    cargo("test", &["--test=cli", "speakers::"])?;
    cargo("test", &["--test=cli", "pages::"])?;
    cargo("build", &[])?;
    let (picture, app) = (target()?.join("app.png"), target()?.join("debug/tone-filter"));
    run(kit("window").arg(picture).args(["", "--"]).arg(app).args(APP))
}
