//! Writes files for tests in other languages. A signal is a file of raw little-endian 32-bit floats: the left channel, then the
//! right one.

use anyhow::Result;
use serde_json::{Value, json};
use std::{fs, path::Path};
use tone_filter_dsp::{Controls, Kernel};
use tone_filter_presets::settings::to_json;
use tone_filter_testkit::{Automation, Signal};

const RATE: u32 = 44_100;

fn settings(controls: &Controls) -> Result<Value> {
    Ok(serde_json::from_str(&to_json(controls))?)
}

fn write_signal(path: &Path, signal: &Signal) -> Result<()> {
    let bytes = signal.iter().flatten().flat_map(|sample| sample.to_le_bytes());
    Ok(fs::write(path, bytes.collect::<Vec<u8>>())?)
}

/// Writes the automation run into `folder`: its input as `input.f32`, the library's output as `expected.f32`, and `score.json`.
/// The JSON has the sample rate, and for each step its frame and settings.
pub fn write(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let automation = Automation::new(1, RATE.into());
    let steps = automation.steps.iter();
    let steps = steps.map(|(frame, to)| Ok(json!({ "frame": frame, "settings": settings(to)? })));
    let score = json!({ "rate": RATE, "steps": steps.collect::<Result<Vec<_>>>()? });
    fs::write(folder.join("score.json"), score.to_string())?;
    write_signal(&folder.join("input.f32"), &automation.input)?;
    write_signal(&folder.join("expected.f32"), &automation.expected())
}

/// Writes the files of [`write()`], and `step0.f32`, `step1.f32` and so on.
///
/// A step's file is the library's output if this step's settings apply from the first frame on. The portable kernel computes
/// it.
pub fn write_starts(folder: &Path) -> Result<()> {
    write(folder)?;
    let Automation { rate, input, steps } = Automation::new(1, RATE.into());
    let music = Automation { rate, input, steps: Vec::new() };
    let kernel: Kernel = "portable".parse()?;
    for (index, (_, controls)) in steps.iter().enumerate() {
        let output = music.expected_from(&controls.settings, kernel);
        write_signal(&folder.join(format!("step{index}.f32")), &output)?;
    }
    Ok(())
}
