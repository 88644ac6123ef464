//! Verb `bench`: speed of the filter with each kernel.

mod measure;
mod report;

use super::entries::{entry, voices};
use clap::ValueHint;
use measure::measure;
use report::Report;
use std::path::{Path, PathBuf};
use tone_filter_dsp::{Kernel, quantity};
use tone_filter_offline::{Input, Source, xorshift::xorshift};

/// Measure how fast this computer filters, with every kernel it can run
///
/// The kernels take turns, a stretch of the signal each, and the fastest turn of each counts: other load
/// on the computer then affects all of them alike. The turns end when ten in a row have made none
/// of them faster.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  tone-filter bench --wav song.wav --seconds 60
  tone-filter bench --json > before.json; tone-filter bench --against before.json")]
pub struct Args {
    /// Seconds of audio for each kernel at least [default: 20 million samples]
    #[arg(long, value_name = "S", value_parser = seconds)]
    seconds: Option<f64>,
    /// Measure only this kernel; may be given again
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<Kernel>,
    /// Filter this recording instead of white noise
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    wav: Option<PathBuf>,
    /// Measure with this voice
    #[arg(long, value_name = "NAME", default_value = "soft", value_parser = |text: &str| entry(voices(), text))]
    voice: usize,
    /// Compare with the report of another run, from --json
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "json")]
    against: Option<PathBuf>,
    /// Print a report for programs
    #[arg(long)]
    json: bool,
}

/// Default of the minimum number of samples that each kernel filters.
const SAMPLES: usize = 20_000_000;
/// Maximum length of a turn in samples.
const TURN: usize = 500_000;
/// Minimum number of turns of each kernel.
const TURNS: usize = 10;
/// Sample rate in Hz at which noise is filtered.
const NOISE_RATE: f64 = 44_100.0;

pub fn run(args: &Args) -> anyhow::Result<()> {
    let against = args.against.as_deref().map(Report::read).transpose()?;
    let asked = |rate: f64| args.seconds.map_or(SAMPLES, |length| (length * rate).ceil() as usize);
    let (rate, signal) = match &args.wav {
        Some(path) => recording(path, asked)?,
        None => (NOISE_RATE, noise(turn(asked(NOISE_RATE)))),
    };
    let turns = asked(rate).div_ceil(signal.len());
    let kernels =
        if args.kernels.is_empty() { Kernel::available().collect() } else { args.kernels.clone() };
    let voice = voices().entries[args.voice].0;
    let source = args.wav.as_ref().map_or("noise".into(), |path| path.display().to_string());
    let description = format!("{voice} with {source}");
    if let (Some(Report { signal: other, .. }), Some(path)) = (&against, &args.against) {
        let path = path.display();
        anyhow::ensure!(
            description == *other,
            "{path}: it is of {other}, this run of {description}"
        );
    }
    let report = Report::new(description, &measure(&kernels, args.voice, rate, &signal, turns)?);
    if args.json { report.print_json() } else { report.print(against.as_ref()) }
}

/// Returns the length of a turn in samples, if each kernel filters `samples` samples in all.
fn turn(samples: usize) -> usize {
    samples.div_ceil(TURNS).min(TURN)
}

/// Returns `samples` samples of white noise with a peak of -6 dB full scale.
fn noise(samples: usize) -> Vec<f32> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let next = || (xorshift(&mut state) as i64 as f64 / 2f64.powi(64)) as f32;
    std::iter::repeat_with(next).take(samples).collect()
}

/// Reads the start of a recording, at most one turn long. Returns its sample rate in Hz, and the mean of its channels. `asked`
/// maps the sample rate to the number of samples that each kernel must filter.
fn recording(path: &Path, asked: impl Fn(f64) -> usize) -> anyhow::Result<(f64, Vec<f32>)> {
    let mut source = Source::open(&Input::new(path)?)?;
    let format = source.format();
    let mut channels = vec![Vec::new(); usize::from(format.channels)];
    source.read(&mut channels, turn(asked(f64::from(format.rate))))?;
    let share = 1.0 / f32::from(format.channels);
    let mean = |frame| share * channels.iter().map(|channel| channel[frame]).sum::<f32>();
    let signal: Vec<f32> = (0..channels[0].len()).map(mean).collect();
    anyhow::ensure!(!signal.is_empty(), "{}: holds no audio to measure with", path.display());
    Ok((f64::from(format.rate), signal))
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = quantity(text, "s").filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0);
    seconds.ok_or_else(|| {
        format!("seconds = {text:?} is out of range; use more than 0 and at most 86400 s")
    })
}
