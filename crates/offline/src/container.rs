//! Writing of outputs, in either container.

use super::{
    Error, Output, Source,
    carried::Carried,
    flac,
    metadata::Metadata,
    wav::{self, Format},
};

pub use super::formats::Container;

/// An output being written.
pub enum Writer {
    /// WAV.
    Wav(Box<wav::Writer>),
    /// FLAC.
    Flac(Box<flac::Writer>),
}

impl Writer {
    /// Begins a file of at most `frames` samples a channel, if that is known. Integers are dithered if `dithered`. FLAC gets
    /// fields and pictures of `metadata`.
    ///
    /// # Errors
    /// When the container cannot have the format, or when nothing can be written.
    pub fn new(
        container: Container,
        output: &Output,
        format: Format,
        frames: Option<u64>,
        dithered: bool,
        metadata: &Metadata,
    ) -> Result<Self, Error> {
        Ok(match container {
            Container::Wav => {
                Self::Wav(Box::new(wav::Writer::new(output, format, frames, dithered)?))
            }
            Container::Flac => {
                Self::Flac(Box::new(flac::Writer::new(output, format, dithered, metadata)?))
            }
        })
    }

    /// Writes chunks, of `source` or new ones, where the container has such: before the first samples, or after
    /// [`Writer::end_data`].
    ///
    /// # Errors
    /// When they cannot be read or written.
    pub fn carry(&mut self, chunks: &[Carried], source: &mut Source) -> Result<(), Error> {
        let Self::Wav(writer) = self else { return Ok(()) };
        chunks.iter().try_for_each(|chunk| match chunk {
            Carried::Copied(chunk) => writer.carry(*chunk, |to| source.copy_chunk(*chunk, to)),
            Carried::Made(id, content) => writer.put_chunk(*id, content),
        })
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
