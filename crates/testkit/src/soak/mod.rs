//! Tests of the built bundle that take too long to run for every change.

pub mod endurance;
pub mod memory;
pub mod session;
pub mod timing;
#[cfg(target_os = "linux")]
pub mod windows;

use crate::{bundle, clap::Library};
use anyhow::{Result, ensure};
use std::time::Instant;

/// Runs all long tests and prints their measurements.
///
/// # Errors
/// If the bundle is missing, or a test fails.
pub fn soak() -> Result<()> {
    memory::share_one_heap();
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
    let session = session::session(&library, 50, 7200, 20)?;
    println!("{session}");
    ensure!(session.growth() <= 0.01, "memory has grown by more than 1 %");
    #[cfg(target_os = "linux")]
    windows::soak()?;
    Ok(())
}
