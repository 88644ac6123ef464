//! `cargo xtask test-arm` and `check-macos`, and what builds for other systems with Debian's compiler need.

use crate::{
    bundles::MACS,
    commands::{Unavailable, cargo, command, kit, run, target},
    debian,
};
use anyhow::{Result, ensure};
use std::{path::Path, process::Command};

/// Debian packages of the compiler and of its library's source.
pub const PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

/// Makes cargo build for `triple`, with a standard library from source and the library's crate `panic`. A build from source
/// normally takes a nightly compiler. The target folder `folder` should be a separate one, as builds by another compiler would be
/// replaced.
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

/// Checks the types of all crates, without their tests, for Macs of both CPU types. Nothing is linked or run, as that needs
/// Apple's linker and libraries.
pub fn check_macos() -> Result<()> {
    debian::need(&PACKAGES)?;
    let folder = target()?.join("foreign");
    for triple in MACS {
        let mut check = cargo("check --locked --workspace --lib --bins");
        check.arg("--features=tone-filter-testkit/demo");
        run(from_source(&mut check, triple, "panic_unwind", &folder))?;
    }
    Ok(())
}

/// Rust's compiler and its library, a linker, an emulator, and the C library. The loader and the C library must come from the
/// same package: otherwise threads do not start.
const ARM: [&str; 5] = [
    "rustc-web",
    "libstd-rust-web-dev:arm64",
    "gcc-aarch64-linux-gnu",
    "qemu-user",
    "libc6-dev:arm64",
];

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Builds for 64-bit ARM with NEON, and runs in QEMU: compares files rendered by both CPUs' builds, then runs the DSP's tests.
pub fn test_arm() -> Result<()> {
    let is_here = cfg!(all(target_os = "linux", target_arch = "x86_64")) && debian::is_here();
    ensure!(is_here, Unavailable("this verb needs Debian on x86-64".into()));
    let missing: Vec<_> =
        ARM.into_iter().filter(|package| !debian::is_installed(package)).collect();
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
    emulated("test --package=tone-filter-dsp --lib --test=override")?;
    // Only the tests by kernel: the waveforms are the same on every CPU, and their spectra take an hour in an emulator.
    emulated("test --package=tone-filter-dsp --test=sound -- accuracy:: kernels:: every_kernel")
}

/// Runs cargo with the arguments in `line` for ARM.
fn emulated(line: &str) -> Result<()> {
    let variable = |name| format!("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_{name}");
    run(cargo(line)
        .args(["--target", TARGET])
        .env("RUSTC", "/usr/bin/rustc")
        .env(variable("LINKER"), "aarch64-linux-gnu-gcc")
        .env(variable("RUNNER"), "qemu-aarch64"))
}
