//! Tempi of a song, each a whole number of ticks per 16 rows.

use super::{TICKS, index_in};
use crate::arrangement::Grid;
use std::ops::Range;

/// Length of a groove in rows. A tempo is a whole number of ticks per groove.
pub const GROOVE: u32 = 16;

/// Maximum error of the end of a pattern in ticks: 42 ms. The tempo changes where the error would be greater.
const DRIFT: f64 = 2.5;

/// Returns the number of ticks per second, the tempi in ticks per 16 rows, and the index of the tempo of each order.
///
/// The number of ticks per second is near 60. It is chosen so that a song of constant tempo needs only one tempo.
pub fn tempi(grid: &Grid, rows: usize, orders: &[Range<usize>]) -> (f64, Vec<u32>, Vec<u8>) {
    let start = grid.seconds(0);
    let whole = |ticks: f64| (ticks * f64::from(GROOVE)).round().max(f64::from(GROOVE)) as u32;
    let per_row = (grid.seconds(rows) - start) / rows as f64;
    let mean = whole(per_row * f64::from(TICKS));
    let hertz = f64::from(mean) / f64::from(GROOVE) / per_row;
    let (mut all, mut now, mut ticks) = (vec![mean], 0, 0.0);
    let indices = orders.iter().map(|order| {
        let end = (grid.seconds(order.end) - start) * hertz;
        let after = |tempo: u32| ticks + f64::from(tempo) / f64::from(GROOVE) * order.len() as f64;
        if (after(all[now]) - end).abs() > DRIFT {
            let tempo = whole((end - ticks) / order.len() as f64).min(255 * GROOVE);
            now = index_in(&mut all, tempo);
        }
        ticks = after(all[now]);
        now as u8
    });
    let indices = indices.collect();
    (hertz, all, indices)
}

/// Distributes `ticks` evenly over 16 rows. Returns the number of ticks of each row, up to where they repeat.
pub fn groove(ticks: u32) -> Vec<u8> {
    let until = |row: u32| row * ticks / GROOVE;
    let rows = (0..GROOVE).map(|row| (until(row + 1) - until(row)).min(255) as u8);
    let rows: Vec<u8> = rows.collect();
    let repeats = |length: &usize| rows.chunks(*length).all(|part| part == &rows[..*length]);
    let length = [1, 2, 4, 8].into_iter().find(repeats).unwrap_or(rows.len());
    rows[..length].to_vec()
}
