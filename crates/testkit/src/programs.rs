//! Functions that run external programs, and steps of long tests.

use crate::root;
use anyhow::{Context, Result, ensure};
use std::{process::Command, time::Instant};

/// Runs a command in the repository's root.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.current_dir(root()).status();
    let status = status.with_context(|| format!("cannot start {command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

/// Runs `action` as a step of a long test. Prints the step's name and duration.
pub fn step<T>(name: &str, action: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("\n=== {name}");
    let started = Instant::now();
    let result = action().with_context(|| format!("step failed: {name}"))?;
    println!("=== {name}: passed in {:.0} s", started.elapsed().as_secs_f64());
    Ok(result)
}
