//! Minimal header for AIFF and AIFF-C files; the decoder gets it instead of the original header. It has neither optional chunks
//! nor names of compressions, whose lengths may be wrong. Programs that write into pipes leave a placeholder as length; the
//! minimal header has the actual length.

use super::tags::{peek, word};
use crate::{
    formats::is_placeholder,
    shared_file::{SharedFile, Spliced},
};
use std::io;

/// Length in bytes of the part of the chunk `COMM` that precedes the type of compression.
const COMMON: usize = 18;

/// Values for the type of compression that mean: not compressed.
const PLAIN: [&[u8]; 11] = [
    b"NONE", b"twos", b"sowt", b"raw ", b"in24", b"in32", b"fl32", b"FL32", b"fl64", b"FL64",
    b"42n1",
];

/// Types of compression with one byte per sample.
const COMPANDED: [&[u8]; 4] = [b"ulaw", b"ULAW", b"alaw", b"ALAW"];

/// Returns a minimal header, followed by the samples of `file`. `file` has `len` bytes, and its chunk `FORM` is at `start`.
/// Returns `None` if a necessary chunk is missing or invalid.
pub fn splice(file: &SharedFile, start: u64, len: u64) -> io::Result<Option<Spliced>> {
    let form = peek(file, start, 12)?;
    let kind = form.get(8..).unwrap_or_default();
    let is_compressed = kind == b"AIFC";
    let (mut common, mut sound) = (None, None);
    let mut position = start + 12;
    while common.is_none() || sound.is_none() {
        let head = peek(file, position, 16)?;
        let (Some(id), Some(size)) = (head.get(..4), word(&head, 4)) else { return Ok(None) };
        position += 8;
        let mut actual_size = u64::from(size);
        match id {
            b"COMM" => common = Some(peek(file, position, u64::from(size.min(22)))?),
            b"SSND" => {
                let Some(offset) = word(&head, 8) else { return Ok(None) };
                let open =
                    is_placeholder(actual_size, u32::MAX.into(), len.saturating_sub(position));
                if open {
                    actual_size = len - position;
                }
                let first = position + 8 + u64::from(offset);
                let end = position + actual_size;
                if first > end {
                    return Ok(None);
                }
                sound = Some((first..end, open));
            }
            _ => {}
        }
        position += actual_size + actual_size % 2;
    }
    let (Some(mut common), Some((sound, open))) = (common, sound) else { return Ok(None) };
    let is_whole = common.len() >= COMMON + if is_compressed { 4 } else { 0 };
    if !is_whole || sound.end - sound.start > u64::from(u32::MAX) - 100 {
        return Ok(None);
    }
    common.truncate(COMMON + if is_compressed { 4 } else { 0 });
    let compression = if is_compressed { &common[COMMON..COMMON + 4] } else { b"NONE" };
    let bits = u64::from(u16::from_be_bytes([common[6], common[7]]));
    let bytes = match compression {
        companded if COMPANDED.contains(&companded) => Some(1),
        plain if PLAIN.contains(&plain) => Some(bits.div_ceil(8)),
        _ => None,
    };
    let channels = u64::from(u16::from_be_bytes([common[0], common[1]]));
    if let Some(frame) = bytes.map(|bytes| bytes * channels).filter(|frame| open && *frame > 0) {
        let frames = (sound.end - sound.start) / frame;
        common[2..6].copy_from_slice(&(frames as u32).to_be_bytes());
    }
    if is_compressed {
        // Empty name of the compression.
        common.extend([0, 0]);
    }
    let bytes = (sound.end - sound.start) as u32;
    let size = 4 + 8 + common.len() as u32 + 8 + 8 + bytes;
    let head = [
        b"FORM",
        &size.to_be_bytes()[..],
        kind,
        b"COMM",
        &(common.len() as u32).to_be_bytes(),
        &common,
        b"SSND",
        &(bytes + 8).to_be_bytes(),
        &[0; 8],
    ];
    let end = sound.end.min(len);
    let first = sound.start.min(end);
    Ok(Some(Spliced::new(head.concat(), file, first..end)))
}
