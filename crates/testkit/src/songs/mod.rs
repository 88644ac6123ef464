//! Songs with known notes, rendered from MIDI files, and measurements, for tests, `cargo xtask songs` and the web page's songs.

mod accuracy;

pub use accuracy::{Accuracy, accuracy, latencies, starts};

use crate::{Signal, programs::run, target, wav};
use anyhow::{Context, Result, bail, ensure};
use ebur128::{EbuR128, Mode};
use midly::{
    MetaMessage, MidiMessage, Smf, Timing, TrackEventKind,
    num::{u4, u28},
};
use rayon::prelude::*;
use std::{
    collections::BTreeMap,
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// Sample rate of all songs in Hz.
pub const RATE: u32 = 44_100;

/// Folder of the songs, from Debian's package `openttd-openmsx`.
pub const SONGS: &str = "/usr/share/games/openttd/baseset/openmsx";
/// Number of songs that are used: the first in alphabetical order. The training data of the listener has none of them.
const COUNT: usize = 12;

/// Soundfont from Debian's package `fluid-soundfont-gm`.
const SOUNDFONT: &str = "/usr/share/sounds/sf2/FluidR3_GM.sf2";

/// Message that tells how to install FluidSynth, the songs and the soundfont.
const MISSING: &str = "install the Debian packages fluidsynth, openttd-openmsx and fluid-soundfont-gm, as \
                       `cargo xtask test` does";

/// Settings of FluidSynth's chorus and reverb: the defaults of version 2.3. Version 2.4 has others, and the songs would differ.
const EFFECTS: [&str; 7] = [
    "chorus.depth=8",
    "chorus.level=2",
    "chorus.speed=0.3",
    "reverb.damp=0",
    "reverb.level=0.9",
    "reverb.room-size=0.2",
    "reverb.width=0.5",
];

/// Maximum number of seconds of a song that are rendered, from its start.
const SECONDS: usize = 60;

/// Number of bytes of a frame in FluidSynth's output: two channels of 16 bits.
const FRAME: usize = 4;

/// Peak of the rendered songs: -12 dB full scale.
const PEAK: f32 = 0.251_188_64;

/// MIDI channel of the drums, counted from 0.
const DRUMS: u4 = u4::new(9);

/// MIDI keys for which the filter has bands.
pub const KEYS: std::ops::Range<u8> = 28..105;

/// Note of a song.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Note {
    /// MIDI note number.
    pub key: u8,
    /// Start in seconds, from the start of the song.
    pub start: f64,
    /// End in seconds, from the start of the song.
    pub end: f64,
}

/// Song with its rendered sound and its notes.
#[derive(Debug, Clone)]
pub struct Song {
    /// File name without the extension.
    pub name: String,
    /// Path of the rendered stereo WAV file.
    pub wav: PathBuf,
    /// Notes within [`KEYS`] and without drums, sorted by start.
    pub notes: Vec<Note>,
}

/// Returns all songs. They are rendered once and cached in `target/songs`.
pub fn songs() -> Result<Vec<Song>> {
    let folder = target().join("songs");
    let song = |midi: &PathBuf| {
        let name = midi.file_stem().context("a file has a name")?.to_string_lossy().into_owned();
        let wav = folder.join(format!("{name}.wav"));
        if !wav.exists() {
            render(midi, &wav)?;
        }
        let mut notes = notes(&fs::read(midi)?, |channel| channel != DRUMS)?;
        notes.retain(|note| note.start < SECONDS as f64);
        Ok(Song { name, wav, notes })
    };
    scores()?.par_iter().map(song).collect()
}

/// Returns the path of a WAV file with drums alone: those of the first song with at least 200 drum hits.
pub fn drums() -> Result<PathBuf> {
    let wav = target().join("songs/drums.wav");
    if wav.exists() {
        return Ok(wav);
    }
    let folder = tempfile::tempdir()?;
    for midi in scores()? {
        let bytes = fs::read(midi)?;
        if notes(&bytes, |channel| channel == DRUMS)?.len() < 200 {
            continue;
        }
        let mut smf = Smf::parse(&bytes)?;
        for track in &mut smf.tracks {
            let (mut skipped, mut kept) = (0, Vec::new());
            for mut event in std::mem::take(track) {
                skipped += event.delta.as_int();
                if !matches!(event.kind, TrackEventKind::Midi { channel, .. } if channel != DRUMS) {
                    event.delta = u28::new(std::mem::take(&mut skipped));
                    kept.push(event);
                }
            }
            *track = kept;
        }
        let alone = folder.path().join("drums.mid");
        smf.save(&alone)?;
        render(&alone, &wav)?;
        return Ok(wav);
    }
    bail!("no song in {SONGS} has drums")
}

/// Returns the MIDI files of the songs, sorted by name.
fn scores() -> Result<Vec<PathBuf>> {
    ensure!(Path::new(SOUNDFONT).exists(), "{SOUNDFONT} is missing: {MISSING}");
    let entries = fs::read_dir(SONGS).with_context(|| format!("{SONGS} is missing: {MISSING}"))?;
    let mut scores = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    scores.retain(|path| path.extension().is_some_and(|extension| extension == "mid"));
    scores.sort();
    ensure!(scores.len() >= COUNT, "{SONGS} has too few songs: {MISSING}");
    scores.truncate(COUNT);
    Ok(scores)
}

/// Renders the first minute of `midi` with the soundfont. Returns the samples at [`RATE`].
pub fn play(midi: &Path) -> Result<Signal> {
    let play = || -> Result<Vec<u8>> {
        let mut fluidsynth = Command::new("fluidsynth");
        fluidsynth.args(["-ni", "-q", "-g", "0.5", "-r", &RATE.to_string()]);
        fluidsynth.args(EFFECTS.map(|setting| format!("-osynth.{setting}")));
        fluidsynth.args(["-T", "raw", "-E", "little", "-F", "-", SOUNDFONT]).arg(midi);
        let mut player = fluidsynth.stdout(Stdio::piped()).spawn()?;
        let output = player.stdout.take().context("the output is a pipe")?;
        let (mut bytes, wanted) = (Vec::new(), SECONDS * RATE as usize * FRAME);
        output.take(wanted as u64).read_to_end(&mut bytes)?;
        let complete = bytes.len() == wanted;
        if complete {
            // FluidSynth would go on to the end of the song, which is not needed.
            player.kill()?;
        }
        let status = player.wait()?;
        ensure!(complete || status.success() && !bytes.is_empty(), "fluidsynth: {status}");
        Ok(bytes)
    };
    let bytes = play().with_context(|| format!("the songs need FluidSynth: {MISSING}"))?;
    let sample = |bytes: &[u8]| f32::from(i16::from_le_bytes([bytes[0], bytes[1]])) / 32_768.0;
    let channel = |first: usize| bytes[first..].chunks(FRAME).map(sample).collect();
    Ok(vec![channel(0), channel(2)])
}

/// Renders the first minute of `midi` into the WAV file `wav`, scaled to the peak [`PEAK`].
fn render(midi: &Path, wav: &Path) -> Result<()> {
    let parent = wav.parent().context("a file is in a folder")?;
    fs::create_dir_all(parent)?;
    let folder = tempfile::tempdir_in(parent)?;
    let part = folder.path().join("part.wav");
    let mut signal = play(midi)?;
    let gain = PEAK / peak(&signal);
    scale(&mut signal, gain);
    wav::write(&part, &signal, RATE)?;
    fs::rename(part, wav)?;
    Ok(())
}

/// Returns the largest magnitude of all samples.
pub fn peak(signal: &Signal) -> f32 {
    signal.iter().flatten().fold(0.0, |peak, sample| sample.abs().max(peak))
}

/// Multiplies all samples by `gain`.
pub fn scale(signal: &mut Signal, gain: f32) {
    signal.iter_mut().flatten().for_each(|sample| *sample *= gain);
}

/// Returns the notes of a MIDI file within [`KEYS`], on the channels for which `wanted` is true, sorted by start.
///
/// A repeated note-on ends the previous note. A note without a note-off lasts to the end of the file.
fn notes(midi: &[u8], wanted: impl Fn(u4) -> bool) -> Result<Vec<Note>> {
    let smf = Smf::parse(midi)?;
    let Timing::Metrical(ticks) = smf.header.timing else { bail!("timecode is not understood") };
    let mut events = Vec::new();
    for track in &smf.tracks {
        let mut tick = 0u64;
        for event in track {
            tick += u64::from(event.delta.as_int());
            events.push((tick, event.kind));
        }
    }
    events.sort_by_key(|(tick, _)| *tick);
    let (mut last, mut now, mut tempo) = (0, 0.0, 0.5);
    let (mut held, mut notes) = (BTreeMap::new(), Vec::new());
    let mut end = |held: &mut BTreeMap<_, _>, channel: u4, key: u8, end: f64| {
        if let Some(start) = held.remove(&(channel, key)) {
            notes.push(Note { key, start, end });
        }
    };
    for (tick, kind) in events {
        now += (tick - last) as f64 * tempo / f64::from(ticks.as_int());
        last = tick;
        match kind {
            TrackEventKind::Meta(MetaMessage::Tempo(us)) => tempo = f64::from(us.as_int()) / 1e6,
            TrackEventKind::Midi { channel, message } if wanted(channel) => match message {
                MidiMessage::NoteOn { key, vel } => {
                    end(&mut held, channel, key.as_int(), now);
                    if vel > 0 {
                        held.insert((channel, key.as_int()), now);
                    }
                }
                MidiMessage::NoteOff { key, .. } => end(&mut held, channel, key.as_int(), now),
                _ => {}
            },
            _ => {}
        }
    }
    for (channel, key) in held.clone().into_keys() {
        end(&mut held, channel, key, now);
    }
    notes.retain(|note| KEYS.contains(&note.key));
    notes.sort_by(|a, b| a.start.total_cmp(&b.start));
    Ok(notes)
}

/// Runner for the command `tone-filter`, with a temporary folder for its output.
#[derive(Debug)]
pub struct Tool {
    program: PathBuf,
    folder: TempDir,
}

impl Tool {
    /// Creates a runner for the command at `program`.
    pub fn new(program: impl Into<PathBuf>) -> Result<Self> {
        Ok(Self { program: program.into(), folder: tempfile::tempdir()? })
    }

    /// Returns the path of `name` in the temporary folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes `signal` to the temporary file `name` and returns its path.
    pub fn put(&self, name: &str, signal: &Signal) -> Result<PathBuf> {
        let path = self.path(name);
        wav::write(&path, signal, RATE)?;
        Ok(path)
    }

    /// Returns the notes within [`KEYS`] that `tone-filter bands --midi` finds in `wav` with these `flags`, sorted by start.
    pub fn notes(&self, wav: &Path, flags: &[&str]) -> Result<Vec<Note>> {
        let midi = self.path("notes.mid");
        run(self.command("bands", wav, flags).arg("--midi").arg(&midi))?;
        notes(&fs::read(midi)?, |_| true)
    }

    /// Runs `tone-filter render` on `wav` with the additional `flags`. Returns the output as a file and its samples.
    pub fn render(&self, wav: &Path, flags: &[&str]) -> Result<(PathBuf, Signal)> {
        let out = self.path("rendered.wav");
        let mut command = self.command("render", wav, flags);
        run(command.args(["--bit-depth", "32f", "--out"]).arg(&out))?;
        let (signal, _) = wav::read(&out)?;
        Ok((out, signal))
    }

    fn command(&self, verb: &str, wav: &Path, flags: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(verb).arg(wav).args(["--force", "--quiet"]).args(flags);
        command
    }
}

/// Loudness by EBU R128.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loudness {
    /// Integrated loudness in LUFS.
    pub integrated: f64,
    /// Loudness range in LU.
    pub range: f64,
}

/// Measures the loudness of a signal whose sample rate is [`RATE`].
pub fn loudness(signal: &Signal) -> Result<Loudness> {
    let mut meter = EbuR128::new(signal.len() as u32, RATE, Mode::I | Mode::LRA)?;
    let channels: Vec<&[f32]> = signal.iter().map(Vec::as_slice).collect();
    meter.add_frames_planar_f32(&channels)?;
    Ok(Loudness { integrated: meter.loudness_global()?, range: meter.loudness_range()? })
}
