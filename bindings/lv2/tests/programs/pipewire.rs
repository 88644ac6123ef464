//! Test of the example's virtual loudspeaker in a PipeWire server without devices.

use crate::lilv::command;
use anyhow::{Context, Result, ensure};
use std::{fs, path::Path};
use tone_filter_dsp::{Settings, ToneFilter};
use tone_filter_testkit::{programs::run, root, wav};

/// Part of the example that is replaced.
const SETTING: &str = r#""output" = 0.0"#;
/// Replacement, without focus and auto level: the effect of both depends on when the plugin was started.
const SETTINGS: &str = r#""focus" = 0.0 "auto" = 0.0"#;

/// Minimum number of successive frames that equal the library's. A busy computer may interrupt the sound.
const FRAMES: usize = 8192;

/// Maximum difference of equal frames. PipeWire changes no sample.
const BOUND: f32 = 1e-6;

/// Plays the demo tune on the loudspeaker and compares the recorded sound with the library's.
///
/// # Errors
/// If PipeWire does not accept the example, or the sound differs.
pub fn test(bundle: &Path, folder: &Path) -> Result<()> {
    let example = fs::read_to_string(root().join("examples/pipewire/tone-filter.conf"))?;
    ensure!(example.contains(SETTING), "the example has no {SETTING}");
    let [config, sound] = ["tone-filter.conf", "pipewire.wav"].map(|name| folder.join(name));
    fs::write(&config, example.replace(SETTING, SETTINGS))?;
    let runtime = folder.join("runtime");
    fs::create_dir_all(&runtime)?;
    let tune = root().join("assets/demo.wav");
    run(command("timeout", bundle)?
        .args(["300", "dbus-run-session", "--"])
        .arg(root().join("bindings/lv2/tests/programs/pipewire.sh"))
        .args([&runtime, &config, &tune, &sound]))?;

    let (mut expected, rate) = wav::read(&tune)?;
    let settings = Settings { mix: 100.0, focus: 0.0, auto: false, ..Settings::default() };
    let mut filter = ToneFilter::new(f64::from(rate), &settings)?;
    filter.process(&mut expected.iter_mut().map(|channel| &mut channel[..]).collect::<Vec<_>>());
    let recorded = wav::read(&sound)?.0.concat();
    let recorded = &recorded[..recorded.len() / 2];
    let longest = longest_match(recorded, &expected[0]).context("nothing was recorded")?;
    println!("PipeWire: {longest} frames in a row are the library's");
    ensure!(longest >= FRAMES, "the sound is another one");
    Ok(())
}

/// Returns the length of the longest run of equal frames. Runs begin at loud frames of `recorded`, tried every 4410 frames.
fn longest_match(recorded: &[f32], expected: &[f32]) -> Option<usize> {
    let starts = (0..recorded.len()).step_by(4410).filter(|start| recorded[*start].abs() > 0.05);
    let runs = starts.flat_map(|start| {
        (0..expected.len()).map(move |other| {
            let mut pairs = recorded[start..].iter().zip(&expected[other..]);
            let end = pairs.position(|(a, b)| (a - b).abs() > BOUND);
            end.unwrap_or_else(|| (recorded.len() - start).min(expected.len() - other))
        })
    });
    runs.max()
}
