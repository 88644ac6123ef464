//! Strict reader of VGM files, written from the specification. It accepts only the features that this crate writes.

use std::collections::BTreeMap;

/// Sample rate of VGM in Hz.
pub const RATE: f64 = 44_100.0;

pub struct File {
    /// Non-zero header fields of chips, by offset.
    pub chips: BTreeMap<usize, usize>,
    /// Length in samples.
    pub samples: usize,
    /// Start and length of the loop in samples.
    pub repeat: Option<(usize, usize)>,
    /// The eleven GD3 strings: four pairs of English and Japanese, then date, author of the file and notes.
    pub tags: Vec<String>,
    /// Commands that write to a chip: sample, bytes.
    pub writes: Vec<(usize, Vec<u8>)>,
}

fn word(file: &[u8], at: usize) -> usize {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize
}

/// Reads a file. Panics if it violates the specification.
pub fn read(file: &[u8]) -> File {
    assert_eq!(&file[..4], b"Vgm ");
    // Offsets count from their own position.
    let target = |at: usize| at + word(file, at);
    assert_eq!(target(0x04), file.len(), "end of file");
    // 1.61 has the Game Boy's clock.
    assert_eq!((word(file, 0x08), target(0x34)), (0x171, 0x100), "version, header");
    assert_eq!(word(file, 0x24), 60, "rate of the picture");
    let known = [0x04, 0x08, 0x14, 0x18, 0x1C, 0x20, 0x24, 0x34];
    let others = (4..0x100).step_by(4).filter(|at| !known.contains(at));
    let chips = others.map(|at| (at, word(file, at))).filter(|(_, value)| *value > 0).collect();
    let (mut at, mut now, mut start, mut writes) = (0x100, 0, None, Vec::new());
    loop {
        if word(file, 0x1C) > 0 && at == target(0x1C) {
            start = Some(now);
        }
        let length = match file[at] {
            0x66 => break,
            0x62 => 1,
            0x50 => 2,
            0x61 | 0xB3 | 0xB4 => 3,
            command => panic!("command {command:#X} at {at:#X}"),
        };
        let command = &file[at..at + length];
        at += length;
        match *command {
            [0x62] => now += 735,
            [0x61, low, high] => {
                assert!(low > 0 || high > 0);
                now += usize::from(u16::from_le_bytes([low, high]));
            }
            _ => writes.push((now, command.to_vec())),
        }
    }
    let samples = word(file, 0x18);
    assert_eq!(now, samples, "samples of all waits");
    assert_eq!(start.is_some(), word(file, 0x1C) > 0, "the song goes back to a command");
    let repeat = start.map(|start| (start, word(file, 0x20)));
    assert!(repeat.map_or(word(file, 0x20) == 0, |(start, length)| start + length == samples));
    let described = target(0x14);
    assert_eq!(described, at + 1, "tags stand behind the data");
    assert_eq!((&file[described..described + 4], word(file, described + 4)), (&b"Gd3 "[..], 0x100));
    assert_eq!(described + 12 + word(file, described + 8), file.len());
    let letters = file[described + 12..].as_chunks().0.iter().map(|own| u16::from_le_bytes(*own));
    let text = String::from_utf16(&letters.collect::<Vec<_>>()).unwrap();
    let tags: Vec<_> = text.strip_suffix('\0').unwrap().split('\0').map(Into::into).collect();
    assert_eq!(tags.len(), 11);
    File { chips, samples, repeat, tags, writes }
}
