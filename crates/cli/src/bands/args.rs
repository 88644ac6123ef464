//! Arguments of `tone-filter bands`.

use crate::{
    inputs::InputFlags,
    sound::{Sound, number},
};
use clap::{
    ArgGroup, ValueHint,
    builder::{PathBufValueParser, TypedValueParser},
};
use std::path::{Path, PathBuf};
use tone_filter_dsp::{Kernel, NoteValue};

/// Show which notes are played in files, as pictures, numbers or MIDI
#[derive(clap::Args)]
#[command(
    group = ArgGroup::new("outputs").args(["png", "csv", "json", "midi", "score"]).multiple(true).required(true),
    after_help = "Examples:
  tone-filter bands song.wav --png song.png
  tone-filter bands song.wav --midi song.mid --sensitivity 70
  tone-filter bands song.wav --midi grid.mid --quantize 1/16 --strength 80
  tone-filter bands song.wav --midi parts.mid --parts
  tone-filter bands song.wav --png solo.png --keys solo.mid
  tone-filter bands song.flac --midi scale.mid --scale minor-pentatonic --root A
  tone-filter bands song.wav --score song.tfs
  tone-filter bands song.mp3 --csv - --hop 50ms | head
  tone-filter bands songs/ --midi notes/ --png pictures/"
)]
pub struct Args {
    #[command(flatten)]
    pub inputs: InputFlags,
    /// A picture to write: the notes over time; for several inputs the folder for their pictures, and so with the other
    /// outputs
    #[arg(long, value_name = "OUT.png", value_hint = ValueHint::AnyPath, value_parser = named(0))]
    pub png: Option<PathBuf>,
    /// A table to write: time, the levels of all notes in dB of the total power, and the notes that are played; -
    /// for standard output
    #[arg(long, value_name = "OUT.csv", value_hint = ValueHint::AnyPath, value_parser = named(1))]
    pub csv: Option<PathBuf>,
    /// The same table as JSON, with the state of every note; - for standard output
    #[arg(long, value_name = "OUT.json", value_hint = ValueHint::AnyPath, value_parser = named(2))]
    pub json: Option<PathBuf>,
    /// A MIDI file to write, with the notes that are played; - for standard output
    #[arg(long, value_name = "OUT.mid", value_hint = ValueHint::AnyPath, value_parser = named(3))]
    pub midi: Option<PathBuf>,
    /// A score to write: the detected notes as text, for `render --score` and games; - for standard output
    #[arg(long, value_name = "OUT.tfs", value_hint = ValueHint::AnyPath, value_parser = named(4))]
    pub score: Option<PathBuf>,
    /// Write the notes to --midi as the plugin's MIDI out sends them: at once, short ones too
    #[arg(long, requires = "midi")]
    pub live: bool,
    /// Arrange the notes of --midi on sixteenths, in tracks for lead, chords, bass and drums
    #[arg(long, requires = "midi", conflicts_with_all = ["live", "quantize"])]
    pub parts: bool,
    /// Move the notes of --midi to the nearest step of a note value, like 1/16; 1/16,1/8t for triplets, too
    #[arg(long, value_name = "STEP", requires = "midi", value_delimiter = ',', value_parser = step)]
    pub quantize: Option<Vec<NoteValue>>,
    /// How far --quantize moves notes: 100 onto the step, 50 half of the way there [0 to 100 %]
    #[arg(long, value_name = "%", default_value = "100", requires = "quantize", value_parser = |text: &str| number("strength", text, "%", 0.0..=100.0))]
    pub strength: f64,
    /// Time step of --png, --csv and --json [1 to 10000 ms]
    #[arg(long, value_name = "ms", default_value = "10", value_parser = hop)]
    pub hop: f64,
    /// Overwrite outputs that exist
    #[arg(long)]
    pub force: bool,
    /// Leave outputs that exist as they are: go on after an interruption
    #[arg(long, conflicts_with = "force")]
    pub skip_existing: bool,
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print a line for every file
    #[arg(short, long)]
    pub verbose: bool,
    /// Compute with this kernel of `bench`: it decides the last bits [default: the fastest]
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<Kernel>,
    #[command(flatten)]
    pub sound: Sound,
}

/// Output format of `bands`, and the flag that requests it.
pub struct Format {
    /// Name of the flag, without `--`.
    id: &'static str,
    /// Extensions that names of outputs may have. Generated names get the first one.
    pub extensions: &'static [&'static str],
}

pub const FORMATS: [Format; 5] = [
    Format { id: "png", extensions: &["png"] },
    Format { id: "csv", extensions: &["csv", "txt"] },
    Format { id: "json", extensions: &["json"] },
    Format { id: "midi", extensions: &["mid", "midi"] },
    Format { id: "score", extensions: &["tfs", "txt"] },
];

/// Returns a parser for the path of an output. It accepts a folder, and a file with an extension of `FORMATS[format]` or
/// without extension.
fn named(format: usize) -> impl TypedValueParser<Value = PathBuf> {
    let Format { id, extensions } = FORMATS[format];
    PathBufValueParser::new().try_map(move |path| {
        let extension =
            path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        if extension.is_none_or(|extension| extensions.contains(&&*extension)) || path.is_dir() {
            return Ok(path);
        }
        let (path, format, extension) = (path.display(), id.to_uppercase(), extensions[0]);
        Err(format!("{path}: --{id} writes {format}; use .{extension}"))
    })
}

/// Parses a value of `--quantize`, like `1/16`.
fn step(text: &str) -> Result<NoteValue, String> {
    let step = NoteValue::try_from(text.to_owned()).ok().filter(|step| step.beats().is_some());
    step.ok_or_else(|| {
        format!("'{text}' is not a step; use 1/4, 1/8, 1/16 or 1/32, with a t for triplets")
    })
}

/// Parses a hop in milliseconds; returns seconds.
fn hop(text: &str) -> Result<f64, String> {
    number("hop", text, "ms", 1.0..=10_000.0).map(|ms| ms / 1000.0)
}

impl Args {
    /// Returns the paths of the outputs, in the order of [`FORMATS`].
    pub fn outputs(&self) -> [Option<&Path>; FORMATS.len()] {
        [&self.png, &self.csv, &self.json, &self.midi, &self.score].map(|path| path.as_deref())
    }
}
