//! Distributes the notes to lead, bass and chords.

use super::{Grid, LOUDEST, PartNote};
use crate::transcribe::Note;
use tone_filter_dsp::{listener::notes::level_of, notes::midi_note};

/// Score per row of a note of power 1 at the key [`MIDDLE`], in dB. A rest scores 0.
const SCORE: f32 = 53.0;
/// Key that neither raises nor lowers the score: C4. It is also the first key above the range of the bass.
const MIDDLE: u8 = 60;
/// Gain in score for each semitone above [`MIDDLE`] in the lead, and below it in the bass, in dB.
const PER_SEMITONE: f32 = 1.5;
/// Lowest key of the lead: E3.
const LOWEST_LEAD: u8 = 52;

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

    fn score(&self, per_semitone: f32) -> f32 {
        SCORE + self.level + per_semitone * (f32::from(self.key) - f32::from(MIDDLE))
    }

    /// Converts the note to a [`PartNote`] without a chord.
    fn alone(&self, unit: f32) -> PartNote {
        let (row, rows, key) = (self.row, self.end - self.row, self.key);
        PartNote { row, rows, key, chord: Vec::new(), volume: volume(self.level, unit) }
    }
}

/// Returns the level in dB that maps to [`LOUDEST`]: the 95th percentile of the levels of `notes`.
pub fn loudest(notes: &[Voiced]) -> f32 {
    let mut levels: Vec<f32> = notes.iter().map(|note| note.level).collect();
    levels.sort_by(f32::total_cmp);
    levels.get(levels.len() * 19 / 20).copied().unwrap_or_default()
}

/// Converts a level in dB to a volume. The level `unit` maps to [`LOUDEST`].
fn volume(level: f32, unit: f32) -> u8 {
    let exact = f32::from(LOUDEST) * libm::exp10f((level - unit) / 20.0);
    exact.round().clamp(1.0, f32::from(LOUDEST)) as u8
}

/// Returns the score per row of a note in the lead, in dB; `None` if the note is too low.
pub fn melody(note: &Voiced) -> Option<f32> {
    (note.key >= LOWEST_LEAD).then_some(note.score(PER_SEMITONE))
}

/// Returns the score per row of a note in the bass, in dB; `None` if the note is too high.
pub fn bass(note: &Voiced) -> Option<f32> {
    (note.key < MIDDLE).then_some(note.score(-PER_SEMITONE))
}

/// Finds the monophonic line with the highest score in a song of `rows`, and removes its notes from `notes`.
///
/// `score` returns a note's score per row, or `None` if the note is out of range. The line is the best path by the Viterbi
/// algorithm. Each change of note costs its distance in pitch, so the line stays in its register. Entering a note late costs more,
/// and so does leaving it early, unless another note starts there.
pub fn line(
    notes: &mut Vec<Voiced>,
    rows: usize,
    unit: f32,
    score: impl Fn(&Voiced) -> Option<f32>,
) -> Vec<PartNote> {
    let cost = |from: Option<usize>, to: Option<usize>, row: usize| {
        if from == to {
            return 0.0;
        }
        let late = to.is_some_and(|to| notes[to].row < row);
        let broken = from.is_some_and(|from| notes[from].end > row) && (late || to.is_none());
        let semitones = from.zip(to).map_or(0.0, |(from, to)| {
            f32::from(notes[from].key.abs_diff(notes[to].key)).min(FARTHEST)
        });
        DISTANCE * semitones + if late { LATE } else { 0.0 } + if broken { BROKEN } else { 0.0 }
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
        let in_range = |index: &usize| Some((Some(*index), score(&notes[*index])?));
        let candidates = sounding.iter().filter_map(in_range);
        let column = candidates.chain([(None, 0.0)]).map(|(to, score)| {
            let before = columns.last().into_iter().flatten().enumerate();
            let paths = before.map(|(index, (from, sum, _))| (index, sum - cost(*from, to, row)));
            let best = paths.max_by(|a, b| a.1.total_cmp(&b.1));
            let (index, sum) = best.unwrap_or_default();
            (to, sum + score, index)
        });
        columns.push(column.collect());
    }
    let last = columns.last().into_iter().flatten().enumerate();
    let best = last.max_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
    let mut in_column = best.map_or(0, |(index, _)| index);
    let mut path = vec![None; rows];
    for row in (0..rows).rev() {
        let (note, _, before) = columns[row][in_column];
        (path[row], in_column) = (note, before);
    }
    let mut line: Vec<(usize, Voiced)> = Vec::new();
    for (row, index) in path.iter().enumerate() {
        let Some(index) = *index else { continue };
        match line.last_mut() {
            Some((last, note)) if *last == index && note.end == row => note.end = row + 1,
            _ => line.push((index, Voiced { row, end: row + 1, ..notes[index] })),
        }
    }
    // The beginning of a note that the line enters late stays in `notes`.
    for (index, part) in &line {
        let note = &mut notes[*index];
        note.end = note.end.min(part.row);
    }
    notes.retain(|note| note.row < note.end);
    line.iter().map(|(_, note)| note.alone(unit)).collect()
}

/// Returns `notes` of a song of `rows` as chords. A chord starts where one of its notes starts.
///
/// Of notes that are octaves apart, only the strongest counts. A chord has the three strongest notes that count; without
/// `arpeggios`, it has only the strongest.
pub fn chords(notes: &[Voiced], rows: usize, unit: f32, arpeggios: bool) -> Vec<PartNote> {
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
        chords.push(PartNote { row, rows, key, chord, volume: volume(level, unit) });
    }
    chords
}
