//! `cargo xtask soak`: what takes too long for every change, on the bundle that users get.

#[path = "../../../tests/common/mod.rs"]
mod common;
pub mod endurance;
pub mod memory;
pub mod session;
pub mod timing;

use crate::{bundle, host::Library};
use anyhow::{Result, ensure};
use std::time::Instant;

/// Bytes from `malloc` that an editor that was opened and closed may leave in use, on average; a keymap that is
/// never given back is 70 KiB. Memory as a whole is judged without editors: of every OpenGL context, a bare one in
/// a program of its own as well, Mesa 22.3's software renderer keeps 8 to 12 KiB of the code that it has compiled.
pub const EDITOR_LEAK: f64 = 8.0 * 1024.0;

/// Builds the plugin and runs all of it; prints figures.
///
/// # Errors
/// When the plugin does not build, or does not keep what it promises.
pub fn soak() -> Result<()> {
    bundle::bundle_release()?;
    let bundle = bundle::clap()?;

    let started = Instant::now();
    let library = Library::load(&bundle)?;
    let plugins = library.plugins()?.len();
    let scan = started.elapsed().as_secs_f64();
    println!("scan: {plugins} plugin in {:.1} ms", 1e3 * scan);
    ensure!(scan < 0.1, "a scan takes {scan} s");

    for block in [32, 64] {
        println!("{}", timing::measure(&library, block, 1_000_000)?);
    }
    println!("{}", endurance::endure(3600.0, 1)?);
    let quiet = session::session(&library, 50, 7200, None)?;
    println!("{quiet}");
    ensure!(quiet.growth() <= 0.01, "memory has grown by more than 1 %");
    let session = session::session(&library, 50, 7200, Some(20))?;
    println!("{session}");
    ensure!(session.leak() <= EDITOR_LEAK, "an editor leaves something behind");
    Ok(())
}
