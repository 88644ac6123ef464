//! Programs on the PATH, and Debian packages with those that are missing.

use crate::commands::{Unavailable, run};
use anyhow::{Context, Result, bail, ensure};
use std::{env, path::Path, process::Command};

/// Whether this system is Debian or one of its descendants.
pub fn is_here() -> bool {
    on_path("dpkg-query")
}

/// Installs the `packages` that are missing, for a verb that runs on Debian only.
pub fn need(packages: &[&str]) -> Result<()> {
    ensure!(is_here(), Unavailable("this verb needs Debian, for its packages".into()));
    install(packages)
}

/// Installs the `packages` that are missing.
pub fn install(packages: &[&str]) -> Result<()> {
    let missing: Vec<_> =
        packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() { Ok(()) } else { apt_install(&missing) }
}

/// Installs `packages`, if this user may.
pub fn apt_install(packages: &[&str]) -> Result<()> {
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

/// Whether the user is root.
pub fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n")
}

/// Whether a Debian package is installed.
pub fn is_installed(package: &str) -> bool {
    let mut query = Command::new("dpkg-query");
    let query = query.args(["--show", "--showformat=${db:Status-Status}", package]);
    query.output().is_ok_and(|output| output.stdout == b"installed")
}

/// Whether a program is on the PATH.
pub fn on_path(program: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|folder| Path::new(&folder).join(program).is_file())
}
