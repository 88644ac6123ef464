//! Reading. The chunks are walked here, so that padding is respected and a truncated file is found
//! out before anything is rendered; `hound` understands the format and decodes the samples.

use super::{Depth, Format};
use crate::offline::Error;
use std::{
    fs::File,
    io::{self, BufReader, Chain, Cursor, Read},
    path::{Path, PathBuf},
};

/// No format chunk is longer; a longer one is a broken length.
const LONGEST_FORMAT: u32 = 1024;

/// The format tag that sends readers to the subformat.
const EXTENSIBLE: u16 = 0xFFFE;

/// A WAV file being read.
pub struct Reader {
    path: PathBuf,
    wav: hound::WavReader<Chain<Cursor<Vec<u8>>, BufReader<File>>>,
    format: Format,
}

impl Reader {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read, is not a WAV file of a [`Depth`], is truncated or has no samples.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let unreadable = |source| Error::Read { path: path.into(), source };
        let not_wav = |reason: &str| Error::NotWav { path: path.into(), reason: reason.into() };

        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(Error::Folder(path.into()));
        }
        let mut file = BufReader::new(file);
        let Chunks { mut fmt, data_start, data_len } = walk(&mut file).map_err(|error| {
            if error.kind() == io::ErrorKind::UnexpectedEof {
                not_wav("it ends before its samples begin")
            } else if error.kind() == io::ErrorKind::InvalidData {
                not_wav(&error.to_string())
            } else {
                unreadable(error)
            }
        })?;
        let depth =
            depth(&mut fmt).map_err(|coding| Error::Coding { path: path.into(), coding })?;

        let head = header(&fmt, data_len);
        let wav =
            hound::WavReader::new(Cursor::new(head).chain(file)).map_err(|error| match error {
                hound::Error::FormatError(reason) => not_wav(reason),
                other => not_wav(&other.to_string()),
            })?;
        let spec = wav.spec();
        let frames = u64::from(wav.duration());
        if frames == 0 {
            return Err(Error::Empty(path.into()));
        }
        let frame = u64::from(data_len) / frames;
        let coding = (spec.sample_format, spec.bits_per_sample, frame / u64::from(spec.channels));
        let bytes = u64::from(depth.bits() / 8);
        // 24 bits may be stored in four bytes.
        if coding != (depth.sample_format(), depth.bits(), bytes)
            && coding != (hound::SampleFormat::Int, 24, 4)
        {
            return Err(not_wav("its format chunk contradicts itself"));
        }
        let there = metadata.len().saturating_sub(data_start);
        if there < u64::from(data_len) {
            let missing = frames - there / frame;
            return Err(Error::Truncated { path: path.into(), missing, frames });
        }
        let format = Format { channels: spec.channels, rate: spec.sample_rate, depth };
        Ok(Self { path: path.into(), wav, format })
    }

    /// What the samples have in common.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Samples a channel in the whole file.
    pub fn frames(&self) -> u64 {
        u64::from(self.wav.duration())
    }

    /// Replaces what `channels` hold by the next samples, at most `frames` for each channel; full scale
    /// is 1. At the end of the file, they are empty.
    ///
    /// # Errors
    /// When the file cannot be read on.
    pub fn read(&mut self, channels: &mut [Vec<f32>], frames: usize) -> Result<(), Error> {
        channels.iter_mut().for_each(Vec::clear);
        let count = frames.saturating_mul(channels.len());
        let wav = &mut self.wav;
        let read = match self.format.depth {
            Depth::Float32 => deal(wav.samples::<f32>().take(count), channels),
            depth => {
                let unit = 1.0 / depth.full_scale();
                let scaled = |sample: i32| (f64::from(sample) * unit) as f32;
                let samples = wav.samples::<i32>().take(count);
                deal(samples.map(|sample| sample.map(scaled)), channels)
            }
        };
        read.map_err(|error| {
            let source = match error {
                hound::Error::IoError(source) => source,
                other => io::Error::other(other),
            };
            Error::Read { path: self.path.clone(), source }
        })
    }
}

/// Hands interleaved samples out to their channels.
fn deal(
    mut samples: impl Iterator<Item = hound::Result<f32>>,
    channels: &mut [Vec<f32>],
) -> hound::Result<()> {
    loop {
        for channel in &mut *channels {
            let Some(sample) = samples.next() else { return Ok(()) };
            channel.push(sample?);
        }
    }
}

struct Chunks {
    fmt: Vec<u8>,
    data_start: u64,
    data_len: u32,
}

/// Reads up to the first sample. A file that is not WAV is [`io::ErrorKind::InvalidData`].
fn walk(file: &mut BufReader<File>) -> io::Result<Chunks> {
    let invalid = |reason: &'static str| io::Error::new(io::ErrorKind::InvalidData, reason);
    let mut riff = [0; 12];
    file.read_exact(&mut riff)?;
    match (&riff[..4], &riff[8..]) {
        (b"RIFF", b"WAVE") => {}
        (b"RF64" | b"BW64", _) => return Err(invalid("it is RF64, for more than 4 GiB")),
        _ => return Err(invalid("it has no RIFF WAVE header")),
    }
    let mut fmt = Vec::new();
    let mut position = riff.len() as u64;
    loop {
        let mut head = [0; 8];
        file.read_exact(&mut head)?;
        position += head.len() as u64;
        let [id @ .., l0, l1, l2, l3] = head;
        let len = u32::from_le_bytes([l0, l1, l2, l3]);
        // Chunks begin at even places.
        let padded = i64::from(len) + i64::from(len % 2);
        match &id {
            b"fmt " if !(16..=LONGEST_FORMAT).contains(&len) => {
                return Err(invalid("its format chunk has a wrong length"));
            }
            b"fmt " => {
                fmt.resize(len as usize, 0);
                file.read_exact(&mut fmt)?;
                file.seek_relative(padded - i64::from(len))?;
            }
            b"data" if fmt.is_empty() => return Err(invalid("it has no format chunk")),
            b"data" => return Ok(Chunks { fmt, data_start: position, data_len: len }),
            _ => file.seek_relative(padded)?,
        }
        position += padded as u64;
    }
}

/// The depth that a format chunk, which has at least 16 bytes, tells; or the name of a coding that is
/// not read. Cuts the chunk down to what `hound` needs to know, for it is strict about the rest.
fn depth(fmt: &mut Vec<u8>) -> Result<Depth, String> {
    let word = |at: usize| u16::from_le_bytes([fmt[at], fmt[at + 1]]);
    let bits = word(14);
    let tag = if word(0) == EXTENSIBLE && fmt.len() >= 40 {
        let subformat = word(24);
        fmt.truncate(40);
        // The rest has 22 bytes. Fewer bits may be valid than are stored; those are the upper ones, so all
        // that are stored can be read, and zero says so.
        fmt[16..20].copy_from_slice(&[22, 0, 0, 0]);
        subformat
    } else {
        let tag = word(0);
        fmt.truncate(16);
        tag
    };
    match (tag, bits) {
        (1, 8) => Ok(Depth::Int8),
        (1, 16) => Ok(Depth::Int16),
        (1, 24) => Ok(Depth::Int24),
        (1, 32) => Ok(Depth::Int32),
        (3, 32) => Ok(Depth::Float32),
        (1, _) => Err(format!("{bits}-bit integer")),
        (3, _) => Err(format!("{bits}-bit float")),
        (2 | 0x11, _) => Err("ADPCM".into()),
        (6, _) => Err("A-law".into()),
        (7, _) => Err("mu-law".into()),
        (0x55, _) => Err("MP3".into()),
        _ => Err(format!("format {tag:#06x}")),
    }
}

/// The shortest file head that says the same.
fn header(fmt: &[u8], data_len: u32) -> Vec<u8> {
    let fmt_len = (fmt.len() as u32).to_le_bytes();
    let riff_len = data_len.saturating_add(20 + fmt.len() as u32).to_le_bytes();
    let parts: [&[u8]; 7] =
        [b"RIFF", &riff_len, b"WAVEfmt ", &fmt_len, fmt, b"data", &data_len.to_le_bytes()];
    parts.concat()
}
