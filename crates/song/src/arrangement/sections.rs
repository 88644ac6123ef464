//! Divides the song into patterns, so that many patterns repeat.

use super::{PartNote, repeats::keys};
use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
};

/// Maximum number of rows in a pattern: the limit of all trackers.
const ROWS: usize = 256;
/// Maximum number of bars in a pattern.
const BARS: usize = 4;
/// Maximum number of bars in a section.
const SECTION: usize = 32;
/// Cost of each bar of a distinct pattern, unless the bar is silent.
const BAR: usize = 2;
/// Cost of each entry in the song's list of patterns. Trackers call such an entry an order.
const ORDER: usize = 1;

/// Returns a hash of the content of each bar.
pub fn contents(notes: &[PartNote], bars: &[usize]) -> Vec<u64> {
    let mut contents = vec![DefaultHasher::new(); bars.len()];
    for note in notes {
        let after = bars.partition_point(|first| *first <= note.row);
        if let Some(index) = after.checked_sub(1) {
            let row = note.row - bars[index];
            let keys: Vec<u8> = keys(note).collect();
            (row, note.rows, note.volume, keys).hash(&mut contents[index]);
        }
    }
    contents.into_iter().map(|content| content.finish()).collect()
}

/// Returns the rows of each pattern of a song of `rows`. `bars` has the first row of each bar, `parts` the hashes of each part's
/// bars.
///
/// Patterns have four bars. They have fewer before a change of meter or a new section, or if they would exceed 256 rows. All
/// sections have the same length. Their length and the first bar of the first section are chosen so that the cost is lowest.
pub fn patterns(bars: &[usize], rows: usize, parts: &[Vec<u64>]) -> Vec<Range<usize>> {
    let ends = bars.iter().skip(1).copied().chain([rows]);
    let bars: Vec<Range<usize>> =
        bars.iter().copied().zip(ends).map(|(start, end)| start..end).collect();
    let silence = DefaultHasher::new().finish();
    let cost = |orders: &[Range<usize>]| {
        let distinct = |contents: &Vec<u64>| {
            let patterns: HashSet<&[u64]> =
                orders.iter().map(|order| &contents[order.clone()]).collect();
            // Empty bars cost nothing.
            patterns.into_iter().flatten().filter(|content| **content != silence).count()
        };
        let bars = parts.iter().map(distinct).sum::<usize>();
        BAR * bars + ORDER * orders.len()
    };
    let sections = (BARS..=SECTION.min(bars.len().max(BARS)))
        .flat_map(|section| (0..section).map(move |first| (section, first)));
    let cuts = sections.map(|(section, first)| cut(&bars, section, first));
    let best = cuts.min_by_key(|orders| cost(orders)).unwrap_or_default();
    best.into_iter().map(|order| bars[order.start].start..bars[order.end - 1].end).collect()
}

/// Returns the bars of each pattern if sections of `section` bars begin at the bar `first`.
fn cut(bars: &[Range<usize>], section: usize, first: usize) -> Vec<Range<usize>> {
    let mut orders: Vec<Range<usize>> = Vec::new();
    for (index, bar) in bars.iter().enumerate() {
        let begins = index >= first && (index - first).is_multiple_of(section);
        if let Some(order) = orders.last_mut().filter(|order| !begins && order.len() < BARS) {
            let rows = bars[order.start].len();
            // The last bar may be shorter.
            let fits = bar.len() == rows || index + 1 == bars.len() && bar.len() < rows;
            if fits && (order.len() + 1) * rows <= ROWS {
                order.end = index + 1;
                continue;
            }
        }
        orders.push(index..index + 1);
    }
    orders
}
