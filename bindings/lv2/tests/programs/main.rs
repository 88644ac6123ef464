//! Tests of the LV2 bundle in programs that load it. The environment variable `BUNDLE` is the bundle's path.

mod ffmpeg;
mod jack;
mod lilv;
mod pipewire;

use anyhow::{Context, Result, ensure};
use std::{env, path::PathBuf};
use tone_filter_testkit::programs::step;

/// Validates the description of the bundle, and runs it in lilv, ffmpeg, jalv and PipeWire.
fn main() -> Result<()> {
    let bundle = PathBuf::from(env::var_os("BUNDLE").context("BUNDLE names no bundle")?);
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    step("description", || lilv::validate(&bundle))?;
    step("lilv: ports, presets, states", || lilv::host(&bundle, folder))?;
    step("ffmpeg", || ffmpeg::test(&bundle, folder))?;
    step("jalv", || jack::test(&bundle, folder))?;
    step("PipeWire", || pipewire::test(&bundle, folder))
}

/// Returns the maximum difference between two samples. Fails if the lengths differ.
fn greatest_difference(a: &[f32], b: &[f32]) -> Result<f32> {
    ensure!(a.len() == b.len(), "{} samples are not {}", a.len(), b.len());
    // `total_cmp` orders NaN above all numbers.
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.max_by(f32::total_cmp).context("there is no sound")
}
