//! `cargo xtask check-macos`: the type check for Macs of both CPU types, with Debian's compiler. Nothing is linked or run:
//! that takes Apple's linker and libraries.

use crate::{run, suite, target};
use anyhow::{Result, bail};
use std::process::Command;

/// The compiler, and the source of its library.
const PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

const TARGETS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-apple-darwin"];

/// Checks all but the tests.
///
/// # Errors
/// When something is missing and cannot be installed, or is wrong.
pub fn check() -> Result<()> {
    if !suite::on_path("dpkg-query") {
        bail!("this verb needs Debian; on a Mac, `cargo test` does more");
    }
    let missing: Vec<_> =
        PACKAGES.into_iter().filter(|package| !suite::installed(package)).collect();
    if !missing.is_empty() {
        suite::apt_install(&missing)?;
    }
    for target in TARGETS {
        let mut command = Command::new("cargo");
        from_source(&mut command, target)?;
        run(command.args(["check", "--locked", "--workspace", "--lib", "--bins"]))?;
    }
    Ok(())
}

/// Lets cargo build for `target` with Debian's compiler and a standard library from its source, which otherwise takes a
/// nightly compiler. The results have a folder of their own, as those of another compiler would replace them.
pub(crate) fn from_source<'a>(command: &'a mut Command, triple: &str) -> Result<&'a mut Command> {
    Ok(command
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_unwind")
        .env("CARGO_TARGET_DIR", target()?.join("foreign"))
        .env("CARGO_BUILD_TARGET", triple))
}
