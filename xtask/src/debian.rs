//! Programs on the `PATH`, and installation of Debian packages.

use crate::commands::{Unavailable, run};
use anyhow::{Context, Result, bail, ensure};
use std::{env, path::Path, process::Command};

/// Packages of a virtual display with OpenGL, for windows.
pub const DISPLAY: &str = "xvfb libegl1 libgl1 libgl1-mesa-dri";

/// Returns whether this system is Debian or a derivative.
pub fn is_here() -> bool {
    on_path("dpkg-query")
}

/// Installs missing `packages`, for a verb that needs Debian. On other systems, returns [`Unavailable`].
pub fn need(packages: &str) -> Result<()> {
    ensure!(is_here(), Unavailable("this verb needs Debian, for its packages".into()));
    install(packages)
}

pub fn install(packages: &str) -> Result<()> {
    apt_install(&missing(packages))
}

/// Returns those of `packages`, names separated by blanks, that are not installed.
pub fn missing(packages: &str) -> Vec<&str> {
    packages.split_whitespace().filter(|package| !is_installed(package)).collect()
}

/// Returns the packages of the `programs` that are not on the `PATH`. An entry is `PROGRAM=PACKAGE`, or one name for both.
pub fn missing_programs(programs: &str) -> Vec<&str> {
    let entries = programs.split(' ').map(|entry| entry.split_once('=').unwrap_or((entry, entry)));
    entries.filter(|(program, _)| !on_path(program)).map(|(_, package)| package).collect()
}

/// Installs `packages`. Returns an error if there is no `apt-get`, or if this user is not root.
pub fn apt_install(packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    let (names, list) = (packages.join(", "), packages.join(" "));
    if !on_path("apt-get") {
        let remedy = "Install this system's packages of these, and try again";
        bail!(Unavailable(format!("missing: {names}. {remedy}")));
    }
    if !is_root() {
        let line = format!("sudo apt-get install -y {list}");
        bail!(Unavailable(format!("missing: {names}. Install with\n\n    {line}\n")));
    }
    let apt_get = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        run(command.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq").args(arguments))
    };
    apt_get(&["update"])
        .and_then(|()| apt_get(&[&["install", "-y", "--no-install-recommends"], packages].concat()))
        .with_context(|| Unavailable(format!("cannot install {names}")))
}

pub fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n")
}

fn is_installed(package: &str) -> bool {
    let mut query = Command::new("dpkg-query");
    let query = query.args(["--show", "--showformat=${db:Status-Status}", package]);
    query.output().is_ok_and(|output| output.stdout == b"installed")
}

pub fn on_path(program: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|folder| Path::new(&folder).join(program).is_file())
}
