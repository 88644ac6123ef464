//! Writer of FamiTracker's text format, as FamiTracker 0.4.6 imports it.

use super::{Cell, Effect, Instrument, Module, Play, TICKS, Voice, index_in, tempo::GROOVE};
use crate::{arrangement::Drum, console::Tags};

const NAMES: [&str; 12] = ["C-", "C#", "D-", "D#", "E-", "F-", "F#", "G-", "G#", "A-", "A#", "B-"];
/// MIDI key of C-0, FamiTracker's lowest note.
const LOWEST: u8 = 24;
/// MIDI key of B-7, FamiTracker's highest note.
const HIGHEST: u8 = 119;

const SEQUENCES: [Sequence; 3] = [Sequence::Volume, Sequence::Arpeggio, Sequence::Duty];

/// Kind of a macro. The value is its number in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sequence {
    Volume = 0,
    Arpeggio = 1,
    Duty = 4,
}

impl Sequence {
    /// Returns an instrument's values, one per tick; empty if it has no macro of this kind.
    fn values(self, instrument: &Instrument) -> Vec<u8> {
        match self {
            Self::Volume => instrument.volumes.clone(),
            Self::Arpeggio => {
                let each = |above: &u8| vec![*above; instrument.speed as usize];
                instrument.arpeggio.iter().flat_map(each).collect()
            }
            Self::Duty if matches!(instrument.voice, Voice::Lead | Voice::Harmony) => {
                vec![instrument.duty]
            }
            Self::Duty => Vec::new(),
        }
    }
}

/// Returns `song` in FamiTracker's text format. The song must be for [`Chip::Nes`](super::Chip::Nes).
pub fn famitracker(song: &Module, tags: &Tags) -> String {
    let mut text = String::new();
    macro_rules! line {
        ($($part:tt)*) => { text += &(format!($($part)*) + "\r\n") };
    }
    line!("# FamiTracker text export 0.4.2\r\n");
    line!("# Song information");
    let [title, author] = [&tags.title, &tags.author].map(|text| quoted(text));
    line!("TITLE           {title}\r\nAUTHOR          {author}\r\nCOPYRIGHT       \"\"\r\n");
    line!("# Song comment\r\nCOMMENT \"Made by Tone Filter\"\r\n");
    // NTSC, default frame rate, no expansion chips, new vibrato; values below 32 are speeds.
    line!(
        "# Global settings\r\nMACHINE         0\r\nFRAMERATE       0\r\nEXPANSION       0\r\nVIBRATO         1\r\nSPLIT           32\r\n"
    );
    line!("# Macros");
    let all = SEQUENCES.map(|kind| {
        let mut all = Vec::new();
        let values = song.instruments.iter().map(|instrument| kind.values(instrument));
        for values in values.filter(|values| !values.is_empty()) {
            index_in(&mut all, values);
        }
        all
    });
    for (kind, all) in SEQUENCES.into_iter().zip(&all) {
        let repeats = if kind == Sequence::Arpeggio { 0 } else { -1 };
        for (index, values) in all.iter().enumerate() {
            let values: String = values.iter().map(|value| format!(" {value}")).collect();
            line!("MACRO {:7} {index:3} {repeats:3}  -1   0 :{values}", kind as u8);
        }
    }
    line!("\r\n# DPCM samples\r\n\r\n# Instruments");
    for (number, instrument) in song.instruments.iter().enumerate() {
        let index = |kind: usize| {
            let values = SEQUENCES[kind].values(instrument);
            all[kind].iter().position(|known| *known == values).map_or(-1, |index| index as i32)
        };
        let [volume, arpeggio, duty] = [0, 1, 2].map(index);
        let name = quoted(&instrument.name);
        line!("INST2A03 {number:3}   {volume:3} {arpeggio:3}  -1  -1 {duty:3} {name}");
    }
    line!("\r\n# Tracks\r\n");
    let [speed, tempo] = speed(song, song.tempi[0]);
    line!("TRACK {:3} {speed:3} {tempo:3} \"\"", song.rows);
    let columns = song.channels.iter().map(|channel| {
        let cells = channel.patterns.iter().flatten();
        cells.map(|cell| effects(song, cell).len()).max().unwrap_or_default().max(1)
    });
    let columns: Vec<usize> = columns.collect();
    let listed: String = columns.iter().map(|count| format!(" {count}")).collect();
    line!("COLUMNS :{listed}\r\n");
    for order in 0..song.channels[0].orders.len() {
        let patterns =
            song.channels.iter().map(|channel| format!(" {:02X}", channel.orders[order]));
        line!("ORDER {order:02X} :{}", patterns.collect::<String>());
    }
    let count = song.channels.iter().map(|channel| channel.patterns.len()).max();
    for number in 0..count.unwrap_or_default() {
        line!("\r\nPATTERN {number:02X}");
        for row in 0..song.rows {
            let empty = Cell::default();
            let cells = song.channels.iter().zip(&columns).map(|(channel, columns)| {
                let cell = channel.patterns.get(number).map_or(&empty, |cells| &cells[row]);
                written(song, channel.voice, cell, *columns)
            });
            line!("ROW {row:02X}{}", cells.collect::<String>());
        }
    }
    line!("\r\n# End of export");
    text
}

/// Quotes the first 31 letters of `text`, with `?` for letters outside printable ASCII.
fn quoted(text: &str) -> String {
    let plain = |letter| if matches!(letter, ' '..='~') { letter } else { '?' };
    let plain: String = text.chars().take(31).map(plain).collect();
    format!("\"{}\"", plain.replace('"', "\"\""))
}

/// Returns FamiTracker's speed and tempo for `ticks` of the song per 16 rows. A row lasts `150 speed / tempo` ticks of 1/60 s.
fn speed(song: &Module, ticks: u32) -> [u8; 2] {
    let per_row = f64::from(ticks) / f64::from(GROOVE) * f64::from(TICKS) / song.hertz;
    let pairs = (1..=31_u8).map(|speed| {
        let tempo = (150.0 * f64::from(speed) / per_row).round().clamp(32.0, 255.0) as u8;
        [speed, tempo]
    });
    let error = |[speed, tempo]: &[u8; 2]| {
        (150.0 * f64::from(*speed) / f64::from(*tempo) / per_row - 1.0).abs()
    };
    pairs.min_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or([6, 150])
}

fn effects(song: &Module, cell: &Cell) -> Vec<String> {
    let effect = |effect: &Effect| match *effect {
        Effect::Tempo(index) => {
            let values = speed(song, song.tempi[usize::from(index)]);
            values.map(|value| format!("F{value:02X}")).to_vec()
        }
        Effect::Next => vec!["D00".into()],
        Effect::Jump(order) => vec![format!("B{order:02X}")],
        Effect::Stop => vec!["C00".into()],
    };
    cell.effects.iter().flat_map(effect).collect()
}

/// Returns a cell with this number of effect `columns`.
fn written(song: &Module, voice: Voice, cell: &Cell, columns: usize) -> String {
    let (note, instrument) = match cell.play {
        Some(Play::On(drum, instrument)) if voice == Voice::Noise => {
            // FamiTracker numbers the rates from the darkest, 0, to the brightest, F.
            let rate = 15 - Drum::ALL[usize::from(drum)].rate();
            (format!("{rate:X}-#"), Some(instrument))
        }
        Some(Play::On(key, instrument)) => {
            let key = song.chip.written(voice, key).clamp(LOWEST, HIGHEST);
            let name = NAMES[usize::from(key % 12)];
            (format!("{name}{}", (key - LOWEST) / 12), Some(instrument))
        }
        Some(Play::Off) => ("---".into(), None),
        None => ("...".into(), None),
    };
    let instrument = instrument.map_or("..".into(), |index| format!("{index:02X}"));
    let volume = cell.volume.map_or(".".into(), |volume| format!("{volume:X}"));
    let mut effects = effects(song, cell);
    effects.resize(columns, "...".into());
    format!(" : {note} {instrument} {volume} {}", effects.join(" "))
}
