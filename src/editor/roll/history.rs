//! History of the bands over the last ten minutes, in columns of 1/60 s, for the roll.

use std::{array, collections::VecDeque, ops::Range};
use tone_filter_dsp::{
    BandState, Bands,
    notes::TONES,
    roll::{Cell, Column, DARKEST_DB},
};

/// Columns per second.
pub const RATE: usize = 60;
/// Length of the history in columns: ten minutes.
const LONGEST: usize = crate::capture::SECONDS * RATE;
/// Maximum number of columns that one update fills. After a longer gap, which is a pause of the host, an update adds one
/// column.
const LONGEST_FILLED_GAP: i64 = (crate::editor::PAUSE * RATE as f64) as i64;
/// Resolution of the level in a packed cell, in steps per dB.
const LEVELS_PER_DB: f32 = 4.0;

/// State and level of a band in two bytes. The stronger of two cells is the greater number.
type Packed = u16;

fn packed(cell: Cell) -> Packed {
    let level = (LEVELS_PER_DB * (cell.level_db - DARKEST_DB)).round().clamp(0.0, 255.0);
    ((cell.state as u16) << 8) | level as u16
}

fn unpacked(cell: Packed) -> Cell {
    let state = match cell >> 8 {
        0 => BandState::Inactive,
        1 => BandState::Sounding,
        _ => BandState::Saturated,
    };
    let level_db = match cell & 0xFF {
        0 => f32::NEG_INFINITY,
        level => DARKEST_DB + f32::from(level) / LEVELS_PER_DB,
    };
    Cell { state, level_db }
}

/// Column of the roll: all bands at one time.
#[derive(Clone)]
struct Moment {
    cells: [Packed; TONES],
    /// Time on the capture's clock, in seconds.
    time: f64,
}

/// Columns of the last ten minutes. Columns are numbered from the first update on; old columns are removed, but numbers stay.
#[derive(Default)]
pub struct History {
    columns: VecDeque<Moment>,
    /// Number of columns so far, removed ones included.
    count: usize,
    /// Window's time of the last update, in columns.
    last_update: i64,
    /// The host's bar number in the last update.
    bar: Option<i32>,
    /// Column in which each bar of the host's song began, and the bar's number, counted from 0.
    pub bars: VecDeque<(i64, i32)>,
}

impl History {
    /// Appends `bands`, or merges them into the last column. `now` is the window's time and `time` the capture's, in seconds.
    /// `bar` is the host's bar number, counted from 0; `None` while the host is stopped or reports no bars. Returns the first
    /// column that has changed.
    pub fn push(&mut self, bands: &Bands, bar: Option<i32>, now: f64, time: f64) -> usize {
        if self.columns.back().is_some_and(|last| time < last.time) {
            // The capture has started again.
            *self = Self { count: self.count, last_update: self.last_update, ..Self::default() };
        }
        let mut cells = Column::from(bands).0.map(packed);
        let at = (now * RATE as f64) as i64;
        let due = match at - self.last_update {
            due @ 0..=LONGEST_FILLED_GAP => due as usize,
            _ => 1,
        };
        self.last_update = at;
        if due == 0
            && let Some(last) = self.columns.pop_back()
        {
            // Two updates fall in one column.
            self.count -= 1;
            merge(&mut cells, &last.cells);
        }
        if self.columns.capacity() < LONGEST {
            self.columns.reserve_exact(LONGEST);
        }
        let changed = self.count;
        for _ in 0..due.max(1) {
            if self.columns.len() == LONGEST {
                self.columns.pop_front();
            }
            self.columns.push_back(Moment { cells, time });
            self.count += 1;
        }
        if let (Some(before), Some(bar)) = (self.bar, bar)
            && before != bar
        {
            self.bars.push_back((changed as i64, bar));
        }
        self.bar = bar;
        let oldest = self.oldest();
        while self.bars.front().is_some_and(|(column, _)| *column < oldest) {
            self.bars.pop_front();
        }
        changed
    }

    /// Returns the number that the next column will get.
    pub fn count(&self) -> i64 {
        self.count as i64
    }

    /// Returns the number of the oldest column.
    pub fn oldest(&self) -> i64 {
        (self.count - self.columns.len()) as i64
    }

    /// Returns the strongest cell of each band in `columns`.
    pub fn column(&self, columns: Range<i64>) -> Column {
        let mut cells = [0; TONES];
        let inside = [columns.start, columns.end]
            .map(|at| (at - self.oldest()).clamp(0, self.columns.len() as i64) as usize);
        self.columns
            .range(inside[0]..inside[1])
            .for_each(|column| merge(&mut cells, &column.cells));
        Column(cells.map(unpacked))
    }

    /// Returns the time of a column, or else of the nearest one, in seconds on the capture's clock; 0 without columns.
    pub fn time(&self, column: i64) -> f64 {
        let newest = self.columns.len().saturating_sub(1) as i64;
        let index = (column - self.oldest()).clamp(0, newest) as usize;
        self.columns.get(index).map_or(0.0, |column| column.time)
    }

    /// Returns the first column at or after `time` on the capture's clock.
    pub fn column_at(&self, time: f64) -> i64 {
        self.oldest() + self.columns.partition_point(|column| column.time < time) as i64
    }
}

fn merge(cells: &mut [Packed; TONES], others: &[Packed; TONES]) {
    *cells = array::from_fn(|tone| cells[tone].max(others[tone]));
}
