//! `tone-filter chip`.

use super::{
    Usage,
    presets::find,
    progress::Bar,
    refuse_terminal,
    report::warn_not_finite,
    sound::{Sound, looks_ahead_in_files, number},
};
use clap::{
    ArgMatches, Command, FromArgMatches, ValueHint,
    builder::{PathBufValueParser, TypedValueParser},
};
use std::{
    io::Write,
    path::{Path, PathBuf},
};
use tone_filter_dsp::{Kernel, Voice};
use tone_filter_offline::{
    Error, Input, Output, STDIO,
    analyse::{Analysed, analyse},
    clean_up_on_interrupt,
    console::{Recorder, Song, TICKS, Tags, nsf, vgm, vgz},
};
use tone_filter_presets::{Preset, ids};

/// Write a file, as the voice Chip plays it, as a song for an 8-bit console
#[derive(clap::Args)]
#[command(after_help = "Examples:
  tone-filter chip song.flac -o song.vgm
  tone-filter chip song.wav -o song.nsf --title \"My Song\" --author Me
  tone-filter chip song.wav -o song.vgz --loop 1.5 --duty 12.5
  tone-filter chip song.mp3 -o scale.vgm --scale minor-pentatonic --root A

NSF is played by VLC, mpv, ffmpeg and foobar2000 with libgme, by Mesen and by the console itself. VGM for this chip is played by VGMPlay and
foobar2000; libgme does not know it.")]
pub struct Args {
    /// The file to read: WAV, FLAC, AIFF, CAF, MP3, Ogg Vorbis, MP4 (AAC, ALAC); - for WAV on standard input
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    input: PathBuf,
    /// The file to write: .vgm, .vgz or .nsf; - for VGM on standard output
    #[arg(short, long = "out", value_name = "OUT", value_hint = ValueHint::FilePath, value_parser = named())]
    out: (PathBuf, Format),
    /// Title of the song [default: the name of IN]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Author of the song
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    author: String,
    /// Repeat the song for ever, from this time on [0 s to the end]
    #[arg(long = "loop", value_name = "s", allow_hyphen_values = true, value_parser = time)]
    repeat: Option<f64>,
    /// Overwrite the output if it exists
    #[arg(long)]
    force: bool,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
    /// Compute with this kernel of `bench`: it decides the last bits [default: the fastest]
    #[arg(long, value_name = "NAME")]
    kernel: Option<Kernel>,
    #[command(flatten)]
    sound: ChipSound,
}

/// Sound flags that have an effect on a console. The defaults are the values of the preset [`PRESET`].
struct ChipSound(Sound);

/// Preset with the default settings.
const PRESET: &str = "sound-chip";

/// Settings without an effect on a console: settings of the mix and of other voices.
const LEFT_OUT: [&str; 7] = ["mix", "output", "drive", "tone", "morph", "bypass", "stereo"];

impl clap::Args for ChipSound {
    fn augment_args(command: Command) -> Command {
        let default = Preset::factory(PRESET).map(|preset| preset.settings).unwrap_or_default();
        Sound::add_flags(command, &default.into(), &LEFT_OUT)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ChipSound {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Sound::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// Format of the output.
#[derive(Debug, Clone, Copy)]
enum Format {
    Vgm,
    /// VGM, compressed with gzip.
    Vgz,
    Nsf,
}

/// Parses a path, and derives the format from its extension.
fn named() -> impl TypedValueParser<Value = (PathBuf, Format)> {
    PathBufValueParser::new().try_map(|path| {
        let extension = path.extension().map(|own| own.to_string_lossy().to_lowercase());
        let format = match extension.as_deref() {
            None if path == Path::new(STDIO) => Format::Vgm,
            Some("vgm") => Format::Vgm,
            Some("vgz") => Format::Vgz,
            Some("nsf") => Format::Nsf,
            _ => {
                let path = path.display();
                return Err(format!("{path}: unsupported output format; use .vgm, .vgz or .nsf"));
            }
        };
        Ok((path, format))
    })
}

/// Returns whether the factory preset `id` has the voice Chip.
fn is_chip(id: &str) -> bool {
    Preset::factory(id).is_some_and(|preset| preset.settings.voice == Voice::Chip)
}

/// Parses a time in seconds.
fn time(text: &str) -> Result<f64, String> {
    number("loop", text, "s", 0.0..=86_400.0)
}

/// Filters the file, and writes the notes of the voice Chip as a song.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let default = find(PRESET, args.quiet)?.settings.into();
    let (controls, keys) = args.sound.0.read_from(default, looks_ahead_in_files, args.quiet)?;
    let settings = controls.settings;
    if settings.voice != Voice::Chip {
        let presets: Vec<_> = ids().filter(|id| is_chip(id)).collect();
        let line = format!(
            "only the voice chip plays on a console; use --voice chip, or a preset that has it: {}",
            presets.join(", ")
        );
        return Err(Usage(line).into());
    }
    let (out, format) = &args.out;
    refuse_terminal(out)?;
    clean_up_on_interrupt(|| ())?;
    let output = Output::create(out, &args.input, args.force)?;

    let mut recorder = Recorder::default();
    let name = args.input.file_name().unwrap_or_default().to_string_lossy();
    let bar = Bar::new(&name, args.quiet);
    let Analysed { seconds, not_finite, unheard } = analyse(
        &Input::new(&args.input)?,
        (&settings, &keys),
        super::kernel(args.kernel),
        0.1,
        |filter| recorder.push(filter),
        |_, _| Ok(()),
        |part| bar.move_to(part),
    )?;
    drop(bar);

    let ticks = recorder.finish(seconds);
    let repeat = args.repeat.map(|time| (time * f64::from(TICKS)).round() as usize);
    if let (Some(time), true) = (args.repeat, repeat >= Some(ticks.len())) {
        let line = format!("loop = {time} s is beyond the end of the song at {seconds:.2} s");
        return Err(Usage(line).into());
    }
    let song = Song::new(&ticks, repeat);
    let stem = || args.input.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let tags = Tags { title: args.title.clone().unwrap_or_else(stem), author: args.author.clone() };
    let file = match format {
        Format::Vgm => vgm(&song, &tags),
        Format::Vgz => vgz(&song, &tags),
        Format::Nsf => nsf(&song, &tags).ok_or_else(|| Error::TooLong(out.clone()))?,
    };
    let cut = matches!(format, Format::Nsf) && !tags.fit_in_nsf();
    let written = output.file().write_all(&file);
    written.map_err(|source| Error::writing(out, source))?;
    output.commit()?;
    if !args.quiet {
        warn_not_finite(&args.input, not_finite);
        if cut {
            message!(
                "warning: {}: NSF stores 31 ASCII letters of title and author; the rest is cut or replaced by ?",
                out.display()
            );
        }
        if let Some(cause) = unheard.filter(|_| song.notes == 0) {
            message!("warning: {}: {cause}", args.input.display());
        }
        let (input, out) = (args.input.display(), out.display());
        let (notes, bytes) = (song.notes, file.len());
        message!("{input} -> {out}: {seconds:.2} s, {notes} notes, {bytes} bytes");
    }
    Ok(())
}
