//! `tone-filter chip`.

use super::{
    Usage,
    presets::find,
    progress::Bar,
    refuse_terminal,
    report::warn_not_finite,
    sound::{Sound, Tempo, looks_ahead_in_files, number},
};
use clap::{
    ArgMatches, Command, FromArgMatches, ValueHint,
    builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser},
};
use std::{
    io::Write,
    path::{Path, PathBuf},
};
use tone_filter_dsp::{Arp, Controls, Kernel, Voice};
use tone_filter_offline::{
    Error, Input, Output, STDIO,
    analyse::{Analysed, analyse},
    arrangement::Arranger,
    clean_up_on_interrupt,
    console::{Recorder, Song, TICKS, Tags, nsf, vgm, vgz},
    tracker::{self, Chip, Module, famitracker, furnace},
};
use tone_filter_presets::{Preset, ids};

/// Write a file as a song for an 8-bit console, or for a tracker
#[derive(clap::Args)]
#[command(after_help = "Examples:
  tone-filter chip song.flac -o song.vgm
  tone-filter chip song.wav -o song.nsf --title \"My Song\" --author Me
  tone-filter chip song.wav -o song.vgz --loop 1.5 --duty 12.5
  tone-filter chip song.mp3 -o scale.vgm --scale minor-pentatonic --root A
  tone-filter chip song.wav -o song.fur
  tone-filter chip song.wav -o gb.fur --chip gb --arp up
  tone-filter chip song.wav -o gb.vgm --chip gb
  tone-filter chip song.wav -o famitracker.txt

For the NES, VGM and NSF are what the voice Chip plays. For a tracker, and for the VGM of another chip, the notes are arranged as lead,
harmony, bass and drums, on the rows of the song's beats: .fur for Furnace 0.6.3 and later, .txt for FamiTracker 0.4.6 (File > Import
text), its successors and FamiStudio. There, chords are fast arpeggios unless --arp says otherwise, --voices has no effect, and --loop
goes back to the start of a pattern.
NSF is played by VLC, mpv, ffmpeg and foobar2000 with libgme, by Mesen and by the console itself. VGM is played by VGMPlay and foobar2000;
libgme, and so VLC, mpv and ffmpeg, knows only VGM of the Master System.")]
pub struct Args {
    /// The file to read: WAV, FLAC, AIFF, CAF, MP3, Ogg Vorbis, MP4 (AAC, ALAC); - for WAV on standard input
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    input: PathBuf,
    /// The file to write: .vgm, .vgz, .nsf, .fur or .txt; - for VGM on standard output
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
    /// The sound chip: of the NES, or for .fur, .vgm and .vgz of the Game Boy or the Master System
    #[arg(long, value_name = "CHIP", default_value = Chip::Nes.id(), value_parser = PossibleValuesParser::new(Chip::ALL.map(Chip::id)).map(chip))]
    chip: Chip,
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
    /// Song of the tracker Furnace.
    Furnace,
    /// Song of the tracker FamiTracker, as text.
    FamiTracker,
}

impl Format {
    /// Returns whether a song for `chip` is arranged in rows and parts. Otherwise it is what the voice Chip plays.
    fn is_arranged(self, chip: Chip) -> bool {
        matches!(self, Self::Furnace | Self::FamiTracker) || chip != Chip::Nes
    }

    /// Returns whether songs for `chip` are written.
    fn has(self, chip: Chip) -> bool {
        chip == Chip::Nes || matches!(self, Self::Furnace | Self::Vgm | Self::Vgz)
    }
}

/// Returns the chip with this name.
fn chip(id: String) -> Chip {
    Chip::ALL.into_iter().find(|chip| chip.id() == id).unwrap_or(Chip::Nes)
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
            Some("fur") => Format::Furnace,
            Some("txt") => Format::FamiTracker,
            _ => {
                let path = path.display();
                return Err(format!(
                    "{path}: unsupported output format; use .vgm, .vgz, .nsf, .fur or .txt"
                ));
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
    let (out, format) = &args.out;
    let mut default: Controls = find(PRESET, args.quiet)?.settings.into();
    let is_arranged = format.is_arranged(args.chip);
    if is_arranged {
        default.settings.arp = Arp::Fast;
    }
    let sound = args.sound.0.clone().with_midi_tempo(is_arranged);
    let (controls, keys) = sound.read_from(default, looks_ahead_in_files, args.quiet)?;
    let settings = controls.settings;
    if settings.voice != Voice::Chip {
        let presets: Vec<_> = ids().filter(|id| is_chip(id)).collect();
        let line = format!(
            "only the voice chip plays on a console; use --voice chip, or a preset that has it: {}",
            presets.join(", ")
        );
        return Err(Usage(line).into());
    }
    let unsupported = || {
        let (id, out) = (args.chip.id(), out.display());
        Usage(format!("{out}: unsupported output format for --chip {id}; use .fur, .vgm or .vgz"))
    };
    if !format.has(args.chip) {
        return Err(unsupported().into());
    }
    refuse_terminal(out)?;
    clean_up_on_interrupt(|| ())?;
    let output = Output::create(out, &args.input, args.force)?;

    let (mut recorder, mut arranger) = (Recorder::default(), Arranger::default());
    let name = args.input.file_name().unwrap_or_default().to_string_lossy();
    let bar = Bar::new(&name, args.quiet);
    let Analysed { seconds, not_finite, unheard } = analyse(
        &Input::new(&args.input)?,
        (&settings, &keys),
        super::kernel(args.kernel),
        0.1,
        |filter| {
            if is_arranged {
                arranger.push(filter);
            } else {
                recorder.push(filter);
            }
        },
        |_, _| Ok(()),
        |part| bar.move_to(part),
    )?;
    drop(bar);

    let beyond =
        |time: &f64| time * f64::from(TICKS) >= (seconds * f64::from(TICKS)).ceil().max(1.0);
    if let Some(time) = args.repeat.filter(beyond) {
        let line = format!("loop = {time} s is beyond the end of the song at {seconds:.2} s");
        return Err(Usage(line).into());
    }
    // Standard input has no name, so its song has the output's.
    let named = [&args.input, out].into_iter().find(|path| path.as_os_str() != "-");
    let stem = || {
        named.and_then(|path| path.file_stem()).unwrap_or_default().to_string_lossy().into_owned()
    };
    let tags = Tags { title: args.title.clone().unwrap_or_else(stem), author: args.author.clone() };
    let (file, notes) = if is_arranged {
        let arrangement = arranger.finish(seconds, &settings, sound.tempo.and_then(Tempo::set));
        let song = Module::new(&arrangement, args.chip, args.repeat);
        let song = song.ok_or_else(|| Error::TooManyPatterns(out.clone()))?;
        let file = match format {
            Format::Furnace => furnace(&song, &tags),
            Format::FamiTracker => famitracker(&song, &tags).into_bytes(),
            _ => tracker::vgm(&song, &tags).ok_or_else(unsupported)?,
        };
        (file, arrangement.notes())
    } else {
        let repeat = args.repeat.map(|time| (time * f64::from(TICKS)).round() as usize);
        let song = Song::new(&recorder.finish(seconds), repeat);
        let file = match format {
            Format::Nsf => nsf(&song, &tags).ok_or_else(|| Error::TooLong(out.clone()))?,
            _ => vgm(&song, &tags),
        };
        (file, song.notes)
    };
    let file = if matches!(format, Format::Vgz) { vgz(&file) } else { file };
    let short = match format {
        Format::Nsf => Some("NSF"),
        Format::FamiTracker => Some("FamiTracker"),
        _ => None,
    };
    let cut = short.filter(|_| !tags.fit_in_nsf());
    let written = output.file().write_all(&file);
    written.map_err(|source| Error::writing(out, source))?;
    output.commit()?;
    if !args.quiet {
        warn_not_finite(&args.input, not_finite);
        if let Some(format) = cut {
            message!(
                "warning: {}: {format} stores 31 ASCII letters of title and author; the rest is cut or replaced by ?",
                out.display()
            );
        }
        if let Some(cause) = unheard.filter(|_| notes == 0) {
            message!("warning: {}: {cause}", args.input.display());
        }
        let (input, out) = (args.input.display(), out.display());
        let bytes = file.len();
        message!("{input} -> {out}: {seconds:.2} s, {notes} notes, {bytes} bytes");
    }
    Ok(())
}
