//! Grid of the song: rows and bars.

use crate::timeline::{TICKS, Timeline};

/// Mean lengths of a beat in seconds at which beats have four rows: sixteenth notes of 75 to 180 ms. Triplets have six rows.
const BEATS: std::ops::Range<f64> = 0.3..0.72;

/// Maximum sum of the notes' distances from triplet rows at which rows are triplets, as a fraction of the sum for straight rows.
const TRIPLETS: f64 = 0.75;

/// Number of beats per bar of a timeline without bars.
const METER: u8 = 4;

/// Grid of rows. Every beat has the same number of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Tempo map.
    pub timeline: Timeline,
    /// Number of rows per beat.
    pub per_beat: u32,
}

impl Grid {
    /// Creates the grid of a file of `seconds`. `starts` are the starts of its notes in seconds.
    ///
    /// Rows are sixteenths, or triplets if these fit the notes better. If the mean beat is shorter than 0.3 s, beats get half as
    /// many rows; from 0.72 s on, twice as many: the detected tempo is then probably twice or half the real one.
    pub fn new(timeline: Timeline, starts: impl Iterator<Item = f64>, seconds: f64) -> Self {
        let ticks: Vec<f64> = starts.map(|start| timeline.tick(start)).collect();
        let beat = seconds * f64::from(TICKS) / timeline.tick(seconds).max(1.0);
        let half = match beat {
            beat if beat < BEATS.start => 1,
            beat if beat < BEATS.end => 2,
            _ => 4,
        };
        let distances = |per_beat: u32| -> f64 {
            let rows = ticks.iter().map(|tick| tick * f64::from(per_beat) / f64::from(TICKS));
            rows.map(|row| (row - row.round()).abs()).sum()
        };
        let [straight, triplets] = [2 * half, 3 * half];
        let is_triple = distances(triplets) < TRIPLETS * distances(straight);
        let per_beat = if is_triple { triplets } else { straight };
        Self { timeline, per_beat }
    }

    /// Returns the row at a time in seconds, with a fractional part between two rows.
    pub fn row(&self, seconds: f64) -> f64 {
        self.timeline.tick(seconds) / self.ticks()
    }

    /// Returns the time of a row in seconds.
    pub fn seconds(&self, row: usize) -> f64 {
        self.timeline.seconds(self.tick(row))
    }

    /// Returns the MIDI tick of a row.
    pub fn tick(&self, row: usize) -> f64 {
        row as f64 * self.ticks()
    }

    /// Returns the length of a row in MIDI ticks.
    fn ticks(&self) -> f64 {
        f64::from(TICKS) / f64::from(self.per_beat)
    }

    /// Returns the number of rows of the longest bar.
    pub fn bar(&self) -> usize {
        let meters = self.timeline.meters.iter().map(|(_, meter)| *meter);
        usize::from(meters.max().unwrap_or(METER)) * self.per_beat as usize
    }

    /// Returns the first row of each bar of a song of `rows`.
    pub fn bars(&self, rows: usize) -> Vec<usize> {
        let meters = &self.timeline.meters;
        let row = |tick: u32| (f64::from(tick) / self.ticks()).round() as usize;
        let starts = meters.iter().map(|(tick, meter)| (row(*tick), *meter));
        let starts: Vec<_> = if meters.is_empty() { vec![(0, METER)] } else { starts.collect() };
        let ends = starts[1..].iter().map(|(row, _)| *row).chain([rows]);
        let bars = starts.iter().zip(ends).flat_map(|((start, meter), end)| {
            (*start..end.min(rows)).step_by((u32::from(*meter) * self.per_beat) as usize)
        });
        bars.collect()
    }
}
