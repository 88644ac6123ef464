//! The same bits on every system: what a renderer that was built for another one makes of a file, against this one's.

use crate::{root, run, target};
use anyhow::{Context, Result, ensure};
use std::{fs, path::Path, process::Command};
use tone_filter::presets;

/// The kernels that are the same on every CPU.
const KERNELS: [&str; 2] = ["scalar", "portable"];

/// The output's sample rates: the input's, a higher and a lower one.
const RATES: [&[&str]; 3] = [&[], &["--sample-rate=48000"], &["--sample-rate=32000"]];

/// Seconds of the demo tune: percussion without notes, then notes.
const SECONDS: u32 = 4;

/// Renders a part of the demo tune with every preset, kernel and rate, with this system's renderer and with that of
/// another one, which `foreign` starts. Returns the number of files that were compared.
///
/// # Errors
/// When a renderer fails, or when files differ; the error names them all.
pub fn compare(foreign: impl Fn() -> Command) -> Result<usize> {
    run(Command::new("cargo").args([
        "build",
        "--no-default-features",
        "--features=cli",
        "--bin=tone-filter",
    ]))?;
    let own = target()?.join("debug/tone-filter");
    // Within the repository, so that the foreign system finds it, too.
    let folder = tempfile::tempdir_in(target()?)?;
    let input = folder.path().join("in.wav");
    excerpt(&input)?;
    let render = |mut program: Command, sound: &[&str], name: &str| -> Result<Vec<u8>> {
        let out = folder.path().join(name);
        let command = program.arg("render").arg(&input).arg("-o").arg(&out);
        run(command.args(["--quiet", "--force", "--bit-depth=32f"]).args(sound))?;
        fs::read(&out).with_context(|| format!("cannot read {}", out.display()))
    };
    let (mut compared, mut different) = (0, Vec::new());
    for preset in presets::ids() {
        for kernel in KERNELS {
            for rate in RATES {
                let sound = [&["--preset", preset, "--kernel", kernel], rate].concat();
                let expected = render(Command::new(&own), &sound, "own.wav")?;
                if render(foreign(), &sound, "foreign.wav")? != expected {
                    different.push(sound.join(" "));
                }
                compared += 1;
            }
        }
    }
    let list = different.join("\n    ");
    ensure!(list.is_empty(), "of {compared} files, {} differ:\n    {list}", different.len());
    Ok(compared)
}

/// Writes the first seconds of the demo tune.
fn excerpt(to: &Path) -> Result<()> {
    let mut tune = hound::WavReader::open(root().join("assets/demo.wav"))?;
    let spec = tune.spec();
    let mut excerpt = hound::WavWriter::create(to, spec)?;
    let samples = SECONDS * spec.sample_rate * u32::from(spec.channels);
    for sample in tune.samples::<i32>().take(samples as usize) {
        excerpt.write_sample(sample?)?;
    }
    Ok(excerpt.finalize()?)
}
