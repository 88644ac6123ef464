//! ffmpeg's filter `lv2`, against the command `tone-filter render`.

use super::lilv::command;
use crate::{
    daw::{greatest_difference, planar},
    root, run, target,
};
use anyhow::{Context, Result, ensure};
use std::{path::Path, process::Command};
use tone_filter_dsp::{Controls, Settings};
use tone_filter_lv2::{ports::VARIANTS, state};
use tone_filter_presets::{Preset, ids};

/// The greatest difference, of full scale 1.
const BOUND: f32 = 1e-6;

/// The fewest presets that are compared: those without lookahead, for which ffmpeg does not compensate, and with all bands and
/// notes on, which are no ports.
const FEWEST: usize = 15;

/// Filters the demo tune with each preset, given as values of ports.
///
/// # Errors
/// When ffmpeg fails, or its output is another one.
pub fn test(bundle: &Path, folder: &Path) -> Result<()> {
    run(Command::new("cargo").args(["build", "--package=tone-filter-cli"]))?;
    let tune = root().join("assets/demo.wav");
    let (mut compared, mut most) = (0, 0.0);
    for id in ids() {
        let settings = Preset::factory(id).context("a factory preset")?.settings;
        let plain = state::texts(&settings) == state::texts(&Settings::default());
        if settings.lookahead || !plain {
            continue;
        }
        let controls = Controls::from(settings);
        let ports = VARIANTS[0].ports().filter(|port| port.is_setting());
        let values = ports.map(|port| format!("{}={:?}", port.symbol(), port.get(&controls)));
        let values = values.collect::<Vec<_>>().join("|");
        let [own, other] = ["render.wav", "ffmpeg.wav"].map(|name| folder.join(name));
        run(Command::new(target()?.join("debug/tone-filter"))
            .args(["render", "--quiet", "--force", "--bit-depth=32f", "--preset", id, "-o"])
            .args([&own, &tune]))?;
        run(command("ffmpeg", bundle)?
            .args(["-v", "error", "-y", "-i"])
            .arg(&tune)
            .arg("-af")
            .arg(format!("lv2=urn\\\\:tone-filter\\\\:stereo:c={values}"))
            .args(["-c:a", "pcm_f32le"])
            .arg(&other))?;
        let difference = greatest_difference(&planar(&own)?, &planar(&other)?)?;
        ensure!(difference <= BOUND, "{id}: ffmpeg and render differ by {difference:e}");
        (compared, most) = (compared + 1, f32::max(most, difference));
    }
    println!("{compared} presets; ffmpeg and render differ by up to {most:e}");
    ensure!(compared >= FEWEST, "too few presets");
    Ok(())
}
