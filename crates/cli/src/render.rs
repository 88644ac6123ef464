//! Verb `render`: filters files into WAV or FLAC.

use super::{
    Usage,
    inputs::{InputFlags, is_read_once, print_repeated},
    kernel,
    outputs::Outputs,
    progress::Progress,
    refuse_terminal, report,
    sound::{Sound, Task, ahead_in_files, live, note_left_out, number},
};
use clap::{
    ValueHint,
    builder::{PossibleValuesParser, TypedValueParser},
};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};
use tone_filter_dsp::{Controls, Kernel, quantity};
use tone_filter_offline::{
    STDIO,
    batch::{Fate, Inputs, Plan, Request, run as run_batch},
    clean_up_on_interrupt,
    container::Container,
    options::{Looped, Options, Tail},
    score::read_score,
    wav::Depth,
};
use tone_filter_presets::Preset;

/// Run files through the filter, one or ten thousand
#[derive(Clone, clap::Args)]
#[command(after_help = "Examples:
  tone-filter render song.wav -o hacked.wav
  tone-filter render song.wav -o extreme.wav --preset extreme-8-bit --mix 80
  tone-filter render song.flac -o dark.wav --threshold -45 --tone 2kHz --release 0.1s
  tone-filter render song.wav -o solo.wav --mix 100 --keys solo.mid
  tone-filter render samples/ -o hacked/ --skip-existing
  tone-filter render drums/*.wav --suffix -8bit --normalize-peak -1
  tone-filter render song.wav -o 'out/{name}-{preset}.wav' --preset organ,arcade,nes-lead
  ffmpeg -i film.mkv -f wav - | tone-filter render - -o - | play -")]
pub struct Args {
    #[command(flatten)]
    inputs: InputFlags,
    #[command(flatten)]
    outputs: Outputs,
    /// Bits a sample of the output, dithered if 16 or fewer than the input's [default: as the input]
    #[arg(long, value_name = "BITS", value_parser = bit_depth(), help_heading = "Output")]
    bit_depth: Option<Depth>,
    /// Round without dither
    #[arg(long, help_heading = "Output")]
    no_dither: bool,
    /// Sample rate of the output in Hz [default: as the input]
    #[arg(long, value_name = "HZ", value_parser = sample_rate, help_heading = "Output")]
    sample_rate: Option<u32>,
    /// Change the volume so that the loudest sample of the output has this level, like -1 [-60 to 0 dB full scale]
    #[arg(long, value_name = "DB", allow_hyphen_values = true, value_parser = peak, help_heading = "Output")]
    normalize_peak: Option<f32>,
    /// Sound after the end of the input: nothing, so that lengths and loops stay as they are; a number of
    /// seconds; or until it is inaudible
    #[arg(long, value_name = "none|auto|SECONDS", default_value = "none", value_parser = tail, help_heading = "Output")]
    tail: Tail,
    /// Treat files without a loop of their own (chunk smpl) as loops: the end goes on into the start
    #[arg(long = "loop", help_heading = "Output")]
    looped: bool,
    /// Write no titles, covers, markers and the like
    #[arg(long, help_heading = "Output")]
    strip_metadata: bool,
    /// Compute with this kernel of `bench`: it decides the last bits [default: the fastest]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    kernel: Option<Kernel>,
    /// Give outputs the time of their inputs' last change
    #[arg(long, help_heading = "Output")]
    keep_mtime: bool,
    /// Overwrite outputs that exist
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Leave outputs that exist as they are: go on after an interruption
    #[arg(long, conflicts_with = "force", help_heading = "Output")]
    skip_existing: bool,

    /// Only print what would be done
    #[arg(long, help_heading = "Report")]
    dry_run: bool,
    /// A report on every file as JSON on standard output
    #[arg(long, help_heading = "Report")]
    json: bool,
    /// Print errors only
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Report")]
    quiet: bool,
    /// Print a line for every file
    #[arg(short, long, help_heading = "Report")]
    verbose: bool,
    /// Take the notes of the input from this file instead of detecting them: a score of `bands --score`, or a MIDI file
    #[arg(long, value_name = "FILE.tfs|FILE.mid", value_hint = ValueHint::FilePath)]
    score: Option<PathBuf>,
    #[command(flatten)]
    sound: Sound,
}

fn bit_depth() -> impl TypedValueParser<Value = Depth> {
    PossibleValuesParser::new(["16", "24", "32f"]).map(|text| match &*text {
        "16" => Depth::Int16,
        "24" => Depth::Int24,
        _ => Depth::Float32,
    })
}

/// Parses a frequency in Hz or kHz.
fn sample_rate(text: &str) -> Result<u32, String> {
    number("sample-rate", text, "Hz", 1000.0..=768_000.0).map(|rate| rate.round() as u32)
}

fn peak(text: &str) -> Result<f32, String> {
    number("normalize-peak", text, "dB", -60.0..=0.0).map(|peak| peak as f32)
}

fn tail(text: &str) -> Result<Tail, String> {
    match text {
        "none" => Ok(Tail::None),
        "auto" => Ok(Tail::Auto),
        _ => {
            let seconds = quantity(text, "s").filter(|seconds| (0.0..=3600.0).contains(seconds));
            seconds.map(Tail::Seconds).ok_or_else(|| {
                format!("tail = {text:?} is unknown; use none, auto or 0 to 3600 seconds")
            })
        }
    }
}

/// Progress of the batch that is running, for the handler of interruptions; `None` before the first batch.
type Running = Arc<Mutex<Option<Arc<Progress>>>>;

/// Renders with each preset, and prints the results, or the plans of a dry run. Returns true if no file failed.
pub fn run(args: &Args) -> anyhow::Result<bool> {
    let running = Running::default();
    let interrupted = running.clone();
    clean_up_on_interrupt(move || {
        let progress = interrupted.lock().unwrap_or_else(PoisonError::into_inner);
        progress.iter().for_each(|progress| progress.interrupted());
    })?;
    let variants = args.variants()?;
    let named = args.inputs.read()?;
    if variants.len() > 1 {
        let mut read_again = named.all.iter().chain(&args.score).chain(&args.sound.keys);
        if let Some(pipe) = read_again.find(|path| is_read_once(path)) {
            let pipe = pipe.display();
            let line = format!("{pipe}: can be read once only; give one preset, or name a file");
            return Err(Usage(line).into());
        }
    }
    variants[0].check_outputs(&named)?;
    let options: Vec<Options> = variants.iter().map(Args::options).collect::<Result<_, _>>()?;
    let requests: Vec<Request> = variants.iter().map(|args| args.request(&named)).collect();
    let plans = requests.iter().map(|request| Plan::new(request, &requests));
    let plans: Vec<Plan> = plans.collect::<Result<_, _>>()?;
    let mut done = true;
    for ((args, options), plan) in variants.iter().zip(options).zip(plans) {
        done &= run_one(args, options, plan, &named, &running)?;
    }
    Ok(done)
}

/// Returns whether `path` does not exist and is not a pattern.
fn is_new(path: &Path) -> bool {
    !path.exists() && !path.to_string_lossy().contains(['*', '?', '['])
}

/// Renders the files of `plan` with one preset, or prints the plan of a dry run. Returns true if no file failed.
fn run_one(
    args: &Args,
    mut options: Options,
    mut plan: Plan,
    named: &Inputs,
    running: &Running,
) -> anyhow::Result<bool> {
    if args.json && plan.jobs.iter().any(|job| job.output == Path::new(STDIO)) {
        let line = "--json: the report would be mixed with the sound on standard output; give --out a file";
        return Err(Usage(line.into()).into());
    }
    if !args.quiet {
        print_repeated(&plan.repeated);
    }
    if args.dry_run {
        return args.dry_run(&plan);
    }
    plan.jobs.iter().try_for_each(|job| refuse_terminal(&job.output))?;

    let workers = args.inputs.workers(plan.jobs.len());
    let one_file = named.all.len() == 1 && plan.jobs.len() + plan.decided().count() == 1;
    let list_files = !args.quiet && (args.verbose || one_file);
    options.explain = list_files;
    options.ahead = args.inputs.workers(usize::MAX) > plan.jobs.len();
    for outcome in plan.decided() {
        report::print(outcome, list_files, args.quiet);
    }
    let progress = Arc::new(Progress::new(&plan, workers, args.quiet, list_files));
    *running.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&progress));
    let left_out = std::mem::take(&mut plan.left_out);
    let start = Instant::now();
    let outcomes = run_batch(plan, &options, workers, &*progress);
    progress.clear();
    let summary = report::Summary::new(&outcomes, &left_out, start.elapsed().as_secs_f64());
    if !(args.quiet || list_files) {
        let reports = outcomes.iter().filter_map(|outcome| match &outcome.fate {
            Fate::Done(report) => Some(report.unheard),
            _ => None,
        });
        report::print_silence_reasons(&reports.collect::<Vec<_>>());
    }
    if !args.quiet {
        report::print_left_out(&left_out, args.verbose);
        report::print_existing(outcomes.iter().filter_map(|outcome| match &outcome.fate {
            Fate::Failed(error) => Some(error),
            _ => None,
        }));
    }
    if !(args.quiet || one_file && summary.failed > 0) {
        message!("{summary}");
    }
    if args.json {
        let json = report::json(&outcomes, &left_out, &summary);
        unless_closed(writeln!(io::stdout(), "{json:#}"))?;
    }
    Ok(summary.failed == 0)
}

/// Returns what was `written` to standard output; no error if its reader has closed it, so that the rest is still rendered.
fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if crate::is_broken_pipe(&error) => Ok(()),
        _ => written,
    }
}

impl Args {
    /// Returns a copy of the arguments for each preset of `--preset`. In the outputs of a copy, the name of its preset replaces
    /// the placeholder.
    ///
    /// # Errors
    /// If one of several presets does not exist, if two would have the same outputs, or if a placeholder is in the wrong
    /// position.
    fn variants(&self) -> anyhow::Result<Vec<Self>> {
        let given = self.sound.preset.clone().unwrap_or_default();
        // A comma separates presets, unless a preset of the user has the whole text as its name.
        let presets: Vec<&str> = match given.contains(',') && Preset::find(&given).is_err() {
            true => given.split(',').map(str::trim).collect(),
            false => vec![&given],
        };
        if presets.len() > 1 {
            self.outputs.check_for_several_presets(&presets)?;
            presets.iter().try_for_each(|preset| Preset::find(preset).map(drop))?;
        }
        let variant = |preset: &&str| {
            let mut variant = self.clone();
            variant.outputs = self.outputs.named_after(preset)?;
            variant.sound.preset = self.sound.preset.as_ref().map(|_| (*preset).to_owned());
            Ok(variant)
        };
        presets.iter().map(variant).collect()
    }

    fn check_outputs(&self, named: &Inputs) -> Result<(), Usage> {
        if !self.outputs.are_missing() {
            return Ok(());
        }
        let missing =
            "no output; give --out FILE or FOLDER, or --suffix TEXT to write beside the inputs";
        Err(Usage(match &named.all[..] {
            [_, .., last] if !named.has_list && is_new(last) => {
                let last = last.display();
                format!("{last}: input not found; to write it, give -o {last}")
            }
            _ => missing.into(),
        }))
    }

    fn request<'a>(&'a self, named: &'a Inputs) -> Request<'a> {
        Request {
            inputs: named,
            out: self.outputs.out.as_deref(),
            extensions: self.outputs.container().extensions(),
            suffix: self.outputs.suffix.as_deref().unwrap_or_default(),
            named_after_preset: self.outputs.named_after_preset,
            force: self.force,
            skip_existing: self.skip_existing,
        }
    }

    /// Prints the plan. Returns true if no file has failed yet.
    fn dry_run(&self, plan: &Plan) -> anyhow::Result<bool> {
        let mut stdout = io::stdout().lock();
        plan.decided().for_each(|outcome| report::print(outcome, !self.quiet, self.quiet));
        if !self.quiet {
            report::print_left_out(&plan.left_out, self.verbose);
        }
        if self.json {
            unless_closed(writeln!(stdout, "{:#}", report::json_of_plan(plan)))?;
        } else {
            for job in &plan.jobs {
                let line = format!("{} -> {}", job.input.display(), job.output.display());
                unless_closed(writeln!(stdout, "{}", crate::messages::escaped(&line)))?;
            }
        }
        Ok(!plan.decided().any(|outcome| matches!(outcome.fate, Fate::Failed(_))))
    }

    fn options(&self) -> anyhow::Result<Options> {
        if self.bit_depth == Some(Depth::Float32) && self.outputs.container() == Container::Flac {
            let line =
                "FLAC has no floating point; use --bit-depth 24, or end the name of --out in .wav";
            return Err(Usage(line.into()).into());
        }
        // With a score, the filter knows the notes in advance, and needs no lookahead.
        let (task, adapt): (_, fn(_) -> _) = match self.score {
            Some(_) => (Task::PlayScore, live),
            None => (Task::Filter, ahead_in_files),
        };
        let (Controls { settings, routing }, keys) =
            self.sound.read(task, Controls::default(), adapt, self.quiet)?;
        let read = self.score.as_deref().map(|path| read_score(path, self.sound.drums));
        let read = read.transpose()?;
        if let (Some(path), Some((_, left_out)), false) = (&self.score, &read, self.quiet) {
            note_left_out(path, left_out.as_deref());
        }
        let score = read.map(|(score, _)| Arc::new(score));
        if score.is_some() && settings.focus == 0.0 {
            return Err(
                Usage("score has no effect with a focus of 0 %; add --focus 100".into()).into()
            );
        }
        Ok(Options {
            settings,
            bypass: routing.bypass,
            keys,
            score,
            depth: self.bit_depth,
            rate: self.sample_rate,
            tail: self.tail,
            looped: if self.looped { Looped::Whole } else { Looped::Own },
            strip_metadata: self.strip_metadata,
            normalize: self.normalize_peak,
            no_dither: self.no_dither,
            kernel: kernel(self.kernel),
            force: self.force,
            keep_mtime: self.keep_mtime,
            loudness: self.json,
            ahead: false,
            explain: false,
        })
    }
}
