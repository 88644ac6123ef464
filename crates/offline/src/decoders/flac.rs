//! Decoder of FLAC, by `flac-codec`, which verifies the checksums of frames. `symphonia` would skip a damaged frame without an
//! error.
//!
//! The decoder gets only two metadata blocks: STREAMINFO, and the comments if they are intact. Broken comments, pictures and cue
//! sheets do not affect the sound. Frames are decoded to the end of the file, regardless of the number of samples in the header.

use super::{
    About, Decoder, guard,
    tags::{self, is_end, peek},
};
use crate::{
    error::Fault,
    shared_file::{SharedFile, Spliced},
    wav::{Depth, Format},
};
use flac_codec::{decode::FlacChannelReader, metadata::Metadata, stream::FrameHeader};
use std::{
    io::{self, BufReader, Read},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Magic bytes of a stream.
const MARK: &[u8] = b"fLaC";

/// Length of a STREAMINFO block in bytes.
const DESCRIPTION: usize = 34;

/// Maximum length in bytes of a metadata block that the decoder gets.
const LONGEST: usize = 1 << 20;

/// Maximum number of bytes that are searched for the first frame, if the metadata does not lead to it.
const FURTHEST: u64 = 64 << 20;

const STREAMINFO: u8 = 0;
const COMMENT: u8 = 4;

pub struct Flac {
    file: SharedFile,
    stream: Stream,
    format: Format,
    frames: Option<u64>,
}

/// FLAC stream. A file has several if it was concatenated from files.
struct Stream {
    decoder: FlacChannelReader<Counted>,
    /// Number of bytes that the decoder has read.
    taken: Arc<AtomicU64>,
    /// Position in the file at which the sound ends, and tags may begin.
    end: u64,
    /// Position in the file minus `taken`; wraps if it is negative.
    offset: u64,
    /// Number of frames that the header states, if it does.
    frames: Option<u64>,
    /// Number of frames decoded so far.
    read: u64,
    /// Factor that converts integer samples to floats, 1 at full scale.
    scale: f32,
    format: Format,
}

/// Reader that adds the number of bytes read to `taken`.
struct Counted {
    from: BufReader<Spliced>,
    taken: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(to)?;
        self.taken.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Flac {
    /// Opens `file`, whose stream begins at `start`.
    pub fn open(file: &SharedFile, start: u64) -> Result<Self, Fault> {
        let stream = Stream::open(file, start)?;
        let (format, frames) = (stream.format, stream.frames);
        Ok(Self { file: file.clone(), stream, format, frames })
    }

    /// Continues at `position`, where the frames of a stream have ended. Returns true if another stream begins there, false at
    /// the end of the sound, and `None` at any other bytes.
    fn go_on(&mut self, position: u64) -> Result<Option<bool>, Fault> {
        let is_stream = peek(&self.file, position, 4)? == MARK;
        if !is_stream && !is_end(&self.file, position, self.stream.end)? {
            return Ok(None);
        }
        self.stream.check_length()?;
        if is_stream {
            self.stream = Stream::open(&self.file, position)?;
            if self.stream.format != self.format {
                return Err(Fault::Broken("its format changes on the way".into()));
            }
            // The first header counts the frames of the first stream only.
            self.frames = None;
        }
        Ok(Some(is_stream))
    }
}

impl Decoder for Flac {
    fn about(&self) -> About {
        About { format: self.format, natural_depth: self.format.depth, frames: self.frames }
    }

    fn next(&mut self, packet: &mut Vec<Vec<f32>>) -> Result<bool, Fault> {
        let position = self.stream.position();
        let decoded = self.stream.decode(packet);
        if let Ok(true) = decoded {
            return Ok(true);
        }
        packet.iter_mut().for_each(Vec::clear);
        if let Some(continues) = self.go_on(position)? {
            return Ok(continues);
        }
        match decoded {
            Err(Fault::Read(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(fault) => return Err(fault),
            Ok(_) => {}
        }
        self.stream.check_length()?;
        Err(Fault::CutShort)
    }
}

impl Stream {
    fn open(file: &SharedFile, start: u64) -> Result<Self, Fault> {
        let len = tags::end(file, file.metadata()?.len())?;
        let mut position = start + MARK.len() as u64;
        let (mut description, mut comments) = (Vec::new(), Vec::new());
        loop {
            let head = peek(file, position, 4)?;
            let [kind, a, b, c] = head[..] else { break };
            let size = u32::from_be_bytes([0, a, b, c]);
            let is_wanted = matches!(kind & 0x7F, STREAMINFO | COMMENT) && size as usize <= LONGEST;
            position += 4;
            if is_wanted {
                let block = peek(file, position, size.into())?;
                match kind & 0x7F {
                    STREAMINFO => description = block,
                    _ => comments = block,
                }
            }
            position += u64::from(size);
            if kind & 0x80 != 0 {
                break;
            }
        }
        if description.len() != DESCRIPTION {
            return Err(Fault::Broken("it does not describe its stream".into()));
        }
        let is_frame = matches!(peek(file, position, 2)?[..], [0xFF, 0xF8 | 0xF9]);
        // No frame is here if the stated length of a block is wrong. Then searches for the first frame.
        if position > len || position < len && !is_frame {
            let from = start + (MARK.len() + 4 + DESCRIPTION) as u64;
            position = first_frame(file, from, len)?.ok_or(Fault::CutShort)?;
            comments.clear();
        }
        let number = description[13..18].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let frames = Some(number & 0xF_FFFF_FFFF).filter(|frames| *frames > 0);
        loosen(&mut description);
        let open = |comments: &[u8]| {
            let head = head(&description, comments);
            let (taken, offset) = (Arc::default(), position.wrapping_sub(head.len() as u64));
            let body = Spliced::new(head, file, position..len);
            let from = BufReader::with_capacity(1 << 16, body);
            let counted = Counted { from, taken: Arc::clone(&taken) };
            let decoder = guard(|| FlacChannelReader::new(counted))
                .unwrap_or_else(|| Err(flac_codec::Error::InvalidMetadataBlock))?;
            Ok::<_, flac_codec::Error>((decoder, taken, offset))
        };
        // Opens without the comments if they are broken. The decoder needs them only for unusual speaker layouts.
        let opened = Some(&comments[..])
            .filter(|bytes| !bytes.is_empty())
            .and_then(|bytes| open(bytes).ok());
        let (decoder, taken, offset) = match opened {
            Some(opened) => opened,
            None => open(&[]).map_err(|fault| Fault::Broken(fault.to_string()))?,
        };
        let stated = decoder.metadata();
        let bits = stated.bits_per_sample();
        let channels = u16::from(stated.channel_count());
        let format = Format {
            channels,
            rate: stated.sample_rate(),
            depth: match bits {
                ..=8 => Depth::Int8,
                9..=16 => Depth::Int16,
                17..=24 => Depth::Int24,
                _ => Depth::Int32,
            },
            speakers: if channels > 2 { u32::from(stated.channel_mask()) } else { 0 },
        };
        let scale = 1.0 / (1u64 << (bits - 1)) as f32;
        Ok(Self { decoder, taken, end: len, offset, frames, read: 0, scale, format })
    }

    /// Returns the position in the file up to which the decoder has read.
    fn position(&self) -> u64 {
        self.taken.load(Ordering::Relaxed).wrapping_add(self.offset)
    }

    /// Decodes the next block of frames. Returns false at the end of the file.
    fn decode(&mut self, packet: &mut Vec<Vec<f32>>) -> Result<bool, Fault> {
        let Self { decoder, scale, .. } = self;
        let decoded = guard(|| -> Result<usize, flac_codec::Error> {
            let channels = decoder.fill_buf()?;
            packet.resize(channels.len(), Vec::new());
            for (to, from) in packet.iter_mut().zip(&channels) {
                to.clear();
                to.extend(from.iter().map(|sample| *sample as f32 * *scale));
            }
            Ok(channels[0].len())
        });
        let decoded = decoded.ok_or_else(|| Fault::Broken("a frame contradicts itself".into()))?;
        let frames = decoded.map_err(|error| match error {
            flac_codec::Error::Io(source) => Fault::Read(source),
            other => Fault::Broken(other.to_string()),
        })?;
        self.decoder.consume(frames);
        self.read += frames as u64;
        Ok(frames > 0)
    }

    /// Checks that at least as many frames have been decoded as the header states, if it does.
    fn check_length(&self) -> Result<(), Fault> {
        match self.frames {
            Some(frames) if frames > self.read => {
                Err(Fault::Truncated { missing: frames - self.read, frames })
            }
            _ => Ok(()),
        }
    }
}

/// Returns the position of the first frame header with a valid checksum between `from` and `end`.
fn first_frame(file: &SharedFile, from: u64, end: u64) -> io::Result<Option<u64>> {
    let bytes = peek(file, from, (end - from.min(end)).min(FURTHEST))?;
    let is_frame = |at: &usize| {
        matches!(bytes[*at..], [0xFF, 0xF8 | 0xF9, ..])
            && FrameHeader::read_subset(&mut &bytes[*at..]).is_ok()
    };
    Ok((0..bytes.len()).find(is_frame).map(|at| from + at as u64))
}

/// Clears or widens the fields of STREAMINFO that the decoder checks against the frames: limits of block and frame sizes,
/// number of samples, MD5 hash.
fn loosen(description: &mut [u8]) {
    description[..10].copy_from_slice(&[0, 16, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0]);
    description[13] &= 0xF0;
    description[14..].fill(0);
}

/// Returns a header with STREAMINFO, and with the comments unless they are empty.
fn head(description: &[u8], comments: &[u8]) -> Vec<u8> {
    let last = if comments.is_empty() { 0x80 } else { 0 };
    let block = |kind: u8, content: &[u8]| {
        let [_, a, b, c] = (content.len() as u32).to_be_bytes();
        [&[kind, a, b, c], content].concat()
    };
    let mut head = [MARK, &block(STREAMINFO | last, description)].concat();
    if last == 0 {
        head.extend(block(COMMENT | 0x80, comments));
    }
    head
}
