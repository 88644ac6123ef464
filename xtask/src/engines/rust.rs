//! Engines in Rust: the effect for kira and the node for firewheel.

use crate::{root, run, suite::step, target};
use anyhow::{Result, ensure};
use std::{fs, path::Path, process::Command};

/// Runs their tests, and their examples on the demo tune into `folder`.
pub fn test(folder: &Path) -> Result<()> {
    step("kira and firewheel: clippy", || {
        cargo(&["clippy", "--lib", "--examples", "--test=engines"], &["-D", "warnings"])
    })?;
    step("kira and firewheel: tests", || cargo(&["test", "--test=engines"], &[]))?;
    step("kira and firewheel: documentation and the lines of the README", || {
        cargo(&["test", "--doc"], &[])
    })?;
    step("kira and firewheel: examples", || {
        fs::create_dir_all(folder)?;
        let outputs = ["kira", "firewheel"].map(|name| (name, folder.join(name)));
        for (name, output) in &outputs {
            let demo = root().join("assets/demo.wav");
            let files = [demo.as_path(), output].map(|path| path.display().to_string());
            cargo(&["run", "--example", name], &[&files[0], &files[1]])?;
        }
        ensure!(
            fs::read(&outputs[0].1)? == fs::read(&outputs[1].1)?,
            "kira and firewheel: different sound"
        );
        Ok(())
    })
}

/// Runs cargo with the features of all engines and none of the tests' dependencies that these do not need, which takes
/// a folder of its own.
fn cargo(arguments: &[&str], program: &[&str]) -> Result<()> {
    run(Command::new("cargo")
        .args(arguments)
        .args(["--no-default-features", "--features=bevy,kira", "--"])
        .args(program)
        .env("RUSTFLAGS", "--cfg dsp_only")
        .env("CARGO_TARGET_DIR", target()?.join("dsp")))
}
