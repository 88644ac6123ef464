//! Test of ffmpeg's filter `lv2` against the command `tone-filter render`.

use crate::{greatest_difference, lilv::command};
use anyhow::{Context, Result, ensure};
use std::{path::Path, process::Command};
use tone_filter_dsp::{Controls, Settings, TEXTS};
use tone_filter_lv2::ports::VARIANTS;
use tone_filter_presets::{Preset, ids};
use tone_filter_testkit::{programs::run, root, target, wav};

/// Maximum difference between two samples; full scale is 1.
const BOUND: f32 = 1e-6;

/// Minimum number of presets to compare. A preset whose text settings, which are no ports, differ from the default is left out.
const FEWEST: usize = 20;

/// Latency with lookahead, in frames at 44.1 kHz.
const LATENCY: usize = 2048;

/// Compares the sound of the demo tune with each preset, set by the ports, without lookahead. The first preset is compared with
/// lookahead, too; ffmpeg does not compensate for the latency, so this test does.
///
/// # Errors
/// If ffmpeg fails, or its output differs.
pub fn test(bundle: &Path, folder: &Path) -> Result<()> {
    run(Command::new("cargo").args(["build", "--package=tone-filter-cli"]))?;
    let mut differences = Vec::new();
    for (index, id) in ids().enumerate() {
        let settings = Preset::factory(id).context("a factory preset")?.settings;
        let default = Settings::default();
        if TEXTS.iter().any(|text| text.bits(&settings) != text.bits(&default)) {
            continue;
        }
        for lookahead in [false, true].into_iter().take(if index == 0 { 2 } else { 1 }) {
            let difference = difference(bundle, folder, id, Settings { lookahead, ..settings })?;
            ensure!(difference <= BOUND, "{id}: ffmpeg and render differ by {difference:e}");
            differences.push(difference);
        }
    }
    let most = differences.iter().copied().fold(0.0, f32::max);
    println!("{} sounds; ffmpeg and render differ by up to {most:e}", differences.len());
    ensure!(differences.len() >= FEWEST, "too few presets");
    Ok(())
}

/// Returns the maximum difference between ffmpeg's output with `settings` and the output of `render` with the preset `id`.
fn difference(bundle: &Path, folder: &Path, id: &str, settings: Settings) -> Result<f32> {
    let tune = root().join("assets/demo.wav");
    let [own, other] = ["render.wav", "ffmpeg.wav"].map(|name| folder.join(name));
    let lookahead = format!("--lookahead={}", if settings.lookahead { "on" } else { "off" });
    run(Command::new(target().join("debug/tone-filter"))
        .args(["render", "--quiet", "--force", "--bit-depth=32f", "--preset", id])
        .args([&*lookahead, "-o"])
        .args([&own, &tune]))?;
    let controls = Controls::from(settings);
    let ports = VARIANTS[0].ports().filter(|port| port.is_setting());
    let values = ports.map(|port| format!("{}={:?}", port.symbol(), port.get(&controls)));
    let values = values.collect::<Vec<_>>().join("|");
    let mut filter = format!("lv2=urn\\\\:tone-filter\\\\:stereo:c={values}");
    if settings.lookahead {
        filter = format!("apad=pad_len={LATENCY},{filter},atrim=start_sample={LATENCY}");
    }
    run(command("ffmpeg", bundle)?
        .args(["-v", "error", "-y", "-i"])
        .arg(&tune)
        .args(["-af", &filter])
        .args(["-c:a", "pcm_f32le"])
        .arg(&other))?;
    greatest_difference(&wav::read(&own)?.0.concat(), &wav::read(&other)?.0.concat())
}
