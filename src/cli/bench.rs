//! `tone-filter bench`.

use super::{progress::Bar, sound::entry};
use crate::xorshift::xorshift;
use clap::ValueHint;
use serde_json::{Value, json};
use std::{
    hint::black_box,
    io::{self, Write},
    path::{Path, PathBuf},
    time::Instant,
};
use tone_filter::{
    dsp::{self, Choice, Settings, ToneFilter, Voice, choice, kernel::Kernel, quantity, reference},
    offline::{Input, Source},
};

/// Measure how fast this computer filters, with every kernel it can run
///
/// The kernels take turns, a stretch of the signal each, and each is judged by its fastest turn: what
/// else the computer does then falls on all of them alike.
#[derive(clap::Args)]
#[command(after_help = "Example:
  tone-filter bench --wav song.wav --seconds 60")]
pub struct Args {
    /// Seconds of audio for each kernel [default: 20 million samples]
    #[arg(long, value_name = "S", value_parser = seconds)]
    seconds: Option<f64>,
    /// Measure only this kernel; may be given again
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<Kernel>,
    /// Filter this recording instead of white noise
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    wav: Option<PathBuf>,
    /// Measure with this voice; only soft is compared with the reference
    #[arg(long, value_name = "NAME", default_value = "soft", value_parser = voice)]
    voice: usize,
    /// Print a report for programs
    #[arg(long)]
    json: bool,
}

const SAMPLES: usize = 20_000_000;
/// Samples a turn.
const TURN: usize = 1_000_000;
/// Samples a call, as an offline renderer has them.
const BLOCK: usize = 4096;
const NOISE_RATE: f64 = 44_100.0;
const RATES: [u32; 3] = [44_100, 48_000, 96_000];
/// The reference is slow; this much of the signal tells how close a kernel comes to it.
const COMPARED_SECONDS: f64 = 2.0;

/// How a kernel did.
struct Score {
    kernel: Kernel,
    samples_per_second: f64,
    /// Of the soft clip: a voice in noise depends on how its phase is read.
    snr: Option<f64>,
}

/// Measures.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let (rate, signal) = match &args.wav {
        Some(path) => recording(path)?,
        None => (NOISE_RATE, noise()),
    };
    let samples = args.seconds.map_or(SAMPLES, |seconds| (seconds * rate).ceil() as usize);
    let turns = samples.div_ceil(signal.len());
    let kernels =
        if args.kernels.is_empty() { Kernel::available().collect() } else { args.kernels.clone() };

    let scores = measure(&kernels, args.voice, rate, &signal, turns)?;
    let scalar = scores.iter().find(|score| score.kernel.name() == "scalar");
    let ratio = |score: &Score| Some(score.samples_per_second / scalar?.samples_per_second);
    let missing: Vec<_> =
        Kernel::NAMES.into_iter().filter(|name| name.parse::<Kernel>().is_err()).collect();
    let mut stdout = io::stdout().lock();
    if args.json {
        let kernels: Vec<Value> = scores.iter().map(|s| s.json(ratio(s))).collect();
        let samples = turns * signal.len();
        let report = json!({ "samples": samples, "kernels": kernels, "missing": missing });
        writeln!(stdout, "{report}")?;
        return Ok(());
    }
    writeln!(
        stdout,
        "kernel    M samples/s   times real time at 44.1 / 48 / 96 kHz   x scalar       SNR"
    )?;
    for score in &scores {
        let [a, b, c] = RATES.map(|rate| score.samples_per_second / f64::from(rate));
        let ratio = ratio(score).map_or("-".to_owned(), |ratio| format!("{ratio:.1}"));
        let snr = score.snr.map_or("-".to_owned(), |snr| format!("{snr:.1} dB"));
        writeln!(
            stdout,
            "{:8} {:12.2} {a:25.0} / {b:5.0} / {c:5.0} {ratio:>12} {snr:>9}",
            score.kernel.name(),
            score.samples_per_second / 1e6,
        )?;
    }
    if !missing.is_empty() {
        writeln!(stdout, "This CPU has no {}.", missing.join(", no "))?;
    }
    Ok(())
}

impl Score {
    fn json(&self, ratio: Option<f64>) -> Value {
        let real_time = RATES
            .map(|rate| (rate.to_string(), (self.samples_per_second / f64::from(rate)).into()));
        json!({
            "name": self.kernel.name(),
            "mega_samples_per_second": self.samples_per_second / 1e6,
            "times_real_time": Value::Object(real_time.into_iter().collect()),
            "ratio_to_scalar": ratio,
            "snr_db": self.snr,
        })
    }
}

/// Lets the kernels filter `signal` in turn.
fn measure(
    kernels: &[Kernel],
    voice: usize,
    rate: f64,
    signal: &[f32],
    turns: usize,
) -> Result<Vec<Score>, dsp::Error> {
    let mut settings = Settings { mix: 100.0, ..Settings::REFERENCE };
    voices().set(&mut settings, voice);
    let exact = settings.voice == Voice::Soft;
    let filter = |kernel| ToneFilter::new(rate, &settings).map(|f| f.with_kernel(kernel));
    let compared = &signal[..signal.len().min((COMPARED_SECONDS * rate) as usize)];
    let truth = reference::process(&settings, rate, &[compared]).remove(0);
    let mut scores = Vec::new();
    let mut filters = Vec::new();
    for &kernel in kernels {
        let mut output = compared.to_vec();
        filter(kernel)?.process(&mut [&mut output]);
        scores.push(Score {
            kernel,
            samples_per_second: 0.0,
            snr: exact.then(|| snr(&truth, &output)),
        });
        filters.push(filter(kernel)?);
    }
    let mut output = vec![0.0; signal.len()];
    let bar = Bar::new("bench", false);
    for turn in 0..turns {
        bar.move_to(turn as f64 / turns as f64);
        for (score, filter) in scores.iter_mut().zip(&mut filters) {
            output.copy_from_slice(signal);
            let start = Instant::now();
            for block in output.chunks_mut(BLOCK) {
                filter.process(&mut [block]);
            }
            black_box(&output);
            let speed = signal.len() as f64 / start.elapsed().as_secs_f64();
            score.samples_per_second = score.samples_per_second.max(speed);
        }
    }
    Ok(scores)
}

/// How far, in dB, the difference of `signal` to `truth` is below `truth`.
fn snr(truth: &[f64], signal: &[f32]) -> f64 {
    let power: f64 = truth.iter().map(|t| t * t).sum();
    let error: f64 = truth.iter().zip(signal).map(|(t, &s)| (t - f64::from(s)).powi(2)).sum();
    10.0 * (power / error).log10()
}

/// A turn of white noise, 6 dB below full scale.
fn noise() -> Vec<f32> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let next = || (xorshift(&mut state) as i64 as f64 / 2f64.powi(64)) as f32;
    std::iter::repeat_with(next).take(TURN).collect()
}

/// The rate of a recording and the mean of its channels, a turn of it at most.
fn recording(path: &Path) -> anyhow::Result<(f64, Vec<f32>)> {
    let mut source = Source::open(&Input::new(path)?)?;
    let format = source.format();
    let mut channels = vec![Vec::new(); usize::from(format.channels)];
    source.read(&mut channels, TURN)?;
    let share = 1.0 / f32::from(format.channels);
    let mean = |frame| share * channels.iter().map(|channel| channel[frame]).sum::<f32>();
    let signal: Vec<f32> = (0..channels[0].len()).map(mean).collect();
    anyhow::ensure!(!signal.is_empty(), "{}: holds no audio to measure with", path.display());
    Ok((f64::from(format.rate), signal))
}

/// The setting that `--voice` is an entry of.
fn voices() -> &'static Choice {
    choice("voice").expect("it is a setting")
}

/// A voice from a flag, as the index of its entry.
fn voice(text: &str) -> Result<usize, String> {
    entry(voices(), text)
}

/// A number of seconds from a flag.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = quantity(text, "s").filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0);
    seconds.ok_or_else(|| {
        format!("seconds = {text:?} is out of range; use more than 0 and at most 86400 s")
    })
}
