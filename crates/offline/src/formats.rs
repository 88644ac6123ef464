//! Formats of files that are read, and their extensions.

use crate::wav::{Depth, Format};
use std::path::Path;

/// File extensions of WAV.
pub const WAV_EXTENSIONS: &[&str] = &["wav", "wave", "bwf", "rf64"];

/// File extensions of MP4, of whose codings only some are read.
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

/// A format of outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Container {
    /// WAV, or RF64 where that is too small.
    #[default]
    Wav,
    /// FLAC.
    Flac,
}

impl Container {
    /// Returns the container of an output called `path`: WAV without an extension, `None` with an extension of another format.
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

/// Returns the names of the formats that are read, as a list.
pub fn readable() -> String {
    READABLE.map(|(name, _)| name).join(", ")
}

/// Returns the file extensions that are looked for in folders.
pub fn extensions() -> impl Iterator<Item = &'static str> {
    READABLE.iter().flat_map(|(_, extensions)| *extensions).copied()
}

/// Returns the extension of `path` in small letters.
pub fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// Returns whether a header's length says that the file was written into a pipe, by a program that could not come back: 0, or
/// as much as the field holds (2 or 4 GiB, within 16 MiB, as some programs subtract what else they write).
pub const fn is_open(len: u32) -> bool {
    const NEAR: u32 = 1 << 24;
    len == 0 || len.abs_diff(1 << 31) <= NEAR || len >= u32::MAX - NEAR
}
