//! Writer of Furnace's song files, by Furnace's `papers/format.md` and `papers/newIns.md`.

use super::{
    Cell, Channel, Chip, Effect, Instrument, Module, Play, Voice, chip::WAVE, tempo::groove,
};
use crate::{
    arrangement::Drum,
    console::{BEST, Tags},
};
use miniz_oxide::deflate::compress_to_vec_zlib;

/// Version of the format: Furnace 0.6.3 and later read it.
const VERSION: u16 = 201;

/// Length of the file's header in bytes; the block INFO follows.
const HEADER: usize = 32;

/// Furnace's note number of MIDI key 0 on each [`Chip`]. Furnace's note 0 is C-5, five octaves below C0.
///
/// On the 2A03, the same note sounds one octave higher than on the Game Boy; on the SN76489, two octaves higher.
const FIRST: [u8; 3] = [36, 48, 24];

/// Furnace's note number of C0; notes of the noise count from here.
const C0: u8 = 60;
const OFF: u8 = 180;

/// First compatibility flags, as in a new song: unlimited slides, linear pitch, loops reset channels, noise layout of the chip,
/// note-off and slide target end slides, portamento changes the instrument, arpeggio 0 resets.
const FLAGS: [u8; 20] = [0, 2, 2, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1];
/// Extended compatibility flags, as in a new song.
const MORE_FLAGS: [u8; 28] =
    [0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 4, 0, 0, 1, 1, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0];
/// Last compatibility flags, as in a new song.
const LAST_FLAGS: [u8; 8] = [0; 8];

/// Returns `song` as a file for Furnace.
pub fn furnace(song: &Module, tags: &Tags) -> Vec<u8> {
    let wave = (song.chip == Chip::Gb).then(|| block(b"WAVE", triangle())).into_iter().collect();
    let instruments = song.instruments.iter().map(|each| instrument(song.chip, each)).collect();
    let folders = vec![block(b"ADIR", vec![0; 4]); 3];
    let patterns = song.channels.iter().enumerate().flat_map(|(index, channel)| {
        let cells = channel.patterns.iter().enumerate();
        cells.map(move |(number, cells)| pattern(song.chip, channel, index, number, cells))
    });
    // Furnace warns of bytes behind the last pattern.
    let groups: [Vec<Vec<u8>>; 4] = [instruments, wave, folders, patterns.collect()];
    // The length of INFO does not depend on the offsets in it.
    let zeros = groups.each_ref().map(|group| vec![0; group.len()]);
    let mut at = HEADER + information(song, tags, &zeros).len();
    let mut offset = |block: &Vec<u8>| {
        at += block.len();
        (at - block.len()) as u32
    };
    let offsets = groups.each_ref().map(|group| group.iter().map(&mut offset).collect());
    let mut file = b"-Furnace module-".to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend([0; 2]);
    file.extend((HEADER as u32).to_le_bytes());
    file.extend([0; 8]);
    file.extend(information(song, tags, &offsets));
    file.extend(groups.into_iter().flatten().flatten());
    compress_to_vec_zlib(&file, BEST)
}

fn block(id: &[u8; 4], content: Vec<u8>) -> Vec<u8> {
    [&id[..], &(content.len() as u32).to_le_bytes(), &content].concat()
}

/// Returns `text` as a null-terminated string; leaves out inner nulls.
fn string(text: &str) -> Vec<u8> {
    text.bytes().filter(|byte| *byte > 0).chain([0]).collect()
}

/// Returns the block INFO. `offsets` has the positions in the file of instruments, waves, folders and patterns.
fn information(song: &Module, tags: &Tags, offsets: &[Vec<u32>; 4]) -> Vec<u8> {
    let [instruments, waves, folders, patterns] = offsets;
    let channels = &song.channels;
    let orders = channels[0].orders.len();
    let grooves: Vec<_> = song.tempi.iter().map(|ticks| groove(*ticks)).collect();
    let padded = |groove: &[u8]| {
        let mut padded = [&[groove.len() as u8], groove].concat();
        padded.resize(17, 0);
        padded
    };
    let speeds = [grooves[0][0], *grooves[0].get(1).unwrap_or(&grooves[0][0])];
    let mut info = vec![0, speeds[0], speeds[1], 1];
    info.extend((song.hertz as f32).to_le_bytes());
    for number in [song.rows, orders] {
        info.extend((number as u16).to_le_bytes());
    }
    info.extend([song.beat.min(255) as u8, song.bar.min(255) as u8]);
    for number in [instruments.len(), waves.len(), 0] {
        info.extend((number as u16).to_le_bytes());
    }
    info.extend((patterns.len() as u32).to_le_bytes());
    let mut chips = [0; 32];
    chips[0] = [0x06, 0x04, 0x03][song.chip as usize];
    info.extend(chips);
    // Volumes, panning and flags of the chips: defaults.
    info.extend([0; 32 + 32 + 128]);
    info.extend([string(&tags.title), string(&tags.author)].concat());
    info.extend(440f32.to_le_bytes());
    info.extend(FLAGS);
    let pointers = instruments.iter().chain(waves).chain(patterns);
    info.extend(pointers.flat_map(|offset| offset.to_le_bytes()));
    info.extend(channels.iter().flat_map(|channel| &channel.orders));
    info.extend(channels.iter().map(|channel| columns(channel) as u8));
    // All channels are visible, none is collapsed.
    info.extend(channels.iter().map(|_| 3));
    info.extend(channels.iter().map(|_| 0));
    info.extend(channels.iter().flat_map(|channel| string(channel.voice.name())));
    info.extend(channels.iter().flat_map(|channel| string(channel.voice.short())));
    info.extend(string("Made by Tone Filter"));
    info.extend(1f32.to_le_bytes());
    info.extend(MORE_FLAGS);
    // Virtual tempo: 150 of 150.
    info.extend([150, 0, 150, 0]);
    // Name and comment of the first song; no further songs.
    info.extend([0; 2 + 4]);
    info.extend(string(song.chip.console()));
    // Album, and Japanese names.
    info.extend([0; 5]);
    for number in [1f32, 0.0, 0.0] {
        info.extend(number.to_le_bytes());
    }
    // Default patchbay.
    info.extend([0, 0, 0, 0, 1]);
    info.extend(LAST_FLAGS);
    info.extend(padded(&grooves[0]));
    let others = if grooves.len() > 1 { &grooves[..] } else { &[] };
    info.push(others.len() as u8);
    info.extend(others.iter().flat_map(|groove| padded(groove)));
    info.extend(folders.iter().flat_map(|offset| offset.to_le_bytes()));
    block(b"INFO", info)
}

/// Returns the number of effect columns, at least 1.
fn columns(channel: &Channel) -> usize {
    let effects = channel.patterns.iter().flatten().map(|cell| cell.effects.len());
    effects.max().unwrap_or_default().max(1)
}

/// Returns the wave for the Game Boy's third channel: name, number of steps, unused number, maximum, steps.
fn triangle() -> Vec<u8> {
    let numbers = [32, 0, 15].into_iter().chain(WAVE.map(u32::from)).flat_map(u32::to_le_bytes);
    [string("Triangle"), numbers.collect()].concat()
}

// Kinds of macros.
const VOLUME: u8 = 0;
const ARPEGGIO: u8 = 1;
const DUTY: u8 = 2;

/// Returns a macro with a value every `speed` ticks. An arpeggio loops.
fn sequence(kind: u8, values: &[u8], speed: u32) -> Vec<u8> {
    let repeats = if kind == ARPEGGIO { 0 } else { 255 };
    // No release point, plain sequence, 8-bit values, no delay.
    let head = [kind, values.len() as u8, repeats, 255, 0, 0, 0, speed as u8];
    [&head[..], values].concat()
}

fn instrument(chip: Chip, instrument: &Instrument) -> Vec<u8> {
    let kind = [34_u16, 2, 0][chip as usize];
    let feature = |code: &[u8; 2], content: Vec<u8>| {
        [&code[..], &(content.len() as u16).to_le_bytes(), &content].concat()
    };
    let mut macros = 8_u16.to_le_bytes().to_vec();
    // The Game Boy's volumes are software envelopes, so a macro is needed.
    let volumes = match (&instrument.volumes[..], chip) {
        ([], Chip::Gb) => &[15],
        (volumes, _) => volumes,
    };
    if !volumes.is_empty() {
        macros.extend(sequence(VOLUME, volumes, 1));
    }
    if !instrument.arpeggio.is_empty() {
        macros.extend(sequence(ARPEGGIO, &instrument.arpeggio, instrument.speed));
    }
    match (instrument.voice, chip) {
        (Voice::Lead | Voice::Harmony, Chip::Nes | Chip::Gb) => {
            macros.extend(sequence(DUTY, &[instrument.duty], 1));
        }
        // White noise at the chip's preset rates.
        (Voice::Noise, Chip::Sms) => macros.extend(sequence(DUTY, &[1], 1)),
        _ => {}
    }
    macros.push(255);
    let mut content = [VERSION.to_le_bytes(), kind.to_le_bytes()].concat();
    content.extend(feature(b"NA", string(&instrument.name)));
    content.extend(feature(b"MA", macros));
    if chip == Chip::Gb {
        // Maximum volume, no length, software envelope, no hardware sequence.
        content.extend(feature(b"GB", vec![15, 64, 1, 0]));
    }
    content.extend(b"EN\0\0");
    block(b"INS2", content)
}

fn drum(chip: Chip, drum: Drum) -> u8 {
    match chip {
        Chip::Nes => C0 + 15 - drum.rate(),
        // Indices into the Game Boy's table of dividers, for rates as on the 2A03.
        Chip::Gb => C0 + [49, 54, 59, 57][drum as usize],
        // Three preset rates: low, medium, high.
        Chip::Sms => C0 + [0, 1, 2, 2][drum as usize],
    }
}

fn pattern(chip: Chip, channel: &Channel, index: usize, number: usize, cells: &[Cell]) -> Vec<u8> {
    // Song 0, no name.
    let mut content = vec![0, index as u8, number as u8, 0, 0];
    let mut empty = 0_usize;
    for cell in cells {
        if *cell == Cell::default() {
            empty += 1;
            continue;
        }
        while empty > 0 {
            // 129 would be 0xFF, the end of the pattern.
            let skipped = empty.min(128);
            content.push(if skipped == 1 { 0 } else { 0x80 | (skipped - 2) as u8 });
            empty -= skipped;
        }
        content.extend(row(chip, channel.voice, cell));
    }
    content.push(0xFF);
    block(b"PATN", content)
}

fn row(chip: Chip, voice: Voice, cell: &Cell) -> Vec<u8> {
    // Bits of `present`: 1 note, 2 instrument, 4 volume, from 8 on effects and their values.
    let (mut present, mut values) = match cell.play {
        Some(Play::On(key, instrument)) if voice == Voice::Noise => {
            (3, vec![drum(chip, Drum::ALL[usize::from(key)]), instrument])
        }
        Some(Play::On(key, instrument)) => {
            (3, vec![FIRST[chip as usize] + chip.written(voice, key), instrument])
        }
        Some(Play::Off) => (1, vec![OFF]),
        None => (0, Vec::new()),
    };
    if let Some(volume) = cell.volume {
        present |= 4;
        values.push(chip.register(volume));
    }
    let effects = cell.effects.iter().map(|effect| match *effect {
        Effect::Tempo(index) => [0x09, index],
        Effect::Next => [0x0D, 0],
        Effect::Jump(order) => [0x0B, order],
        Effect::Stop => [0xFF, 0],
    });
    values.extend(effects.flatten());
    let head = match cell.effects.len() {
        0 => vec![present],
        1 => vec![present | 0x18],
        // Two bits for each effect and its value.
        count => vec![present | 0x20, ((1_u16 << (2 * count)) - 1) as u8],
    };
    [head, values].concat()
}
