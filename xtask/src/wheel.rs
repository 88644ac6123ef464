//! `cargo xtask test-python`: the Python package, tested from its wheel in an environment of its own.

use crate::{
    python::{in_environment, install, make},
    root, run,
    suite::{self, on_path, step},
    target,
};
use anyhow::{Context, Result, ensure};
use std::{
    env::consts::EXE_SUFFIX,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What the step "tools" looks for: a program, and Debian's packages of Python with its venv module.
const PYTHON: [&str; 2] = ["python3", "python3-venv"];

/// Builds the source distribution, the wheel from it, and the command, and tests the wheel.
///
/// # Errors
/// When a tool is missing and cannot be installed, or at the first step that fails.
pub fn test() -> Result<()> {
    let folder = target()?.join("python");
    let (tools, clean, dist) = (folder.join("tools"), folder.join("clean"), folder.join("dist"));
    step("tools", || {
        if cfg!(target_os = "linux") && on_path("dpkg-query") {
            suite::install(&PYTHON)?;
        }
        make(&tools)?;
        install(&tools, ["-r".as_ref(), requirements().as_path()])
    })?;
    step("clippy", || {
        let clippy = "clippy -p tone-filter-python --all-targets -- -D warnings";
        run(Command::new("cargo").args(clippy.split(' ')))
    })?;
    let wheel = {
        step("wheel, from the source distribution", || build(&tools, &dist))?;
        only_wheel(&dist)?
    };
    step("installation", || {
        make(&clean)?;
        // Alone, so that its metadata have to name what it needs.
        install(&clean, [wheel.as_path()])?;
        let python = in_environment(&clean, "python");
        run(Command::new(python).args(["-c", "import tone_filter; tone_filter.presets()"]))?;
        install(&clean, ["-r".as_ref(), requirements().as_path()])
    })?;
    step("command", || {
        run(Command::new("cargo").args(["build", "--locked", "--package=tone-filter-cli"]))
    })?;
    step("tests", || {
        let command = target()?.join("debug").join(format!("tone-filter{EXE_SUFFIX}"));
        let mut pytest = Command::new(in_environment(&clean, "python"));
        pytest.args(["-m", "pytest", "-p", "no:cacheprovider"]).arg(root().join("python"));
        run(pytest.env("TONE_FILTER_COMMAND", command).env("TONE_FILTER_DIST", &dist))
    })
}

/// Builds both distributions into `dist`, which has nothing else.
fn build(tools: &Path, dist: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(dist);
    let mut maturin = Command::new(in_environment(tools, "maturin"));
    maturin.args(["build", "--release", "--sdist", "--compatibility", "pypi", "--out"]).arg(dist);
    // What others have written is compiled once, for the wheel of a clone, too.
    maturin.env("CARGO_TARGET_DIR", target()?);
    run(maturin.arg("--manifest-path").arg(root().join("python/Cargo.toml")))
}

fn only_wheel(dist: &Path) -> Result<PathBuf> {
    let files = fs::read_dir(dist)?.map(|entry| Ok(entry?.path()));
    let mut wheels = files.collect::<Result<Vec<_>>>()?;
    wheels.retain(|path| path.extension().is_some_and(|end| end == "whl"));
    ensure!(wheels.len() == 1, "{} wheels in {}", wheels.len(), dist.display());
    wheels.pop().context("one wheel")
}

fn requirements() -> PathBuf {
    root().join("python/tests/requirements.txt")
}
