//! `tone-filter bands`.

use super::{
    Usage,
    progress::Bar,
    refuse_terminal,
    report::{advice, warn_not_finite},
    sound::{Sound, number},
};
use clap::{
    ArgGroup, ValueHint,
    builder::{PathBufValueParser, TypedValueParser},
};
use std::{
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};
use tone_filter_dsp::{BandState, Controls, FoundKey, Kernel, ToneFilter};
use tone_filter_offline::{
    Error, Output, STDIO,
    analyse::{Analysed, analyse},
    clean_up_on_interrupt,
    found::Finder,
    plot::Plot,
    table::{Syntax, Table},
    transcribe::{Transcriber, midi, score as to_score},
};

/// Show which notes are played in a file, as a picture, numbers or MIDI
#[derive(clap::Args)]
#[command(
    group = ArgGroup::new("outputs").args(["png", "csv", "json", "midi", "score"]).multiple(true).required(true),
    after_help = "Examples:
  tone-filter bands song.wav --png song.png
  tone-filter bands song.wav --midi song.mid --sensitivity 70
  tone-filter bands song.wav --png solo.png --keys solo.mid
  tone-filter bands song.flac --midi scale.mid --scale minor-pentatonic --root A
  tone-filter bands song.wav --score song.tfs
  tone-filter bands song.mp3 --csv - --hop 50ms | head"
)]
pub struct Args {
    /// The file to read: WAV, FLAC, AIFF, MP3 or Ogg Vorbis; - for WAV on standard input
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    input: PathBuf,
    /// A picture to write: the notes over time
    #[arg(long, value_name = "OUT.png", value_hint = ValueHint::FilePath, value_parser = named("png", &["png"]))]
    png: Option<PathBuf>,
    /// A table to write: time, the levels of all notes in dB of the total power, and the notes that are played; -
    /// for standard output
    #[arg(long, value_name = "OUT.csv", value_hint = ValueHint::FilePath, value_parser = named("csv", &["csv", "txt"]))]
    csv: Option<PathBuf>,
    /// The same table as JSON, with the state of every note; - for standard output
    #[arg(long, value_name = "OUT.json", value_hint = ValueHint::FilePath, value_parser = named("json", &["json"]))]
    json: Option<PathBuf>,
    /// A MIDI file to write, with the notes that are played; - for standard output
    #[arg(long, value_name = "OUT.mid", value_hint = ValueHint::FilePath, value_parser = named("midi", &["mid", "midi"]))]
    midi: Option<PathBuf>,
    /// A score to write, from which `render --score` and games know the notes of the file; - for standard output
    #[arg(long, value_name = "OUT.tfs", value_hint = ValueHint::FilePath, value_parser = named("score", &["tfs", "txt"]))]
    score: Option<PathBuf>,
    /// Write the notes to --midi as the plugin's MIDI out sends them: at once, short ones too
    #[arg(long, requires = "midi")]
    live: bool,
    /// Time from one moment to the next [1 to 10000 ms]
    #[arg(long, value_name = "ms", default_value = "10", value_parser = hop)]
    hop: f64,
    /// Overwrite outputs that exist
    #[arg(long)]
    force: bool,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
    /// Compute with this kernel of `bench`: it decides the last bits [default: the fastest]
    #[arg(long, value_name = "NAME")]
    kernel: Option<Kernel>,
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
fn hop(text: &str) -> Result<f64, String> {
    number("hop", text, "ms", 1.0..=10_000.0).map(|ms| ms / 1000.0)
}

/// Analyses the file once, and writes all outputs.
pub fn run(args: &Args) -> anyhow::Result<()> {
    // Whatever the focus, the decisions are what is written.
    let (Controls { settings, .. }, keys) = args.sound.read(|_| true, args.quiet)?;
    let outputs = [&args.png, &args.csv, &args.json, &args.midi, &args.score].into_iter().flatten();
    if outputs.filter(|path| *path == Path::new(STDIO)).count() > 1 {
        let line = "- stands for one output; name files for the others";
        return Err(Usage(line.into()).into());
    }
    args.png.iter().chain(&args.midi).try_for_each(|path| refuse_terminal(path))?;
    clean_up_on_interrupt(|| ())?;
    let create = |path: &Option<PathBuf>| {
        let create = |path: &PathBuf| Output::create(path, &args.input, args.force);
        path.as_ref().map(create).transpose()
    };
    let [png, csv, json] = [create(&args.png)?, create(&args.csv)?, create(&args.json)?];
    let [mid, score] = [create(&args.midi)?, create(&args.score)?];

    let title = args.input.file_name().unwrap_or_default().to_string_lossy();
    let mut plot = None;
    let mut transcriber = mid.as_ref().map(|_| Transcriber::new(args.live));
    let mut scribe = score.as_ref().map(|_| Transcriber::new(false));
    let mut tables = Vec::new();
    for (output, syntax) in [(&csv, Syntax::Csv), (&json, Syntax::Json)] {
        if let Some(output) = output {
            let table = Table::new(BufWriter::new(output.file()), syntax, &settings);
            tables.push((output, table.map_err(|source| Error::writing(output.path(), source))?));
        }
    }
    let mut finder = Finder::default();
    let write_down = |filter: &ToneFilter| {
        finder.push(filter);
        transcriber.iter_mut().chain(&mut scribe).for_each(|own| own.push(filter));
    };
    let bar = Bar::new(&title, args.quiet);
    let (mut silent, mut lit) = (true, false);
    let Analysed { seconds, not_finite } = analyse(
        &args.input,
        (&settings, &keys),
        super::kernel(args.kernel),
        args.hop,
        write_down,
        |hop, bands| {
            silent &= bands.total_power == 0.0;
            lit |= bands.bands.iter().any(|band| band.state != BandState::Inactive);
            if png.is_some() {
                let empty = || Plot::new(title.clone(), hop, &settings);
                plot.get_or_insert_with(empty).push(bands);
            }
            tables.iter_mut().try_for_each(|(output, table)| {
                table.push(hop, bands).map_err(|source| Error::writing(output.path(), source))
            })
        },
        |part| bar.move_to(part),
    )?;
    drop(bar);

    let found = finder.found(&settings);
    for (output, table) in tables {
        table.finish(not_finite, &found).map_err(|source| Error::writing(output.path(), source))?;
    }
    let picture = plot.map(|plot| plot.png());
    let song =
        transcriber.map(|transcriber| midi(&transcriber.finish(seconds), settings.pitch_shift()));
    let notes = scribe.map(|scribe| to_score(&scribe.finish(seconds)).to_string().into_bytes());
    for (output, content) in [(&png, picture), (&mid, song), (&score, notes)] {
        if let (Some(output), Some(content)) = (output, content) {
            let written = output.file().write_all(&content);
            written.map_err(|source| Error::writing(output.path(), source))?;
        }
    }
    let outputs = [png, csv, json, mid, score].into_iter().flatten();
    let mut names = Vec::new();
    for output in outputs {
        names.push(output.path().display().to_string());
        output.commit()?;
    }
    if !args.quiet {
        warn_not_finite(&args.input, not_finite);
        if !silent && !lit {
            message!("warning: {}: {}", args.input.display(), advice(&settings));
        }
        let key = found.key.filter(FoundKey::is_certain);
        let key = key.map_or(String::new(), |key| format!(", {key}"));
        let tuning = found.tuning.map_or(String::new(), |hertz| format!(", A4 = {hertz:.1} Hz"));
        let (input, names) = (args.input.display(), names.join(", "));
        message!("{input} -> {names}: {seconds:.2} s{key}{tuning}");
    }
    Ok(())
}
