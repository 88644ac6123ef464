//! `tone-filter bands`.

use super::{refuse_terminal, sound::Sound};
use clap::{
    ArgGroup, ValueHint,
    builder::{PathBufValueParser, TypedValueParser},
};
use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};
use tone_filter::offline::{
    Error, Output,
    listen::listen,
    plot::Plot,
    table::{Syntax, Table},
    transcribe::{Options, Transcriber, midi},
};

/// Show which notes the filter hears in a file, as a picture, numbers or MIDI
#[derive(clap::Args)]
#[command(
    group = ArgGroup::new("outputs").args(["png", "csv", "json", "midi"]).multiple(true).required(true),
    after_help = "Examples:
  tone-filter bands song.wav --png song.png --preset quiet-music
  tone-filter bands song.flac --midi song.mid --scale minor-pentatonic --root A
  tone-filter bands song.mp3 --csv - --hop 50ms | head"
)]
pub struct Args {
    /// The file to read: WAV, FLAC, AIFF, MP3 or Ogg Vorbis; - for WAV on standard input
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    input: PathBuf,
    /// A picture to write: the 48 notes over time
    #[arg(long, value_name = "OUT.png", value_hint = ValueHint::FilePath, value_parser = named("png", &["png"]))]
    png: Option<PathBuf>,
    /// A table to write: time and the levels of the 48 notes in dB of the total power; - for standard output
    #[arg(long, value_name = "OUT.csv", value_hint = ValueHint::FilePath, value_parser = named("csv", &["csv", "txt"]))]
    csv: Option<PathBuf>,
    /// The same table as JSON; - for standard output
    #[arg(long, value_name = "OUT.json", value_hint = ValueHint::FilePath, value_parser = named("json", &["json"]))]
    json: Option<PathBuf>,
    /// A MIDI file to write, with the notes that are heard
    #[arg(long, value_name = "OUT.mid", value_hint = ValueHint::FilePath, value_parser = named("midi", &["mid", "midi"]))]
    midi: Option<PathBuf>,
    /// Time from one moment to the next [1 to 10000 ms]
    #[arg(long, value_name = "ms", default_value = "10", value_parser = milliseconds("hop", 1.0))]
    hop: f64,
    /// MIDI: a note rings at least this much, against the whole sound [-40 to -3 dB]
    #[arg(long, value_name = "dB", default_value = "-15", allow_hyphen_values = true,
          value_parser = decibels("midi-threshold", -40.0, -3.0))]
    midi_threshold: f32,
    /// MIDI: it goes on until it rings so much less than that [0 to 30 dB]
    #[arg(long, value_name = "dB", default_value = "5", value_parser = decibels("midi-hysteresis", 0.0, 30.0))]
    midi_hysteresis: f32,
    /// MIDI: shorter notes are left out [0 to 10000 ms]
    #[arg(long, value_name = "ms", default_value = "60", value_parser = milliseconds("midi-shortest", 0.0))]
    midi_shortest: f64,
    /// Overwrite outputs that exist
    #[arg(long)]
    force: bool,
    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    sound: Sound,
}

/// Reads a path that does not end like that of another format.
fn named(id: &'static str, extensions: &'static [&str]) -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(move |path| {
        let own = path.extension().map(|own| own.to_string_lossy().to_lowercase());
        if own.is_none_or(|own| extensions.contains(&&*own)) {
            return Ok(path);
        }
        let (path, format, extension) = (path.display(), id.to_uppercase(), extensions[0]);
        Err(format!("{path}: what --{id} writes is {format}; let the name end in .{extension}"))
    })
}

/// Reads milliseconds as seconds.
fn milliseconds(id: &'static str, min: f64) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| {
        let number = text.trim().trim_end_matches("ms").trim_end().parse().ok();
        let number = number.filter(|ms| (min..=10_000.0).contains(ms));
        number
            .map(|ms| ms / 1000.0)
            .ok_or_else(|| format!("{id} = {text:?} is out of range; use {min} to 10000 ms"))
    }
}

fn decibels(id: &'static str, min: f32, max: f32) -> impl Fn(&str) -> Result<f32, String> + Clone {
    move |text| {
        let number = text.trim().trim_end_matches("dB").trim_end().parse().ok();
        let number = number.filter(|db| (min..=max).contains(db));
        number.ok_or_else(|| format!("{id} = {text:?} is out of range; use {min} to {max} dB"))
    }
}

/// Listens once, and writes all that is asked for.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let settings = args.sound.settings()?;
    args.png.iter().chain(&args.midi).try_for_each(|path| refuse_terminal(path))?;
    let create = |path: &Option<PathBuf>| {
        let create = |path: &PathBuf| Output::create(path, &args.input, args.force);
        path.as_ref().map(create).transpose()
    };
    let [png, csv, json, mid] =
        [create(&args.png)?, create(&args.csv)?, create(&args.json)?, create(&args.midi)?];

    let title = args.input.file_name().unwrap_or_default().to_string_lossy();
    let mut plot = None;
    let mut transcriber = mid.as_ref().map(|_| {
        Transcriber::new(Options {
            threshold: args.midi_threshold,
            hysteresis: args.midi_hysteresis,
            shortest: args.midi_shortest,
        })
    });
    let mut tables = Vec::new();
    for (output, syntax) in [(&csv, Syntax::Csv), (&json, Syntax::Json)] {
        if let Some(output) = output {
            let written = |source| unwritable(output.path(), source);
            tables.push((
                output,
                Table::new(BufWriter::new(output.file()), syntax).map_err(written)?,
            ));
        }
    }
    let seconds = listen(&args.input, &settings, args.hop, |hop, bands| {
        if png.is_some() {
            plot.get_or_insert_with(|| Plot::new(title.clone(), hop)).push(bands);
        }
        if let Some(transcriber) = &mut transcriber {
            transcriber.push(hop, bands);
        }
        tables.iter_mut().try_for_each(|(output, table)| {
            table.push(hop, bands).map_err(|source| unwritable(output.path(), source))
        })
    })?;

    for (output, table) in tables {
        table.finish().map_err(|source| unwritable(output.path(), source))?;
    }
    let picture = plot.map(|plot| plot.png());
    let sounding = settings.sounding_bands();
    let song = transcriber.map(|transcriber| {
        let mut notes = transcriber.finish();
        notes.retain(|note| sounding.contains(note.tone));
        midi(&notes, settings.transpose)
    });
    for (output, content) in [(&png, picture), (&mid, song)] {
        if let (Some(output), Some(content)) = (output, content) {
            let written = output.file().write_all(&content);
            written.map_err(|source| unwritable(output.path(), source))?;
        }
    }
    let outputs = [png, csv, json, mid].into_iter().flatten();
    let mut names = Vec::new();
    for output in outputs {
        names.push(output.path().display().to_string());
        output.commit()?;
    }
    if !args.quiet {
        eprintln!("{} -> {}: {seconds:.2} s", args.input.display(), names.join(", "));
    }
    Ok(())
}

fn unwritable(path: &Path, source: io::Error) -> Error {
    Error::Write { path: path.into(), source }
}
