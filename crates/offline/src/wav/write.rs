//! Writes a WAV file: first a header without lengths, then the samples; at the end, completes the header. Files that are too
//! long for WAV become RF64.

use super::{Depth, Format};
use std::{
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
};

/// Maximum length in bytes that a RIFF header can state.
const LONGEST: u64 = u32::MAX as u64;

/// Bytes that follow the format tag in a subformat's GUID.
const GUID: [u8; 14] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71];

/// Size of the write buffer in bytes.
const BUFFER: usize = 1 << 18;

pub struct Writer {
    file: BufWriter<File>,
    format: Format,
    /// Number of bytes per frame.
    frame: u64,
    /// Whether the header has room for the lengths of RF64.
    may_be_long: bool,
    /// Offset of the samples in the file; 0 until they begin.
    data_start: u64,
    /// Length of the samples so far in bytes.
    data: u64,
}

impl Writer {
    /// Begins the file with an incomplete header. `frames` is the maximum number of frames of the file, if known.
    pub fn new(file: File, format: Format, frames: Option<u64>) -> io::Result<Self> {
        let file = BufWriter::with_capacity(BUFFER, file);
        let frame = u64::from(format.channels) * format.depth.bytes() as u64;
        // With at most 3 GiB of samples, 1 GiB is left for copied chunks.
        let may_be_long = frames.is_none_or(|frames| frames.saturating_mul(frame) > 3 << 30);
        let mut writer = Self { file, format, frame, may_be_long, data_start: 0, data: 0 };
        writer.put_head(8)?;
        Ok(writer)
    }

    /// Writes a chunk. `copy` must write its content, `len` bytes. Must be called before the first samples or after
    /// [`Writer::end_data`].
    pub fn put_chunk(
        &mut self,
        id: [u8; 4],
        len: u32,
        copy: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.file.write_all(&id)?;
        self.file.write_all(&len.to_le_bytes())?;
        copy(&mut self.file)?;
        // Chunks begin at even offsets.
        self.file.write_all(&[0][..len as usize % 2])
    }

    /// Appends encoded samples.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.data_start == 0 {
            self.put_data_head(8)?;
            self.data_start = self.file.stream_position()?;
        }
        self.data += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Ends the data chunk, padded to an even length.
    pub fn end_data(&mut self) -> io::Result<()> {
        self.write(&[])?;
        self.file.write_all(&[0][..self.data as usize % 2])
    }

    /// Completes the header.
    pub fn finish(mut self) -> io::Result<()> {
        let file_len = self.file.seek(SeekFrom::End(0))?;
        self.file.rewind()?;
        self.put_head(file_len)?;
        self.file.seek(SeekFrom::Start(self.data_start - 8))?;
        self.put_data_head(file_len)?;
        self.file.flush()
    }

    /// Writes the start of a file of `file_len` bytes: all chunks before the copied ones. This start has the same size at every
    /// `file_len`.
    fn put_head(&mut self, file_len: u64) -> io::Result<()> {
        let (riff, frames) = (file_len - 8, self.data / self.frame);
        let long = riff > LONGEST;
        let short = |len: u64| if long { u32::MAX } else { len as u32 };
        let mut head = Vec::new();
        head.extend(if long { b"RF64" } else { b"RIFF" });
        head.extend(short(riff).to_le_bytes());
        head.extend(b"WAVE");
        if self.may_be_long {
            head.extend(if long { b"ds64" } else { b"JUNK" });
            head.extend(28u32.to_le_bytes());
            for size in [riff, self.data, frames] {
                head.extend(if long { size } else { 0 }.to_le_bytes());
            }
            // Empty table: no other chunk is so long that its length must be here.
            head.extend([0; 4]);
        }
        let fmt = fmt(self.format);
        head.extend(b"fmt ");
        head.extend((fmt.len() as u32).to_le_bytes());
        head.extend(fmt);
        // WAV requires the chunk `fact`, with the number of frames, for all codings except PCM.
        if self.format.depth.is_float() {
            head.extend(b"fact\x04\0\0\0");
            head.extend(short(frames).to_le_bytes());
        }
        self.file.write_all(&head)
    }

    /// Writes the head of the chunk `data`: the eight bytes before the samples.
    fn put_data_head(&mut self, file_len: u64) -> io::Result<()> {
        let len = if file_len - 8 > LONGEST { u32::MAX } else { self.data as u32 };
        self.file.write_all(b"data")?;
        self.file.write_all(&len.to_le_bytes())
    }
}

/// Returns whether channels and sample rate of `format` fit the fields of a header.
pub fn fits(format: Format) -> bool {
    let frame = u32::from(format.channels) * format.depth.bytes() as u32;
    frame <= u32::from(u16::MAX) && format.rate.checked_mul(frame).is_some()
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
    use crate::{shared_file::SharedFile, wav::Content};
    use std::io::Read;

    #[test]
    fn files_on_both_sides_of_4_gib_are_read_back_with_their_length() {
        let format = Format { channels: 2, rate: 48_000, depth: Depth::Int16, speakers: 0 };
        // RIFF counts all but its own first eight bytes: here 4 + 36 + 24 + 8 before the samples.
        let longest = (LONGEST - 72) / 4;
        for (frames, id) in
            [(1000, "RIFF"), (longest, "RIFF"), (longest + 1, "RF64"), (1 << 32, "RF64")]
        {
            // A sparse file of silence, which takes no disk space.
            let mut file = tempfile::tempfile().unwrap();
            let mut writer = Writer::new(file.try_clone().unwrap(), format, None).unwrap();
            writer.write(&[]).unwrap();
            writer.data = 4 * frames;
            file.set_len(80 + writer.data).unwrap();
            writer.finish().unwrap();
            file.rewind().unwrap();
            let mut start = [0; 4];
            file.read_exact(&mut start).unwrap();
            assert_eq!(start, id.as_bytes(), "{frames}");
            let Content::Pcm(mut reader) = Content::open(&SharedFile::new(file)).unwrap() else {
                panic!("it is PCM")
            };
            assert_eq!((reader.frames, reader.format), (frames, format));
            let mut channels = vec![vec![]; 2];
            reader.read(&mut channels, 10).unwrap();
            assert_eq!(channels, [[0.0; 10]; 2]);
        }
    }
}
