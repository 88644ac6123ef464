//! Containers of outputs: WAV and FLAC.

use super::{
    Error, Output, Source, flac,
    formats::{WAV_EXTENSIONS, extension},
    wav::{self, Chunk, Depth, Format},
};
use std::path::Path;

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

/// An output being written.
pub enum Writer {
    /// WAV.
    Wav(Box<wav::Writer>),
    /// FLAC.
    Flac(Box<flac::Writer>),
}

impl Writer {
    /// Begins a file of at most `frames` samples a channel, if that is known. Integers are dithered if `dithered`.
    ///
    /// # Errors
    /// When the container cannot have the format, or when nothing can be written.
    pub fn new(
        container: Container,
        output: &Output,
        format: Format,
        frames: Option<u64>,
        dithered: bool,
    ) -> Result<Self, Error> {
        Ok(match container {
            Container::Wav => {
                Self::Wav(Box::new(wav::Writer::new(output, format, frames, dithered)?))
            }
            Container::Flac => Self::Flac(Box::new(flac::Writer::new(output, format, dithered)?)),
        })
    }

    /// Carries chunks of `source` over, where the container has such: before the first samples, or after
    /// [`Writer::end_data`].
    ///
    /// # Errors
    /// When they cannot be read or written.
    pub fn carry(&mut self, chunks: Vec<Chunk>, source: &mut Source) -> Result<(), Error> {
        let Self::Wav(writer) = self else { return Ok(()) };
        chunks
            .into_iter()
            .try_for_each(|chunk| writer.carry(chunk, |to| source.copy_chunk(chunk, to)))
    }

    /// Appends the samples of all `channels`, which are of one length.
    ///
    /// # Errors
    /// When the file cannot be written on.
    pub fn write(&mut self, channels: &[Vec<f32>]) -> Result<(), Error> {
        match self {
            Self::Wav(writer) => writer.write(channels),
            Self::Flac(writer) => writer.write(channels),
        }
    }

    /// Ends the samples.
    ///
    /// # Errors
    /// When the file cannot be written on.
    pub fn end_data(&mut self) -> Result<(), Error> {
        match self {
            Self::Wav(writer) => writer.end_data(),
            Self::Flac(_) => Ok(()),
        }
    }

    /// Completes the file. Returns the number of samples beyond full scale that were cut to it; always 0 for float.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<u64, Error> {
        match self {
            Self::Wav(writer) => writer.finish(),
            Self::Flac(writer) => writer.finish(),
        }
    }
}
