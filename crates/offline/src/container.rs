//! Writer for WAV and FLAC.

use crate::{
    chunks_kept::KeptChunk,
    error::{Error, Fault},
    flac_writer::{self, FlacWriter},
    metadata::Metadata,
    output::Output,
    source::Source,
    wav::{self, Dither, Format, clipped, encode},
};
use std::{
    io::{self, Write},
    path::PathBuf,
};

pub use crate::formats::Container;

/// Writer of an output: encodes the samples for the file format.
pub(crate) struct Writer {
    path: PathBuf,
    file: FileWriter,
    format: Format,
    dither: Option<Dither>,
    /// Encoded samples of the latest block.
    bytes: Vec<u8>,
    /// Number of samples so far that were clipped to full scale.
    clipped: u64,
}

enum FileWriter {
    Wav(Box<wav::Writer>),
    Flac(Box<FlacWriter>),
}

impl Writer {
    /// Creates the writer. `frames` is the maximum number of frames of the file, if known. If `dithered`, integers get dither.
    /// FLAC gets the fields and pictures of `metadata`, and WAV the chunks that precede the samples. `source` has their
    /// content.
    pub fn new(
        (container, format): (Container, Format),
        output: &Output,
        frames: Option<u64>,
        dithered: bool,
        metadata: &Metadata,
        source: &mut Source,
    ) -> Result<Self, Error> {
        let (path, Format { channels, rate, .. }) = (&output.path, format);
        match container {
            Container::Wav if !wav::fits(format) => {
                return Err(Fault::TooWide { channels, rate }.at(path));
            }
            Container::Flac if !flac_writer::fits(format) => {
                return Err(Fault::NotForFlac { channels, rate }.at(path));
            }
            _ => {}
        }
        let mut create = || {
            let file = output.file().try_clone()?;
            io::Result::Ok(match container {
                Container::Wav => {
                    let mut writer = wav::Writer::new(file, format, frames)?;
                    put_chunks(&mut writer, &metadata.before, source)?;
                    FileWriter::Wav(Box::new(writer))
                }
                Container::Flac => {
                    FileWriter::Flac(Box::new(flac_writer::open(file, format, metadata)?))
                }
            })
        };
        let file = create().map_err(|error| Error::writing(path, error))?;
        let dither = dithered.then(Dither::default);
        Ok(Self { path: path.into(), file, format, dither, bytes: Vec::new(), clipped: 0 })
    }

    /// Appends samples; all `channels` must have equal lengths.
    pub fn write(&mut self, channels: &[Vec<f32>]) -> Result<(), Error> {
        let depth = self.format.depth;
        if !depth.is_float() {
            self.clipped += clipped(channels);
        }
        encode(channels, depth, self.dither.as_mut(), &mut self.bytes);
        let written = match &mut self.file {
            FileWriter::Wav(writer) => writer.write(&self.bytes),
            FileWriter::Flac(writer) => writer.write_all(&self.bytes),
        };
        written.map_err(|error| Error::writing(&self.path, error))
    }

    /// Completes the file. WAV gets the chunks of `metadata` that follow the samples; `source` has their content. Returns the
    /// number of samples that were clipped to full scale; always 0 for float.
    pub fn finish(self, metadata: &Metadata, source: &mut Source) -> Result<u64, Error> {
        let finish = || match self.file {
            FileWriter::Wav(mut writer) => {
                writer.end_data()?;
                put_chunks(&mut writer, &metadata.after, source)?;
                writer.finish()
            }
            FileWriter::Flac(writer) => writer.finalize().map_err(flac_writer::as_io),
        };
        finish().map_err(|error| Error::writing(&self.path, error))?;
        Ok(self.clipped)
    }
}

/// Writes `chunks`. `source` has the content of the copied ones.
fn put_chunks(
    writer: &mut wav::Writer,
    chunks: &[KeptChunk],
    source: &mut Source,
) -> io::Result<()> {
    chunks.iter().try_for_each(|chunk| match chunk {
        KeptChunk::Copied(chunk) => writer.put_chunk(chunk.id, chunk.len, |to| {
            source.wav().map_or(Ok(()), |reader| reader.copy_chunk(*chunk, to))
        }),
        KeptChunk::Made(id, content) => {
            writer.put_chunk(*id, content.len() as u32, |to| to.write_all(content))
        }
    })
}
