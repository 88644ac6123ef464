//! `cargo xtask test-arm`: the DSP's tests for 64-bit ARM with NEON, cross-compiled with Debian's compiler and run in QEMU.

use crate::{kit::kit, run, suite, target};
use anyhow::{Result, bail};
use std::process::Command;

/// Rust's compiler and its library, a linker, an emulator, and the C library. The loader and the C library must come from the
/// same package: otherwise threads do not start.
const PACKAGES: [&str; 5] = [
    "rustc-web",
    "libstd-rust-web-dev:arm64",
    "gcc-aarch64-linux-gnu",
    "qemu-user",
    "libc6-dev:arm64",
];

/// Package of the filter.
const DSP: &str = "--package=tone-filter-dsp";

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Compares files rendered by both CPUs' builds, then builds and runs the tests.
pub fn test() -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) || !suite::on_path("dpkg-query") {
        bail!(
            "this verb needs Debian on x86-64; on an ARM computer, `cargo xtask test` does it all"
        );
    }
    let missing: Vec<_> =
        PACKAGES.into_iter().filter(|package| !suite::is_installed(package)).collect();
    if !missing.is_empty() {
        if !suite::is_root() {
            bail!(
                "missing: {}. Install with\n\n    sudo dpkg --add-architecture arm64\n    \
                 sudo apt-get update\n    sudo apt-get install -y {}\n",
                missing.join(", "),
                missing.join(" ")
            );
        }
        run(Command::new("dpkg").args(["--add-architecture", "arm64"]))?;
        suite::apt_install(&missing)?;
    }

    cargo(&["build", "--package=tone-filter-cli"])?;
    let program = target()?.join(TARGET).join("debug/tone-filter");
    run(Command::new("cargo").args(["build", "--locked", "--package=tone-filter-cli"]))?;
    let own = target()?.join("debug/tone-filter");
    run(kit("bits").arg(own).args(["--", "qemu-aarch64"]).arg(program))?;
    tests(&["--package=tone-filter-listener", "--package=tone-filter-simd", "--lib"])?;
    tests(&[DSP, "--lib", "--test=override"])?;
    // Only the tests by kernel: the waveforms are the same on every CPU, and their spectra take an hour in an emulator.
    ["accuracy::", "kernels::", "every_kernel"]
        .into_iter()
        .try_for_each(|filter| tests(&[DSP, "--test=sound", filter]))
}

/// Builds and runs the tests that `arguments` of `cargo test` name.
fn tests(arguments: &[&str]) -> Result<()> {
    cargo(&[&["test"], arguments].concat())
}

fn cargo(arguments: &[&str]) -> Result<()> {
    let variable = |name| format!("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_{name}");
    run(Command::new("cargo")
        .args(arguments)
        .args(["--target", TARGET])
        .env("RUSTC", "/usr/bin/rustc")
        .env(variable("LINKER"), "aarch64-linux-gnu-gcc")
        .env(variable("RUNNER"), "qemu-aarch64"))
}
