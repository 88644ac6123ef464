//! Verb `play`: filters a file or a microphone and plays it through the speakers.

mod controls;
mod device;
mod engine;
mod screen;

use super::{
    Usage, kernel,
    report::warn_not_finite,
    sound::{Sound, Task, ahead_in_files, live},
};
use clap::{ArgGroup, ValueHint};
use controls::Controls;
use device::{Microphone, Speakers};
use engine::{Feed, play};
use screen::Screen;
use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    sync::{Arc, atomic::Ordering::Relaxed},
    thread,
    time::Duration,
};
use tone_filter_dsp::Kernel;
use tone_filter_offline::{
    Input, Source,
    options::{Looped, Options},
    pass::Pass,
};

/// Play a file, or the signal of a microphone, through the filter and the speakers
#[derive(clap::Args)]
#[command(
    group = ArgGroup::new("what").args(["input", "device", "list_devices"]).required(true),
    after_help = "On a terminal, the bands are shown while it plays, and these keys work:
  Space        pause              Left, Right  5 % less or more of Mix
  Up, Down     another preset     Q, Esc       quit

Examples:
  tone-filter play song.flac
  tone-filter play loop.wav --loop --preset extreme-8-bit
  tone-filter play --device default --mix 100"
)]
pub struct Args {
    /// The file to play: WAV, FLAC, AIFF, CAF, MP3, Ogg Vorbis, MP4 (AAC, ALAC); - for standard input
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    input: Option<PathBuf>,
    /// Play this input device live; `default` for the system's choice
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// The device to play through [default: the system's choice]
    #[arg(long, value_name = "NAME")]
    output_device: Option<String>,
    /// List the devices instead
    #[arg(long, conflicts_with = "output_device")]
    list_devices: bool,
    /// Start again at the end, without a gap
    #[arg(long = "loop", conflicts_with = "device")]
    repeat: bool,
    /// Print errors only, and show no bands
    #[arg(short, long)]
    quiet: bool,
    /// Compute with this kernel of `bench` [default: the fastest]
    #[arg(long, value_name = "NAME")]
    kernel: Option<Kernel>,
    #[command(flatten)]
    sound: Sound,
}

/// Maximum time between two drawings of the screen. A key ends it early.
const FRAME: Duration = Duration::from_millis(33);

/// Length of the output ring in seconds, for a file and for a microphone. It is long for a file, so that load on the computer
/// makes no gaps, and short for a microphone, so that the latency is low.
const WAITING: [f64; 2] = [0.2, 0.04];

/// Plays until the end, or until the user quits.
pub fn run(args: &Args) -> anyhow::Result<()> {
    if args.list_devices {
        return device::list();
    }
    let is_live = args.device.is_some();
    let adapt = if is_live { live } else { ahead_in_files };
    let default = tone_filter_dsp::Controls::default();
    let (sound, keys) = args.sound.read(Task::Filter, default, adapt, args.quiet)?;
    let kernel = kernel(args.kernel);
    let (settings, bypass) = (sound.settings, sound.routing.bypass);
    let looped = Looped::Nothing;
    let mut options = Options { settings, bypass, keys, kernel, looped, ..Options::default() };
    let output = args.output_device.as_deref();
    let controls = Arc::new(Controls::new(&options.settings));
    let interrupted = Arc::clone(&controls);
    ctrlc::set_handler(move || interrupted.quit())?;

    let input = args.input.as_deref().map(Input::new).transpose()?;
    let (speakers, feed) = if let Some(input) = &input {
        let format = Source::open(input)?.format();
        let speakers = Speakers::find(output, format.rate, format.channels)?;
        options.rate = Some(speakers.rate());
        let mut pass = Pass::new(input, &options, 1.0)?;
        pass.repeats = args.repeat;
        (speakers, Feed::File(Box::new(pass)))
    } else {
        let microphone = Microphone::find(args.device.as_deref(), &controls)?;
        let speakers = Speakers::find(output, microphone.rate, microphone.channels)?;
        if speakers.rate() != microphone.rate {
            return Err(Usage(format!(
                "{} works at {} Hz and {} at {} Hz; set both to one rate in the system's settings",
                microphone.device,
                microphone.rate,
                speakers.device,
                speakers.rate()
            ))
            .into());
        }
        (speakers, Feed::microphone(microphone, &options)?)
    };
    let name = args.input.as_ref().map_or("live".into(), |path| path.display().to_string());
    let title = format!("{name} on {}", speakers.device);

    let shown = !args.quiet && io::stdout().is_terminal() && io::stdin().is_terminal();
    let seconds = WAITING[usize::from(is_live)];
    let not_finite = thread::scope(|scope| {
        let (stream, delay, ring) = speakers.start(seconds, &controls)?;
        let engine = scope.spawn(|| play(feed, ring, speakers.rate(), &controls));
        let mut screen = shown.then(|| Screen::open(&title)).transpose()?;
        while !engine.is_finished() {
            match &mut screen {
                Some(screen) => screen.update(&controls, FRAME)?,
                None => thread::sleep(FRAME),
            }
        }
        drop(screen);
        let played = engine.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // Waits until the device has played all samples taken from the ring.
        thread::sleep(delay);
        drop(stream);
        anyhow::Ok(played?)
    })?;
    if let Some(error) = &controls.state().failure {
        anyhow::bail!("{title}: {error}; choose another device of --list-devices");
    }
    if !args.quiet {
        if let Some(input) = &args.input {
            warn_not_finite(input, not_finite);
        }
        let gaps = match controls.gaps.load(Relaxed) {
            0 => String::new(),
            gaps => format!(", {gaps} gaps: the computer was too busy"),
        };
        message!("{title}: {:.2} s{gaps}", controls.state().seconds);
    }
    Ok(())
}
