//! Drums: hits of the voice Chip's noise.

use super::{Grid, LOUDEST};
use crate::console::{self, TICKS};
use tone_filter_dsp::ChipTick;

/// Kind of a drum, by the brightness of its noise and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Drum {
    /// Dark.
    Kick,
    /// Neither dark nor bright.
    Snare,
    /// Bright and short.
    Hat,
    /// Bright and long.
    Cymbal,
}

impl Drum {
    /// All drums.
    pub const ALL: [Self; 4] = [Self::Kick, Self::Snare, Self::Hat, Self::Cymbal];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        ["Kick", "Snare", "Hat", "Cymbal"][self as usize]
    }

    /// Returns the key on channel 10 of General MIDI: bass drum, snare, closed hi-hat, crash cymbal.
    pub fn key(self) -> u8 {
        [36, 38, 42, 49][self as usize]
    }

    /// Returns the ticks of 1/60 s in which the volume falls to 0.
    pub fn ticks(self) -> u32 {
        [8, 10, 4, 30][self as usize]
    }

    /// Returns the index of the noise's rate among the 2A03's 16 rates.
    pub fn rate(self) -> u8 {
        [10, 7, 4, 5][self as usize]
    }

    /// Returns the drum with noise of this `rate` that lasts for `ticks`.
    fn of(rate: u8, ticks: usize) -> Self {
        match (rate, ticks) {
            (9.., _) => Self::Kick,
            (7 | 8, _) => Self::Snare,
            (_, LONG..) => Self::Cymbal,
            _ => Self::Hat,
        }
    }
}

/// Ticks from which on a bright hit is long.
const LONG: usize = 15;

/// Minimum ratio of the noise's amplitude to its maximum in the last [`BEFORE`] ticks for a hit to begin.
const RISE: f32 = 1.5;
/// Number of ticks before a hit that it is compared with.
const BEFORE: usize = 3;
/// Number of ticks from the start of a hit that may have its peak.
const PEAK: usize = 3;
/// Amplitude at which a hit ends, relative to its peak.
const ENDED: f32 = 0.3;

/// Hit of a drum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hit {
    /// Row.
    pub row: usize,
    /// Drum.
    pub drum: Drum,
    /// Volume, 1 to [`LOUDEST`].
    pub volume: u8,
}

/// Returns the hits in `ticks`: sudden rises of the noise. Of hits on one row, the loudest counts.
pub fn hits(ticks: &[ChipTick], grid: &Grid, rows: usize) -> Vec<Hit> {
    let unit = console::unit(ticks);
    let amplitude = |tick: usize| ticks[tick].noise.amplitude;
    let mut hits: Vec<Hit> = Vec::new();
    let mut from = 0;
    while from < ticks.len() {
        let before = (from.saturating_sub(BEFORE)..from).map(amplitude).fold(0.0, f32::max);
        let volume = |amplitude: f32| (f32::from(LOUDEST) * amplitude / unit).round();
        if amplitude(from) <= RISE * before || volume(amplitude(from)) < 1.0 {
            from += 1;
            continue;
        }
        let until = (from + PEAK).min(ticks.len());
        let peak = (from..until).max_by(|a, b| amplitude(*a).total_cmp(&amplitude(*b)));
        let peak = peak.unwrap_or(from);
        let lasts = |tick: &usize| amplitude(*tick) > ENDED * amplitude(peak);
        let length = (peak..ticks.len()).take_while(lasts).count();
        let row = grid.row(from as f64 / f64::from(TICKS)).round() as usize;
        let volume = volume(amplitude(peak)).min(f32::from(LOUDEST)) as u8;
        let hit = Hit { row, drum: Drum::of(ticks[peak].noise.rate, length), volume };
        match hits.last_mut() {
            Some(last) if last.row == row && last.volume < volume => *last = hit,
            Some(last) if last.row == row => {}
            _ if row < rows => hits.push(hit),
            _ => {}
        }
        from = until;
    }
    hits
}
