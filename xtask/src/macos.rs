//! `cargo xtask check-macos`: type check for Macs of both CPU types, with Debian's compiler. Nothing is linked or run, as that
//! needs Apple's linker and libraries.

use crate::{foreign, run, suite, target};
use anyhow::{Result, bail};
use std::process::Command;

/// Targets of both CPU types.
pub const TARGETS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-apple-darwin"];

/// Checks all crates, without their tests.
pub fn check() -> Result<()> {
    if !suite::on_path("dpkg-query") {
        bail!("this verb needs Debian; on a Mac, `cargo test` does more");
    }
    suite::install(&foreign::PACKAGES)?;
    let folder = target()?.join("foreign");
    for triple in TARGETS {
        run(foreign::from_source(&mut Command::new("cargo"), triple, "panic_unwind", &folder)
            .args(["check", "--locked", "--workspace", "--lib", "--bins"])
            .arg("--features=tone-filter-testkit/demo"))?;
    }
    Ok(())
}
