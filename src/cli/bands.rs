//! `tone-filter bands`.

use super::sound::Sound;
use clap::ValueHint;
use std::{io::Write, path::PathBuf};
use tone_filter::offline::{Error, Output, plot::Plot};

/// Show which notes the filter hears in a file
#[derive(clap::Args)]
#[command(after_help = "Example:
  tone-filter bands song.wav --png song.png --preset quiet-music")]
pub struct Args {
    /// The WAV file to read
    #[arg(value_name = "IN.wav", value_hint = ValueHint::FilePath)]
    input: PathBuf,
    /// The picture to write: the 48 notes over time
    #[arg(long, value_name = "OUT.png", value_hint = ValueHint::FilePath)]
    png: PathBuf,
    /// Overwrite the picture if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    sound: Sound,
}

/// Draws.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let settings = args.sound.settings()?;
    let output = Output::create(&args.png, &args.input, args.force)?;
    let png = Plot::of_file(&args.input, &settings)?.png();
    output
        .file()
        .write_all(&png)
        .map_err(|source| Error::Write { path: args.png.clone(), source })?;
    output.commit()?;
    Ok(())
}
