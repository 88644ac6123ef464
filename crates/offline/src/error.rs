//! Errors about files. The message is one line that names the file and a remedy.

use crate::formats::{extensions, readable};
use std::{
    io,
    path::{Path, PathBuf},
};
use thiserror::Error;

/// Error about a file.
#[derive(Debug, Error)]
pub enum Error {
    /// The input cannot be opened or read.
    #[error("{}: cannot be read ({source}); check the name and the permissions", .path.display())]
    Read {
        /// Path of the input.
        path: PathBuf,
        /// Cause, as the system reports it.
        source: io::Error,
    },
    /// No file matches a pattern.
    #[error("{}: matches no file; check the name", .0.display())]
    NoMatch(PathBuf),
    /// A folder has no audio files, or a list of inputs is empty.
    #[error("{}: holds no audio files; give one with files in {}", .0.display(), dotted_extensions())]
    NoAudio(PathBuf),
    /// A folder stands where a file is expected.
    #[error("{}: is a folder; give a file", .0.display())]
    Folder(PathBuf),
    /// The input is not a WAV file, or its header is broken.
    #[error("{}: not a WAV file ({reason}); convert it to WAV, with ffmpeg for example", .path.display())]
    NotWav {
        /// Path of the input.
        path: PathBuf,
        /// Missing or invalid part of the file.
        reason: String,
    },
    /// The input has an unsupported format.
    #[error("{}: cannot be decoded ({reason}); give {}", .path.display(), readable())]
    NotAudio {
        /// Path of the input.
        path: PathBuf,
        /// Missing or invalid part of the file.
        reason: String,
    },
    /// The format of the input is supported, but the content is broken.
    #[error("{}: damaged ({reason}); copy or export it again", .path.display())]
    Broken {
        /// Path of the input.
        path: PathBuf,
        /// Fault of the content.
        reason: String,
    },
    /// A MIDI file is invalid.
    #[error("{}: {source}", .path.display())]
    Midi {
        /// Path of the MIDI file.
        path: PathBuf,
        /// Cause, as the parser reports it.
        source: tone_filter_midi::BadMidi,
    },
    /// The score is invalid.
    #[error("{}: not a score ({source}); write one with `tone-filter bands song.wav --score song.tfs`", .path.display())]
    NotScore {
        /// Path of the score.
        path: PathBuf,
        /// Cause, as the parser reports it.
        source: tone_filter_dsp::BadScore,
    },
    /// The score exceeds 64 MiB.
    #[error("{}: exceeds the 64 MiB of a score; give a shorter one", .0.display())]
    LargeScore(PathBuf),
    /// The input has more than 255 channels; the second field is their number.
    #[error("{}: has {} channels, more than {MOST_CHANNELS}; split the channels", .0.display(), .1)]
    Channels(PathBuf, usize),
    /// The coding of the input's samples is not supported.
    #[error("{}: unsupported coding {coding}; convert the file: ffmpeg -i {} {}", .path.display(), .path.display(), .path.with_extension("flac").display())]
    Coding {
        /// Path of the input.
        path: PathBuf,
        /// Name of the coding.
        coding: String,
    },
    /// The input is shorter than its header states.
    #[error("{}: truncated, {missing} of {frames} frames are missing; copy or export it again", .path.display())]
    Truncated {
        /// Path of the input.
        path: PathBuf,
        /// Number of missing frames.
        missing: u64,
        /// Number of frames by the header.
        frames: u64,
    },
    /// Some of the input's frames are damaged.
    #[error("{}: damaged, {missing} of {frames} frames are missing; copy or export it again", .path.display())]
    Damaged {
        /// Path of the input.
        path: PathBuf,
        /// Number of frames that cannot be decoded.
        missing: u64,
        /// Number of frames by the header.
        frames: u64,
    },
    /// The file ends too early, or a length in it is wrong. The number of missing frames is unknown.
    #[error("{}: truncated or damaged; copy or export it again", .0.display())]
    CutShort(PathBuf),
    /// The input has no samples.
    #[error("{}: holds no samples; record or export it again", .0.display())]
    Empty(PathBuf),
    /// The filter cannot work at the input's sample rate, or with the settings.
    #[error("{}: {source}", .path.display())]
    Filter {
        /// Path of the input.
        path: PathBuf,
        /// Cause, as the filter reports it.
        source: tone_filter_dsp::Error,
    },
    /// The output exists and may not be overwritten.
    #[error("{}: already exists; choose another name, or overwrite it with --force", .0.display())]
    Exists(PathBuf),
    /// The output is the input.
    #[error("{}: is the input itself; choose another name for the output", .0.display())]
    OverInput(PathBuf),
    /// The output is a disk or a socket.
    #[error("{}: is a disk or a socket; choose another name for the output", .0.display())]
    NotAFile(PathBuf),
    /// The input cannot be resampled to the requested sample rate.
    #[error("{}: {from} Hz cannot become {to} Hz ({reason}); choose another --sample-rate", .path.display())]
    Rate {
        /// Path of the input.
        path: PathBuf,
        /// Sample rate of the input in Hz.
        from: u32,
        /// Sample rate of the output in Hz.
        to: u32,
        /// Cause, as the resampler reports it.
        reason: String,
    },
    /// The output is silent or no more than rounding errors, so its peak cannot be normalized.
    #[error("{}: the output is silent, and cannot be normalized; leave out --normalize-peak", .0.display())]
    Silent(PathBuf),
    /// Channels and sample rate of the output do not fit the fields of a WAV header.
    #[error("{}: {channels} channels at {rate} Hz do not fit a WAV header; split the channels, or choose a lower --bit-depth", .path.display())]
    TooWide {
        /// Path of the output.
        path: PathBuf,
        /// Number of channels of the output.
        channels: u16,
        /// Sample rate of the output in Hz.
        rate: u32,
    },
    /// FLAC does not support the number of channels or the sample rate.
    #[error("{}: {channels} channels at {rate} Hz exceed the 8 channels and 1048575 Hz of FLAC; use .wav", .path.display())]
    NotForFlac {
        /// Path of the output.
        path: PathBuf,
        /// Number of channels of the output.
        channels: u16,
        /// Sample rate of the output in Hz.
        rate: u32,
    },
    /// The content for or from a pipe cannot be stored in the folder for temporary files.
    #[error("{}: cannot be stored in {}, the folder for temporary files ({source}); make room there, or name another one in TMPDIR", .path.display(), std::env::temp_dir().display())]
    Temporary {
        /// Path of the input or output.
        path: PathBuf,
        /// Cause, as the system reports it.
        source: io::Error,
    },
    /// The song is more than an NSF file can hold.
    #[error("{}: exceeds the 1 MB of an NSF file; give a shorter song, or use .vgm", .0.display())]
    TooLong(PathBuf),
    /// The song has more patterns than a tracker's song can have.
    #[error("{}: exceeds the 128 patterns of a tracker's song; give a shorter song", .0.display())]
    TooManyPatterns(PathBuf),
    /// The output cannot be created or written.
    #[error("{}: cannot be written ({source}); check the folder, its permissions and the space left", .path.display())]
    Write {
        /// Path of the output.
        path: PathBuf,
        /// Cause, as the system reports it.
        source: io::Error,
    },
}

/// Returns the extensions of all readable formats as text, each with a dot.
fn dotted_extensions() -> String {
    extensions().map(|own| format!(".{own}")).collect::<Vec<_>>().join(", ")
}

/// Maximum number of channels of an input. Filter and decoders allocate memory for each channel before they see a sample.
const MOST_CHANNELS: usize = 255;

impl Error {
    /// Returns an error if `channels` exceeds the maximum of an input.
    pub(crate) fn check_channels(path: &Path, channels: usize) -> Result<(), Self> {
        let is_read = channels <= MOST_CHANNELS;
        is_read.then_some(()).ok_or_else(|| Self::Channels(path.into(), channels))
    }

    /// Creates [`Self::Broken`].
    pub(crate) fn broken(path: &Path, reason: &str) -> Self {
        Self::Broken { path: path.into(), reason: reason.into() }
    }
}
