//! Audible part of the audio track in an MP4 file, and repair of an atom without length ([`closed`]). AAC encoders add samples
//! before and after the music.
//!
//! AAC is supported in MP4 only, because `symphonia` does not remove the samples that the encoder has added. The index of an
//! MP4 file states their number, in an edit list or in the tag of iTunes. ADTS streams do not state it, and do not show whether
//! they are HE-AAC.

use super::tags::{long, peek, word};
use crate::shared_file::{SharedFile, Spliced};
use std::io::{self, Read, Seek, SeekFrom};

/// Maximum number of bytes that are read of a file's index: enough for a day of music.
const LARGEST: u64 = 1 << 26;

/// Range of the music in a track's decoded samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Audible {
    /// Number of samples before the music.
    pub start: u64,
    /// Number of samples of the music.
    pub frames: u64,
    /// Time units per second of the track; for audio, one unit is one sample.
    pub timescale: u32,
}

/// A file's index: the content of its atom `moov`.
pub struct Index(Vec<u8>);

/// Returns the index of `file` if it is MP4. Moves `file` back to its start.
pub fn index(file: &mut Spliced) -> io::Result<Option<Index>> {
    let is_index = |atom: &Atom| atom.kind == *b"moov" && atom.size >= atom.start;
    let found = first_atom(file, is_index)?.map(|(position, Atom { size, start, .. })| {
        read_at(file, position + start, (size - start).min(LARGEST))
    });
    file.rewind()?;
    Ok(found.transpose()?.map(Index))
}

/// Returns `file`, of `len` bytes, with the length of its last atom filled in. Returns `None` if no atom has the open length 0,
/// if the length to fill in exceeds 32 bits, or if the file is not MP4.
pub fn closed(file: &SharedFile, len: u64) -> io::Result<Option<Spliced>> {
    let open = first_atom(&mut file.part(0..len), |atom| atom.size == 0)?;
    let Some((position, _)) = open else { return Ok(None) };
    let Ok(size) = u32::try_from(len - position) else { return Ok(None) };
    let mut front = peek(file, 0, position + 8)?;
    front[position as usize..][..4].copy_from_slice(&size.to_be_bytes());
    Ok(Some(Spliced::new(front, file, position + 8..len)))
}

struct Atom {
    kind: [u8; 4],
    /// Length of the atom in bytes, including its head; 0 if the atom reaches to the end of the file.
    size: u64,
    /// Offset of the content in the atom: the length of the head in bytes.
    start: u64,
}

/// Reads the `head` of the atom at `position` of a file. Returns `None` if `head` is too short, or if the file does not begin
/// like MP4.
fn atom(head: &[u8], position: u64) -> Option<Atom> {
    let kind = *head.get(4..8)?.first_chunk()?;
    let (size, start) = match word(head, 0)? {
        // Unlike a 32-bit size, a 64-bit size of 0 has no special meaning.
        1 => (long(head, 8)?.max(1), 16),
        size => (u64::from(size), 8),
    };
    (position > 0 || kind == *b"ftyp").then_some(Atom { kind, size, start })
}

/// Returns the first of the outermost atoms of `file` that `is_wanted`, with its position.
fn first_atom(
    file: &mut Spliced,
    is_wanted: impl Fn(&Atom) -> bool,
) -> io::Result<Option<(u64, Atom)>> {
    let mut position = 0;
    loop {
        let Some(atom) = atom(&read_at(file, position, 16)?, position) else { return Ok(None) };
        if is_wanted(&atom) {
            return Ok(Some((position, atom)));
        }
        match position.checked_add(atom.size) {
            Some(next) if atom.size >= atom.start => position = next,
            _ => return Ok(None),
        }
    }
}

/// Returns the bytes of `file` from `position` on, at most `len`.
fn read_at(file: &mut Spliced, position: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(position))?;
    file.by_ref().take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_sound(track: &&[u8]) -> bool {
    let handler = find(track, &[b"mdia", b"hdlr"]);
    handler.is_some_and(|handler| handler.get(8..12) == Some(b"soun"))
}

impl Index {
    fn track(&self) -> Option<&[u8]> {
        atoms(&self.0)
            .filter(|(kind, _)| kind == b"trak")
            .map(|(_, content)| content)
            .find(is_sound)
    }

    /// Returns the time units per second of the first audio track; for audio, one unit is one sample.
    pub fn timescale(&self) -> Option<u32> {
        timescale(find(self.track()?, &[b"mdia", b"mdhd"])?)
    }

    /// Returns the audible part of the first audio track; `None` if the file does not state it. `total` is the number of
    /// samples in the header of the track.
    pub fn audible(&self, total: Option<u64>) -> Option<Audible> {
        let moov = &self.0[..];
        let track = self.track()?;
        let timescale = self.timescale()?;
        if let Some([_, start, _, frames]) = itunes(moov) {
            return Some(Audible { start, frames, timescale });
        }
        let (start, duration) = edit(find(track, &[b"edts", b"elst"])?)?;
        let rest = total?.checked_sub(start)?;
        // The length of the edit is rounded to the movie's time units, often milliseconds. If it agrees with the header's
        // number, that number is taken, because it is exact.
        let unit = f64::from(timescale) / f64::from(self::timescale(find(moov, &[b"mvhd"])?)?);
        let edited = duration as f64 * unit;
        let frames = if edited + unit < rest as f64 { edited.round() as u64 } else { rest };
        Some(Audible { start, frames, timescale })
    }
}

/// Returns the four numbers of the iTunes tag: zero, then the number of samples before the music, after the music, and in the
/// music.
fn itunes(moov: &[u8]) -> Option<[u64; 4]> {
    let name = moov.windows(8).position(|bytes| bytes == b"iTunSMPB")?;
    let data = name + moov[name..].windows(4).position(|bytes| bytes == b"data")?;
    let text = moov.get(data + 12..)?.iter().take_while(|byte| byte.is_ascii() && **byte != 0);
    let text = String::from_utf8(text.copied().collect()).ok()?;
    let mut numbers = text.split_whitespace().map(|word| u64::from_str_radix(word, 16));
    let mut next = || numbers.next()?.ok();
    Some([next()?, next()?, next()?, next()?])
}

/// Returns the first edit with media: its start in the track's time units, and its length in the movie's time units.
fn edit(list: &[u8]) -> Option<(u64, u64)> {
    let is_long = *list.first()? == 1;
    let edits = list.get(8..)?.chunks_exact(if is_long { 20 } else { 12 });
    let mut edits = edits.map(|edit| match is_long {
        true => Some((long(edit, 8)? as i64, long(edit, 0)?)),
        false => Some((i64::from(word(edit, 4)? as i32), u64::from(word(edit, 0)?))),
    });
    let (start, duration) = edits.find_map(|edit| edit.filter(|(start, _)| *start >= 0))?;
    Some((start as u64, duration))
}

/// Returns the time units per second in the atom `mvhd` or `mdhd`.
fn timescale(header: &[u8]) -> Option<u32> {
    word(header, if *header.first()? == 1 { 20 } else { 12 }).filter(|scale| *scale > 0)
}

/// Returns the content of the first atom at `path` in `bytes`.
fn find<'a>(mut bytes: &'a [u8], path: &[&[u8; 4]]) -> Option<&'a [u8]> {
    for wanted in path {
        bytes = atoms(bytes).find(|(kind, _)| kind == *wanted)?.1;
    }
    Some(bytes)
}

/// Returns kind and content of each complete atom in `bytes`.
fn atoms(mut bytes: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    std::iter::from_fn(move || {
        let size = word(bytes, 0)? as usize;
        let kind = *bytes.get(4..)?.first_chunk()?;
        let content = bytes.get(8..size)?;
        bytes = &bytes[size..];
        Some((kind, content))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
        [&(8 + content.len() as u32).to_be_bytes()[..], kind, content].concat()
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// Returns a file with a track at 44.1 kHz that has these `edits`, and with the atoms `others`; the movie's time unit is 1
    /// ms.
    fn file(edits: &[[u32; 3]], others: &[u8]) -> Vec<u8> {
        let mut list = words(&[0, edits.len() as u32]);
        list.extend(edits.iter().flat_map(|edit| words(edit)));
        let mdhd = atom(b"mdhd", &words(&[0, 0, 0, 44_100, 0]));
        let hdlr = atom(b"hdlr", b"\0\0\0\0\0\0\0\0soun");
        let edts = atom(b"edts", &atom(b"elst", &list));
        let trak = atom(b"trak", &[edts, atom(b"mdia", &[mdhd, hdlr].concat())].concat());
        let mvhd = atom(b"mvhd", &words(&[0, 0, 0, 1000, 0]));
        let moov = atom(b"moov", &[&mvhd, &trak, others].concat());
        [atom(b"ftyp", b"M4A "), atom(b"mdat", &[7; 100]), moov].concat()
    }

    /// Returns the audible part of the file with the content `bytes`. `total` is the number of samples in the header.
    fn audible(bytes: &[u8], total: Option<u64>) -> Option<Audible> {
        let nothing = SharedFile::new(tempfile::tempfile().unwrap());
        let index = index(&mut Spliced::new(bytes.to_vec(), &nothing, 0..0)).unwrap();
        index.and_then(|index| index.audible(total))
    }

    #[test]
    fn an_edit_leaves_out_what_is_before_and_behind_the_music() {
        let audible_of = |edits: &[[u32; 3]], total| {
            let audible = audible(&file(edits, &[]), Some(total));
            audible.map(|audible| (audible.start, audible.frames))
        };
        // An edit of 4 s is 176 400 samples. The header counts 20 fewer, which agrees within the precision of milliseconds. So
        // the header's number is taken.
        assert_eq!(audible_of(&[[4000, 1024, 1 << 16]], 177_404), Some((1024, 176_380)));
        assert_eq!(audible_of(&[[4000, 1024, 1 << 16]], 178_424), Some((1024, 176_400)));
        let after_silence = [[500, u32::MAX, 1 << 16], [4000, 2112, 1 << 16]];
        assert_eq!(audible_of(&after_silence, 200_000), Some((2112, 176_400)));
        assert_eq!(audible_of(&[[4000, 1024, 1 << 16]], 1000), None, "it begins behind the end");
    }

    #[test]
    fn the_tag_of_itunes_counts_samples() {
        let text = b" 00000000 00000840 000001CA 00000000003F31F6 00000000";
        let data = atom(b"data", &[&[0, 0, 0, 1, 0, 0, 0, 0][..], text].concat());
        let tag = atom(b"----", &[atom(b"name", b"\0\0\0\0iTunSMPB"), data].concat());
        let others = atom(b"udta", &tag);
        let expected = Audible { start: 0x840, frames: 0x3F31F6, timescale: 44_100 };
        assert_eq!(audible(&file(&[[4000, 0, 1 << 16]], &others), None), Some(expected));
    }

    #[test]
    fn any_bytes_are_no_file_or_one() {
        let read = |bytes: &[u8]| audible(bytes, Some(177_404));
        let whole = file(&[[4000, 1024, 1 << 16]], &[]);
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]), None, "cut at {end}");
        }
        for at in 0..whole.len() {
            for byte in [0, 1, 255] {
                let mut other = whole.clone();
                other[at] = byte;
                read(&other);
            }
        }
        assert!(read(&whole).is_some());
        let endless = [&atom(b"ftyp", b"")[..], &words(&[1]), b"mdat", &[255; 8]].concat();
        assert_eq!(read(&endless), None);
    }
}
