//! Python virtual environments under `target/`: for VST3 hosts that are Python packages, and for our own package.

use crate::{root, run, target};
use anyhow::{Result, ensure};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Returns the Python interpreter of the environment that [`set_up`] makes.
pub fn interpreter() -> Result<PathBuf> {
    let path = in_environment(&target()?.join("venv"), "python");
    ensure!(
        path.exists(),
        "{} is missing: run `cargo xtask test` once, which sets it up",
        path.display()
    );
    Ok(path)
}

/// Makes the virtual environment if it is missing, and installs the packages of `tests/requirements.txt`.
pub fn set_up() -> Result<()> {
    let folder = target()?.join("venv");
    if !in_environment(&folder, "python").exists() {
        make(&folder)?;
    }
    install(&folder, ["-r".as_ref(), root().join("tests/requirements.txt").as_path()])
}

/// Makes an environment in `folder`, and replaces any earlier one there.
pub fn make(folder: &Path) -> Result<()> {
    let system = if cfg!(windows) { "python" } else { "python3" };
    run(Command::new(system).args(["-m", "venv", "--clear"]).arg(folder))
}

/// Installs packages into the environment in `folder`; `what` are the arguments of `pip install`.
pub fn install<'a>(folder: &Path, what: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(in_environment(folder, "python")).args(install).args(what))
}

/// Returns the path of a program of the environment in `folder`.
pub fn in_environment(folder: &Path, program: &str) -> PathBuf {
    let programs = if cfg!(windows) { "Scripts" } else { "bin" };
    folder.join(programs).join(program).with_extension(std::env::consts::EXE_EXTENSION)
}
