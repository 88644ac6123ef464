//! `cargo xtask test-engines`: the library for game audio engines and for programs in other languages, as they build and
//! run it.

mod c;
mod expected;
mod rust;

use crate::{
    suite::{apt_install, on_path, step},
    target,
};
use anyhow::{Result, ensure};
use std::fs;

/// Programs that are needed, each in the Debian package of its name.
const PROGRAMS: [&str; 5] = ["gcc", "g++", "make", "pkg-config", "valgrind"];

/// Checks everything. What cannot be checked is an error.
///
/// # Errors
/// When a tool is missing and cannot be installed, or at the first step that fails.
pub fn test() -> Result<()> {
    step("tools", tools)?;
    let folder = target()?.join("engines");
    // Nothing of an earlier run may be tested.
    let _ = fs::remove_dir_all(&folder);
    rust::test(&folder)?;
    c::test(folder)
}

fn tools() -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "this verb needs Linux: valgrind, and libraries as there");
    let missing: Vec<_> = PROGRAMS.into_iter().filter(|program| !on_path(program)).collect();
    if missing.is_empty() { Ok(()) } else { apt_install(&missing) }
}
