//! Rows of the song, and its bars.

use crate::timeline::{TICKS, Timeline};

/// Range of lengths of a beat in seconds with four rows a beat: sixteenths of 75 to 180 ms.
const BEATS: std::ops::Range<f64> = 0.3..0.72;

/// Maximum distance of the notes from rows of triplets, relative to that from straight rows, for triplets to be chosen.
const TRIPLETS: f64 = 0.75;

/// Default number of beats per bar.
const METER: u8 = 4;

/// Rows of equal parts of a beat.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    timeline: Timeline,
    per_beat: u32,
}

impl Grid {
    /// Creates the grid for notes that start at `starts` in a file of `seconds`: sixteenths, or triplets where they fit better. Beats that
    /// are very short or long, since the tempo was found at another level, have half or twice as many rows.
    pub fn new(timeline: Timeline, starts: impl Iterator<Item = f64>, seconds: f64) -> Self {
        let ticks: Vec<f64> = starts.map(|start| timeline.tick(start)).collect();
        let beat = seconds * f64::from(TICKS) / timeline.tick(seconds).max(1.0);
        let half = match beat {
            beat if beat < BEATS.start => 1,
            beat if beat < BEATS.end => 2,
            _ => 4,
        };
        let far = |per_beat: u32| -> f64 {
            let rows = ticks.iter().map(|tick| tick * f64::from(per_beat) / f64::from(TICKS));
            rows.map(|row| (row - row.round()).abs()).sum()
        };
        let [straight, triplets] = [2 * half, 3 * half];
        let per_beat = if far(triplets) < TRIPLETS * far(straight) { triplets } else { straight };
        Self { timeline, per_beat }
    }

    /// Returns the number of rows per beat.
    pub fn per_beat(&self) -> u32 {
        self.per_beat
    }

    /// Returns the ticks and tempi.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Returns the row at a time in seconds; between two rows, a fraction.
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

    /// Returns the MIDI ticks per row.
    fn ticks(&self) -> f64 {
        f64::from(TICKS) / f64::from(self.per_beat)
    }

    /// Returns the number of rows of the longest bar.
    pub fn bar(&self) -> usize {
        let meters = self.timeline.meters().iter().map(|(_, meter)| *meter);
        usize::from(meters.max().unwrap_or(METER)) * self.per_beat as usize
    }

    /// Returns the first row of each bar of a song of `rows`.
    pub fn bars(&self, rows: usize) -> Vec<usize> {
        let meters = self.timeline.meters();
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
