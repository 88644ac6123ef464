//! The samples of a file of another coding than PCM, behind a plain head for whoever decodes them.

use super::chunks::Chunks;
use std::ops::Range;

/// Tags of codings.
const MS_ADPCM: u16 = 2;
const A_LAW: u16 = 6;
const MU_LAW: u16 = 7;
const IMA_ADPCM: u16 = 0x11;
const MP3: u16 = 0x55;

/// The decoder of a coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// MP3.
    Mp3,
    /// mu-law, A-law or ADPCM.
    Other,
}

/// The samples of a file.
#[derive(Debug)]
pub struct Piece {
    /// Decoder.
    pub coding: Coding,
    /// Head of a WAV file with just these samples.
    pub head: Vec<u8>,
    /// Bytes of the samples in the file.
    pub body: Range<u64>,
    /// Bytes that are missing from the last block.
    pub zeros: u64,
    /// Samples of each channel.
    pub frames: u64,
}

impl Piece {
    /// Returns the samples of coding `tag`, of which `there` bytes are there; `None` for a coding that is not decoded.
    pub fn new(chunks: &Chunks, tag: u16, there: u64) -> Option<Self> {
        let Chunks { fmt, fact, data_start, data_len, .. } = chunks;
        let word = |at: usize| u64::from(u16::from_le_bytes([fmt[at], fmt[at + 1]]));
        let (channels, block) = (word(2), word(12));
        let body = *data_start..data_start + data_len.min(&there);
        if tag == MP3 {
            let (head, zeros, frames) = (Vec::new(), 0, 0);
            return Some(Self { coding: Coding::Mp3, head, body, zeros, frames });
        }
        let (fmt, block, frames) = match tag {
            A_LAW | MU_LAW => {
                let rate = &fmt[4..8];
                let a_second =
                    (u64::from(u32::from_le_bytes(*rate.first_chunk()?)) * channels) as u32;
                let channels_word = (channels as u16).to_le_bytes();
                let plain = [
                    &tag.to_le_bytes()[..],
                    &channels_word,
                    rate,
                    &a_second.to_le_bytes(),
                    &channels_word,
                    &[8, 0, 0, 0],
                ];
                (plain.concat(), channels, data_len / channels)
            }
            // A block has a head for each channel, then two samples a byte.
            IMA_ADPCM if block > 4 * channels => {
                let in_block = |bytes: u64| match bytes.checked_sub(4 * channels) {
                    Some(nibbles) => 1 + nibbles / (4 * channels) * 8,
                    None => 0,
                };
                let frames = data_len / block * in_block(block) + in_block(data_len % block);
                (fmt.clone(), block, frames)
            }
            MS_ADPCM if block > 7 * channels => {
                let in_block = |bytes: u64| match bytes.checked_sub(7 * channels) {
                    Some(nibbles) => 2 + nibbles * 2 / channels,
                    None => 0,
                };
                let frames = data_len / block * in_block(block) + in_block(data_len % block);
                (fmt.clone(), block, frames)
            }
            _ => return None,
        };
        // The last block of ADPCM is padded, and `fact` says how much of it is sound.
        let frames = match fact.map(u64::from) {
            Some(fact) if fact > 0 && tag != A_LAW && tag != MU_LAW => frames.min(fact),
            _ => frames,
        };
        let zeros = if *data_len > there { 0 } else { (block - data_len % block) % block };
        let bytes = u32::try_from(data_len + zeros).ok().filter(|_| fmt.len() % 2 == 0)?;
        let size = 4 + 8 + fmt.len() as u32 + 8;
        let head = [
            b"RIFF",
            &size.checked_add(bytes)?.to_le_bytes()[..],
            b"WAVEfmt ",
            &(fmt.len() as u32).to_le_bytes(),
            &fmt,
            b"data",
            &bytes.to_le_bytes(),
        ];
        Some(Self { coding: Coding::Other, head: head.concat(), body, zeros, frames })
    }
}
