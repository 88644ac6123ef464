//! Equal bits on every system: files of a renderer that was built for another system, against this one's.

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use std::{fs, path::Path, process::Command};
use tone_filter_presets as presets;
use tone_filter_testkit::{root, target};

/// The kernels that are the same on every CPU.
const KERNELS: [&str; 2] = ["scalar", "portable"];

/// The output's sample rates: the input's, a higher and a lower one.
const RATES: [&[&str]; 3] = [&[], &["--sample-rate=48000"], &["--sample-rate=32000"]];

/// Seconds of the demo tune: percussion without notes, then notes.
const SECONDS: u32 = 4;

/// Renders a part of the demo tune with every preset, kernel and rate, with this system's renderer `own` and with that of
/// another one, which the command `foreign` starts. Returns the number of files that were compared.
///
/// # Errors
/// When a renderer writes no file, or when files differ; the error names them all.
pub fn compare(own: &Path, foreign: &[String]) -> Result<usize> {
    let (loader, arguments) = foreign.split_first().context("no command")?;
    // Within the repository, so that the foreign system finds it, too.
    let folder = tempfile::tempdir_in(target())?;
    let input = folder.path().join("in.wav");
    excerpt(&input)?;
    let render = |mut program: Command, sound: &[&str], out: &Path| -> Result<Vec<u8>> {
        let command = program.arg("render").arg(&input).arg("-o").arg(out);
        // Only the file counts: wine 8 kills one in some hundreds of programs, it seems while they end.
        command.args(["--quiet", "--bit-depth=32f"]).args(sound).status()?;
        fs::read(out).with_context(|| format!("no file from {command:?}"))
    };
    let sounds: Vec<_> = presets::ids()
        .flat_map(|preset| KERNELS.map(|kernel| ["--preset", preset, "--kernel", kernel]))
        .flat_map(|sound| RATES.map(|rate| [&sound[..], rate].concat()))
        .collect();
    let differs = |sound: &Vec<&str>| -> Result<Option<String>> {
        let folder = tempfile::tempdir_in(folder.path())?;
        let [here, there] = ["here.wav", "there.wav"].map(|name| folder.path().join(name));
        let expected = render(Command::new(own), sound, &here)?;
        let mut foreign = Command::new(loader);
        foreign.args(arguments);
        let equal = render(foreign, sound, &there)? == expected;
        Ok((!equal).then(|| sound.join(" ")))
    };
    let results = sounds.par_iter().map(differs);
    let different: Vec<_> = results.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    let list = different.join("\n    ");
    ensure!(list.is_empty(), "of {} files, {} differ:\n    {list}", sounds.len(), different.len());
    Ok(sounds.len())
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
