//! WAV files, read and written a block at a time: RIFF, and RF64 beyond 4 GiB.
//!
//! The code is our own: `hound` neither preserves chunks nor supports RF64, RIFX or 64-bit floats, and decodes sample by sample,
//! which would take as long as the filter. The tests use `hound` as a second implementation.

mod chunks;
mod codec;
mod coded_samples;
mod header;
mod read;
mod write;

pub use chunks::Chunk;
pub(crate) use codec::{Dither, clipped, encode};
pub(crate) use coded_samples::CodedSamples;
pub(crate) use read::Content;
pub use read::Reader;
pub use write::Writer;

/// Number format of a sample in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// 8-bit integer; unsigned, as WAV requires.
    Int8,
    /// 16-bit integer.
    Int16,
    /// 24-bit integer.
    Int24,
    /// 32-bit integer. The filter computes in `f32`, which keeps the upper 24 bits.
    Int32,
    /// 32-bit float; nothing clips.
    Float32,
    /// 64-bit float: read with the precision of `f32`, never written.
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

    /// Returns the number of bytes per sample.
    const fn bytes(self) -> usize {
        self.bits() as usize / 8
    }

    /// Returns the integer that stands for full scale.
    const fn full_scale(self) -> f64 {
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
    /// Loudspeakers of the channels, as the bit mask of WAV; 0 if unknown.
    pub speakers: u32,
}
