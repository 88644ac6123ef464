//! Test in jalv, without its window, on a JACK server without devices.

use crate::lilv::command;
use anyhow::{Context, Result, ensure};
use std::{fs, path::Path};
use tone_filter_dsp::Controls;
use tone_filter_lv2::ports::VARIANTS;
use tone_filter_presets::Preset;
use tone_filter_testkit::{programs::run, root};

/// Id of the preset that is loaded; its voice has oscillators.
const PRESET: &str = "organ";

/// Minimum peak of the plugin's output, relative to full scale. The input, a sine of JACK's example client, has a peak of 0.2.
const AUDIBLE: f64 = 0.01;

/// Loads a preset, sets Mix to 100 % and plays a sine.
///
/// # Errors If jalv does not run, shows other values than the set values, or is silent.
pub fn test(bundle: &Path, folder: &Path) -> Result<()> {
    let [log, sound] = ["jalv.log", "jalv.wav"].map(|name| folder.join(name));
    let script = root().join("bindings/lv2/tests/programs/jack.sh");
    let [variant, ..] = &VARIANTS;
    run(command("timeout", bundle)?
        .arg("180")
        .arg(script)
        .args([variant.uri.to_str()?, &format!("urn:tone-filter:preset:{PRESET}")])
        .args([&log, &sound]))?;
    let mut controls = Controls::from(Preset::factory(PRESET).context("a preset")?.settings);
    controls.settings.mix = 100.0;
    let shown = fs::read_to_string(&log)?;
    // The values after the last command.
    let (_, shown) = shown.rsplit_once("mix = ").context("jalv shows no values")?;
    let shown = format!("mix = {shown}");
    for port in variant.ports().filter(|port| port.is_setting()) {
        let line = format!("{} = {:.6}", port.symbol(), port.get(&controls));
        ensure!(shown.lines().any(|shown| shown == line), "no {line} in\n{shown}");
    }
    let samples = hound::WavReader::open(&sound)?.into_samples::<i32>();
    let peak = samples.map(|sample| Ok(f64::from(sample?).abs())).collect::<Result<Vec<_>>>()?;
    let peak = peak.into_iter().fold(0.0, f64::max) / f64::from(i32::MAX);
    println!("jalv: all values are those of the preset; the sine sounds with a peak of {peak:.3}");
    ensure!(peak > AUDIBLE, "the plugin is silent in jalv");
    Ok(())
}
