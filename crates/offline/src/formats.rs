//! Supported file formats with their extensions, and sample formats.

use std::path::Path;

pub const WAV_EXTENSIONS: &[&str] = &["wav", "wave", "bwf", "rf64"];

/// File extensions of MP4. A file with one of them may have a coding that is not supported.
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
    /// FLAC, with 16 or 24 bits.
    Flac,
}

impl Container {
    /// Returns the container for the extension of the output `path`. Without an extension, it is WAV. Returns `None` for an
    /// unsupported extension.
    pub fn of(path: &Path) -> Option<Self> {
        match extension(path) {
            None => Some(Self::Wav),
            Some(extension) => [Self::Wav, Self::Flac]
                .into_iter()
                .find(|container| container.extensions().contains(&&*extension)),
        }
    }

    /// Returns the file extensions of this format. New files get the first one.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Wav => WAV_EXTENSIONS,
            Self::Flac => &["flac"],
        }
    }

    /// Returns `format` with a depth that the container supports: FLAC stores 16 bits, or 24 bits for all deeper formats.
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

/// Returns the extensions of all readable formats. A folder stands for its files with these extensions.
pub fn extensions() -> impl Iterator<Item = &'static str> {
    READABLE.iter().flat_map(|(_, extensions)| *extensions).copied()
}

/// Returns the extension of `path` in lower case.
pub fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// Returns whether a length in a header is a placeholder, as programs that write into a pipe leave it. `len` is the stated
/// length of the samples, `max` the maximum of the field, and `remaining` the number of bytes to the end of the file. All are
/// in bytes.
///
/// Placeholders are 0 and, if they exceed `remaining`, about half of `max` and about `max`. These two may be off by 16 MiB,
/// because some programs subtract the size of other chunks. The actual length is `remaining` then.
pub const fn is_placeholder(len: u64, max: u64, remaining: u64) -> bool {
    const TOLERANCE: u64 = 1 << 24;
    let is_near_max = len.abs_diff(max / 2 + 1) <= TOLERANCE || max - len <= TOLERANCE;
    len == 0 || len > remaining && is_near_max
}

/// Number format of a sample in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// 8-bit integer; unsigned in WAV.
    Int8,
    /// Signed 16-bit integer.
    Int16,
    /// Signed 24-bit integer.
    Int24,
    /// 32-bit integer. The filter computes in `f32`, which keeps the upper 24 bits.
    Int32,
    /// 32-bit float; nothing clips.
    Float32,
    /// 64-bit float. It is read with the precision of `f32`, and never written.
    Float64,
}

impl Depth {
    /// Returns the number of bits per sample.
    pub const fn bits(self) -> u16 {
        match self {
            Self::Int8 => 8,
            Self::Int16 => 16,
            Self::Int24 => 24,
            Self::Int32 | Self::Float32 => 32,
            Self::Float64 => 64,
        }
    }

    /// Returns the display name: `16 bit`, `32 bit float`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int8 => "8 bit",
            Self::Int16 => "16 bit",
            Self::Int24 => "24 bit",
            Self::Int32 => "32 bit",
            Self::Float32 => "32 bit float",
            Self::Float64 => "64 bit float",
        }
    }

    /// Returns whether samples are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float32 | Self::Float64)
    }

    pub(crate) const fn bytes(self) -> usize {
        self.bits() as usize / 8
    }

    /// Returns the integer value of full scale.
    pub(crate) const fn full_scale(self) -> f64 {
        (1u64 << (self.bits() - 1)) as f64
    }
}

/// Format of a file's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Number of channels, 1 or more.
    pub channels: u16,
    /// Sample rate in Hz.
    pub rate: u32,
    /// Number format of a sample.
    pub depth: Depth,
    /// Speaker layout, as the bit mask of WAV; 0 if unknown.
    pub speakers: u32,
}
