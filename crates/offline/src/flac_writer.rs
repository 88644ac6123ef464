//! Writer of FLAC files, by `flac-codec`.
//!
//! `flac-codec` encodes a block at a time, in 5 MB of memory for any length. `flac --test` and ffmpeg decode its files exactly:
//! at 16 and 24 bits, with up to 8 channels, and with full-scale noise. Another crate, `flacenc` 0.5.1, turned 17 MB of loud
//! 24-bit music into 400 MB, which ffmpeg refused to read.

use crate::{
    error::Error,
    metadata::Metadata,
    output::Output,
    wav::{Dither, Format, encode},
};
use flac_codec::{
    byteorder::LittleEndian,
    encode::{FlacByteWriter, Options},
    metadata::{BlockList, Picture},
};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::PathBuf,
};

const MOST_CHANNELS: u16 = 8;

/// Lowest sample rate in Hz that a FLAC header cannot state.
const TOO_FAST: u32 = 1 << 20;

/// Tag with the speaker layout, a bit mask as in WAV.
const SPEAKERS: &str = "WAVEFORMATEXTENSIBLE_CHANNEL_MASK";

/// Minimal start of a FLAC file, to parse picture blocks: magic bytes, and a STREAMINFO block for 16 bits at 44.1 kHz.
const PLAIN: [u8; 42] = [
    b'f', b'L', b'a', b'C', 0, 0, 0, 34, 16, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0x0A, 0xC4, 0x42, 0xF0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

/// First byte of a picture block: its type, and the flag that it is the last block.
const PICTURE: u8 = 0x86;

pub struct Writer {
    path: PathBuf,
    encoder: FlacByteWriter<BufWriter<File>, LittleEndian>,
    format: Format,
    dither: Option<Dither>,
    bytes: Vec<u8>,
    clipped: u64,
}

impl Writer {
    /// Creates a writer of 16 or 24 bits, with the fields and pictures of `metadata`. Dithers if `dithered`.
    pub fn new(
        output: &Output,
        format: Format,
        dithered: bool,
        metadata: &Metadata,
    ) -> Result<Self, Error> {
        let path = output.path().to_path_buf();
        let Format { channels, rate, depth, speakers } = format;
        if channels > MOST_CHANNELS || rate >= TOO_FAST {
            return Err(Error::NotForFlac { path, channels, rate });
        }
        let mut options = Options::default();
        if speakers != 0 {
            options = options.tag(SPEAKERS, format!("0x{speakers:X}"));
        }
        for (name, value) in &metadata.fields {
            options = options.tag(name, value);
        }
        for picture in pictures(&metadata.pictures) {
            options = options.picture(picture);
        }
        let writing = |source| Error::writing(output.path(), source);
        let file = BufWriter::new(output.file().try_clone().map_err(writing)?);
        let bits = u32::from(depth.bits());
        let encoder = FlacByteWriter::new(file, options, rate, bits, channels as u8, None)
            .map_err(|fault| writing(as_io(fault)))?;
        let dither = dithered.then(Dither::default);
        Ok(Self { path, encoder, format, dither, bytes: Vec::new(), clipped: 0 })
    }

    pub fn write(&mut self, channels: &[Vec<f32>]) -> Result<(), Error> {
        self.clipped += super::wav::clipped(channels);
        encode(channels, self.format.depth, self.dither.as_mut(), &mut self.bytes);
        let written = self.encoder.write_all(&self.bytes);
        written.map_err(|source| Error::writing(&self.path, source))
    }

    /// Completes the file. Returns the number of samples that were clipped to full scale.
    pub fn finish(self) -> Result<u64, Error> {
        let finished = self.encoder.finalize();
        finished.map_err(|fault| Error::writing(&self.path, as_io(fault)))?;
        Ok(self.clipped)
    }
}

/// Parses the contents of picture blocks. Leaves out broken ones.
fn pictures(blocks: &[Vec<u8>]) -> Vec<Picture> {
    let read = |content: &Vec<u8>| {
        let [_, a, b, c] = (content.len() as u32).to_be_bytes();
        let file = [&PLAIN[..], &[PICTURE, a, b, c], content].concat();
        let blocks = BlockList::read(&file[..]).ok()?;
        blocks.get::<Picture>().cloned()
    };
    blocks.iter().filter_map(read).collect()
}

fn as_io(fault: flac_codec::Error) -> io::Error {
    match fault {
        flac_codec::Error::Io(source) => source,
        other => io::Error::other(other),
    }
}
