//! Tests of the LV2 bundle in programs that load it. The environment variable `BUNDLE` has the bundle's path.

use anyhow::{Context, Result, ensure};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};
use tone_filter_dsp::{Controls, Settings, ToneFilter};
use tone_filter_lv2::{ports::VARIANTS, turtle};
use tone_filter_presets::{Preset, ids};
use tone_filter_testkit::{
    programs::{run, step},
    root, wav,
};

/// Maximum difference of samples that count as equal; full scale is 1. It can be this small, as no program changes the plugin's
/// output.
const BOUND: f32 = 1e-6;

fn main() -> Result<()> {
    let bundle = PathBuf::from(env::var_os("BUNDLE").context("BUNDLE names no bundle")?);
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    step("description", || description(&bundle))?;
    step("ffmpeg", || ffmpeg(&bundle, folder))?;
    step("PipeWire", || pipewire(&bundle, folder))
}

/// Returns a command whose search path for LV2 has only this bundle and LV2's own specifications.
fn command(program: &str, bundle: &Path) -> Result<Command> {
    let folder = bundle.parent().context("a bundle lies in a folder")?;
    let mut command = Command::new(program);
    command.env("LV2_PATH", format!("{}:/usr/lib/lv2", folder.display()));
    Ok(command)
}

/// Returns the output of `command`, whether it succeeds or not.
fn printed(mut command: Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Returns the demo tune, filtered by the library: all samples of the left channel, then those of the right.
fn filtered(settings: &Settings) -> Result<Vec<f32>> {
    let (mut tune, rate) = wav::read(&root().join("assets/demo.wav"))?;
    let mut filter = ToneFilter::new(f64::from(rate), settings)?;
    filter.process(&mut tune.iter_mut().map(|channel| &mut channel[..]).collect::<Vec<_>>());
    Ok(tune.concat())
}

/// Checks the description with LV2's validator, and that hosts see every port and every preset.
fn description(bundle: &Path) -> Result<()> {
    let mut validator = command("lv2_validate", bundle)?;
    validator.args(turtle::files().map(|(name, _)| bundle.join(name)));
    let found = printed(validator)?;
    ensure!(found.contains("Found 0 errors among"), "lv2_validate finds faults:\n{found}");
    for variant in &VARIANTS {
        let mut info = command("lv2info", bundle)?;
        info.arg(variant.uri.to_str()?);
        let info = printed(info)?;
        let ports = info.lines().filter(|line| line.trim_start().starts_with("Port ")).count();
        let expected = variant.ports().count();
        ensure!(ports == expected, "lv2info shows {ports} of {expected} ports:\n{info}");
        for id in ids() {
            let name = Preset::factory(id).context("a factory preset")?.name;
            ensure!(info.contains(&name), "lv2info does not show the preset {name}:\n{info}");
        }
    }
    Ok(())
}

/// Compares the sound of the plugin in ffmpeg with the library's. The preset is Organ, whose voice has oscillators.
fn ffmpeg(bundle: &Path, folder: &Path) -> Result<()> {
    let settings = Preset::factory("organ").context("a preset")?.settings;
    let controls = Controls::from(settings);
    let ports = VARIANTS[0].ports().filter(|port| port.is_setting());
    let values = ports.map(|port| format!("{}={:?}", port.symbol(), port.get(&controls)));
    let values = values.collect::<Vec<_>>().join("|");
    let output = folder.join("ffmpeg.wav");
    run(command("ffmpeg", bundle)?
        .args(["-v", "error", "-y", "-i"])
        .arg(root().join("assets/demo.wav"))
        .args(["-af", &format!("lv2=urn\\\\:tone-filter\\\\:stereo:c={values}")])
        .args(["-c:a", "pcm_f32le"])
        .arg(&output))?;
    let (output, expected) = (wav::read(&output)?.0.concat(), filtered(&settings)?);
    ensure!(output.len() == expected.len(), "{} samples, not {}", output.len(), expected.len());
    let other = output.iter().zip(&expected).position(|(a, b)| (a - b).abs() > BOUND);
    ensure!(other.is_none(), "another sound from sample {other:?} on");
    Ok(())
}

/// Plays the demo tune on the virtual loudspeaker of `examples/pipewire`, in a PipeWire server without devices. A long
/// stretch of the recorded sound must equal the library's.
fn pipewire(bundle: &Path, folder: &Path) -> Result<()> {
    /// Minimum number of frames in a row that equal the library's. Not all must: a busy computer may interrupt the sound.
    const FRAMES: usize = 8192;
    /// Part of the example that is replaced: the effect of focus and auto level depends on when the plugin was started.
    const SETTING: &str = r#""output" = 0.0"#;
    let example = fs::read_to_string(root().join("examples/pipewire/tone-filter.conf"))?;
    ensure!(example.contains(SETTING), "the example has no {SETTING}");
    let [config, sound] = ["tone-filter.conf", "pipewire.wav"].map(|name| folder.join(name));
    fs::write(&config, example.replace(SETTING, r#""focus" = 0.0 "auto" = 0.0"#))?;
    let runtime = folder.join("runtime");
    fs::create_dir_all(&runtime)?;
    run(command("timeout", bundle)?
        .args(["300", "dbus-run-session", "--"])
        .arg(root().join("bindings/lv2/tests/programs/pipewire.sh"))
        .args([&runtime, &config, &root().join("assets/demo.wav"), &sound]))?;

    let settings = Settings { mix: 100.0, focus: 0.0, auto: false, ..Settings::default() };
    let (recorded, expected) = (wav::read(&sound)?.0.concat(), filtered(&settings)?);
    // The left channels.
    let (recorded, expected) = (&recorded[..recorded.len() / 2], &expected[..expected.len() / 2]);
    let longest = longest_match(recorded, expected).context("nothing was recorded")?;
    println!("PipeWire: {longest} frames in a row are the library's");
    ensure!(longest >= FRAMES, "the sound is another one");
    Ok(())
}

/// Returns the length of the longest run of equal frames, wherever it begins in `expected`. In `recorded`, tries only every
/// 4410th frame as the beginning, and only if it is loud. `None` if none of these is loud.
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
