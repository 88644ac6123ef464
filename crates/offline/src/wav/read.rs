//! Reader of PCM in WAV files. Samples in other codings become [`CodedSamples`].

use super::{
    Depth, Format,
    chunks::{Chunk, Chunks, walk},
    codec,
    coded_samples::CodedSamples,
};
use crate::{
    error::Fault,
    shared_file::{SharedFile, Spliced},
};
use std::{
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    ops::Range,
};

/// Format tag of the extensible format. There, the subformat has the tag of the coding.
const EXTENSIBLE: u16 = 0xFFFE;

/// Number of bytes before the loops in a chunk `smpl`.
const SMPL: usize = 36;
/// Number of bytes of each loop in a chunk `smpl`.
const LOOP: usize = 24;

pub struct Reader {
    file: BufReader<Spliced>,
    /// Offset of the samples in the file.
    data_start: u64,
    pub format: Format,
    /// Bytes per sample.
    stride: usize,
    pub frames: u64,
    /// Frame that is read next.
    read: u64,
    /// Whether samples are big-endian.
    swapped: bool,
    /// Whether at least two bytes of an incomplete frame follow the last complete one.
    pub is_cut: bool,
    bytes: Vec<u8>,
    /// Chunks to copy that precede the samples.
    pub before: Vec<Chunk>,
    /// Chunks to copy that follow the samples.
    pub after: Vec<Chunk>,
}

pub enum Content {
    Pcm(Reader),
    Coded(CodedSamples),
}

impl Content {
    /// Reads the chunk headers of `file`.
    pub(crate) fn open(file: &SharedFile) -> Result<Self, Fault> {
        let file_len = file.metadata()?.len();
        let mut file = BufReader::new(file.part(0..file_len));
        let chunks = walk(&mut file, file_len).map_err(|fault| match fault {
            Fault::Read(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Fault::NotWav("it ends before its samples begin")
            }
            other => other,
        })?;
        let channels = word(&chunks.fmt, 2);
        if channels == 0 {
            return Err(Fault::NotWav("it has no channels"));
        }
        Fault::check_channels(channels.into())?;
        let remaining = file_len - chunks.data_start;
        match format(&chunks.fmt) {
            Ok(format) => Reader::new(file, format, chunks, remaining).map(Self::Pcm),
            Err(coding) => match CodedSamples::new(&chunks, tag(&chunks.fmt), remaining) {
                Some(samples) => Ok(Self::Coded(samples)),
                None => Err(Fault::Coding(coding)),
            },
        }
    }
}

impl Reader {
    /// Creates a reader of the samples in `chunks`. `remaining` is the number of bytes from the first sample
    /// to the end of the file.
    fn new(
        mut file: BufReader<Spliced>,
        format: Format,
        chunks: Chunks,
        remaining: u64,
    ) -> Result<Self, Fault> {
        let Chunks { fmt, data_start, data_len, swapped, before, after, .. } = chunks;
        let frame = match word(&fmt, 12) {
            0 => u64::from(format.channels) * format.depth.bytes() as u64,
            frame => u64::from(frame),
        };
        let stride = frame as usize / usize::from(format.channels);
        // 24 bits may be stored in four bytes.
        if frame % u64::from(format.channels) != 0
            || stride != format.depth.bytes() && (word(&fmt, 14), stride) != (24, 4)
        {
            return Err(Fault::NotWav("its format chunk contradicts itself"));
        }
        let frames = data_len / frame;
        if frames * frame > remaining {
            return Err(Fault::Truncated { missing: frames - remaining / frame, frames });
        }
        if frames == 0 {
            return Err(Fault::Empty);
        }
        file.seek(SeekFrom::Start(data_start))?;
        Ok(Self {
            file,
            data_start,
            format,
            stride,
            frames,
            read: 0,
            swapped,
            // A single byte does not count: it may be padding, which some programs include in the length of the samples.
            is_cut: data_len % frame > 1,
            bytes: Vec::new(),
            before,
            after,
        })
    }

    /// Moves to `frame`, or to the end if the file is shorter.
    pub fn seek(&mut self, frame: u64) {
        self.read = frame.min(self.frames);
    }

    /// Returns the frames of the first forward loop in the chunk `smpl`, if there is one.
    pub fn looped(&mut self) -> io::Result<Option<Range<u64>>> {
        let mut chunks = self.before.iter().chain(&self.after);
        let Some(chunk) = chunks.find(|chunk| chunk.id == *b"smpl").copied() else {
            return Ok(None);
        };
        let mut content = Vec::new();
        self.copy_chunk(chunk, &mut content)?;
        let loops = content.get(SMPL..).unwrap_or_default();
        let found = loops.as_chunks::<LOOP>().0.iter().find_map(|entry| {
            let number = |at: usize| {
                u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]])
            };
            let (start, last) = (u64::from(number(8)), u64::from(number(12)));
            let is_forward = number(4) == 0;
            (is_forward && start <= last && last < self.frames).then_some(start..last + 1)
        });
        Ok(found)
    }

    /// Copies the content of `chunk`, which must be of this file, to `to`.
    pub fn copy_chunk(&mut self, chunk: Chunk, to: &mut impl Write) -> io::Result<()> {
        self.go_to(chunk.start)?;
        let mut remaining = chunk.len as usize;
        // Not `io::copy`, which takes several system calls even for a small chunk.
        while remaining > 0 {
            let bytes = self.file.fill_buf()?;
            let len = bytes.len().min(remaining);
            if len == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            to.write_all(&bytes[..len])?;
            self.file.consume(len);
            remaining -= len;
        }
        Ok(())
    }

    /// Replaces the content of `channels` by the next samples, at most `frames` for each channel; full scale is 1. At the end of
    /// the file, all channels become empty.
    pub fn read(&mut self, channels: &mut [Vec<f32>], frames: usize) -> io::Result<()> {
        channels.iter_mut().for_each(Vec::clear);
        let frames = (self.frames - self.read).min(frames as u64);
        let frame = channels.len() * self.stride;
        self.bytes.resize(frames as usize * frame, 0);
        self.go_to(self.data_start + self.read * frame as u64)?;
        self.file.read_exact(&mut self.bytes)?;
        self.read += frames;
        if self.swapped {
            self.bytes.chunks_exact_mut(self.stride).for_each(<[u8]>::reverse);
        }
        codec::decode(&self.bytes, self.format.depth, self.stride, channels);
        Ok(())
    }

    fn go_to(&mut self, position: u64) -> io::Result<()> {
        let position_now = self.file.stream_position()?;
        self.file.seek_relative(position as i64 - position_now as i64)
    }
}

fn word(fmt: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([fmt[at], fmt[at + 1]])
}

/// Returns the coding's format tag; in the extensible format, it is the tag of the subformat.
fn tag(fmt: &[u8]) -> u16 {
    match word(fmt, 0) {
        EXTENSIBLE if fmt.len() >= 40 => word(fmt, 24),
        tag => tag,
    }
}

/// Returns the format in the format chunk `fmt` of at least 16 bytes, or the name of a coding other than PCM.
fn format(fmt: &[u8]) -> Result<Format, String> {
    let double = |at: usize| u32::from_le_bytes([fmt[at], fmt[at + 1], fmt[at + 2], fmt[at + 3]]);
    let bits = word(fmt, 14);
    // Fewer bits may be valid than are stored. The valid bits are the upper ones, so all stored bits can be read as samples.
    // For 20 valid bits in three bytes, some headers state 20 here, and others 24.
    let speakers = if word(fmt, 0) == EXTENSIBLE && fmt.len() >= 40 { double(20) } else { 0 };
    let tag = tag(fmt);
    let depth = match (tag, bits) {
        (1, 8) => Depth::Int8,
        (1, 16) => Depth::Int16,
        (1, 20 | 24) => Depth::Int24,
        (1, 32) => Depth::Int32,
        (3, 32) => Depth::Float32,
        (3, 64) => Depth::Float64,
        (1, _) => return Err(format!("{bits}-bit integer")),
        (3, _) => return Err(format!("{bits}-bit float")),
        (2 | 0x11, _) => return Err("ADPCM".into()),
        (6, _) => return Err("A-law".into()),
        (7, _) => return Err("mu-law".into()),
        (0x55, _) => return Err("MP3".into()),
        _ => return Err(format!("format {tag:#06x}")),
    };
    Ok(Format { channels: word(fmt, 2), rate: double(4), depth, speakers })
}
