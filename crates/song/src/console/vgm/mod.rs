//! Writer of VGM 1.71 files: register writes to sound chips, with waits between them.

use super::{BEST, CLOCK, Song, TICKS, Tags};
use miniz_oxide::deflate::compress_to_vec;

/// Length of the header in bytes.
const HEADER: usize = 0x100;
/// Sample rate of VGM in Hz: waits are numbers of samples.
pub(crate) const SAMPLE_RATE: f64 = 44_100.0;
/// Number of samples per tick of 1/60 s.
const SAMPLES: usize = 735;
/// Command: write to a register of the 2A03. Register and value follow.
const WRITE: u8 = 0xB4;
/// Command: wait for a tick.
const WAIT: u8 = 0x62;
/// Command: wait for some samples. Their number follows as 16 bits, little-endian.
const WAIT_SAMPLES: u8 = 0x61;
/// Maximum length of a wait in samples.
const LONGEST: usize = 0xFFFF;
const END: u8 = 0x66;

/// Returns `song` as a VGM file.
pub fn vgm(song: &Song, tags: &Tags) -> Vec<u8> {
    let mut log = Log::default();
    for (index, writes) in song.ticks.iter().enumerate() {
        if song.repeat == Some(index) {
            log.repeat_from_here();
        }
        log.write(writes.iter().flat_map(|[register, value]| [WRITE, *register, *value]));
        log.wait_until((index + 1) * SAMPLES);
    }
    log.finish(&[(0x84, CLOCK)], "NES Famicom", tags)
}

/// Compresses a VGM file with gzip.
pub fn vgz(vgm: &[u8]) -> Vec<u8> {
    let crc = !vgm.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xEDB8_8320 * (crc & 1)))
    });
    let length = vgm.len() as u32;
    // Header by RFC 1952: deflate, no name, no time, best compression, unknown system.
    let header = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255];
    [header, compress_to_vec(vgm, BEST), crc.to_le_bytes().into(), length.to_le_bytes().into()]
        .concat()
}

/// Data of a VGM file: writes and waits.
#[derive(Default)]
pub(crate) struct Log {
    data: Vec<u8>,
    /// Sum of the waits so far, in samples.
    samples: usize,
    /// Loop point: offset in `data` and in samples.
    repeat: Option<(usize, usize)>,
}

impl Log {
    /// Adds commands that write to a chip.
    pub fn write(&mut self, commands: impl IntoIterator<Item = u8>) {
        self.data.extend(commands);
    }

    /// Adds a wait until `samples` from the start.
    pub fn wait_until(&mut self, samples: usize) {
        let mut wait = samples.saturating_sub(self.samples);
        self.samples += wait;
        if wait == SAMPLES {
            self.data.push(WAIT);
            return;
        }
        while wait > 0 {
            let part = wait.min(LONGEST);
            let [low, high] = (part as u16).to_le_bytes();
            self.data.extend([WAIT_SAMPLES, low, high]);
            wait -= part;
        }
    }

    /// Sets the loop point here.
    pub fn repeat_from_here(&mut self) {
        self.repeat = Some((self.data.len(), self.samples));
    }

    /// Returns the file. `clocks` are header fields: offset and value.
    pub fn finish(self, clocks: &[(usize, u32)], system: &str, tags: &Tags) -> Vec<u8> {
        let mut file = vec![0; HEADER];
        file.extend(self.data);
        file.push(END);
        let described = file.len();
        file.extend(gd3(system, tags));
        let end = file.len();
        file[..4].copy_from_slice(b"Vgm ");
        let mut put = |at: usize, value: usize| {
            file[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
        };
        // Offsets count from their own position.
        put(0x04, end - 0x04);
        put(0x08, 0x171);
        put(0x14, described - 0x14);
        put(0x18, self.samples);
        if let Some((data, samples)) = self.repeat {
            put(0x1C, HEADER + data - 0x1C);
            put(0x20, self.samples - samples);
        }
        put(0x24, TICKS as usize);
        put(0x34, HEADER - 0x34);
        for (at, clock) in clocks {
            put(*at, *clock as usize);
        }
        file
    }
}

/// Returns the GD3 tags, in UTF-16: title, game, system and author in English and Japanese; date, author of the file, notes.
fn gd3(system: &str, tags: &Tags) -> Vec<u8> {
    let strings = [&tags.title, "", "", "", system, "", &tags.author, "", "", "", "Tone Filter"];
    let letters = strings.iter().flat_map(|text| text.encode_utf16().chain([0]));
    let letters: Vec<u8> = letters.flat_map(u16::to_le_bytes).collect();
    let length = letters.len() as u32;
    [b"Gd3 ", &0x100_u32.to_le_bytes()[..], &length.to_le_bytes(), &letters].concat()
}

#[cfg(test)]
mod tests;
