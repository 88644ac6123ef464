//! Writer of FLAC files, by `flac-codec`.
//!
//! `flac-codec` encodes a block at a time, in 5 MB of memory for any length. `flac --test` and ffmpeg decode its files exactly:
//! at 16 and 24 bits, with up to 8 channels, and with full-scale noise. Another crate, `flacenc` 0.5.1, turned 17 MB of loud
//! 24-bit music into 400 MB, which ffmpeg refused to read.

use crate::{metadata::Metadata, wav::Format};
use flac_codec::{
    byteorder::LittleEndian,
    encode::{FlacByteWriter, Options},
    metadata::{BlockList, Picture},
};
use std::{
    fs::File,
    io::{self, BufWriter},
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

pub type FlacWriter = FlacByteWriter<BufWriter<File>, LittleEndian>;

/// Returns whether FLAC supports the channels and the sample rate of `format`.
pub fn fits(format: Format) -> bool {
    format.channels <= MOST_CHANNELS && format.rate < TOO_FAST
}

/// Creates a writer of 16 or 24 bits, with the fields and pictures of `metadata`.
pub fn open(file: File, format: Format, metadata: &Metadata) -> io::Result<FlacWriter> {
    let Format { channels, rate, depth, speakers } = format;
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
    let (file, bits) = (BufWriter::new(file), u32::from(depth.bits()));
    FlacByteWriter::new(file, options, rate, bits, channels as u8, None).map_err(as_io)
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

pub fn as_io(fault: flac_codec::Error) -> io::Error {
    match fault {
        flac_codec::Error::Io(source) => source,
        other => io::Error::other(other),
    }
}
