//! Writer for WAV and FLAC.

use crate::{
    chunks_kept::KeptChunk,
    error::Error,
    flac_writer,
    metadata::Metadata,
    output::Output,
    source::Source,
    wav::{self, Format},
};
use std::io::Write;

pub use crate::formats::Container;

pub(crate) enum Writer {
    Wav(Box<wav::Writer>),
    Flac(Box<flac_writer::Writer>),
}

impl Writer {
    /// Creates the writer. `frames` is the maximum length of the file, if known. If `dithered`, integers get dither. A FLAC
    /// file gets the fields and pictures of `metadata`.
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
                Self::Flac(Box::new(flac_writer::Writer::new(output, format, dithered, metadata)?))
            }
        })
    }

    /// Writes `chunks` to a WAV file; does nothing for FLAC. `source` has the content of the copied chunks. Must be called
    /// before the first samples or after [`Writer::end_data`].
    pub fn put_chunks(&mut self, chunks: &[KeptChunk], source: &mut Source) -> Result<(), Error> {
        let Self::Wav(writer) = self else { return Ok(()) };
        chunks.iter().try_for_each(|chunk| match chunk {
            KeptChunk::Copied(chunk) => {
                writer.put_chunk(chunk.id, chunk.len, |to| source.copy_chunk(*chunk, to))
            }
            KeptChunk::Made(id, content) => {
                writer.put_chunk(*id, content.len() as u32, |to| to.write_all(content))
            }
        })
    }

    /// Appends samples; all `channels` must have equal lengths.
    pub fn write(&mut self, channels: &[Vec<f32>]) -> Result<(), Error> {
        match self {
            Self::Wav(writer) => writer.write(channels),
            Self::Flac(writer) => writer.write(channels),
        }
    }

    /// Ends the chunk of samples in a WAV file; does nothing for FLAC.
    pub fn end_data(&mut self) -> Result<(), Error> {
        match self {
            Self::Wav(writer) => writer.end_data(),
            Self::Flac(_) => Ok(()),
        }
    }

    /// Completes the file. Returns the number of samples that were clipped to full scale; always 0 for float.
    pub fn finish(self) -> Result<u64, Error> {
        match self {
            Self::Wav(writer) => writer.finish(),
            Self::Flac(writer) => writer.finish(),
        }
    }
}
