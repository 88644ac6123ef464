//! Beats and bars of the music: tempo, beats, and the first beats of bars.
//!
//! ```text
//! Decisions -> Onsets -> Row: likelihood of each place in a beat -> Paths: best path -> bars
//! ```
//!
//! `docs/time.md` has the formulas.

mod bars;
mod onsets;
mod paths;
mod tracker;
mod whole;

pub use tracker::BeatTracker;
pub use whole::BeatFinder;

/// Slowest tempo that can be found, in beats per minute.
pub const SLOWEST: f64 = 54.0;

/// Beat with its position in a bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beat {
    /// Time in seconds from the start of the sound.
    pub time: f64,
    /// Position in the bar in beats; 0 for the first beat.
    pub place: u8,
    /// Number of beats in the bar: 2, 3, 4 or 6.
    pub meter: u8,
}

/// Beats of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Beats {
    /// Beats, sorted by time.
    pub beats: Vec<Beat>,
    /// Certainty that the beats are right, 0..1.
    pub certainty: f64,
}

impl Beats {
    /// Returns the tempo in beats per minute, from the median time between two beats. `None` with fewer than two beats.
    pub fn tempo(&self) -> Option<f64> {
        let mut lengths: Vec<f64> =
            self.beats.windows(2).map(|pair| pair[1].time - pair[0].time).collect();
        lengths.sort_by(f64::total_cmp);
        lengths.get(lengths.len() / 2).map(|length| 60.0 / length)
    }

    /// Returns the most frequent meter, counted in beats, not in bars. `None` without beats.
    pub fn meter(&self) -> Option<u8> {
        let count = |meter: u8| self.beats.iter().filter(|beat| beat.meter == meter).count();
        self.beats.iter().map(|beat| beat.meter).max_by_key(|meter| count(*meter))
    }

    /// Returns the times of the first beats of bars in seconds.
    pub fn downbeats(&self) -> impl Iterator<Item = f64> {
        self.beats.iter().filter(|beat| beat.place == 0).map(|beat| beat.time)
    }
}

/// Minimum number of beats for a result. Also the minimum number of times at which notes begin, and of onsets for a live tempo.
const FEWEST: usize = 8;

/// A byte in the weight files, divided by this, is a natural logarithm.
const UNIT: f32 = 32.0;

/// Returns the highest score and its index; of equal scores, the first.
fn highest(scores: impl Iterator<Item = f32>) -> (f32, usize) {
    scores.zip(0..).fold((f32::MIN, 0), |best, own| if own.0 > best.0 { own } else { best })
}

/// Returns the class of a value: the number of `thresholds` that it exceeds. Thresholds are multiples of the `mean`.
fn class<const N: usize>(value: f32, mean: f32, thresholds: &[f32; N]) -> usize {
    thresholds.iter().filter(|least| value > **least * mean).count()
}
