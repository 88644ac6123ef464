//! Header of the WAV files that we write.

use super::{Depth, Format};

/// Maximum length in bytes that a RIFF header can state.
const LONGEST: u64 = u32::MAX as u64;

/// Bytes that follow the format tag in a subformat's GUID.
const GUID: [u8; 14] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71];

/// Lengths that a WAV header states.
#[derive(Debug, Clone, Copy)]
pub struct Lengths {
    /// Length of the whole file in bytes.
    pub file: u64,
    /// Length of the samples in bytes.
    pub data: u64,
    pub frames: u64,
}

/// Returns whether channels and sample rate of `format` fit the fields of a header.
pub fn fits(format: Format) -> bool {
    let frame = u32::from(format.channels) * format.depth.bytes() as u32;
    frame <= u32::from(u16::MAX) && format.rate.checked_mul(frame).is_some()
}

/// Returns the start of a file: all chunks before the copied ones. Its size depends on `format` and `may_be_long`, but not on
/// `lengths`. If `may_be_long`, it has room for the lengths of RF64.
pub fn head(format: Format, lengths: Lengths, may_be_long: bool) -> Vec<u8> {
    let long = lengths.file - 8 > LONGEST;
    let short = |len: u64| if long { u32::MAX } else { len as u32 };
    let mut head = Vec::new();
    head.extend(if long { b"RF64" } else { b"RIFF" });
    head.extend(short(lengths.file - 8).to_le_bytes());
    head.extend(b"WAVE");
    if may_be_long {
        head.extend(if long { b"ds64" } else { b"JUNK" });
        head.extend(28u32.to_le_bytes());
        let sizes = [lengths.file - 8, lengths.data, lengths.frames];
        for size in sizes {
            head.extend(if long { size } else { 0 }.to_le_bytes());
        }
        // Empty table: no other chunk is so long that its length must be here.
        head.extend([0; 4]);
    }
    let fmt = fmt(format);
    head.extend(b"fmt ");
    head.extend((fmt.len() as u32).to_le_bytes());
    head.extend(fmt);
    // WAV requires the chunk `fact`, with the number of frames, for all codings except PCM.
    if format.depth.is_float() {
        head.extend(b"fact\x04\0\0\0");
        head.extend(short(lengths.frames).to_le_bytes());
    }
    head
}

/// Returns the head of the chunk `data`: the eight bytes before the samples.
pub fn data_head(lengths: Lengths) -> [u8; 8] {
    let long = lengths.file - 8 > LONGEST;
    let [a, b, c, d] = if long { u32::MAX } else { lengths.data as u32 }.to_le_bytes();
    [b'd', b'a', b't', b'a', a, b, c, d]
}

/// Returns the content of the format chunk. As WAV requires, it is plain for mono and stereo in floats or up to 16 bits,
/// otherwise extensible.
fn fmt(Format { channels, rate, depth, speakers }: Format) -> Vec<u8> {
    let tag = if depth.is_float() { 3u16 } else { 1 };
    let plain = channels <= 2 && (depth.is_float() || depth.bits() <= 16);
    let bytes = depth.bytes() as u16;
    let mut fmt = Vec::new();
    fmt.extend(if plain { tag } else { 0xFFFE }.to_le_bytes());
    fmt.extend(channels.to_le_bytes());
    fmt.extend(rate.to_le_bytes());
    fmt.extend((rate * u32::from(channels) * u32::from(bytes)).to_le_bytes());
    fmt.extend((channels * bytes).to_le_bytes());
    fmt.extend(depth.bits().to_le_bytes());
    match (plain, depth) {
        (true, Depth::Float32 | Depth::Float64) => fmt.extend([0; 2]),
        (true, _) => {}
        (false, _) => {
            fmt.extend(22u16.to_le_bytes());
            fmt.extend(depth.bits().to_le_bytes());
            fmt.extend(speakers.to_le_bytes());
            fmt.extend(tag.to_le_bytes());
            fmt.extend(GUID);
        }
    }
    fmt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        shared_file::SharedFile,
        wav::{Content, Reader},
    };
    use std::io::{Seek, SeekFrom, Write};

    fn open(file: &tempfile::NamedTempFile) -> Reader {
        let shared = SharedFile::new(file.reopen().unwrap());
        match Content::open(file.path(), shared).unwrap() {
            Content::Pcm(reader) => reader,
            Content::Coded(_) => panic!("it is PCM"),
        }
    }

    /// Returns a sparse file of silence, which takes no disk space.
    fn sparse(format: Format, frames: u64, may_be_long: bool) -> tempfile::NamedTempFile {
        let data = frames * u64::from(format.channels) * format.depth.bytes() as u64;
        let mut lengths = Lengths { file: 1 << 20, data, frames };
        let head_len = head(format, lengths, may_be_long).len() as u64 + 8;
        lengths.file = head_len + data + data % 2;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&head(format, lengths, may_be_long)).unwrap();
        file.write_all(&data_head(lengths)).unwrap();
        assert_eq!(file.stream_position().unwrap(), head_len);
        file.as_file().set_len(lengths.file).unwrap();
        file
    }

    #[test]
    fn files_on_both_sides_of_4_gib_are_read_back_with_their_length() {
        use std::io::Read;
        let format = Format { channels: 2, rate: 48_000, depth: Depth::Int16, speakers: 0 };
        // RIFF counts all but its own first eight bytes: here 4 + 36 + 24 + 8 before the samples.
        let longest = (LONGEST - 72) / 4;
        for (frames, id) in
            [(1000, "RIFF"), (longest, "RIFF"), (longest + 1, "RF64"), (1 << 32, "RF64")]
        {
            let mut file = sparse(format, frames, true);
            file.seek(SeekFrom::Start(0)).unwrap();
            let mut start = [0; 4];
            file.read_exact(&mut start).unwrap();
            assert_eq!(start, id.as_bytes(), "{frames}");
            let mut reader = open(&file);
            assert_eq!((reader.frames, reader.format), (frames, format));
            let mut channels = vec![vec![]; 2];
            reader.read(&mut channels, 10).unwrap();
            assert_eq!(channels, [[0.0; 10]; 2]);
        }
    }
}
