//! `tone-filter bands`.

mod files;
mod one;

use super::{
    Usage,
    inputs::{Inputs, print_repeated},
    progress::Bar,
    refuse_terminal, report,
    sound::{Sound, Task, number},
};
use clap::{
    ArgGroup, ValueHint,
    builder::{PathBufValueParser, TypedValueParser},
};
use files::{File, Files};
use one::{Done, analyse_one};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};
use tone_filter_dsp::{Controls, Kernel, NoteValue, Settings};
use tone_filter_offline::{Error, STDIO, batch::on_all_cores, clean_up_on_interrupt};

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
    inputs: Inputs,
    /// A picture to write: the notes over time; for several inputs the folder for their pictures, and so with the other
    /// outputs
    #[arg(long, value_name = "OUT.png", value_hint = ValueHint::AnyPath, value_parser = named(0))]
    png: Option<PathBuf>,
    /// A table to write: time, the levels of all notes in dB of the total power, and the notes that are played; -
    /// for standard output
    #[arg(long, value_name = "OUT.csv", value_hint = ValueHint::AnyPath, value_parser = named(1))]
    csv: Option<PathBuf>,
    /// The same table as JSON, with the state of every note; - for standard output
    #[arg(long, value_name = "OUT.json", value_hint = ValueHint::AnyPath, value_parser = named(2))]
    json: Option<PathBuf>,
    /// A MIDI file to write, with the notes that are played; - for standard output
    #[arg(long, value_name = "OUT.mid", value_hint = ValueHint::AnyPath, value_parser = named(3))]
    midi: Option<PathBuf>,
    /// A score to write, from which `render --score` and games know the notes of the file; - for standard output
    #[arg(long, value_name = "OUT.tfs", value_hint = ValueHint::AnyPath, value_parser = named(4))]
    score: Option<PathBuf>,
    /// Write the notes to --midi as the plugin's MIDI out sends them: at once, short ones too
    #[arg(long, requires = "midi")]
    live: bool,
    /// Arrange the notes of --midi on sixteenths, in tracks for lead, chords, bass and drums
    #[arg(long, requires = "midi", conflicts_with_all = ["live", "quantize"])]
    parts: bool,
    /// Move the notes of --midi to the nearest step of a note value, like 1/16; 1/16,1/8t for triplets, too
    #[arg(long, value_name = "STEP", requires = "midi", value_delimiter = ',', value_parser = step)]
    quantize: Option<Vec<NoteValue>>,
    /// Share of the way to the nearest step that --quantize moves notes [0 to 100 %]
    #[arg(long, value_name = "%", default_value = "100", requires = "quantize", value_parser = strength)]
    strength: f64,
    /// Time from one moment to the next [1 to 10000 ms]
    #[arg(long, value_name = "ms", default_value = "10", value_parser = hop)]
    hop: f64,
    /// Overwrite outputs that exist
    #[arg(long)]
    force: bool,
    /// Leave outputs that exist as they are: go on after an interruption
    #[arg(long, conflicts_with = "force")]
    skip_existing: bool,
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Print a line for every file
    #[arg(short, long)]
    verbose: bool,
    /// Compute with this kernel of `bench`: it decides the last bits [default: the fastest]
    #[arg(long, value_name = "NAME")]
    kernel: Option<Kernel>,
    #[command(flatten)]
    sound: Sound,
}

/// A kind of output.
struct Format {
    /// Name of the flag, without `--`.
    id: &'static str,
    /// Extensions that names of outputs may have; generated names get the first one.
    extensions: &'static [&'static str],
}

const FORMATS: [Format; 5] = [
    Format { id: "png", extensions: &["png"] },
    Format { id: "csv", extensions: &["csv", "txt"] },
    Format { id: "json", extensions: &["json"] },
    Format { id: "midi", extensions: &["mid", "midi"] },
    Format { id: "score", extensions: &["tfs", "txt"] },
];

/// Parses the path of a folder, or of a file whose extension is missing or fits `format`, an index of [`FORMATS`].
fn named(format: usize) -> impl TypedValueParser<Value = PathBuf> {
    let Format { id, extensions } = FORMATS[format];
    PathBufValueParser::new().try_map(move |path| {
        let own = path.extension().map(|own| own.to_string_lossy().to_lowercase());
        if own.is_none_or(|own| extensions.contains(&&*own)) || path.is_dir() {
            return Ok(path);
        }
        let (path, format, extension) = (path.display(), id.to_uppercase(), extensions[0]);
        Err(format!("{path}: --{id} writes {format}; use .{extension}"))
    })
}

/// Parses a step of the grid for notes.
fn step(text: &str) -> Result<NoteValue, String> {
    let step = NoteValue::try_from(text.to_owned()).ok().filter(|step| step.beats().is_some());
    step.ok_or_else(|| {
        format!("'{text}' is not a step; use 1/4, 1/8, 1/16 or 1/32, with a t for triplets")
    })
}

/// Parses the strength of the grid in percent.
fn strength(text: &str) -> Result<f64, String> {
    number("strength", text, "%", 0.0..=100.0)
}

/// Parses a hop in milliseconds; returns seconds.
fn hop(text: &str) -> Result<f64, String> {
    number("hop", text, "ms", 1.0..=10_000.0).map(|ms| ms / 1000.0)
}

impl Args {
    /// Returns the path given for `format`, if any.
    fn output(&self, format: &Format) -> Option<&Path> {
        match format.id {
            "png" => self.png.as_deref(),
            "csv" => self.csv.as_deref(),
            "json" => self.json.as_deref(),
            "midi" => self.midi.as_deref(),
            _ => self.score.as_deref(),
        }
    }
}

/// Result of analysing a file; `None` if it was skipped, because all its outputs already existed (`--skip-existing`).
type Fate = Result<Option<Done>, Error>;

/// Analyses each file once, and writes all its outputs. Returns whether every file is done.
pub fn run(args: &Args) -> anyhow::Result<bool> {
    // Always with lookahead: the outputs show the listener's decisions, whatever the focus.
    let ahead = |settings| Settings { lookahead: true, ..settings };
    let task = if args.midi.is_some() { Task::WriteMidi } else { Task::Filter };
    let (Controls { settings, .. }, keys) =
        args.sound.clone().for_task(task).read(ahead, args.quiet)?;
    let outputs = FORMATS.iter().filter_map(|format| args.output(format));
    if outputs.filter(|path| *path == Path::new(STDIO)).count() > 1 {
        let line = "- stands for one output; name files for the others";
        return Err(Usage(line.into()).into());
    }
    args.png.iter().chain(&args.midi).try_for_each(|path| refuse_terminal(path))?;
    let named = args.inputs.read()?;
    let Files { all, repeated, left_out } = Files::new(args, &named)?;
    let (count, done) = (all.len(), Arc::new(AtomicUsize::new(0)));
    let one_file = named.all.len() == 1 && count == 1;
    let report_all = !args.quiet && (args.verbose || one_file);
    if !args.quiet {
        print_repeated(&repeated);
    }
    let (reports, so_far) = (!args.quiet && !one_file, Arc::clone(&done));
    clean_up_on_interrupt(move || {
        if reports {
            let done = so_far.load(Relaxed);
            message!("interrupted: {done} of {count} files done; --skip-existing goes on");
        }
    })?;

    let title = match &all[..] {
        [only] => only.input.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        _ => format!("{count} files"),
    };
    let (bar, start) = (Bar::new(&title, args.quiet), Instant::now());
    let workers = args.inputs.workers(count);
    let fates = on_all_cores(all, workers, |_, mut file| {
        let progress = |part: f64| {
            if count == 1 {
                bar.move_to(part);
            }
        };
        let fate = match file.failed.take() {
            Some(error) => Err(error),
            None if file.outputs.iter().all(Option::is_none) => Ok(None),
            None => analyse_one(args, &file, (&settings, &keys), progress),
        };
        bar.move_to((1 + done.fetch_add(1, Relaxed)) as f64 / count as f64);
        bar.suspend(|| print(&file, &fate, report_all, args.quiet));
        fate
    });
    drop(bar);
    let failed = fates.iter().filter(|fate| fate.is_err()).count();
    if args.quiet {
        return Ok(failed == 0);
    }
    report::print_left_out(&left_out, args.verbose);
    report::print_existing(fates.iter().filter_map(|fate| fate.as_ref().err()));
    let all_done = || fates.iter().flatten().flatten();
    if !report_all {
        report::print_unheard(&all_done().map(|done| done.unheard).collect::<Vec<_>>());
    }
    if !one_file {
        let done = all_done().count();
        let skipped = count - done - failed;
        let counted = report::counted([
            (done, "done"),
            (skipped, "skipped"),
            (failed, "failed"),
            (left_out.len(), "left out"),
        ]);
        let (sound, wall) =
            (all_done().map(|done| done.seconds).sum::<f64>(), start.elapsed().as_secs_f64());
        message!("{counted}: {sound:.2} s of audio in {wall:.3} s");
    }
    Ok(failed == 0)
}

/// Prints the outcome of `file` to standard error: errors always, invalid samples unless `quiet`, the rest only if `in_full`.
fn print(file: &File, fate: &Fate, in_full: bool, quiet: bool) {
    let input = file.input.display();
    match fate {
        Err(error) => message!("error: {error}"),
        Ok(Some(done)) => {
            if !quiet {
                report::warn_not_finite(&file.input, done.not_finite);
            }
            if let Some(cause) = done.unheard.filter(|_| in_full) {
                message!("warning: {input}: {cause}");
            }
            if done.short > 0 && in_full {
                let s = if done.short == 1 { "" } else { "s" };
                message!("note: {input}: {} note{s} of less than 70 ms left out", done.short);
            }
            if in_full {
                let names = file.outputs.iter().flatten().map(|path| path.display().to_string());
                message!("{input} -> {}: {done}", names.collect::<Vec<_>>().join(", "));
            }
        }
        Ok(None) if in_full => message!("{input}: all outputs exist, skipped"),
        Ok(None) => {}
    }
}
