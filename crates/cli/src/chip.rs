//! Verb `chip`: songs for consoles and trackers.

use super::{
    Usage,
    entries::or,
    inputs::is_read_once,
    kernel,
    presets::find,
    progress::{bar, move_to},
    refuse_terminal,
    report::warn_not_finite,
    sound::{Sound, Task, Tempo, number},
};
use clap::{
    ArgMatches, Command, FromArgMatches, ValueHint,
    builder::{PathBufValueParser, TypedValueParser},
};
use std::{ffi::OsString, io::Write, path::PathBuf};
use tone_filter_dsp::{Controls, Kernel, Stereo, Voice};
use tone_filter_offline::{
    Error, Fault, Input, Output, Source,
    analyse::{Analysed, analyse},
    clean_up_on_interrupt,
    console::{self, Recorder, Song, TICKS, Tags, nsf, vgm, vgz},
    silence_reasons::Cause,
    take::TakeRecorder,
    tracker::{self, Chip, Module, famitracker, furnace},
};
use tone_filter_presets::Preset;

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

For the NES, VGM and NSF are what the voice Chip plays. For a tracker, and for the VGM of another chip, the notes are arranged as lead, \
harmony, bass and drums, on the rows of the song's beats: .fur for Furnace 0.6.3 and later, .txt for FamiTracker 0.4.6 (File > Import \
text), its successors and FamiStudio. There, chords are fast arpeggios unless --arp or the arpeggio of the preset says otherwise, --tempo \
is the tempo of the rows, --voices, --glide and --vibrato have no effect on the notes, and --loop goes back to the start of a pattern.

NSF is played by VLC, mpv, ffmpeg and foobar2000 with libgme, by Mesen and by the console itself. VGM is played by VGMPlay and foobar2000; \
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
    #[arg(long = "loop", value_name = "s", allow_hyphen_values = true, value_parser = |text: &str| number("loop", text, "s", 0.0..=86_400.0))]
    repeat: Option<f64>,
    /// The sound chip: of the NES, or for .fur, .vgm and .vgz of the Game Boy or the Master System [nes, gb or sms]
    #[arg(long, value_name = "CHIP", default_value = Chip::Nes.id(), value_parser = chip)]
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

/// Sound flags that have an effect on a console. Their defaults are the settings of [`PRESET`].
struct ChipSound(Sound);

/// Preset whose settings are the defaults of the sound flags.
const PRESET: &str = "sound-chip";

const TEMPO: &str = "The tempo of the rows of a song for a tracker or another chip than the NES's; elsewhere, the tempo that --sync counts by, without which it has no effect; auto finds it in the music [10 to 1000 BPM, default auto for rows, else that of --keys, or 120]";

/// Settings that have no flag here, because they have no effect on a console: they belong to the mix or to other voices.
const LEFT_OUT: [&str; 7] = ["mix", "output", "drive", "tone", "morph", "bypass", "stereo"];

impl clap::Args for ChipSound {
    fn augment_args(command: Command) -> Command {
        let default = Preset::factory(PRESET).map(|preset| preset.settings).unwrap_or_default();
        let command = Sound::add_flags(command, &default.into(), &LEFT_OUT);
        command.mut_arg("tempo", |tempo| tempo.help(TEMPO))
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

/// File format of the song.
#[derive(Debug, Clone, Copy)]
enum Format {
    Vgm,
    /// VGM, compressed with gzip.
    Vgz,
    Nsf,
    Furnace,
    FamiTracker,
}

impl Format {
    /// Returns the writer of this format for `chip`; `None` if the format does not support the chip.
    fn writer(self, chip: Chip) -> Option<Writer> {
        match (self, chip) {
            (Self::Furnace, _) => Some(Writer::Tracker(furnace)),
            (Self::FamiTracker, Chip::Nes) => {
                Some(Writer::Tracker(|song, tags| famitracker(song, tags).into_bytes()))
            }
            (Self::Nsf, Chip::Nes) => Some(Writer::Console(nsf)),
            (Self::Vgm | Self::Vgz, Chip::Nes) => {
                Some(Writer::Console(|song, tags| Some(vgm(song, tags))))
            }
            (Self::Vgm | Self::Vgz, _) => tracker::vgm(chip).map(Writer::Tracker),
            (Self::Nsf | Self::FamiTracker, _) => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Writer {
    /// Writer of the register values with which the voice Chip plays. It returns `None` if the song is too long.
    Console(fn(&Song, &Tags) -> Option<Vec<u8>>),
    /// Writer of an arrangement in rows and parts.
    Tracker(tracker::Writer),
}

/// Parses the id of a chip, in upper or lower case.
fn chip(id: &str) -> Result<Chip, String> {
    let chip = Chip::ALL.into_iter().find(|chip| chip.id().eq_ignore_ascii_case(id));
    chip.ok_or_else(|| format!("chip = {id:?} is unknown; use {}", or(&Chip::ALL.map(Chip::id))))
}

const EXTENSIONS: &str = ".vgm, .vgz, .nsf, .fur or .txt";

/// Returns a parser for the path of the output. It derives the format from the extension.
fn named() -> impl TypedValueParser<Value = (PathBuf, Format)> {
    PathBufValueParser::new().try_map(|path| {
        let shown = path.display();
        if path.is_dir() || path.to_string_lossy().ends_with(std::path::is_separator) {
            return Err(format!("{shown}: is a folder; name a file that ends in {EXTENSIONS}"));
        }
        let extension =
            path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let format = match extension.as_deref() {
            None if is_read_once(&path) => Format::Vgm,
            None => return Err(format!("{shown}: has no extension; use {EXTENSIONS}")),
            Some("vgm") => Format::Vgm,
            Some("vgz") => Format::Vgz,
            Some("nsf") => Format::Nsf,
            Some("fur") => Format::Furnace,
            Some("txt") => Format::FamiTracker,
            Some(_) => {
                return Err(format!("{shown}: unsupported output format; use {EXTENSIONS}"));
            }
        };
        Ok((path, format))
    })
}

/// Returns a hint if `args` calls the verb `chip` with a flag of [`LEFT_OUT`].
pub fn hint_for_left_out(args: &[OsString]) -> Option<String> {
    let flags = args.get(2..).filter(|_| args[1] == "chip")?;
    let flag = flags.iter().take_while(|arg| *arg != "--").find_map(|arg| {
        let id = arg.to_str()?.strip_prefix("--")?.split('=').next()?;
        LEFT_OUT.contains(&id).then_some(id)
    })?;
    Some(format!(
        "--{flag} has no effect on a song, which has the chip's notes alone, without a mix; leave it out"
    ))
}

/// Filters the file, and writes its notes as a song.
pub fn run(args: &Args) -> anyhow::Result<()> {
    let (out, format) = &args.out;
    let writer = format.writer(args.chip).ok_or_else(|| {
        let (id, out) = (args.chip.id(), out.display());
        Usage(format!("{out}: unsupported output format for --chip {id}; use .fur, .vgm or .vgz"))
    })?;
    let (task, adapt): (_, fn(_) -> _) = match writer {
        Writer::Console(_) => (Task::Filter, console::settings),
        Writer::Tracker(_) => (Task::Arrange, tracker::settings),
    };
    let default = find(PRESET, args.quiet)?.settings.into();
    let sound = &args.sound.0;
    let (Controls { mut settings, .. }, keys) = sound.read(task, default, adapt, args.quiet)?;
    if settings.voice != Voice::Chip {
        let line = "only the voice chip plays on a console; leave out --voice";
        return Err(Usage(line.into()).into());
    }
    refuse_terminal(out)?;
    clean_up_on_interrupt(|| ())?;
    let input = Input::new(&args.input)?;
    // Opens the input before the output is created: if it cannot be read, no folder must appear.
    Source::open(&input)?;
    let output = Output::create(out, &args.input, args.force)?;

    let name = args.input.file_name().unwrap_or_default().to_string_lossy();
    let bar = bar(&name, args.quiet);
    let (recorder, arranger, found, analysed) = loop {
        let (mut recorder, mut arranger) = (Recorder::default(), TakeRecorder::default());
        let mut found = None;
        let analysed = analyse(
            &input,
            (&settings, keys.as_deref()),
            kernel(args.kernel),
            0.1,
            |filter| {
                found = filter.found_tempo();
                match writer {
                    Writer::Console(_) => recorder.push(filter),
                    Writer::Tracker(_) => arranger.push(filter),
                }
            },
            |_, _| Ok(()),
            |part| move_to(&bar, part),
        )?;
        if analysed.unheard != Some(Cause::Cancelled) {
            break (recorder, arranger, found, analysed);
        }
        // Starts again, because left and right cancel in mono. In stereo, the song follows the left channel alone.
        settings.stereo = Stereo::Stereo;
    };
    let Analysed { seconds, not_finite, unheard } = analysed;
    drop(bar);

    let beyond =
        |time: &f64| time * f64::from(TICKS) >= (seconds * f64::from(TICKS)).ceil().max(1.0);
    if let Some(time) = args.repeat.filter(beyond) {
        // Rounds down, so that the message does not name a time after the end.
        let end = (1000.0 * seconds).floor() / 1000.0;
        let line = format!("loop = {time} s is not before the end of the song at {end} s");
        return Err(Usage(line).into());
    }
    // Standard input has no name, so its song gets the name of the output.
    let named = [&args.input, out].into_iter().find(|path| path.as_os_str() != "-");
    let stem = || {
        named.and_then(|path| path.file_stem()).unwrap_or_default().to_string_lossy().into_owned()
    };
    let tags = Tags { title: args.title.clone().unwrap_or_else(stem), author: args.author.clone() };
    let set = sound.tempo.and_then(Tempo::set);
    let (file, notes, tempo) = match writer {
        Writer::Tracker(write) => {
            let arrangement = arranger.take(seconds, true, &settings).arrangement(&settings, set);
            let song = Module::new(&arrangement, args.chip, args.repeat);
            let song = song.ok_or_else(|| Fault::TooManyPatterns.at(out))?;
            let tempo = arrangement.grid.timeline.tempo;
            (write(&song, &tags), arrangement.notes(), Some(tempo))
        }
        Writer::Console(write) => {
            let repeat = args.repeat.map(|time| (time * f64::from(TICKS)).round() as usize);
            let song = Song::new(&recorder.finish(seconds), repeat);
            let file = write(&song, &tags).ok_or_else(|| Fault::TooLong.at(out))?;
            (file, song.notes, set.or(found))
        }
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
        let tempo = tempo.map_or(String::new(), |tempo| format!(", {tempo:.1} BPM"));
        let s = if notes == 1 { "" } else { "s" };
        message!("{input} -> {out}: {seconds:.2} s{tempo}, {notes} note{s}, {bytes} bytes");
    }
    Ok(())
}
