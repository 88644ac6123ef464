//! Test that the command renders the same bits on this system and on another one.

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use std::{fs, path::Path, process::Command};
use tone_filter_presets as presets;
use tone_filter_testkit::{root, target, wav};

/// Kernels that give the same bits on every CPU.
const KERNELS: [&str; 2] = ["scalar", "portable"];

/// Flags for the output's sample rate: the one of the input, a higher one, and a lower one.
const RATES: [&[&str]; 3] = [&[], &["--sample-rate=48000"], &["--sample-rate=32000"]];

/// Length in seconds of the excerpt of the demo tune. It has percussion without notes first, and then notes.
const SECONDS: usize = 4;

/// Renders the start of the demo tune with every preset and kernel on both systems, and compares the files. The sample rates take
/// turns.
///
/// `program` is this system's `tone-filter`. `foreign` is the command line that runs the other system's. Returns the number of
/// compared files.
pub fn compare(program: &Path, foreign: &[String]) -> Result<usize> {
    let (loader, arguments) = foreign.split_first().context("no command")?;
    // The folder is in the repository, because the other system's emulator may not reach others.
    let folder = tempfile::tempdir_in(target())?;
    let input = folder.path().join("in.wav");
    let (mut tune, rate) = wav::read(&root().join("assets/demo.wav"))?;
    tune.iter_mut().for_each(|channel| channel.truncate(SECONDS * rate as usize));
    wav::write(&input, &tune, rate)?;
    let render = |mut program: Command, sound: &[&str], out: &Path| -> Result<Vec<u8>> {
        let command = program.arg("render").arg(&input).arg("-o").arg(out);
        // Ignores the exit status: under wine 8, one of some hundreds of programs is killed, apparently while it ends.
        command.args(["--quiet", "--bit-depth=32f"]).args(sound).status()?;
        fs::read(out).with_context(|| format!("no file from {command:?}"))
    };
    let sounds: Vec<_> = presets::ids()
        .zip(RATES.into_iter().cycle())
        .flat_map(|(preset, rate)| {
            let sound = |kernel| [&["--preset", preset, "--kernel", kernel], rate].concat();
            KERNELS.map(sound)
        })
        .collect();
    let differs = |sound: &Vec<&str>| -> Result<Option<String>> {
        let folder = tempfile::tempdir_in(folder.path())?;
        let [here, there] = ["here.wav", "there.wav"].map(|name| folder.path().join(name));
        let expected = render(Command::new(program), sound, &here)?;
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
