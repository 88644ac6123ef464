//! Strict reader of Furnace's songs, written from `papers/format.md` and `papers/newIns.md` of Furnace alone. It panics at what the pages do not
//! allow, and at bytes that nothing reads.

use flate2::read::ZlibDecoder;
use std::{collections::HashMap, io::Read};

/// Bytes, read from the start to the end.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (own, rest) = self.0.split_at(count);
        self.0 = rest;
        own
    }

    fn byte(&mut self) -> u8 {
        self.bytes(1)[0]
    }

    fn short(&mut self) -> usize {
        usize::from(u16::from_le_bytes(self.bytes(2).try_into().unwrap()))
    }

    fn int(&mut self) -> usize {
        u32::from_le_bytes(self.bytes(4).try_into().unwrap()) as usize
    }

    fn float(&mut self) -> f32 {
        f32::from_le_bytes(self.bytes(4).try_into().unwrap())
    }

    fn string(&mut self) -> String {
        let length = self.0.iter().position(|byte| *byte == 0).expect("a string ends with zero");
        let text = std::str::from_utf8(self.bytes(length)).expect("a string is UTF-8").to_owned();
        self.byte();
        text
    }

    fn pointers(&mut self, count: usize) -> Vec<usize> {
        (0..count).map(|_| self.int()).collect()
    }
}

/// Row of a pattern.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    pub note: Option<u8>,
    pub instrument: Option<u8>,
    pub volume: Option<u8>,
    /// Effects and their values.
    pub effects: Vec<(u8, u8)>,
}

/// Channel with its patterns by number.
#[derive(Debug)]
pub struct Channel {
    pub orders: Vec<u8>,
    pub patterns: HashMap<u8, Vec<Row>>,
    pub name: String,
}

/// Macro of an instrument.
#[derive(Debug, Clone, PartialEq)]
pub struct Macro {
    pub values: Vec<u8>,
    /// Place to which it goes back; 255 for none.
    pub repeats: u8,
    pub speed: u8,
}

/// Instrument.
#[derive(Debug)]
pub struct Instrument {
    pub name: String,
    pub kind: usize,
    /// Macros by their codes: 0 volume, 1 arpeggio, 2 duty.
    pub macros: HashMap<u8, Macro>,
    pub features: Vec<String>,
}

/// Song.
#[derive(Debug)]
pub struct Song {
    pub name: String,
    pub author: String,
    pub chip: u8,
    pub hertz: f32,
    pub rows: usize,
    pub highlights: [u8; 2],
    pub speeds: Vec<u8>,
    pub grooves: Vec<Vec<u8>>,
    pub channels: Vec<Channel>,
    pub instruments: Vec<Instrument>,
    pub waves: usize,
}

/// Note of a channel that is played.
#[derive(Debug, Clone, PartialEq)]
pub struct Played {
    pub channel: usize,
    /// Order and row.
    pub place: (usize, usize),
    pub seconds: f64,
    /// Note of the page: 0 is C-5, below C0.
    pub note: u8,
    pub instrument: u8,
    /// Volume of the channel, as of this note.
    pub volume: Option<u8>,
    /// Time of the end, in seconds: the next note of the channel or its end; infinite for the last one.
    pub end: f64,
}

/// File in blocks, each of which must be read once.
struct Blocks<'a> {
    file: &'a [u8],
    read: Vec<std::ops::Range<usize>>,
}

impl<'a> Blocks<'a> {
    fn block(&mut self, id: &str, at: usize) -> Reader<'a> {
        let mut reader = Reader(&self.file[at..]);
        assert_eq!(reader.bytes(4), id.as_bytes(), "at {at}");
        let length = reader.int();
        self.read.push(at..at + 8 + length);
        Reader(reader.bytes(length))
    }

    /// Checks that all bytes belong to one block.
    fn finish(mut self) {
        self.read.sort_by_key(|range| range.start);
        let mut end = 0;
        for range in self.read {
            assert_eq!(range.start, end, "bytes of no block, or of two");
            end = range.end;
        }
        assert_eq!(end, self.file.len());
    }
}

/// Reads a song.
pub fn read(packed: &[u8]) -> Song {
    let mut file = Vec::new();
    let mut unpacked = ZlibDecoder::new(packed);
    unpacked.read_to_end(&mut file).unwrap();
    assert_eq!(unpacked.total_in(), packed.len() as u64, "bytes behind the compressed ones");

    let mut header = Reader(&file[..32]);
    assert_eq!(header.bytes(16), b"-Furnace module-");
    let version = header.short();
    // Fields below are those of these versions.
    assert!((200..213).contains(&version), "{version}");
    assert_eq!(header.short(), 0);
    let at = header.int();
    assert_eq!(header.bytes(8), [0; 8]);
    let mut blocks = Blocks { file: &file, read: Vec::new() };
    blocks.read.push(0..32);

    let mut info = blocks.block("INFO", at);
    assert_eq!(info.byte(), 0, "time base");
    info.bytes(2);
    assert_eq!(info.byte(), 1, "arpeggio time");
    let hertz = info.float();
    let (rows, orders) = (info.short(), info.short());
    assert!(
        (1..=256).contains(&rows) && (1..=256).contains(&orders),
        "{rows} rows, {orders} orders"
    );
    let highlights = [info.byte(), info.byte()];
    let [instruments, waves, samples] = [(); 3].map(|()| info.short());
    assert!(instruments <= 256 && waves <= 256 && samples == 0);
    let patterns = info.int();
    let chips = info.bytes(32);
    let (chip, count) = match chips[0] {
        0x03 => (3, 4),
        0x04 => (4, 4),
        0x06 => (6, 5),
        other => panic!("chip {other:#x}"),
    };
    assert!(chips[1..].iter().all(|chip| *chip == 0));
    // Volumes and panning are reserved; no flags.
    info.bytes(64);
    assert!(info.pointers(32).iter().all(|pointer| *pointer == 0));
    let [name, author] = [(); 2].map(|()| info.string());
    assert_eq!(info.float(), 440.0);
    let flags = info.bytes(20);
    assert_eq!((flags[1], flags[3]), (2, 1), "linear pitch, proper noise layout");
    let instruments = info.pointers(instruments);
    let waves = info.pointers(waves);
    let patterns = info.pointers(patterns);
    let orders: Vec<Vec<u8>> = (0..count).map(|_| info.bytes(orders).to_vec()).collect();
    let columns = info.bytes(count).to_vec();
    assert!(columns.iter().all(|count| (1..=8).contains(count)));
    // Shown, not collapsed.
    info.bytes(2 * count);
    let names: Vec<String> = (0..count).map(|_| info.string()).collect();
    (0..count).for_each(|_| drop(info.string()));
    info.string();
    assert_eq!(info.float(), 1.0, "master volume");
    info.bytes(28);
    assert_eq!(info.short(), info.short(), "virtual tempo");
    (0..2).for_each(|_| drop(info.string()));
    assert_eq!(info.bytes(4), [0; 4], "further songs");
    (0..6).for_each(|_| drop(info.string()));
    assert_eq!([(); 3].map(|()| info.float()), [1.0, 0.0, 0.0], "volume, panning, balance");
    assert_eq!((info.int(), info.byte()), (0, 1), "automatic connections");
    info.bytes(8);
    let groove = |info: &mut Reader| {
        let length = usize::from(info.byte());
        assert!((1..=16).contains(&length), "{length}");
        let groove = info.bytes(16)[..length].to_vec();
        assert!(groove.iter().all(|ticks| *ticks > 0));
        groove
    };
    let speeds = groove(&mut info);
    let grooves: Vec<_> = (0..info.byte()).map(|_| groove(&mut info)).collect();
    let folders = info.pointers(3);
    assert!(info.0.is_empty(), "{} bytes behind the information", info.0.len());

    for folder in folders {
        let mut folder = blocks.block("ADIR", folder);
        assert_eq!(folder.int(), 0);
        assert!(folder.0.is_empty());
    }
    for wave in &waves {
        let mut wave = blocks.block("WAVE", *wave);
        wave.string();
        let [width, _, height] = [(); 3].map(|()| wave.int());
        assert!((0..width).all(|_| wave.int() <= height));
        assert!(wave.0.is_empty());
    }
    let instruments = instruments.iter().map(|at| instrument(&mut blocks.block("INS2", *at)));
    let instruments: Vec<Instrument> = instruments.collect();
    let kind = [(3, 0), (4, 2), (6, 34)].into_iter().find(|own| own.0 == chip).unwrap().1;
    assert!(instruments.iter().all(|own| own.kind == kind));
    let mut channels: Vec<Channel> = orders
        .into_iter()
        .zip(names)
        .map(|(orders, name)| Channel { orders, patterns: HashMap::new(), name })
        .collect();
    for at in patterns {
        let mut pattern = blocks.block("PATN", at);
        assert_eq!(pattern.byte(), 0, "song");
        let channel = usize::from(pattern.byte());
        let number = pattern.short() as u8;
        assert_eq!(pattern.string(), "");
        let cells = cells(&mut pattern, rows);
        for cell in &cells {
            assert!(cell.effects.len() <= usize::from(columns[channel]));
            assert!(cell.volume.is_none_or(|volume| volume <= 15));
            assert!(cell.instrument.is_none_or(|own| usize::from(own) < instruments.len()));
        }
        assert!(pattern.0.is_empty());
        assert!(channels[channel].patterns.insert(number, cells).is_none(), "twice");
    }
    for channel in &channels {
        assert!(channel.orders.iter().all(|order| channel.patterns.contains_key(order)));
    }
    blocks.finish();
    let waves = waves.len();
    Song {
        name,
        author,
        chip,
        hertz,
        rows,
        highlights,
        speeds,
        grooves,
        channels,
        instruments,
        waves,
    }
}

fn instrument(reader: &mut Reader) -> Instrument {
    reader.short();
    let kind = reader.short();
    let (mut name, mut macros, mut features) = (String::new(), HashMap::new(), Vec::new());
    loop {
        let code = String::from_utf8(reader.bytes(2).to_vec()).unwrap();
        let length = reader.short();
        let mut feature = Reader(reader.bytes(length));
        features.push(code.clone());
        match &*code {
            "NA" => name = feature.string(),
            "MA" => {
                assert_eq!(feature.short(), 8);
                loop {
                    let code = feature.byte();
                    if code == 255 {
                        break;
                    }
                    assert!(code <= 2, "{code}");
                    let [length, repeats, release, mode, kind, delay, speed] =
                        [(); 7].map(|()| feature.byte());
                    assert!(repeats < length || repeats == 255);
                    // Bytes without sign, one after the other, not released.
                    assert_eq!((release, mode, kind, delay), (255, 0, 0, 0));
                    let values = feature.bytes(usize::from(length)).to_vec();
                    assert!(code != 0 || values.iter().all(|volume| *volume <= 15));
                    let own = Macro { values, repeats, speed };
                    assert!(macros.insert(code, own).is_none());
                }
            }
            "GB" => assert_eq!(feature.bytes(4), [15, 64, 1, 0]),
            "EN" => {
                assert!(reader.0.is_empty() && length == 0);
                break;
            }
            _ => panic!("feature {code}"),
        }
        assert!(feature.0.is_empty(), "{code}");
    }
    Instrument { name, kind, macros, features }
}

fn cells(reader: &mut Reader, rows: usize) -> Vec<Row> {
    let mut cells = vec![Row::default(); rows];
    let mut row = 0;
    loop {
        let present = reader.byte();
        if present == 0xFF {
            break;
        }
        if present & 0x80 > 0 {
            row += usize::from(present & 0x7F) + 2;
            continue;
        }
        if present == 0 {
            row += 1;
            continue;
        }
        let cell = &mut cells[row];
        let mut bits: u16 = u16::from(present >> 3 & 3);
        if present & 0x20 > 0 {
            let others = reader.byte();
            assert!(bits == 0 || bits == u16::from(others) & 3);
            bits = others.into();
        }
        if present & 0x40 > 0 {
            bits |= u16::from(reader.byte()) << 8;
        }
        if present & 1 > 0 {
            let note = reader.byte();
            assert!(note <= 182, "{note}");
            cell.note = Some(note);
        }
        cell.instrument = (present & 2 > 0).then(|| reader.byte());
        cell.volume = (present & 4 > 0).then(|| reader.byte());
        for effect in 0..8 {
            let [code, value] = [0, 1].map(|bit| bits >> (2 * effect + bit) & 1 > 0);
            assert_eq!(code, value, "our effects have values");
            if code {
                cell.effects.push((reader.byte(), reader.byte()));
            }
        }
        row += 1;
    }
    assert!(row <= rows, "{row} of {rows} rows");
    cells
}

impl Song {
    /// Plays the song once. Returns its notes by channel, and its length in seconds with the order to which it then goes.
    pub fn play(&self) -> (Vec<Played>, f64, Option<u8>) {
        let mut notes: Vec<Played> = Vec::new();
        let (mut groove, mut place) = (self.speeds.clone(), 0);
        let (mut order, mut row, mut ticks) = (0, 0, 0_u32);
        let mut volumes = vec![None; self.channels.len()];
        let mut target = None;
        loop {
            let seconds = f64::from(ticks) / f64::from(self.hertz);
            let (mut next, mut ends) = (None, false);
            for (index, channel) in self.channels.iter().enumerate() {
                let cell = &channel.patterns[&channel.orders[order]][row];
                volumes[index] = cell.volume.or(volumes[index]);
                if cell.note.is_some() {
                    let last = notes.iter_mut().rfind(|note| note.channel == index);
                    if let Some(last) = last.filter(|last| last.end.is_infinite()) {
                        last.end = seconds;
                    }
                }
                if let Some(note) = cell.note.filter(|note| *note < 180) {
                    let instrument = cell.instrument.expect("a note has an instrument");
                    let (place, end) = ((order, row), f64::INFINITY);
                    let volume = volumes[index];
                    notes.push(Played {
                        channel: index,
                        place,
                        seconds,
                        note,
                        instrument,
                        volume,
                        end,
                    });
                }
                for effect in &cell.effects {
                    match *effect {
                        (0x09, index) => {
                            (groove, place) = (self.grooves[usize::from(index)].clone(), 0)
                        }
                        (0x0D, 0) => next = Some(order + 1),
                        (0x0B, to) => (target, ends) = (Some(to), true),
                        (0xFF, 0) => ends = true,
                        other => panic!("{other:?}"),
                    }
                }
            }
            ticks += u32::from(groove[place]);
            place = (place + 1) % groove.len();
            row += 1;
            if row == self.rows && next.is_none() {
                next = Some(order + 1);
            }
            if let Some(next) = next {
                (order, row) = (next, 0);
            }
            if ends {
                break;
            }
            assert!(order < self.channels[0].orders.len(), "the song neither ends nor repeats");
        }
        notes.sort_by_key(|note| (note.channel, note.place));
        (notes, f64::from(ticks) / f64::from(self.hertz), target)
    }
}
