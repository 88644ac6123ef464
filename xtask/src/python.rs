//! A Python virtual environment under `target/`, for the VST3 hosts that are Python packages.

use crate::{root, run, target};
use anyhow::{Result, ensure};
use std::{path::PathBuf, process::Command};

/// The interpreter of the environment that [`set_up`] makes.
///
/// # Errors
/// When it does not exist; the error names the command that makes it.
pub fn interpreter() -> Result<PathBuf> {
    let path = path()?;
    ensure!(
        path.exists(),
        "{} is missing: run `cargo xtask test` once, which sets it up",
        path.display()
    );
    Ok(path)
}

/// Makes the virtual environment if needed, and installs the packages of `tests/requirements.txt`.
///
/// # Errors
/// When Python 3 with its venv module is missing, or packages cannot be installed.
pub fn set_up() -> Result<()> {
    let path = path()?;
    if !path.exists() {
        let system = if cfg!(windows) { "python" } else { "python3" };
        run(Command::new(system).args(["-m", "venv", "--clear"]).arg(target()?.join("venv")))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    run(Command::new(path).args(install).arg(root().join("tests/requirements.txt")))
}

fn path() -> Result<PathBuf> {
    let binary = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    Ok(target()?.join("venv").join(binary))
}
