//! `tone-filter render`.

use super::sound::Sound;
use clap::{ValueEnum, ValueHint};
use std::path::PathBuf;
use tone_filter::offline::{
    render::{Options, Report, render},
    wav::Depth,
};

/// Run a WAV file through the filter
#[derive(clap::Args)]
#[command(after_help = "Examples:
  tone-filter render song.wav -o hacked.wav
  tone-filter render song.wav -o hacked.wav --preset extreme-8-bit --mix 80
  tone-filter render song.wav -o hacked.wav --threshold -45 --tone 8kHz --release 0.1s
  tone-filter render song.wav -o hacked.wav --bit-depth 32f --force")]
pub struct Args {
    /// The WAV file to read: 8, 16, 24 or 32-bit integer or 32-bit float, any number of channels
    #[arg(value_name = "IN.wav", value_hint = ValueHint::FilePath)]
    input: PathBuf,
    /// The WAV file to write
    #[arg(short, long = "out", value_name = "OUT.wav", value_hint = ValueHint::FilePath)]
    out: PathBuf,
    /// Bits a sample of the output, dithered if fewer than the input's [default: as the input]
    #[arg(long, value_name = "BITS")]
    bit_depth: Option<BitDepth>,
    /// Overwrite the output if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    sound: Sound,
}

#[derive(Clone, Copy, ValueEnum)]
enum BitDepth {
    #[value(name = "16")]
    Int16,
    #[value(name = "24")]
    Int24,
    #[value(name = "32f")]
    Float32,
}

/// Renders, and tells what came of it on stderr.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let depth = args.bit_depth.map(|depth| match depth {
        BitDepth::Int16 => Depth::Int16,
        BitDepth::Int24 => Depth::Int24,
        BitDepth::Float32 => Depth::Float32,
    });
    let options = Options { settings: args.sound.settings()?, depth, force: args.force };
    let report = render(&args.input, &args.out, &options)?;
    tell(args, &report);
    Ok(())
}

fn tell(args: &Args, report: &Report) {
    let (input, out) = (args.input.display(), args.out.display());
    let format = report.format;
    eprintln!(
        "{input} -> {out}: {:.2} s, {} x {} Hz, {}, peak {:.1} dB",
        report.audio_seconds(),
        format.channels,
        format.rate,
        format.depth.name(),
        20.0 * report.peak.log10(),
    );
    eprintln!(
        "{:.2} s of audio in {:.3} s: {:.1} times real time, {:.2} M samples/s",
        report.audio_seconds(),
        report.wall_seconds,
        report.times_real_time(),
        report.mega_samples_per_second(),
    );
    if report.clipped > 0 {
        eprintln!(
            "warning: {out}: {} samples clipped; lower --output by {:.1} dB or use --bit-depth 32f",
            report.clipped,
            20.0 * report.peak.log10() + 0.1,
        );
    }
}
