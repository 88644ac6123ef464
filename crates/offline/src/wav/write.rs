//! Writes a WAV file: first a header without lengths, then the samples; at the end, completes the header. Files that are too
//! long for WAV become RF64.

use super::{
    Format,
    codec::{Dither, clipped, encode},
    header::{Lengths, data_head, fits, head},
};
use crate::{error::Error, output::Output};
use std::{
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::PathBuf,
};

/// Size of the write buffer in bytes.
const BUFFER: usize = 1 << 18;

pub struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
    format: Format,
    dither: Option<Dither>,
    bytes: Vec<u8>,
    /// Whether the header has room for the lengths of RF64.
    may_be_long: bool,
    /// Offset of the samples in the file; 0 until they begin.
    data_start: u64,
    /// Length of the samples so far in bytes.
    data: u64,
    /// Number of samples so far that were clipped to full scale.
    clipped: u64,
}

impl Writer {
    /// Begins the file with an incomplete header. `frames` is the maximum length of the file, if known. If `dithered`, integers
    /// get dither.
    pub fn new(
        output: &Output,
        format: Format,
        frames: Option<u64>,
        dithered: bool,
    ) -> Result<Self, Error> {
        let path = output.path().to_path_buf();
        let Format { channels, rate, depth, .. } = format;
        if !fits(format) {
            return Err(Error::TooWide { path, channels, rate });
        }
        let frame = u64::from(channels) * depth.bytes() as u64;
        // With at most 3 GiB of samples, 1 GiB is left for copied chunks.
        let may_be_long = frames.is_none_or(|frames| frames.saturating_mul(frame) > 3 << 30);
        let mut writer = Self {
            file: BufWriter::with_capacity(
                BUFFER,
                output.file().try_clone().map_err(|source| Error::writing(&path, source))?,
            ),
            path,
            format,
            dither: dithered.then(Dither::default),
            bytes: Vec::new(),
            may_be_long,
            data_start: 0,
            data: 0,
            clipped: 0,
        };
        let lengths = Lengths { file: 8, data: 0, frames: 0 };
        writer.put(&head(format, lengths, may_be_long))?;
        Ok(writer)
    }

    /// Writes a chunk. `copy` must write its content, `len` bytes. Must be called before the first samples or after
    /// [`Writer::end_data`].
    pub fn put_chunk(
        &mut self,
        id: [u8; 4],
        len: u32,
        copy: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), Error> {
        self.put(&id)?;
        self.put(&len.to_le_bytes())?;
        copy(&mut self.file).map_err(|source| Error::writing(&self.path, source))?;
        // Chunks begin at even offsets.
        self.put(&[0][..len as usize % 2])
    }

    /// Appends samples; all `channels` must have equal lengths.
    pub fn write(&mut self, channels: &[Vec<f32>]) -> Result<(), Error> {
        self.begin_data()?;
        let Format { depth, .. } = self.format;
        if !depth.is_float() {
            self.clipped += clipped(channels);
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        encode(channels, depth, self.dither.as_mut(), &mut bytes);
        self.data += bytes.len() as u64;
        self.put(&bytes)?;
        self.bytes = bytes;
        Ok(())
    }

    fn begin_data(&mut self) -> Result<(), Error> {
        if self.data_start == 0 {
            self.put(&data_head(Lengths { file: 8, data: 0, frames: 0 }))?;
            let position = self.file.stream_position();
            self.data_start = position.map_err(|source| Error::writing(&self.path, source))?;
        }
        Ok(())
    }

    /// Ends the data chunk, padded to an even length.
    pub fn end_data(&mut self) -> Result<(), Error> {
        self.begin_data()?;
        self.put(&[0][..self.data as usize % 2])
    }

    /// Completes the header. Returns the number of samples that were clipped to full scale; always 0 for float.
    pub fn finish(mut self) -> Result<u64, Error> {
        let frame = u64::from(self.format.channels) * self.format.depth.bytes() as u64;
        let mut complete = || {
            let file = self.file.seek(SeekFrom::End(0))?;
            let lengths = Lengths { file, data: self.data, frames: self.data / frame };
            self.file.rewind()?;
            self.file.write_all(&head(self.format, lengths, self.may_be_long))?;
            self.file.seek(SeekFrom::Start(self.data_start - 8))?;
            self.file.write_all(&data_head(lengths))?;
            self.file.flush()
        };
        complete().map_err(|source| Error::writing(&self.path, source))?;
        Ok(self.clipped)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|source| Error::writing(&self.path, source))
    }
}
