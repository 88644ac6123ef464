//! Errors about files. The message is one line that names the file and a remedy.

use crate::{
    STDIO,
    formats::{extensions, readable},
};
use std::{
    env::temp_dir,
    io,
    path::{Path, PathBuf},
};

/// Error about a file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}{}", .path.display(), .fault.command(.path))]
pub struct Error {
    /// Path of the file; `-` for standard input or output.
    pub path: PathBuf,
    /// Problem with the file.
    #[source]
    pub fault: Fault,
}

/// Problem with a file, and the remedy. The message lacks the path, which an [`struct@Error`] has.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The input cannot be opened or read.
    #[error("cannot be read ({0}); check the name and the permissions")]
    Read(#[from] io::Error),
    /// No file matches a pattern.
    #[error("matches no file; check the name")]
    NoMatch,
    /// A folder has no audio files, or a list of inputs is empty.
    #[error("holds no audio files; give one with files in {}", dotted_extensions())]
    NoAudio,
    /// A folder stands where a file is expected.
    #[error("is a folder; give a file")]
    Folder,
    /// The input is not a WAV file, or its header is broken. The field names the missing or invalid part.
    #[error("not a WAV file ({0}); convert it to WAV, with ffmpeg for example")]
    NotWav(&'static str),
    /// The input is empty, or has an unsupported format. The field names the reason.
    #[error("cannot be decoded ({0}); give {formats}", formats = readable())]
    NotAudio(&'static str),
    /// The format of the input is supported, but the content is broken. The field names the fault.
    #[error("damaged ({0}); copy or export it again")]
    Broken(String),
    /// A MIDI file is invalid.
    #[error("{0}")]
    Midi(#[source] tone_filter_midi::BadMidi),
    /// The score is invalid.
    #[error("not a score ({0}); write one with `tone-filter bands song.wav --score song.tfs`")]
    NotScore(#[source] tone_filter_dsp::BadScore),
    /// The score exceeds 64 MiB.
    #[error("exceeds the 64 MiB of a score; give a shorter one")]
    LargeScore,
    /// The input has this number of channels, which is more than 255.
    #[error("has {0} channels, more than {MOST_CHANNELS}; split the channels")]
    Channels(usize),
    /// The coding of the input's samples, which the field names, is not supported.
    #[error("unsupported coding {0}")]
    Coding(String),
    /// The input is shorter than its header states.
    #[error("truncated, {missing} of {frames} frames are missing; copy or export it again")]
    Truncated {
        /// Number of missing frames.
        missing: u64,
        /// Number of frames by the header.
        frames: u64,
    },
    /// Some of the input's frames are damaged.
    #[error("damaged, {missing} of {frames} frames are missing; copy or export it again")]
    Damaged {
        /// Number of frames that cannot be decoded.
        missing: u64,
        /// Number of frames by the header.
        frames: u64,
    },
    /// The file ends too early, or a length in it is wrong. The number of missing frames is unknown.
    #[error("truncated or damaged; copy or export it again")]
    CutShort,
    /// The input has no samples.
    #[error("holds no samples; record or export it again")]
    Empty,
    /// The filter cannot work at the input's sample rate, or with the settings.
    #[error("{0}")]
    Filter(#[source] tone_filter_dsp::Error),
    /// The output exists and may not be overwritten.
    #[error("already exists; choose another name, or overwrite it with --force")]
    Exists,
    /// The output would overwrite the input.
    #[error("is the input itself; choose another name for the output")]
    OverInput,
    /// The output is a disk or a socket.
    #[error("is a disk or a socket; choose another name for the output")]
    NotAFile,
    /// The input cannot be resampled to the requested sample rate.
    #[error("{from} Hz cannot become {to} Hz ({reason}); choose another --sample-rate")]
    Rate {
        /// Sample rate of the input in Hz.
        from: u32,
        /// Sample rate of the output in Hz.
        to: u32,
        /// Cause, as the resampler reports it.
        reason: String,
    },
    /// The output is silent, or consists only of rounding errors, so its peak cannot be normalized.
    #[error("the output is silent, and cannot be normalized; leave out --normalize-peak")]
    Silent,
    /// Channels and sample rate of the output do not fit the fields of a WAV header.
    #[error(
        "{channels} channels at {rate} Hz do not fit a WAV header; split the channels, or choose a lower --bit-depth"
    )]
    TooWide {
        /// Number of channels of the output.
        channels: u16,
        /// Sample rate of the output in Hz.
        rate: u32,
    },
    /// FLAC does not support the number of channels or the sample rate.
    #[error(
        "{channels} channels at {rate} Hz exceed the 8 channels and 1048575 Hz of FLAC; use .wav"
    )]
    NotForFlac {
        /// Number of channels of the output.
        channels: u16,
        /// Sample rate of the output in Hz.
        rate: u32,
    },
    /// The content for or from a pipe cannot be stored in the folder for temporary files.
    #[error("cannot be stored in {folder}, the folder for temporary files ({0}); make room there, or name another one in TMPDIR", folder = temp_dir().display())]
    Temporary(#[source] io::Error),
    /// The song is more than an NSF file can hold.
    #[error("exceeds the 1 MB of an NSF file; give a shorter song, or use .vgm")]
    TooLong,
    /// The song has more patterns than a tracker's song can have.
    #[error("exceeds the 128 patterns of a tracker's song; give a shorter song")]
    TooManyPatterns,
    /// The output cannot be created or written.
    #[error("cannot be written ({0}); check the folder, its permissions and the space left")]
    Write(#[source] io::Error),
}

/// Returns the extensions of all readable formats as text, each with a dot.
fn dotted_extensions() -> String {
    extensions().map(|extension| format!(".{extension}")).collect::<Vec<_>>().join(", ")
}

/// Returns `path` as an argument in a shell.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./\\:".contains(letter);
    match path.chars().all(is_plain) {
        true => path,
        false if cfg!(windows) => format!("\"{path}\""),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// Maximum number of channels of an input. Filter and decoders allocate memory for each channel before they see a sample.
const MOST_CHANNELS: usize = 255;

impl Fault {
    /// Creates the error that the file at `path` has this fault.
    pub fn at(self, path: &Path) -> Error {
        Error { path: path.into(), fault: self }
    }

    /// Returns the end of the message about an unsupported coding: a command that converts the file at `path`. For all other
    /// faults, returns an empty text.
    fn command(&self, path: &Path) -> String {
        let Self::Coding(_) = self else { return String::new() };
        if path == Path::new(STDIO) {
            return "; convert the sound before: ffmpeg -i - -f flac -".into();
        }
        let [from, to] = [path, &path.with_extension("flac")].map(quoted);
        format!("; convert the file: ffmpeg -i {from} {to}")
    }

    /// Returns a fault if `channels` exceeds the maximum of an input.
    pub(crate) fn check_channels(channels: usize) -> Result<(), Self> {
        if channels <= MOST_CHANNELS { Ok(()) } else { Err(Self::Channels(channels)) }
    }
}
