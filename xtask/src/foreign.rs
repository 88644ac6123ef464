//! `cargo xtask test-arm` and `check-macos`, and cross-compilation with Debian's compiler.

use crate::{
    bundles::MACS,
    commands::{Unavailable, cargo, command, kit, run, target},
    debian,
};
use anyhow::{Result, ensure};
use std::{path::Path, process::Command};

/// Debian packages of the compiler and of the source of its standard library.
pub const PACKAGES: &str = "rustc-web rust-web-src";

/// Sets up the cargo `command` to build for `triple` with Debian's compiler, and to build the standard library from source, with
/// the crate `panic` for panics.
///
/// `folder` is the target folder. Another compiler in the same folder would rebuild everything.
pub fn from_source<'a>(
    command: &'a mut Command,
    triple: &str,
    panic: &str,
    folder: &Path,
) -> &'a mut Command {
    command
        .env("RUSTC", "/usr/bin/rustc")
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_UNSTABLE_BUILD_STD", format!("std,{panic}"))
        .env("CARGO_TARGET_DIR", folder)
        .env("CARGO_BUILD_TARGET", triple)
}

/// Type-checks all crates, without their tests, for both Mac targets; warnings are errors. Linking would need Apple's linker and
/// libraries.
pub fn check_macos() -> Result<()> {
    debian::need(PACKAGES)?;
    let folder = target()?.join("foreign");
    for triple in MACS {
        let mut check = cargo("check --locked --workspace --lib --bins");
        check.arg("--features=tone-filter-testkit/demo");
        check.env("CARGO_UNSTABLE_WARNINGS", "true").env("CARGO_BUILD_WARNINGS", "deny");
        run(from_source(&mut check, triple, "panic_unwind", &folder))?;
    }
    Ok(())
}

/// Debian packages for ARM: Rust's compiler and standard library, a linker, an emulator, and the C library. The loader and the C
/// library must come from the same package, otherwise threads do not start.
const ARM: &str =
    "rustc-web libstd-rust-web-dev:arm64 gcc-aarch64-linux-gnu qemu-user libc6-dev:arm64";

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Tests a build for 64-bit ARM in QEMU: compares files rendered on ARM and here, then runs tests of listener, SIMD and DSP.
pub fn test_arm() -> Result<()> {
    let is_here = cfg!(all(target_os = "linux", target_arch = "x86_64")) && debian::is_here();
    ensure!(is_here, Unavailable("this verb needs Debian on x86-64".into()));
    let missing = debian::missing(ARM);
    if !missing.is_empty() {
        if debian::is_root() {
            run(Command::new("dpkg").args(["--add-architecture", "arm64"]))?;
        } else {
            println!("First: sudo dpkg --add-architecture arm64; sudo apt-get update");
        }
        debian::apt_install(&missing)?;
    }
    emulated("build --package=tone-filter-cli")?;
    let program = target()?.join(TARGET).join("debug/tone-filter");
    run(kit("bits").arg(command(&[])?).args(["--", "qemu-aarch64"]).arg(program))?;
    emulated("test --package=tone-filter-listener --package=tone-filter-simd --lib")?;
    emulated("test --package=tone-filter-dsp --lib")?;
    // Only tests of kernels: waveforms are the same on every CPU.
    emulated("test --package=tone-filter-dsp --test=sound -- accuracy:: properties::")
}

/// Runs cargo with the arguments in `line` for ARM.
fn emulated(line: &str) -> Result<()> {
    let variable = |name| format!("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_{name}");
    run(cargo(line)
        .env("CARGO_BUILD_TARGET", TARGET)
        .env("RUSTC", "/usr/bin/rustc")
        .env(variable("LINKER"), "aarch64-linux-gnu-gcc")
        .env(variable("RUNNER"), "qemu-aarch64"))
}
