//! Builds for other systems with Debian's compiler, and with a standard library that cargo builds from source.

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
