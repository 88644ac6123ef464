//! Builds for other systems with Debian's compiler and a standard library from its source.

use std::{path::Path, process::Command};

/// The compiler, and the source of its library.
pub const PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

/// Lets cargo build for `triple`, with the crate `panic` of the standard library, which otherwise takes a nightly
/// compiler. The results need a folder of their own, as those of another compiler would replace them.
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
