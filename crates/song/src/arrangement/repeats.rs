//! Repeats: makes similar bars equal. A bar here may also be a whole pattern.

use super::PartNote;

/// Minimum similarity at which bars of the lead are made equal. It is higher than for other parts, as melodies vary.
pub const MELODY: f64 = 0.75;
/// Minimum similarity at which bars of the other parts are made equal.
pub const ACCOMPANIMENT: f64 = 0.65;

/// Returns the MIDI keys of a note or a chord.
pub fn keys(note: &PartNote) -> impl Iterator<Item = u8> {
    [0].iter().chain(&note.chord).map(|above| note.key + above)
}

struct Bar {
    first: usize,
    /// Number of rows; `None` for the last bar, which may be shorter.
    rows: Option<usize>,
    notes: Vec<PartNote>,
}

impl Bar {
    /// Returns row and key of all notes, sorted. Rows count from the start of the bar.
    fn content(&self) -> Vec<(usize, u8)> {
        let row_and_keys = |note: &PartNote| {
            keys(note).map(|key| (note.row - self.first, key)).collect::<Vec<_>>()
        };
        let mut content: Vec<_> = self.notes.iter().flat_map(row_and_keys).collect();
        content.sort_unstable();
        content
    }
}

/// Returns the similarity of two sorted lists: their F1 score, or 1 if both are empty.
fn likeness(a: &[(usize, u8)], b: &[(usize, u8)]) -> f64 {
    let equal = a.iter().filter(|element| b.binary_search(element).is_ok()).count();
    match a.len() + b.len() {
        0 => 1.0,
        all => 2.0 * equal as f64 / all as f64,
    }
}

/// Returns the median; of two middle values, the lower one.
fn median<N: Ord + Copy>(all: impl Iterator<Item = N>) -> Option<N> {
    let mut all: Vec<N> = all.collect();
    all.sort_unstable();
    all.get(all.len().saturating_sub(1) / 2).copied()
}

/// Groups bars with a similarity of at least `alike`, and replaces their notes by the [`shared`] notes of the group. `bars` has the
/// first row of each bar.
pub fn unify(notes: &[PartNote], bars: &[usize], alike: f64) -> Vec<PartNote> {
    let ends = bars.iter().skip(1).map(Some).chain([None]);
    let bar = |(first, end): (&usize, Option<&usize>)| {
        let within = |note: &&PartNote| note.row >= *first && end.is_none_or(|end| note.row < *end);
        let notes = notes.iter().filter(within).cloned().collect();
        Bar { first: *first, rows: end.map(|end| end - first), notes }
    };
    let bars: Vec<Bar> = bars.iter().zip(ends).map(bar).collect();
    let contents: Vec<_> = bars.iter().map(Bar::content).collect();
    // Groups of similar bars; each bar is compared with the first one of a group.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for index in 0..bars.len() {
        let like = |group: &&mut Vec<usize>| {
            bars[group[0]].rows == bars[index].rows
                && likeness(&contents[group[0]], &contents[index]) >= alike
        };
        match groups.iter_mut().find(like) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let mut all: Vec<PartNote> = Vec::new();
    for group in &groups {
        let shared = shared(&group.iter().map(|index| &bars[*index]).collect::<Vec<_>>());
        for index in group {
            let first = bars[*index].first;
            let moved = |note: &PartNote| PartNote { row: first + note.row, ..note.clone() };
            all.extend(shared.iter().map(moved));
        }
    }
    all.sort_by_key(|note| note.row);
    // Notes must not overlap across bar lines.
    for index in 1..all.len() {
        let next = all[index].row;
        let note = &mut all[index - 1];
        note.rows = note.rows.min(next - note.row);
    }
    all
}

/// Returns the most frequent note for each row on which at least half of `bars` have one, with the median length and volume. Rows
/// count from the start of the bar.
fn shared(bars: &[&Bar]) -> Vec<PartNote> {
    let mut by_row: Vec<(usize, &PartNote)> = Vec::new();
    for bar in bars {
        by_row.extend(bar.notes.iter().map(|note| (note.row - bar.first, note)));
    }
    by_row.sort_by_key(|(row, _)| *row);
    let at_rows = by_row.chunk_by(|a, b| a.0 == b.0);
    let shared = at_rows.filter(|at| 2 * at.len() >= bars.len()).filter_map(|at| {
        let is_equal = |a: &PartNote, b: &PartNote| (a.key, &a.chord) == (b.key, &b.chord);
        let count = |note: &PartNote| at.iter().filter(|(_, other)| is_equal(other, note)).count();
        // With equal counts, the earliest bar wins.
        let (row, note) = at.iter().rev().max_by_key(|(_, note)| count(note))?;
        let volume = median(at.iter().map(|(_, note)| note.volume))?;
        let rows = median(at.iter().map(|(_, note)| note.rows))?;
        Some(PartNote { row: *row, rows, volume, ..(*note).clone() })
    });
    shared.collect()
}
