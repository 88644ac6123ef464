//! Tracker songs: converts an [`Arrangement`] to instruments, patterns and orders for a sound chip.
//!
//! `docs/tracker.md` describes the songs and the formats.

mod chip;
mod famitracker;
mod furnace;
mod player;
mod tempo;
mod vgm;

pub use chip::Chip;
pub use famitracker::famitracker;
pub use furnace::furnace;
pub use vgm::vgm;

use crate::{
    arrangement::{Arrangement, Drum, LOUDEST, PartNote, Sound},
    console::{self, TICKS, Tags},
};
use chip::Voice;
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};
use tempo::tempi;
use tone_filter_dsp::{Arp, Duty, Settings};

/// Maximum number of different chords in a song, because FamiTracker has 64 instruments. Rarer chords lose their highest notes.
const CHORDS: usize = 48;
/// FamiTracker's maximum number of orders in a song and of patterns in a channel.
const ORDERS: usize = 128;

/// Function that encodes a song as a file.
pub type Writer = fn(&Module, &Tags) -> Vec<u8>;

/// Returns `settings` for recording a tracker song: [`console::settings`], with arpeggios switched from Off to Fast.
pub fn settings(settings: Settings) -> Settings {
    let arp = if settings.arp == Arp::Off { Arp::Fast } else { settings.arp };
    Settings { arp, ..console::settings(settings) }
}

/// Tracker song, independent of the file format.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    chip: Chip,
    /// Number of rows per beat.
    beat: usize,
    /// Number of rows of the longest bar.
    bar: usize,
    /// Number of rows of the longest pattern. Effects end shorter ones early.
    rows: usize,
    /// Number of ticks per second: near [`TICKS`], but so that the mean tempo is a whole number of ticks per 16 rows.
    hertz: f64,
    /// Tempi in ticks per 16 rows, which [`Effect::Tempo`] selects.
    tempi: Vec<u32>,
    instruments: Vec<Instrument>,
    channels: Vec<Channel>,
}

/// Instrument. Its volumes and its arpeggio start anew with each note.
#[derive(Debug, Clone, PartialEq)]
struct Instrument {
    name: String,
    voice: Voice,
    /// Volume at each tick as register value, up to [`LOUDEST`]; the last one is held. If empty, the volume is constant.
    volumes: Vec<u8>,
    /// Duty cycle as register value, for pulses.
    duty: u8,
    /// Arpeggio loop in semitones above the note. If empty, there is no arpeggio.
    arpeggio: Vec<u8>,
    /// Ticks per step of the arpeggio.
    speed: u32,
}

#[derive(Debug, Clone, PartialEq)]
struct Channel {
    voice: Voice,
    /// Index in `patterns` for each order. An order is an entry in the song's list of patterns.
    orders: Vec<u8>,
    /// Distinct patterns, each with one cell per row.
    patterns: Vec<Vec<Cell>>,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Cell {
    play: Option<Play>,
    /// Linear volume, 1 to [`LOUDEST`], where it changes.
    volume: Option<u8>,
    effects: Vec<Effect>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Play {
    /// Note-on: MIDI key (for noise, the drum's index), index of the instrument.
    On(u8, u8),
    Off,
}

/// Effect in a pattern that controls the song.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Effect {
    /// From this row on, sets the tempo with this index in [`Module::tempi`].
    Tempo(u8),
    /// After this row, continues with the next order.
    Next,
    /// After this row, continues with the order of this index.
    Jump(u8),
    /// After this row, ends the song.
    Stop,
}

impl Module {
    /// Creates the song of an arrangement for `chip`. `None` if it needs more than 128 orders.
    ///
    /// With `repeat`, the song loops back to the pattern at this time in seconds.
    pub fn new(arrangement: &Arrangement, chip: Chip, repeat: Option<f64>) -> Option<Self> {
        let Arrangement { grid, rows, lead, harmony, bass, drums, sound } = arrangement;
        let orders = arrangement.patterns();
        if orders.len() > ORDERS {
            return None;
        }
        let repeat = repeat.map(|time| {
            orders.iter().rposition(|order| grid.seconds(order.start) <= time).unwrap_or(0)
        });
        let known = frequent_chords(harmony);
        let mut instruments = Vec::new();
        let mut parts = Vec::new();
        for (voice, notes) in [
            (Voice::Lead, lead),
            (Voice::Harmony, harmony),
            (Voice::Bass, bass),
            (Voice::Noise, drums),
        ] {
            let mut events = Vec::new();
            for (index, note) in notes.iter().enumerate() {
                let (key, instrument) = if voice == Voice::Noise {
                    (note.key, Instrument::drum(chip, Drum::ALL[usize::from(note.key)]))
                } else {
                    let mut chord = note.chord.clone();
                    while !known.contains(&chord) {
                        chord.pop();
                    }
                    (chip.key(voice, note.key), Instrument::new(chip, voice, sound, chord))
                };
                let play = Some(Play::On(key, index_in(&mut instruments, instrument) as u8));
                let volume = chip.has_volume(voice).then_some(note.volume);
                events.push((note.row, Cell { play, volume, ..Cell::default() }));
                if voice == Voice::Noise {
                    continue;
                }
                // A note ends a row early if the same note follows, to separate the two. So does a note at the end of a pattern, so
                // that patterns do not depend on the next one.
                let end = note.row + note.rows;
                let again = notes.get(index + 1).is_some_and(|next| {
                    next.row == end && (next.key, &next.chord) == (note.key, &note.chord)
                });
                let is_cut = again || orders.iter().any(|order| order.end == end);
                let end = end - usize::from(is_cut && note.rows > 1);
                // A note that lasts to the end of the song ends where it repeats.
                let end = match repeat.filter(|_| orders.last().is_some_and(|it| it.end == end)) {
                    Some(order) => orders[order].start,
                    None => end,
                };
                events.push((end, Cell { play: Some(Play::Off), ..Cell::default() }));
            }
            parts.push((voice, events));
        }
        if chip == Chip::Nes {
            parts.push((Voice::Samples, Vec::new()));
        }
        let (hertz, tempi, indices) = tempi(grid, *rows, &orders);
        let length = orders.iter().map(|order| order.len()).max().unwrap_or(1);
        let last = parts.len() - 1;
        let channels = parts.into_iter().enumerate().map(|(index, (voice, events))| {
            let mut patterns = patterns(&events, &orders, length);
            if index == last {
                for (order, pattern) in patterns.iter_mut().enumerate() {
                    let effects = &mut pattern[0].effects;
                    let before = order.checked_sub(1).map_or(0, |before| indices[before]);
                    // This order also follows the last one, when the song repeats.
                    let jumped = repeat == Some(order) && tempi.len() > 1;
                    let changes = indices[order] != before || jumped;
                    effects.extend(changes.then_some(Effect::Tempo(indices[order])));
                    let end = match (order + 1 == orders.len(), repeat) {
                        (true, Some(order)) => Some(Effect::Jump(order as u8)),
                        (true, None) => Some(Effect::Stop),
                        (false, _) => (orders[order].len() < length).then_some(Effect::Next),
                    };
                    pattern[orders[order].len() - 1].effects.extend(end);
                }
            }
            Channel::new(voice, patterns)
        });
        let channels = channels.collect();
        let beat = grid.per_beat as usize;
        let bar = grid.bar().max(beat);
        Some(Self { chip, beat, bar, rows: length, hertz, tempi, instruments, channels })
    }
}

/// Returns the index of `item` in `all`. Adds it if it is new.
fn index_in<T: PartialEq>(all: &mut Vec<T>, item: T) -> usize {
    all.iter().position(|known| *known == item).unwrap_or_else(|| {
        all.push(item);
        all.len() - 1
    })
}

impl Instrument {
    fn new(chip: Chip, voice: Voice, sound: &Sound, chord: Vec<u8>) -> Self {
        let name = match (voice, &chord[..]) {
            (Voice::Lead, []) => "Lead".into(),
            (Voice::Bass, []) => "Bass".into(),
            (_, []) => "Harmony".into(),
            (_, chord) => {
                chord.iter().fold("Chord 0".into(), |name, above| format!("{name} {above}"))
            }
        };
        let volumes = match voice {
            Voice::Bass => Vec::new(),
            _ => sound.volumes(),
        };
        let duty = if voice == Voice::Lead { duty(sound.duty) } else { duty(Duty::Half) };
        let arpeggio = match &chord[..] {
            [] => Vec::new(),
            chord => [&[0], chord].concat(),
        };
        let speed = sound.arpeggio.unwrap_or(1);
        let volumes = volumes.into_iter().map(|volume| chip.register(volume)).collect();
        Self { name, voice, volumes, duty, arpeggio, speed }
    }

    fn drum(chip: Chip, drum: Drum) -> Self {
        let ticks = drum.ticks();
        let remaining = |tick: u32| f64::from(ticks - tick) / f64::from(ticks);
        let volume = |tick| (f64::from(LOUDEST) * remaining(tick).powi(2)).round() as u8;
        let volumes = (0..=ticks).map(|tick| chip.register(volume(tick))).collect();
        let (voice, name) = (Voice::Noise, drum.name().into());
        Self { name, voice, volumes, duty: 0, arpeggio: Vec::new(), speed: 1 }
    }
}

impl Sound {
    /// Returns the volume at each tick of a note; the last one is held. Empty if the volume is always [`LOUDEST`].
    fn volumes(&self) -> Vec<u8> {
        let Self { attack, decay, .. } = *self;
        let loudest = u32::from(LOUDEST);
        let rises =
            (0..attack).map(|tick| (2 * (tick + 1) * loudest + attack + 1) / (2 * (attack + 1)));
        let falls = (0..=decay).map(|tick| match decay {
            0 => loudest,
            // Falls to a quarter; halves are rounded up.
            _ => (2 * (4 * decay - 3 * tick) * loudest + 4 * decay) / (8 * decay),
        });
        let volumes: Vec<u8> = rises.chain(falls).map(|volume| volume.max(1) as u8).collect();
        if volumes.iter().all(|volume| *volume == LOUDEST) { Vec::new() } else { volumes }
    }
}

impl Channel {
    /// Creates a channel from one pattern per order. Equal patterns are stored once.
    fn new(voice: Voice, all: Vec<Vec<Cell>>) -> Self {
        let mut patterns = Vec::new();
        let orders =
            all.into_iter().map(|pattern| index_in(&mut patterns, pattern) as u8).collect();
        Self { voice, orders, patterns }
    }
}

/// Returns the 2A03's register value of a duty cycle.
fn duty(duty: Duty) -> u8 {
    match duty {
        Duty::Eighth => 0,
        Duty::Quarter => 1,
        Duty::Half => 2,
    }
}

/// Returns the [`CHORDS`] most frequent chords, and the empty chord.
fn frequent_chords(harmony: &[PartNote]) -> HashSet<Vec<u8>> {
    let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
    for note in harmony {
        *counts.entry(note.chord.clone()).or_default() += 1;
    }
    let mut all: Vec<_> = counts.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(CHORDS);
    all.into_iter().map(|(chord, _)| chord).chain([Vec::new()]).collect()
}

/// Returns a pattern of `length` rows for each order. `events` are cells with their rows in the song.
///
/// Volumes are written where they change, and with the first note of each pattern, so that equal patterns sound equal.
fn patterns(events: &[(usize, Cell)], orders: &[Range<usize>], length: usize) -> Vec<Vec<Cell>> {
    let pattern = |order: &Range<usize>| {
        let mut cells = vec![Cell::default(); length];
        for (row, cell) in events.iter().filter(|(row, _)| order.contains(row)) {
            let target = &mut cells[row - order.start];
            // A note-on takes precedence over the note-off of the previous note.
            if !matches!(target.play, Some(Play::On(..))) {
                *target = cell.clone();
            }
        }
        let mut last = None;
        for cell in &mut cells {
            let volume = cell.volume.take();
            cell.volume = volume.filter(|_| volume != last);
            last = volume.or(last);
        }
        cells
    };
    orders.iter().map(pattern).collect()
}

#[cfg(test)]
mod tests;
