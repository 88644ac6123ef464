//! `cargo xtask wild FOLDER`: compares our readers of sound files with ffmpeg, on files from other programs.

use anyhow::{Context, Result};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Extensions of the formats that the manual lists as readable.
const EXTENSIONS: [&str; 16] = [
    "wav", "wave", "bwf", "rf64", "flac", "aif", "aiff", "aifc", "caf", "mp3", "ogg", "oga", "m4a",
    "m4b", "mp4", "mov",
];

/// Timeout of a run in seconds, in the form that the program `timeout` takes.
const HANGS: &str = "300";

/// Maximum difference between our sample and that of ffmpeg: 1 LSB of 16 bits.
const STEP: f32 = 1.0 / 32_768.0;

/// Maximum power of a larger difference, as in lossy formats, relative to the power of the signal: -80 dB.
const LOSSY: f64 = 1e-8;

/// Reads all sound files below `folders` with `program` and with ffmpeg. Prints the files on which the two disagree or `program`
/// crashes or hangs, and a table with the number of files of each kind.
pub fn report(program: &str, folders: &[String]) -> Result<()> {
    let mut files = Vec::new();
    for folder in folders {
        add_sound_files(Path::new(folder), &mut files)?;
    }
    let scratch = tempfile::tempdir()?;
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &files {
        let (kind, detail) = compare(program, file, scratch.path())?;
        *kinds.entry(kind).or_default() += 1;
        if !matches!(kind, "the same" | "refused by both") {
            println!("{kind}: {}: {detail}", file.display());
        }
    }
    println!("\n| files | |\n|---|---|");
    kinds.iter().for_each(|(kind, count)| println!("| {count} | {kind} |"));
    Ok(())
}

fn add_sound_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        let extension =
            path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        if path.is_dir() && !path.is_symlink() {
            add_sound_files(&path, files)?;
        } else if extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str())) {
            files.push(path);
        }
    }
    Ok(())
}

/// Compares our samples of `file` with ffmpeg's, and tries `render` and `bands`. Returns the kind of result and a description.
fn compare(program: &str, file: &Path, scratch: &Path) -> Result<(&'static str, String)> {
    let [out, table] = ["out.wav", "out.csv"].map(|name| scratch.join(name));
    let mut said = String::new();
    let words = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    let bypass =
        words("render --bypass --no-dither --bit-depth=32f --strip-metadata --force -q -o");
    let (render, bands) = (words("render --force -q -o"), words("bands --force -q --csv"));
    let mut ours = None;
    for (index, (flags, to)) in
        [(bypass, &out), (render, &out), (bands, &table)].into_iter().enumerate()
    {
        let flags_here = flags.iter().map(OsStr::new).chain([to.as_os_str(), file.as_os_str()]);
        let Some(output) = run(program, &flags_here.collect::<Vec<_>>())? else {
            return Ok(("hangs", flags[0].into()));
        };
        match output.status.code() {
            Some(0) if index == 0 => ours = Some(interleaved_samples(&out)?),
            Some(0) => {}
            Some(1) => said = String::from_utf8_lossy(&output.stderr).trim().into(),
            _ => return Ok(("crashes", flags[0].into())),
        }
        // A failure of a further run does not mean that the file cannot be read: such runs also fail at low sample rates.
        if index == 0 && ours.is_none() {
            break;
        }
    }
    let [before, after] = [&["-v", "error", "-i"][..], &["-map", "0:a:0", "-f", "f32le", "-"]]
        .map(|words| words.iter().map(OsStr::new).collect::<Vec<_>>());
    let decoded = run("ffmpeg", &[&before[..], &[file.as_os_str()], &after[..]].concat())?
        .map(|output| output.stdout)
        .unwrap_or_default();
    let theirs: Vec<f32> =
        decoded.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    Ok(match ours {
        None if theirs.is_empty() => ("refused by both", said),
        None => ("refused by us", said),
        Some(_) if theirs.is_empty() => ("refused by ffmpeg", String::new()),
        Some(ours) if ours.len() != theirs.len() => {
            ("of another length", format!("{} samples, {} by ffmpeg", ours.len(), theirs.len()))
        }
        Some(ours) => {
            let pairs = || ours.iter().zip(&theirs);
            let largest = pairs().map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            let power = |difference: f32| f64::from(difference).powi(2);
            let difference: f64 = pairs().map(|(a, b)| power(a - b)).sum();
            let whole: f64 = theirs.iter().map(|sample| power(*sample)).sum();
            if largest <= STEP || difference <= LOSSY * whole {
                ("the same", String::new())
            } else {
                ("of other samples", format!("{:.0} dB off", 10.0 * (difference / whole).log10()))
            }
        }
    })
}

/// Runs `program` with `arguments`. Returns `None` after the timeout [`HANGS`].
fn run(program: &str, arguments: &[&OsStr]) -> Result<Option<Output>> {
    let mut command = Command::new("timeout");
    command.args([HANGS, program]).args(arguments).stdin(Stdio::null());
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    // 124 is the exit status of `timeout` after a timeout.
    Ok((output.status.code() != Some(124)).then_some(output))
}

fn interleaved_samples(path: &Path) -> Result<Vec<f32>> {
    let mut wav = hound::WavReader::open(path)?;
    Ok(wav.samples().collect::<Result<_, _>>()?)
}
