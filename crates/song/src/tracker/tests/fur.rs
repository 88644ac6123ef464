//! Strict reader of Furnace's songs, written from Furnace's `papers/format.md` and `papers/newIns.md`. It panics at invalid data,
//! unread bytes, and features that [`Module`] lacks.

use super::*;
use flate2::read::ZlibDecoder;
use std::io::Read;

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        self.0.split_off(..count).expect("the file goes on")
    }

    fn byte(&mut self) -> u8 {
        self.bytes(1)[0]
    }

    /// Reads a little-endian number of `bytes` bytes.
    fn number(&mut self, bytes: usize) -> usize {
        self.bytes(bytes).iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    fn numbers(&mut self, count: usize) -> Vec<usize> {
        (0..count).map(|_| self.number(4)).collect()
    }

    fn float(&mut self) -> f32 {
        f32::from_bits(self.number(4) as u32)
    }

    fn string(&mut self) -> String {
        let length = self.0.iter().position(|byte| *byte == 0).expect("a string ends with zero");
        let text = std::str::from_utf8(self.bytes(length)).expect("a string is UTF-8").to_owned();
        self.byte();
        text
    }

    fn end(&self) {
        assert!(self.0.is_empty(), "{} bytes are left", self.0.len());
    }
}

/// Reads a song and its tags. The file stores `hertz` as `f32`.
pub fn read(packed: &[u8]) -> (Module, Tags) {
    let mut file = Vec::new();
    let mut unpacked = ZlibDecoder::new(packed);
    unpacked.read_to_end(&mut file).unwrap();
    assert_eq!(unpacked.total_in(), packed.len() as u64, "bytes behind the compressed ones");
    let mut header = Reader(&file[..32]);
    assert_eq!(header.bytes(16), b"-Furnace module-");
    // Versions with the fields below.
    assert!((200..213).contains(&header.number(2)));
    assert_eq!(header.number(2), 0);
    let at = header.number(4);
    assert_eq!(header.bytes(8), [0; 8]);
    let mut blocks: Vec<_> = std::iter::once(0..32).collect();
    let mut block = |id: &[u8], at: usize| {
        let mut reader = Reader(&file[at..]);
        assert_eq!(reader.bytes(4), id, "at {at}");
        let length = reader.number(4);
        blocks.push(at..at + 8 + length);
        Reader(reader.bytes(length))
    };

    let mut info = block(b"INFO", at);
    assert_eq!(info.byte(), 0, "time base");
    info.bytes(2);
    assert_eq!(info.byte(), 1, "arpeggio time");
    let hertz = info.float().into();
    let (rows, orders) = (info.number(2), info.number(2));
    assert!((1..=256).contains(&rows) && (1..=256).contains(&orders), "{rows}, {orders}");
    let [beat, bar] = [info.byte(), info.byte()].map(usize::from);
    let [instruments, waves, samples] = [(); 3].map(|()| info.number(2));
    assert!(instruments <= 256 && waves <= 256 && samples == 0);
    let patterns = info.number(4);
    let chips = info.bytes(32);
    assert!(chips[1..].iter().all(|chip| *chip == 0));
    // Chip, number of channels, and type of the instruments.
    let (chip, count, kind) = match chips[0] {
        0x03 => (Chip::Sms, 4, 0),
        0x04 => (Chip::Gb, 4, 2),
        0x06 => (Chip::Nes, 5, 34),
        other => panic!("chip {other:#x}"),
    };
    assert_eq!(waves, usize::from(chip == Chip::Gb));
    // Volumes and panning are reserved; no flags.
    info.bytes(64);
    assert_eq!(info.bytes(128), [0; 128]);
    let [title, author] = [(); 2].map(|()| info.string());
    assert_eq!(info.float(), 440.0);
    let flags = info.bytes(20);
    assert_eq!((flags[1], flags[3]), (2, 1), "linear pitch, proper noise layout");
    let [instruments, waves, patterns] =
        [instruments, waves, patterns].map(|count| info.numbers(count));
    let orders: Vec<Vec<u8>> = (0..count).map(|_| info.bytes(orders).to_vec()).collect();
    let columns = info.bytes(count).to_vec();
    assert!(columns.iter().all(|count| (1..=8).contains(count)));
    // Shown, not collapsed.
    info.bytes(2 * count);
    let voices = [Voice::Lead, Voice::Harmony, Voice::Bass, Voice::Noise, Voice::Samples];
    for name in &["Lead", "Harmony", "Bass", "Drums", "Samples"][..count] {
        assert_eq!(info.string(), *name);
    }
    (0..count + 1).for_each(|_| drop(info.string()));
    assert_eq!(info.float(), 1.0, "master volume");
    info.bytes(28);
    assert_eq!(info.number(2), info.number(2), "virtual tempo");
    (0..2).for_each(|_| drop(info.string()));
    assert_eq!(info.bytes(4), [0; 4], "further songs");
    (0..6).for_each(|_| drop(info.string()));
    assert_eq!([(); 3].map(|()| info.float()), [1.0, 0.0, 0.0], "volume, panning, balance");
    assert_eq!((info.number(4), info.byte()), (0, 1), "automatic connections");
    info.bytes(8);
    let first = groove(&mut info);
    let others: Vec<u32> = (0..info.byte()).map(|_| groove(&mut info)).collect();
    assert!(others.first().is_none_or(|other| *other == first));
    let tempi = if others.is_empty() { vec![first] } else { others };
    for at in info.numbers(3) {
        let mut folder = block(b"ADIR", at);
        assert_eq!(folder.number(4), 0);
        folder.end();
    }
    info.end();

    for at in waves {
        let mut wave = block(b"WAVE", at);
        wave.string();
        let [width, _, height] = [(); 3].map(|()| wave.number(4));
        assert!(wave.numbers(width).iter().all(|step| *step <= height));
        wave.end();
    }
    let instruments = instruments.iter().map(|at| instrument(chip, kind, block(b"INS2", *at)));
    let instruments: Vec<Instrument> = instruments.collect();
    let channels = orders.into_iter().zip(voices);
    let channels = channels.map(|(orders, voice)| Channel { voice, orders, patterns: Vec::new() });
    let mut channels: Vec<Channel> = channels.collect();
    for at in patterns {
        let mut pattern = block(b"PATN", at);
        assert_eq!(pattern.byte(), 0, "song");
        let index = usize::from(pattern.byte());
        let channel = &mut channels[index];
        assert_eq!((pattern.number(2), &*pattern.string()), (channel.patterns.len(), ""));
        let cells = cells(&mut pattern, rows, chip, channel.voice, &instruments);
        assert!(cells.iter().all(|cell| cell.effects.len() <= usize::from(columns[index])));
        channel.patterns.push(cells);
        pattern.end();
    }
    blocks.sort_by_key(|range| range.start);
    let ends = blocks.iter().map(|range| range.end);
    assert!(blocks[1..].iter().map(|range| range.start).chain([file.len()]).eq(ends));
    let song = Module { chip, beat, bar, rows, hertz, tempi, instruments, channels };
    (song, Tags { title, author })
}

/// Reads a groove. Returns its ticks per 16 rows.
fn groove(info: &mut Reader) -> u32 {
    let length = u32::from(info.byte());
    assert!((1..=16).contains(&length), "{length}");
    let ticks = info.bytes(16)[..length as usize].iter().map(|ticks| u32::from(*ticks));
    assert!(ticks.clone().all(|ticks| ticks > 0));
    ticks.sum::<u32>() * 16 / length
}

/// Reads an instrument of Furnace's type `kind`. Its name determines the voice. Values without a macro are those of the test songs.
fn instrument(chip: Chip, kind: usize, mut reader: Reader) -> Instrument {
    reader.number(2);
    assert_eq!(reader.number(2), kind);
    let mut own = Instrument {
        name: String::new(),
        voice: Voice::Noise,
        volumes: Vec::new(),
        duty: 0,
        arpeggio: Vec::new(),
        speed: 1,
    };
    let mut has_envelope = false;
    loop {
        let code = reader.bytes(2);
        let length = reader.number(2);
        let mut feature = Reader(reader.bytes(length));
        match code {
            b"NA" => own.name = feature.string(),
            b"MA" => {
                assert_eq!(feature.number(2), 8);
                while feature.0[0] != 255 {
                    let code = feature.byte();
                    let [length, repeats, release, mode, kind, delay, speed] =
                        [(); 7].map(|()| feature.byte());
                    // No release point, plain sequence, unsigned bytes, no delay.
                    assert_eq!((release, mode, kind, delay), (255, 0, 0, 0));
                    let values = feature.bytes(length.into()).to_vec();
                    match (code, repeats, speed, &values[..]) {
                        (0, 255, 1, volumes) => own.volumes = volumes.to_vec(),
                        (1, 0, speed, [_, ..]) => {
                            (own.arpeggio, own.speed) = (values, speed.into());
                        }
                        (2, 255, 1, [duty]) => own.duty = *duty,
                        other => panic!("{other:?}"),
                    }
                }
                feature.byte();
            }
            b"GB" => {
                assert_eq!(feature.bytes(4), [15, 64, 1, 0]);
                has_envelope = true;
            }
            b"EN" => break reader.end(),
            code => panic!("feature {code:?}"),
        }
        feature.end();
    }
    assert!(own.volumes.iter().all(|volume| *volume <= 15));
    assert_eq!(has_envelope, chip == Chip::Gb);
    if has_envelope && own.volumes == [15] {
        own.volumes.clear();
    }
    let chip_duty = std::mem::take(&mut own.duty);
    (own.voice, own.duty) = match &*own.name {
        "Lead" => (Voice::Lead, if chip == Chip::Sms { LEAD_DUTY } else { chip_duty }),
        "Bass" => (Voice::Bass, 2),
        name if DRUMS.contains(&name) => {
            assert_eq!(chip_duty, u8::from(chip == Chip::Sms), "white noise");
            (Voice::Noise, 0)
        }
        _ => (Voice::Harmony, if chip == Chip::Sms { 2 } else { chip_duty }),
    };
    own
}

/// Returns Furnace's note number of MIDI key 0 on a channel. Each channel of a chip transposes by a fixed number of octaves.
fn first(chip: Chip, voice: Voice) -> u8 {
    [[36, 36, 48], [48, 48, 60], [24; 3]][chip as usize][voice as usize]
}

/// Reads the rows of a pattern. Volumes of the SN76489 become the lowest linear volume with the same register value.
fn cells(
    reader: &mut Reader,
    rows: usize,
    chip: Chip,
    voice: Voice,
    instruments: &[Instrument],
) -> Vec<Cell> {
    let mut cells = Vec::new();
    loop {
        let present = reader.byte();
        if present == 0xFF {
            break;
        }
        let skipped = if present & 0x80 > 0 { usize::from(present & 0x7F) + 2 } else { 0 };
        cells.resize(cells.len() + skipped, Cell::default());
        if skipped > 0 {
            continue;
        }
        let mut bits: u16 = u16::from(present >> 3 & 3);
        if present & 0x20 > 0 {
            let others = reader.byte();
            assert!(bits == 0 || bits == u16::from(others) & 3);
            bits = others.into();
        }
        assert_eq!(present & 0x40, 0, "eight effects are too many");
        let note = (present & 1 > 0).then(|| reader.byte());
        let instrument = (present & 2 > 0).then(|| reader.byte());
        let play = note.map(|note| match (note, instrument) {
            (180, None) => Play::Off,
            (_, Some(index)) if voice == Voice::Noise => {
                let name = &instruments[usize::from(index)].name;
                let drum = DRUMS.iter().position(|drum| drum == name).unwrap();
                // Notes select rates: the 2A03's 16, the Game Boy's table of dividers, the SN76489's three.
                let notes = [[65, 68, 71, 70], [109, 114, 119, 117], [60, 61, 62, 62]];
                assert_eq!(note, notes[chip as usize][drum]);
                Play::On(drum as u8, index)
            }
            (_, Some(index)) => {
                assert_eq!(instruments[usize::from(index)].voice, voice);
                Play::On(note - first(chip, voice), index)
            }
            other => panic!("{other:?}"),
        });
        let volume = (present & 4 > 0).then(|| reader.byte());
        let volume = volume.map(|own| (0..=15).find(|volume| chip.register(*volume) == own));
        let volume = volume.map(|volume| volume.expect("a volume is at most 15"));
        let count = bits.count_ones() / 2;
        assert_eq!(u32::from(bits), (1 << (2 * count)) - 1, "each effect has a value");
        let effects = (0..count).map(|_| match [reader.byte(), reader.byte()] {
            [0x09, index] => Effect::Tempo(index),
            [0x0D, 0] => Effect::Next,
            [0x0B, order] => Effect::Jump(order),
            [0xFF, 0] => Effect::Stop,
            other => panic!("{other:?}"),
        });
        let effects = effects.collect();
        cells.push(Cell { play, volume, effects });
    }
    assert!(cells.len() <= rows, "{} of {rows} rows", cells.len());
    cells.resize(rows, Cell::default());
    cells
}
