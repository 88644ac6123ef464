//! Drums: finds hits in the noise channel of the voice Chip.

use super::{Grid, LOUDEST, PartNote};
use crate::console::{self, TICKS};
use std::ops::Range;
use tone_filter_dsp::ChipTick;

/// Drum, recognised by its bass, and by the brightness and the length of its noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Drum {
    /// Bass drum: a sudden bass.
    Kick,
    /// Snare drum: dark noise.
    Snare,
    /// Closed hi-hat: short, bright noise.
    Hat,
    /// Crash cymbal: long, bright noise.
    Cymbal,
}

impl Drum {
    /// All drums, in the order of their indices.
    pub const ALL: [Self; 4] = [Self::Kick, Self::Snare, Self::Hat, Self::Cymbal];

    /// Returns the English name.
    pub fn name(self) -> &'static str {
        ["Kick", "Snare", "Hat", "Cymbal"][self as usize]
    }

    /// Returns the General MIDI key, on channel 10.
    pub fn key(self) -> u8 {
        [36, 38, 42, 49][self as usize]
    }

    /// Returns the time in which a hit decays from full volume to 0, in ticks of 1/60 s.
    pub fn ticks(self) -> u32 {
        [8, 10, 4, 30][self as usize]
    }

    /// Returns the index of the noise's rate in the 2A03's table of 16; 0 is the brightest.
    pub fn rate(self) -> u8 {
        [10, 7, 4, 5][self as usize]
    }

    /// Classifies a hit by whether it has `bass`, by its noise `rate` and by its length in `ticks`.
    fn of(bass: bool, rate: u8, ticks: usize) -> Self {
        match (bass, rate, ticks) {
            (true, ..) => Self::Kick,
            (_, _, LONG..) => Self::Cymbal,
            (_, DARK.., _) => Self::Snare,
            _ => Self::Hat,
        }
    }
}

/// Minimum length of a cymbal in ticks.
const LONG: usize = 15;
/// Rate of the brightest noise of a snare drum.
const DARK: u8 = 9;
/// Minimum ratio of the bass in the [`AFTER`] ticks from the onset on to that in as many ticks before, with a bass drum.
const BASS_RISE: f32 = 5.0;
const AFTER: usize = 4;

/// Onset threshold: ratio of the noise's amplitude to its maximum in the [`BEFORE`] ticks before.
const RISE: f32 = 1.5;
const BEFORE: usize = 3;
/// Number of ticks from the onset on in which the peak is searched.
const PEAK: usize = 3;
/// Amplitude at which a hit ends, relative to its peak.
const ENDED: f32 = 0.3;

/// Finds the hits in `ticks`: sudden rises of the noise. Of several hits on one row, the loudest remains.
pub fn hits(ticks: &[ChipTick], grid: &Grid, rows: usize) -> Vec<PartNote> {
    let unit = console::unit(ticks);
    let amplitude = |tick: usize| ticks[tick].noise.amplitude;
    let mut hits: Vec<PartNote> = Vec::new();
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
        let bass = |range: Range<usize>| ticks[range].iter().map(|tick| tick.bass).sum::<f32>();
        let [bass_before, bass] =
            [bass(from.saturating_sub(AFTER)..from), bass(from..ticks.len().min(from + AFTER))];
        // A bass drum is stronger in the bass than in the noise.
        let least = (AFTER as f32 * amplitude(peak).powi(2)).max(BASS_RISE * bass_before);
        let key = Drum::of(bass > least, ticks[peak].noise.rate, length) as u8;
        let hit = PartNote { row, rows: 1, key, chord: Vec::new(), volume };
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
