//! VGM 1.71: writes to sound chips, and the time between them.

use super::{CLOCK, Song, TICKS, Tags};
use flate2::{Compression, write::GzEncoder};
use std::io::Write as _;

const HEADER: usize = 0x100;

/// Number of samples per tick, at 44,100 samples per second.
const SAMPLES: usize = 735;

/// Command that writes to a register of the 2A03: register and value follow.
const WRITE: u8 = 0xB4;
/// Command that waits for a tick.
const WAIT: u8 = 0x62;
/// Command that ends the data.
const END: u8 = 0x66;

/// Returns `song` as a VGM file.
pub fn vgm(song: &Song, tags: &Tags) -> Vec<u8> {
    let mut file = vec![0; HEADER];
    let mut repeat = None;
    for (index, writes) in song.ticks.iter().enumerate() {
        if song.repeat == Some(index) {
            repeat = Some((file.len(), SAMPLES * (song.ticks.len() - index)));
        }
        for write in writes {
            file.extend([WRITE, write.register, write.value]);
        }
        file.push(WAIT);
    }
    file.push(END);
    let described = file.len();
    file.extend(gd3(tags));

    let end = file.len();
    file[..4].copy_from_slice(b"Vgm ");
    let mut put = |at: usize, value: usize| {
        file[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
    };
    // Offsets count from their own position.
    put(0x04, end - 0x04);
    put(0x08, 0x171);
    put(0x14, described - 0x14);
    put(0x18, SAMPLES * song.ticks.len());
    if let Some((start, samples)) = repeat {
        put(0x1C, start - 0x1C);
        put(0x20, samples);
    }
    put(0x24, TICKS as usize);
    put(0x34, HEADER - 0x34);
    put(0x84, CLOCK as usize);
    file
}

/// Returns [`vgm`] packed by gzip.
///
/// # Panics
/// Never: a write to memory does not fail.
pub fn vgz(song: &Song, tags: &Tags) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let written = packed.write_all(&vgm(song, tags)).and_then(|()| packed.finish());
    written.expect("memory takes all that is written to it")
}

/// Returns the tags as 11 strings in UTF-16. Most of them are pairs, one English and one Japanese.
fn gd3(tags: &Tags) -> Vec<u8> {
    let strings = [
        &tags.title,
        "",
        // Name of the game.
        "",
        "",
        "NES Famicom",
        "",
        &tags.author,
        "",
        // Date of release, and author of the file.
        "",
        "",
        "Tone Filter",
    ];
    let letters = strings.iter().flat_map(|text| text.encode_utf16().chain([0]));
    let letters: Vec<u8> = letters.flat_map(u16::to_le_bytes).collect();
    let length = letters.len() as u32;
    [b"Gd3 ", &0x100_u32.to_le_bytes()[..], &length.to_le_bytes(), &letters].concat()
}

#[cfg(test)]
mod tests;
