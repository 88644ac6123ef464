//! Supported file formats, and their extensions.

use crate::wav::{Depth, Format};
use std::path::Path;

/// File extensions of WAV.
pub const WAV_EXTENSIONS: &[&str] = &["wav", "wave", "bwf", "rf64"];

/// File extensions of MP4. Only some codings in MP4 are supported.
pub const MP4_EXTENSIONS: &[&str] = &["m4a", "m4b", "mp4", "mov"];

/// Names and file extensions of all formats that are read.
const READABLE: [(&str, &[&str]); 7] = [
    ("WAV", WAV_EXTENSIONS),
    ("FLAC", &["flac"]),
    ("AIFF", &["aif", "aiff", "aifc"]),
    ("CAF", &["caf"]),
    ("MP3", &["mp3"]),
    ("Ogg Vorbis", &["ogg", "oga"]),
    ("MP4 (AAC, ALAC)", MP4_EXTENSIONS),
];

/// File format of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Container {
    /// WAV; RF64 for files that are too long for WAV.
    #[default]
    Wav,
    /// FLAC.
    Flac,
}

impl Container {
    /// Returns the container of an output called `path`: WAV without an extension, `None` for an unsupported extension.
    pub fn of(path: &Path) -> Option<Self> {
        match extension(path) {
            None => Some(Self::Wav),
            Some(own) => [Self::Wav, Self::Flac]
                .into_iter()
                .find(|container| container.extensions().contains(&&*own)),
        }
    }

    /// Returns the file extensions; new files get the first.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Wav => WAV_EXTENSIONS,
            Self::Flac => &["flac"],
        }
    }

    /// Returns `format` as the container stores it: FLAC has 16 bits, or 24 for all deeper formats.
    #[must_use]
    pub fn fit(self, format: Format) -> Format {
        let depth = match (self, format.depth) {
            (Self::Wav, depth) => depth,
            (Self::Flac, Depth::Int8 | Depth::Int16) => Depth::Int16,
            (Self::Flac, _) => Depth::Int24,
        };
        Format { depth, ..format }
    }
}

/// Returns the names of all readable formats, separated by commas.
pub fn readable() -> String {
    READABLE.map(|(name, _)| name).join(", ")
}

/// Returns the extensions of all readable formats; in folders, only files with these are read.
pub fn extensions() -> impl Iterator<Item = &'static str> {
    READABLE.iter().flat_map(|(_, extensions)| *extensions).copied()
}

/// Returns the extension of `path` in lower case.
pub fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// Returns whether `len`, the samples' length in a header whose field holds at most `most`, is a placeholder of a program that
/// wrote into a pipe and could not go back: 0, or half or all of `most`, within 16 MiB, as some programs subtract the bytes of
/// other chunks. The samples then are the `there` bytes to the end of the file.
pub const fn is_open(len: u64, most: u64, there: u64) -> bool {
    const NEAR: u64 = 1 << 24;
    len == 0 || len > there && (len.abs_diff(most / 2 + 1) <= NEAR || most - len <= NEAR)
}
