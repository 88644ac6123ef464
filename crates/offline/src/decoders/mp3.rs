//! Decoder of MP3, by `nanomp3`. Removes the samples that encoders put before and after the music.
//!
//! `cat a.mp3 b.mp3` makes an MP3 file of two parts, each with a header of its own (a first frame without sound, called Xing,
//! Info or LAME tag) that counts its frames. Each part is decoded as if it were alone.

use super::{About, Decoder, guard, tags};
use crate::{
    error::Fault,
    shared_file::{SharedFile, Spliced},
    wav::{Depth, Format},
};
use nanomp3::{DecodeError, FrameInfo, MAX_SAMPLES_PER_FRAME, VbrTag, for_each_frame_reader};
use std::{
    io::{self, Read},
    ops::{ControlFlow, Range},
    vec::IntoIter,
};

/// Maximum number of bytes that the decoder gets at a time. The decoder accepts a frame only if it sees the next frames, too.
const WINDOW: usize = 1 << 15;

/// Minimum number of bytes that the decoder needs, except at the end of the file.
const LEAST: usize = 1 << 14;

/// Delay of a decoder: number of samples that it outputs before the encoder's first one (LAME's tag specification).
const DELAY: i64 = 529;

/// Maximum offset in bytes of a Xing, Info or LAME tag in its frame: it follows header, CRC and side information.
const FURTHEST: usize = 4 + 2 + 32;

pub struct Mp3 {
    file: SharedFile,
    parts: IntoIter<Part>,
    stream: Stream,
    format: Format,
    frames: Option<u64>,
}

/// Section of a file that is decoded alone. It may have a header of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// Range of the audio frames in the file, in bytes. A header is not included.
    bytes: Range<u64>,
    /// Number of samples per channel before the music.
    skipped: u64,
    /// Number of samples per channel of the music, if the header states it.
    frames: Option<u64>,
    /// Position of the end of the frames, if the header states it.
    end: Option<u64>,
}

struct Stream {
    part: Part,
    from: Spliced,
    window: Vec<u8>,
    /// Number of bytes at the start of `window` that are already decoded.
    used: usize,
    decoder: nanomp3::Decoder,
    /// Whether no frame has been decoded yet. The first frames may refer to earlier ones that are cut off.
    is_at_start: bool,
    /// Number of samples per channel before the music that are still to be dropped.
    skipped: u64,
    /// Number of samples per channel of the music that have been decoded.
    read: u64,
}

impl Mp3 {
    /// Opens the frames in `bytes` of `file`.
    pub fn open(file: &SharedFile, bytes: Range<u64>) -> Result<Self, Fault> {
        let parts = guard(|| parts(file, bytes.start..tags::end(file, bytes.end)?))
            .ok_or_else(|| Fault::Broken("its frames contradict themselves".into()))??;
        let Some((first, parts)) = parts else {
            return Err(Fault::Broken("it has no frames of MPEG audio".into()));
        };
        if first.layer != 3 {
            return Err(Fault::Coding(format!("MPEG layer {0} (MP{0})", first.layer)));
        }
        let frames = parts[0].frames.filter(|_| parts.len() == 1);
        let mut parts = parts.into_iter();
        let part = parts.next().expect("there is a first frame");
        let format = Format {
            channels: first.channels,
            rate: first.rate,
            depth: Depth::Float32,
            speakers: 0,
        };
        let stream = Stream::new(file, part);
        Ok(Self { file: file.clone(), parts, stream, format, frames })
    }

    /// Checks at the end of a part that it has as many samples as its header states.
    fn check_length(&self) -> Result<(), Fault> {
        let Stream { part, read, .. } = &self.stream;
        match part.frames {
            Some(frames) if frames > *read => {
                let missing = frames - read;
                // The file has all bytes that the header states, so some of them are damaged.
                if part.end.is_some_and(|end| end <= part.bytes.end) {
                    return Err(Fault::Damaged { missing, frames });
                }
                Err(Fault::Truncated { missing, frames })
            }
            _ => Ok(()),
        }
    }
}

impl Decoder for Mp3 {
    fn about(&self) -> About {
        // MP3 has no bit depth. The output gets 16 bits, as from sox and ffmpeg.
        About { format: self.format, natural_depth: Depth::Int16, frames: self.frames }
    }

    fn next(&mut self, packet: &mut Vec<Vec<f32>>) -> Result<bool, Fault> {
        packet.resize(self.format.channels.into(), Vec::new());
        packet.iter_mut().for_each(Vec::clear);
        let stream = &mut self.stream;
        let mut samples = [0.0; MAX_SAMPLES_PER_FRAME];
        let decoded = guard(|| stream.decode(&mut samples)).unwrap_or_else(|| Err(damaged()));
        let Some(info) = decoded? else {
            self.check_length()?;
            let Some(part) = self.parts.next() else { return Ok(false) };
            self.stream = Stream::new(&self.file, part);
            return Ok(true);
        };
        let channels = info.channels.num().into();
        if (channels, info.sample_rate) != (self.format.channels, self.format.rate) {
            return Err(Fault::Broken("channels or rate change on the way".into()));
        }
        let audible = stream.audible(info.samples_produced);
        let frames = samples.chunks_exact(channels.into());
        for frame in frames.skip(audible.start).take(audible.len()) {
            packet.iter_mut().zip(frame).for_each(|(channel, sample)| channel.push(*sample));
        }
        Ok(true)
    }
}

fn damaged() -> Fault {
    Fault::Broken("a frame is damaged".into())
}

impl Stream {
    fn new(file: &SharedFile, part: Part) -> Self {
        Self {
            from: file.part(part.bytes.clone()),
            window: Vec::new(),
            used: 0,
            decoder: nanomp3::Decoder::new(),
            is_at_start: true,
            skipped: part.skipped,
            read: 0,
            part,
        }
    }

    /// Decodes the next frame. Returns `None` at the end of the part.
    fn decode(
        &mut self,
        samples: &mut [f32; MAX_SAMPLES_PER_FRAME],
    ) -> Result<Option<FrameInfo>, Fault> {
        if self.part.frames.is_some_and(|frames| frames <= self.read) {
            return Ok(None);
        }
        loop {
            // A search that finds no frame resets the decoder, and the last frame needs the state from before.
            let before = self.fill()?.then(|| self.decoder.clone());
            let start = self.used;
            let (used, decoded) = self.decoder.decode(&self.window[start..], samples);
            self.used += used;
            match decoded {
                Ok(info) => {
                    self.is_at_start = false;
                    return Ok(Some(info));
                }
                // The frame needs data of earlier frames, which are cut off. Silence replaces it.
                Err(DecodeError::ReservoirUnavailable(info)) if self.is_at_start => {
                    let mut info = info;
                    info.samples_produced = if info.sample_rate < 32_000 { 576 } else { 1152 };
                    samples.fill(0.0);
                    return Ok(Some(info));
                }
                Err(DecodeError::NoFrame) => {
                    if let Some(before) = before {
                        self.decoder = before;
                        return Ok(self.decode_last(start, samples));
                    }
                }
                Err(_) => return Err(damaged()),
            }
        }
    }

    /// Decodes the last frame, at `start` of the window, if it is complete. No following frame confirms its header.
    fn decode_last(
        &mut self,
        start: usize,
        samples: &mut [f32; MAX_SAMPLES_PER_FRAME],
    ) -> Option<FrameInfo> {
        let rest = &self.window[start..];
        let len =
            rest.first_chunk().filter(|_| !self.is_at_start).and_then(|head| frame_len(*head));
        let decoded = self.decoder.decode(rest.get(..len?)?, samples).1;
        // Nothing is left to be decoded.
        self.window.clear();
        self.used = 0;
        decoded.ok()
    }

    /// Refills the window if it has fewer than [`LEAST`] bytes left. Returns true if that reached the end of the part.
    fn fill(&mut self) -> io::Result<bool> {
        if self.window.len() - self.used >= LEAST {
            return Ok(false);
        }
        self.window.drain(..self.used);
        self.used = 0;
        let room = WINDOW - self.window.len();
        let read = self.from.by_ref().take(room as u64).read_to_end(&mut self.window)?;
        Ok(read < room)
    }

    /// Returns which of the next `decoded` samples are music, and counts them as read.
    fn audible(&mut self, decoded: usize) -> Range<usize> {
        let dropped = self.skipped.min(decoded as u64);
        self.skipped -= dropped;
        let remaining = self.part.frames.map_or(u64::MAX, |frames| frames - self.read);
        let audible = remaining.min(decoded as u64 - dropped);
        self.read += audible;
        dropped as usize..(dropped + audible) as usize
    }
}

/// First frame of a part of a file, with its position in the file.
#[derive(Debug, Clone)]
struct Frame {
    position: u64,
    bytes: Vec<u8>,
    layer: u8,
    channels: u16,
    rate: u32,
    samples: usize,
}

fn first_frame(file: &SharedFile, bytes: Range<u64>) -> io::Result<Option<Frame>> {
    let mut first = None;
    let start = bytes.start;
    for_each_frame_reader(file.part(bytes), |frame| {
        first = Some(Frame {
            position: start + frame.offset as u64,
            bytes: frame.data.to_vec(),
            layer: frame.layer,
            channels: frame.channels.num().into(),
            rate: frame.sample_rate,
            samples: frame.samples,
        });
        ControlFlow::Break(())
    })?;
    Ok(first)
}

/// Returns the first frame in the range `bytes` of `file`, and the parts of the file. Returns `None` if there is no frame.
fn parts(file: &SharedFile, bytes: Range<u64>) -> io::Result<Option<(Frame, Vec<Part>)>> {
    let Some(first) = first_frame(file, bytes.clone())? else { return Ok(None) };
    let (mut frame, mut last) = (first.clone(), part(&first, bytes.end));
    let mut parts = Vec::new();
    while let Some(end) = last.end.filter(|end| *end < bytes.end) {
        let next = tags::skip(file, end)?;
        // If the stated length is wrong, no frame begins there, or one of another version or layer.
        let Some(found) = first_frame(file, next..bytes.end)? else { break };
        if found.position != next || found.bytes[1] & 0xFE != frame.bytes[1] & 0xFE {
            break;
        }
        last.bytes.end = end;
        parts.push(std::mem::replace(&mut last, part(&found, bytes.end)));
        frame = found;
    }
    parts.push(last);
    Ok(Some((first, parts)))
}

/// Returns the part that begins with `frame`, up to `end`.
fn part(frame: &Frame, end: u64) -> Part {
    let behind = frame.position + frame.bytes.len() as u64;
    let Some(tag) = VbrTag::parse(&frame.bytes) else {
        // A frame with a broken or unknown tag has no sound, just like one with a valid tag.
        let start = if has_mark(&frame.bytes) { behind } else { frame.position };
        return Part { bytes: start..end, skipped: 0, frames: None, end: None };
    };
    let (delay, padding) = tag
        .encoder_delay_padding
        .map_or((0, 0), |(delay, padding)| (i64::from(delay) + DELAY, i64::from(padding) - DELAY));
    let frames = tag.frames.map(|count| {
        let all = i64::from(count) * frame.samples as i64;
        (all - delay - padding.max(0)).max(0) as u64
    });
    let stated_end = coded_len(&frame.bytes).map(|len| frame.position + u64::from(len));
    Part { bytes: behind..end, skipped: delay as u64, frames, end: stated_end }
}

/// Returns whether a frame holds a tag of Xing, LAME or Fraunhofer instead of sound.
fn has_mark(frame: &[u8]) -> bool {
    const MARKS: [&[u8]; 3] = [b"Xing", b"Info", b"VBRI"];
    frame.windows(4).take(FURTHEST + 1).any(|id| MARKS.contains(&id))
}

/// Returns the length in bytes of a layer 3 frame by its header (ISO 11172-3, 2.4.2.3); `None` for free formats and invalid
/// headers.
fn frame_len(head: [u8; 4]) -> Option<usize> {
    const KILOBITS: [[usize; 16]; 2] = [
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0],
    ];
    let [0xFF, second, third, _] = head else { return None };
    // MPEG 1, 2 and 2.5. The rates of 2.5 are half those of 2.
    let (lower, rates) = match second >> 3 & 3 {
        3 => (0, [44_100, 48_000, 32_000]),
        2 => (1, [22_050, 24_000, 16_000]),
        0 => (1, [11_025, 12_000, 8000]),
        _ => return None,
    };
    let rate = *rates.get(usize::from(third >> 2 & 3))?;
    let bits = 1000 * KILOBITS[lower][usize::from(third >> 4)];
    let is_layer_3 = second >> 5 == 7 && second >> 1 & 3 == 1;
    let len = (if lower == 0 { 144 } else { 72 }) * bits / rate + usize::from(third >> 1 & 1);
    Some(len).filter(|_| is_layer_3 && bits > 0)
}

/// Returns the length in bytes of all frames of a part, as the Xing or Info tag in its first frame, `frame`, states it.
fn coded_len(frame: &[u8]) -> Option<u32> {
    let tag = frame.windows(4).take(FURTHEST + 1).position(|id| id == b"Xing" || id == b"Info")?;
    let word = |at: usize| Some(u32::from_be_bytes(*frame.get(tag + at..)?.first_chunk()?));
    // Bit 0 is set if the number of frames follows, bit 1 if the length follows.
    let flags = word(4)?;
    let len = if flags & 1 == 0 { word(8) } else { word(12) };
    len.filter(|len| flags & 2 != 0 && *len as usize > FURTHEST)
}
