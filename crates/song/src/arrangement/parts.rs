//! Distributes the notes to lead, bass and chords.

use super::{Grid, LOUDEST, PartNote};
use crate::transcribe::Note;
use tone_filter_dsp::{listener::notes::level_of, notes::midi_note};

/// Score per row of a note of power 1 at the key [`MIDDLE`], in dB. A rest scores 0.
const WORTH: f32 = 53.0;
/// Key that neither raises nor lowers the score: C4.
const MIDDLE: f32 = 60.0;
/// Gain in score for each semitone above [`MIDDLE`] in the lead, in dB.
const HEIGHT: f32 = 1.5;
/// Lowest key of the lead: E3.
const LOW: u8 = 52;
/// Gain in score for each semitone below [`MIDDLE`] in the bass, in dB.
const DEPTH: f32 = 1.5;
/// First key above the range of the bass: C4.
const HIGH: u8 = 60;

/// Cost of each semitone between successive notes of a part, in dB.
const DISTANCE: f32 = 0.25;
/// Distance in semitones beyond which the cost does not rise.
const FARTHEST: f32 = 12.0;
/// Cost of entering a note after its start, in dB.
const LATE: f32 = 5.0;
/// Cost of leaving a note before its end, for a rest or for a note that has already begun, in dB.
const BROKEN: f32 = 40.0;

/// Maximum number of notes in a chord. A longer arpeggio is too slow to sound like a chord.
const CHORD: usize = 3;

/// Note, quantised to rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Voiced {
    row: usize,
    /// Row after the last one.
    end: usize,
    key: u8,
    /// Power in dB.
    level: f32,
}

impl Voiced {
    /// Quantises `notes` to `grid` and sorts them by time. Skips keys outside 0..=127.
    ///
    /// Notes of one key that start on the same row are merged. A note that starts while another one of its key sounds ends it.
    pub fn of(notes: &[Note], transpose: f32, grid: &Grid, rows: usize) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut last: [Option<usize>; 128] = [None; 128];
        for note in notes {
            let key = midi_note(note.tone, transpose) + i32::from(note.offset);
            let Some(key) = u8::try_from(key).ok().filter(|key| *key < 128) else { continue };
            let [row, end] = [note.start, note.end].map(|time| grid.row(time).round() as usize);
            let end = end.max(row + 1).min(rows);
            if row >= end {
                continue;
            }
            let level = 10.0 * libm::log10f(level_of(note.velocity));
            match last[usize::from(key)].map(|index| &mut all[index]) {
                Some(before) if before.row == row => {
                    before.end = before.end.max(end);
                    before.level = before.level.max(level);
                }
                before => {
                    before.into_iter().for_each(|before| before.end = before.end.min(row));
                    last[usize::from(key)] = Some(all.len());
                    all.push(Self { row, end, key, level });
                }
            }
        }
        all.sort_by_key(|note| (note.row, note.key));
        all
    }

    fn sounds(&self, row: usize) -> bool {
        (self.row..self.end).contains(&row)
    }

    /// Converts the note to a [`PartNote`] without a chord.
    fn alone(&self, unit: Unit) -> PartNote {
        let (row, rows, key) = (self.row, self.end - self.row, self.key);
        PartNote { row, rows, key, chord: Vec::new(), volume: unit.volume(self.level) }
    }
}

/// Level in dB that maps to [`LOUDEST`].
#[derive(Debug, Clone, Copy)]
pub struct Unit(f32);

impl Unit {
    /// Returns the 95th percentile of the levels of `notes`.
    pub fn of(notes: &[Voiced]) -> Self {
        let mut levels: Vec<f32> = notes.iter().map(|note| note.level).collect();
        levels.sort_by(f32::total_cmp);
        Self(levels.get(levels.len() * 19 / 20).copied().unwrap_or_default())
    }

    /// Converts a level in dB to a volume.
    fn volume(self, level: f32) -> u8 {
        let loudest = f32::from(LOUDEST);
        let exact = loudest * libm::exp10f((level - self.0) / 20.0);
        exact.round().clamp(1.0, loudest) as u8
    }
}

/// Returns the score per row of a note in the lead, in dB; `None` if the note is too low.
pub fn melody(note: &Voiced) -> Option<f32> {
    let worth = WORTH + note.level + HEIGHT * (f32::from(note.key) - MIDDLE);
    (note.key >= LOW).then_some(worth)
}

/// Returns the score per row of a note in the bass, in dB; `None` if the note is too high.
pub fn bass(note: &Voiced) -> Option<f32> {
    let worth = WORTH + note.level - DEPTH * (f32::from(note.key) - MIDDLE);
    (note.key < HIGH).then_some(worth)
}

/// Finds the monophonic line with the highest score in a song of `rows`, and removes its notes from `notes`.
///
/// `worth` returns a note's score per row, or `None` if the note is out of range. The line is the best path by the Viterbi
/// algorithm. Each change of note costs its distance in pitch, so the line stays in its register. Entering a note late or leaving
/// it early costs more.
pub fn line(
    notes: &mut Vec<Voiced>,
    rows: usize,
    unit: Unit,
    worth: impl Fn(&Voiced) -> Option<f32>,
) -> Vec<PartNote> {
    let cost = |from: Option<usize>, to: Option<usize>, row: usize| {
        if from == to {
            return 0.0;
        }
        let late = to.is_some_and(|to| notes[to].row < row);
        let broken = from.is_some_and(|from| notes[from].end > row) && (late || to.is_none());
        let far = from.zip(to).map_or(0.0, |(from, to)| {
            f32::from(notes[from].key.abs_diff(notes[to].key)).min(FARTHEST)
        });
        DISTANCE * far + if late { LATE } else { 0.0 } + if broken { BROKEN } else { 0.0 }
    };
    // Column for each row: note, score of the best line that ends with it, index of its predecessor.
    let mut columns: Vec<Vec<(Option<usize>, f32, usize)>> = Vec::with_capacity(rows);
    let mut sounding: Vec<usize> = Vec::new();
    let mut next = 0;
    for row in 0..rows {
        sounding.retain(|index| notes[*index].sounds(row));
        while notes.get(next).is_some_and(|note| note.row <= row) {
            sounding.push(next);
            next += 1;
        }
        let candidates = sounding.iter();
        let candidates =
            candidates.filter_map(|index| Some((Some(*index), worth(&notes[*index])?)));
        let column = candidates.chain([(None, 0.0)]).map(|(to, worth)| {
            let before = columns.last().map_or(&[][..], |column: &Vec<_>| column);
            let paths = before.iter().enumerate();
            let paths = paths.map(|(index, (from, sum, _))| (index, sum - cost(*from, to, row)));
            let best = paths.max_by(|a, b| a.1.total_cmp(&b.1));
            let (index, sum) = best.unwrap_or_default();
            (to, sum + worth, index)
        });
        columns.push(column.collect());
    }
    let last = columns.last().map_or(&[][..], |column| column).iter().enumerate();
    let best = last.max_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
    let mut place = best.map_or(0, |(place, _)| place);
    let mut path = vec![None; rows];
    for row in (0..rows).rev() {
        let (note, _, before) = columns[row][place];
        (path[row], place) = (note, before);
    }
    let mut own: Vec<(usize, Voiced)> = Vec::new();
    for (row, index) in path.iter().enumerate() {
        let Some(index) = *index else { continue };
        match own.last_mut() {
            Some((last, note)) if *last == index && note.end == row => note.end = row + 1,
            _ => own.push((index, Voiced { row, end: row + 1, ..notes[index] })),
        }
    }
    // The beginning of a note that the line enters late stays in `notes`.
    for (index, part) in &own {
        let note = &mut notes[*index];
        note.end = note.end.min(part.row);
    }
    notes.retain(|note| note.row < note.end);
    own.iter().map(|(_, note)| note.alone(unit)).collect()
}

/// Returns `notes` of a song of `rows` as chords. A chord starts where a note starts.
///
/// Of notes that are octaves apart, only the strongest counts. A chord has the three strongest notes that count; without
/// `arpeggios`, it has only the strongest.
pub fn chords(notes: &[Voiced], rows: usize, unit: Unit, arpeggios: bool) -> Vec<PartNote> {
    let mut chords: Vec<PartNote> = Vec::new();
    for (first, start) in notes.iter().enumerate() {
        if first > 0 && notes[first - 1].row == start.row {
            continue;
        }
        let row = start.row;
        let mut chord: Vec<_> = notes.iter().filter(|note| note.sounds(row)).collect();
        chord.sort_by(|a, b| b.level.total_cmp(&a.level));
        let mut classes = [false; 12];
        chord.retain(|note| !std::mem::replace(&mut classes[usize::from(note.key % 12)], true));
        chord.truncate(if arpeggios { CHORD } else { 1 });
        // The previous chord continues unless a remaining note begins here.
        let begins = chord.iter().any(|note| note.row == row);
        let last = chords.last();
        if !begins && last.is_some_and(|last| last.row + last.rows > row) {
            continue;
        }
        let level = chord.iter().map(|note| note.level).fold(f32::MIN, f32::max);
        let end = chord.iter().map(|note| note.end).max().unwrap_or(row + 1).min(rows);
        chord.sort_by_key(|note| note.key);
        let key = chord[0].key;
        // Trackers store the steps of an arpeggio as signed bytes.
        let above = chord[1..].iter().map(|note| note.key - key).filter(|above| *above < 128);
        if let Some(last) = chords.last_mut() {
            last.rows = last.rows.min(row - last.row);
        }
        let (rows, chord) = (end - row, above.collect());
        chords.push(PartNote { row, rows, key, chord, volume: unit.volume(level) });
    }
    chords
}
