//! Positions of tags (both versions of ID3, APE, Lyrics3) before and after the sound, and readers of bytes at a position.

use crate::shared_file::SharedFile;
use std::io::{self, Read};

/// Magic bytes of tags after the sound that [`end`] may not find, because it searches from the end of the file.
const BEHIND: [&[u8]; 2] = [b"LYRICSBEGIN", b"ID3"];

/// Returns the first position from `position` on at which no tag begins.
pub fn skip(file: &SharedFile, mut position: u64) -> io::Result<u64> {
    loop {
        position += match peek(file, position, 32)?[..] {
            [b'I', b'D', b'3', _, _, flags, a, b, c, d, ..] => {
                let footer = u64::from(flags >> 4 & 1) * 10;
                10 + synchsafe([a, b, c, d]) + footer
            }
            [b'T', b'A', b'G', ..] => 128,
            [b'A', b'P', b'E', b'T', b'A', b'G', b'E', b'X', _, _, _, _, a, b, c, d, ..] => {
                32 + u64::from(u32::from_le_bytes([a, b, c, d]))
            }
            _ => return Ok(position),
        };
    }
}

/// Returns the number that ID3v2 stores in `bytes`, with seven bits per byte.
fn synchsafe(bytes: [u8; 4]) -> u64 {
    bytes.into_iter().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7F))
}

/// Returns whether the sound ends at `position`: either a tag begins there, or only zeros follow up to `end`.
pub fn is_end(file: &SharedFile, position: u64, end: u64) -> io::Result<bool> {
    let start = peek(file, position, 16)?;
    if BEHIND.iter().any(|tag| start.starts_with(tag)) {
        return Ok(true);
    }
    let mut rest = file.part(position..end.max(position));
    let mut bytes = [0; 4096];
    loop {
        match rest.read(&mut bytes)? {
            0 => return Ok(true),
            len if bytes[..len].iter().any(|byte| *byte != 0) => return Ok(false),
            _ => {}
        }
    }
}

/// Returns where the sound ends in a file of `len` bytes: at the ID3 and APE tags that follow it, if there are any.
pub fn end(file: &SharedFile, len: u64) -> io::Result<u64> {
    let mut end = len;
    loop {
        let of_id3 = peek(file, end.saturating_sub(128), 3)?;
        if end >= 128 && of_id3 == b"TAG" {
            end -= 128;
            continue;
        }
        // An ID3v2 tag after the sound ends with a footer that states its length.
        let footer = peek(file, end.saturating_sub(10), 10)?;
        if let [b'3', b'D', b'I', _, _, _, a, b, c, d] = footer[..] {
            let size = synchsafe([a, b, c, d]);
            match end.checked_sub(size + 20) {
                Some(start) => end = start,
                None => return Ok(end),
            }
            continue;
        }
        let footer = peek(file, end.saturating_sub(32), 32)?;
        let [.., flags, _, _, _, _, _, _, _, _] = footer[..] else { return Ok(end) };
        if !footer.starts_with(b"APETAGEX") {
            return Ok(end);
        }
        // The stated length does not include the header, which is optional.
        let len = u32::from_le_bytes([footer[12], footer[13], footer[14], footer[15]]);
        let header = if flags & 0x80 == 0 { 0 } else { 32 };
        match end.checked_sub(u64::from(len) + header) {
            Some(start) if start < end => end = start,
            _ => return Ok(end),
        }
    }
}

/// Returns the bytes from `position` on, at most `len`.
pub fn peek(file: &SharedFile, position: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.part(position..position.saturating_add(len)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the four bytes at `at` as a big-endian number; `None` if `bytes` is too short.
pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns the eight bytes at `at` as a big-endian number; `None` if `bytes` is too short.
pub fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}
