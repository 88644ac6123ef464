//! Samples of a WAV file in other codings than PCM, prepared for a decoder. Except for MP3, a minimal header replaces the
//! one of the file.

use super::chunks::Chunks;
use std::ops::Range;

/// Format tag of Microsoft's ADPCM.
const MS_ADPCM: u16 = 2;
const A_LAW: u16 = 6;
const MU_LAW: u16 = 7;
const IMA_ADPCM: u16 = 0x11;
const MP3: u16 = 0x55;

#[derive(Debug)]
pub enum CodedSamples {
    /// MP3, as the range of its bytes in the file.
    Mp3(Range<u64>),
    /// mu-law, A-law or ADPCM.
    Wave {
        /// Minimal header: that of a WAV file which has these samples and no other chunks.
        head: Vec<u8>,
        /// Range of the samples' bytes in the file.
        body: Range<u64>,
        /// Number of zero bytes to append, so that the last block is complete.
        zeros: usize,
        /// Number of frames, without the padding of the last block.
        frames: u64,
    },
}

impl CodedSamples {
    /// Prepares the samples with the format tag `tag` for a decoder. `remaining` is the number of bytes from the first sample
    /// to the end of the file. Returns `None` if the coding is unsupported, or if the sizes in the header are unusable.
    pub fn new(chunks: &Chunks, tag: u16, remaining: u64) -> Option<Self> {
        let Chunks { fmt, fact, data_start, data_len, .. } = chunks;
        let word = |at: usize| u64::from(u16::from_le_bytes([fmt[at], fmt[at + 1]]));
        let (channels, block) = (word(2), word(12));
        let body = *data_start..data_start + data_len.min(&remaining);
        let (fmt, block, frames) = match tag {
            MP3 => return Some(Self::Mp3(body)),
            A_LAW | MU_LAW => {
                let rate = fmt[4..8].first_chunk()?;
                let a_second = (u64::from(u32::from_le_bytes(*rate)) * channels) as u32;
                let count = (channels as u16).to_le_bytes();
                let tag = tag.to_le_bytes();
                let plain =
                    [&tag[..], &count, rate, &a_second.to_le_bytes(), &count, &[8, 0, 0, 0]];
                (plain.concat(), channels, data_len / channels)
            }
            IMA_ADPCM | MS_ADPCM => {
                // A block begins with a head for each channel. The head has one sample of its channel in IMA, and two in MS.
                // Each byte after the heads has two samples. IMA stores eight samples of a channel in a row, then eight of the
                // next channel.
                let heads = channels * if tag == IMA_ADPCM { 4 } else { 7 };
                let in_block = |bytes: u64| match (tag, bytes.checked_sub(heads)) {
                    (_, None) => 0,
                    (IMA_ADPCM, Some(pairs)) => 1 + pairs / (4 * channels) * 8,
                    (_, Some(pairs)) => 2 + pairs * 2 / channels,
                };
                if block <= heads {
                    return None;
                }
                let frames = data_len / block * in_block(block) + in_block(data_len % block);
                // The last block is padded. `fact` counts the frames without the padding.
                let stated = fact.filter(|fact| *fact > 0).map_or(u64::MAX, u64::from);
                (fmt.clone(), block, frames.min(stated))
            }
            _ => return None,
        };
        let zeros = if *data_len > remaining { 0 } else { (block - data_len % block) % block };
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
        Some(Self::Wave { head: head.concat(), body, zeros: zeros as usize, frames })
    }
}
