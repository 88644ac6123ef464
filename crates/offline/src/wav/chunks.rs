//! Finds the chunks of a WAV file, with [`walk`]. The length of the samples is the one in the header, unless that is a
//! placeholder. So the reader can refuse a truncated file before rendering.

use crate::{error::Fault, formats::is_placeholder};
use std::io::{self, BufReader, Read, Seek};

/// Maximum length of a format chunk in bytes; a greater length is invalid.
const LONGEST_FORMAT: u64 = 1024;

/// Chunk of a WAV file: the identifier, and the range of the content in the file.
#[derive(Debug, Clone, Copy)]
pub struct Chunk {
    pub id: [u8; 4],
    /// Offset of the content in the file.
    pub start: u64,
    /// Length in bytes, without padding.
    pub len: u32,
}

impl Chunk {
    /// Returns the identifier as text, without trailing blanks.
    pub fn name(self) -> String {
        String::from_utf8_lossy(&self.id).trim_end().into()
    }
}

#[derive(Debug)]
pub struct Chunks {
    /// Content of the format chunk, little-endian.
    pub fmt: Vec<u8>,
    /// Number of frames that the chunk `fact` states, if there is one.
    pub fact: Option<u32>,
    /// Whether the file is RIFX: its numbers and samples are big-endian.
    pub swapped: bool,
    /// Offset of the samples in the file.
    pub data_start: u64,
    /// Length of the samples in bytes, as the header states it; the file may be shorter. If the header has a placeholder, the
    /// samples reach to the end of the file.
    pub data_len: u64,
    /// Chunks to copy that precede the samples.
    pub before: Vec<Chunk>,
    /// Chunks to copy that follow the samples.
    pub after: Vec<Chunk>,
}

/// Reads the headers of all chunks in a file of `file_len` bytes. The buffer of `file` holds many headers, so
/// that millions of chunks take few system calls.
pub fn walk(file: &mut BufReader<impl Read + Seek>, file_len: u64) -> Result<Chunks, Fault> {
    let mut riff = [0; 12];
    file.read_exact(&mut riff)?;
    let (is_64, swapped) = match (&riff[..4], &riff[8..]) {
        (b"RIFF", b"WAVE") => (false, false),
        (b"RIFX", b"WAVE") => (false, true),
        (b"RF64" | b"BW64", b"WAVE") => (true, false),
        _ => return Err(Fault::NotWav("it has no RIFF WAVE header")),
    };
    let number = |bytes: [u8; 4]| match swapped {
        true => u32::from_be_bytes(bytes),
        false => u32::from_le_bytes(bytes),
    };
    let [.., a, b, c, d, _, _, _, _] = riff;
    // If the header's length of the file is right, its length of the samples is right, too, even if it looks like a
    // placeholder.
    let is_exact = file_len == 8 + u64::from(number([a, b, c, d]));
    let (mut fmt, mut before) = (Vec::new(), Vec::new());
    let (mut long_data, mut fact) = (None, None);
    let mut position = riff.len() as u64;
    loop {
        let mut head = [0; 8];
        file.read_exact(&mut head)?;
        position += head.len() as u64;
        let mut read = 0;
        let chunk = chunk(head, position, swapped);
        let len = u64::from(chunk.len);
        match &chunk.id {
            b"fmt " if !(16..=LONGEST_FORMAT).contains(&len) => {
                return Err(Fault::NotWav("its format chunk has a wrong length"));
            }
            b"fmt " => {
                fmt.resize(len as usize, 0);
                file.read_exact(&mut fmt)?;
                read = len;
                if swapped {
                    swap(&mut fmt);
                }
            }
            b"fact" if len >= 4 => {
                let mut frames = [0; 4];
                file.read_exact(&mut frames)?;
                read = 4;
                fact = fact.or(Some(number(frames)));
            }
            b"ds64" if is_64 && len >= 24 => {
                let mut sizes = [0; 24];
                file.read_exact(&mut sizes)?;
                read = 24;
                long_data = sizes[8..16].try_into().ok().map(u64::from_le_bytes);
            }
            b"data" if fmt.is_empty() => return Err(Fault::NotWav("it has no format chunk")),
            b"data" => {
                let (remaining, is_long) = (file_len - position, is_64 && chunk.len == u32::MAX);
                let data_len = match long_data {
                    None if is_64 => return Err(Fault::NotWav("it is RF64 without its lengths")),
                    Some(long) if is_long => long,
                    _ => len,
                };
                let max = if is_long { u64::MAX } else { u32::MAX.into() };
                let streamed = !is_exact && is_placeholder(data_len, max, remaining);
                let data_len = if streamed { remaining } else { data_len };
                let after = position.checked_add(data_len).and_then(|end| end.checked_add(end % 2));
                let after = match after {
                    Some(start) if start < file_len => {
                        file.seek_relative((start - position) as i64)?;
                        trailing(file, start, file_len)?
                    }
                    _ => Vec::new(),
                };
                let after = if swapped { Vec::new() } else { after };
                return Ok(Chunks {
                    fmt,
                    fact,
                    swapped,
                    data_start: position,
                    data_len,
                    before,
                    after,
                });
            }
            // The chunks of a RIFX file are not copied, because their numbers are big-endian.
            id if is_kept(id) && !swapped && position + len <= file_len => before.push(chunk),
            _ => {}
        }
        file.seek_relative((len + len % 2 - read) as i64)?;
        position += len + len % 2;
    }
}

/// Returns the chunks to copy between `position`, where `file` must be, and `end`. Stops at the first bytes that are no
/// complete chunk.
fn trailing(
    file: &mut BufReader<impl Read + Seek>,
    mut position: u64,
    end: u64,
) -> io::Result<Vec<Chunk>> {
    let mut chunks = Vec::new();
    while position + 8 <= end {
        let mut head = [0; 8];
        file.read_exact(&mut head)?;
        position += 8;
        let chunk = chunk(head, position, false);
        let len = u64::from(chunk.len);
        // Compares the length without padding: many files lack the padding after the last chunk.
        if position + len > end || !chunk.id.iter().all(u8::is_ascii) {
            break;
        }
        if is_kept(&chunk.id) {
            chunks.push(chunk);
        }
        file.seek_relative((len + len % 2) as i64)?;
        position += len + len % 2;
    }
    Ok(chunks)
}

fn chunk(head: [u8; 8], start: u64, swapped: bool) -> Chunk {
    let [id @ .., l0, l1, l2, l3] = head;
    let len = [l0, l1, l2, l3];
    let len = if swapped { u32::from_be_bytes(len) } else { u32::from_le_bytes(len) };
    Chunk { id, start, len }
}

/// Converts the numbers of a big-endian format chunk to little-endian.
fn swap(fmt: &mut [u8]) {
    // Position and length of each field: first the fields of the plain format, then the further ones of the extensible format.
    for (start, len) in
        [(0, 2), (2, 2), (4, 4), (8, 4), (12, 2), (14, 2), (16, 2), (18, 2), (20, 4), (24, 2)]
    {
        if let Some(field) = fmt.get_mut(start..start + len) {
            field.reverse();
        }
    }
}

/// Returns whether outputs may keep chunks called `id`. They keep no chunks that describe the samples or the structure of the
/// file.
fn is_kept(id: &[u8; 4]) -> bool {
    const OWN: [&[u8; 4]; 10] =
        [b"fmt ", b"data", b"fact", b"ds64", b"JUNK", b"junk", b"PAD ", b"FLLR", b"PEAK", b"levl"];
    !OWN.contains(&id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, SeekFrom};

    /// Reader that counts reads and seeks, each of which would be a system call.
    struct Counted(Cursor<Vec<u8>>, usize);

    impl Read for Counted {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            self.0.read(to)
        }
    }

    impl Seek for Counted {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.1 += 1;
            self.0.seek(to)
        }
    }

    #[test]
    fn many_chunks_are_found_with_few_calls() {
        let many = b"tiny\x01\0\0\0x\0".repeat(10_000);
        let fmt = [&b"fmt \x10\0\0\0"[..], &[0; 16]].concat();
        let data = b"data\x02\0\0\0ab";
        let bytes = [b"RIFF\0\0\0\0WAVE", &fmt[..], &many, data, &many].concat();
        let len = bytes.len();
        let mut file = BufReader::new(Counted(Cursor::new(bytes), 0));
        let chunks = walk(&mut file, len as u64).unwrap();
        assert_eq!([chunks.before.len(), chunks.after.len()], [10_000; 2]);
        assert_eq!(chunks.after[9999].start, len as u64 - 2);
        let calls = file.get_ref().1;
        assert!(calls < len / 4096, "{calls} calls for {len} bytes");
    }
}
