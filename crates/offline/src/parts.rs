//! Parts of a coded file: `cat a.mp3 b.mp3` makes an MP3 file of two parts, each with a header
//! of its own that counts its frames. Decoders stop where the first header ends.

use super::shared_file::SharedFile;
use std::{
    io::{self, BufReader, Read, Seek, SeekFrom},
    ops::Range,
    vec::IntoIter,
};
use symphonia::core::io::MediaSource;

/// No tag stands later in a frame: after its head, CRC and side information.
const FURTHEST: usize = 4 + 2 + 32;

/// The parts of a file, from the first to the last.
pub struct Parts {
    file: SharedFile,
    ranges: IntoIter<Range<u64>>,
    is_mpeg: bool,
}

impl Parts {
    /// Finds the parts of `file`. A file of another format, or without a length in its header, is one part.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn new(file: SharedFile) -> io::Result<Self> {
        let len = file.metadata()?.len();
        let mut starts = starts(file.at(0), len)?;
        let is_mpeg = !starts.is_empty();
        if !is_mpeg {
            starts.push(0);
        }
        let ends: Vec<u64> = starts.iter().skip(1).copied().chain([len]).collect();
        let ranges: Vec<_> = starts.into_iter().zip(ends).map(|(start, end)| start..end).collect();
        Ok(Self { file, ranges: ranges.into_iter(), is_mpeg })
    }

    /// Returns the number of parts to come.
    pub fn left(&self) -> usize {
        self.ranges.len()
    }
}

impl Iterator for Parts {
    type Item = Part;

    fn next(&mut self) -> Option<Self::Item> {
        let range = self.ranges.next()?;
        Some(Part { file: self.file.at(range.start), range, is_mpeg: self.is_mpeg })
    }
}

/// Returns the starts of an MP3 file's parts; empty for other formats.
fn starts(file: SharedFile, len: u64) -> io::Result<Vec<u64>> {
    let mut reader = BufReader::new(file);
    let mut starts = Vec::new();
    let (mut start, mut version) = (0, None);
    while start < len {
        let frame = skip_tags(&mut reader, start)?;
        let mut head = Vec::new();
        reader.seek(SeekFrom::Start(frame))?;
        (&mut reader).take(FURTHEST as u64 + 16).read_to_end(&mut head)?;
        let [0xFF, second @ 0xE0..=0xFF, ..] = head[..] else { break };
        // Version and layer. A wrong length leads to no frame, or to a frame of another version or layer.
        let this = second & 0xFE;
        if *version.get_or_insert(this) != this {
            break;
        }
        starts.push(start);
        match coded_len(&head) {
            Some(coded) => start = frame + u64::from(coded),
            None => break,
        }
    }
    Ok(starts)
}

/// Returns the bytes of all frames, this one included, as a Xing or Info tag in the first frame has it.
fn coded_len(frame: &[u8]) -> Option<u32> {
    let tag = frame.windows(4).take(FURTHEST + 1).position(|id| id == b"Xing" || id == b"Info")?;
    let word = |at: usize| Some(u32::from_be_bytes(*frame.get(tag + at..)?.first_chunk()?));
    // The first bit is set where the number of frames follows, the second one where the length does.
    let flags = word(4)?;
    let len = if flags & 1 == 0 { word(8) } else { word(12) };
    len.filter(|len| flags & 2 != 0 && *len as usize > FURTHEST)
}

/// Returns the first position from `position` on that is not in a tag: ID3 of both versions, APE.
fn skip_tags(reader: &mut BufReader<SharedFile>, mut position: u64) -> io::Result<u64> {
    loop {
        let mut head = Vec::new();
        reader.seek(SeekFrom::Start(position))?;
        reader.take(32).read_to_end(&mut head)?;
        position += match head[..] {
            [b'I', b'D', b'3', _, _, _, a, b, c, d, ..] => {
                10 + [a, b, c, d].into_iter().fold(0, |len, byte| len << 7 | u64::from(byte & 0x7F))
            }
            [b'T', b'A', b'G', ..] => 128,
            [b'A', b'P', b'E', b'T', b'A', b'G', b'E', b'X', _, _, _, _, a, b, c, d, ..] => {
                32 + u64::from(u32::from_le_bytes([a, b, c, d]))
            }
            _ => return Ok(position),
        };
    }
}

/// A part of a file, as if it were all of it.
pub struct Part {
    file: SharedFile,
    range: Range<u64>,
    is_mpeg: bool,
}

impl Read for Part {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let left = self.range.end.saturating_sub(self.file.position());
        self.file.by_ref().take(left).read(to)
    }
}

impl Seek for Part {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => self.range.start.checked_add(offset),
            SeekFrom::Current(offset) => self.file.position().checked_add_signed(offset),
            SeekFrom::End(offset) => self.range.end.checked_add_signed(offset),
        };
        let position = position.filter(|position| *position >= self.range.start);
        let position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.file.seek(SeekFrom::Start(position))? - self.range.start)
    }
}

impl MediaSource for Part {
    /// In seekable MPEG streams without a header, symphonia guesses the length by their first frames, and
    /// cuts longer streams.
    fn is_seekable(&self) -> bool {
        !self.is_mpeg
    }

    fn byte_len(&self) -> Option<u64> {
        Some(self.range.end - self.range.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const LAYER_3: u8 = 0xFB;
    const LAYER_3_WITH_CRC: u8 = 0xFA;
    const LAYER_2: u8 = 0xFD;

    /// A part of `len` bytes, whose first frame has a tag with these words at `tag`.
    fn part(second: u8, tag: usize, id: &[u8; 4], words: &[u32], len: usize) -> Vec<u8> {
        let mut part = vec![0; len];
        part[..2].copy_from_slice(&[0xFF, second]);
        part[tag..tag + 4].copy_from_slice(id);
        for (place, word) in part[tag + 4..].chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_be_bytes());
        }
        part
    }

    fn starts_in(parts: &[&[u8]]) -> Vec<u64> {
        let bytes = parts.concat();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        starts(SharedFile::new(file), bytes.len() as u64).unwrap()
    }

    #[test]
    fn each_part_starts_where_the_one_before_ends() {
        let stereo = part(LAYER_3, 36, b"Info", &[3, 9, 500], 500);
        let tag = [&b"TAG"[..], &[0; 125]].concat();
        let checked = part(LAYER_3_WITH_CRC, 38, b"Xing", &[2, 300], 300);
        let other = part(LAYER_2, 36, b"Info", &[3, 9, 200], 200);
        assert_eq!(starts_in(&[&stereo, &tag, &checked, &stereo]), [0, 500, 928]);
        assert_eq!(starts_in(&[&stereo, &other]), [0], "another layer is no part");
        assert_eq!(starts_in(&[&other, &other]), [0, 200]);
        assert_eq!(starts_in(&[&tag[..]]), [0; 0]);
    }

    #[test]
    fn a_part_without_a_credible_length_is_the_last() {
        let whole = part(LAYER_3, 36, b"Info", &[3, 9, 500], 500);
        for (tag, id, words) in [
            (36, b"Info", [1, 9, 500]),
            (36, b"Info", [3, 9, 0]),
            (36, b"Info", [3, 9, 38]),
            (39, b"Info", [3, 9, 500]),
            (36, b"none", [3, 9, 500]),
        ] {
            let last = part(LAYER_3, tag, id, &words, 500);
            assert_eq!(starts_in(&[&last, &whole]), [0], "{id:?} at {tag}: {words:?}");
        }
    }
}
