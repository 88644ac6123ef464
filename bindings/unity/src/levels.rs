//! Levels of the bands, written on the audio thread and read on any other.

use std::sync::atomic::{AtomicU32, Ordering};
use tone_filter_dsp::{
    BandState, Bands,
    notes::{TONES, by_pitch},
};

/// Selection of levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelSet {
    /// Levels of all bands.
    Bands,
    /// Levels of the bands that sound; all other levels are 0.
    Notes,
}

impl LevelSet {
    pub fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"Bands" => Some(Self::Bands),
            b"Notes" => Some(Self::Notes),
            _ => None,
        }
    }
}

/// Amplitudes of the bands at the end of the last block, E1 first, relative to the ceiling: 0 to 1. Bands that do not sound have
/// a negative sign.
pub struct Levels([AtomicU32; TONES]);

impl Default for Levels {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU32::new(0)))
    }
}

impl Levels {
    /// Stores the levels of `bands`. `ceiling` is the power of a note at the ceiling, relative to the power of the input.
    pub fn write(&self, bands: &Bands, ceiling: f32) {
        for (cell, tone) in self.0.iter().zip(by_pitch()) {
            let band = &bands.bands[tone];
            let level = (band.ratio / ceiling).clamp(0.0, 1.0).sqrt();
            let level = if band.state == BandState::Inactive { -level } else { level };
            cell.store(level.to_bits(), Ordering::Relaxed);
        }
    }

    /// Returns the level of the band `index`, counted by pitch; 0 behind the last band.
    pub fn read(&self, set: LevelSet, index: usize) -> f32 {
        let bits = self.0.get(index).map_or(0, |cell| cell.load(Ordering::Relaxed));
        match set {
            LevelSet::Bands => f32::from_bits(bits).abs(),
            LevelSet::Notes => f32::from_bits(bits).max(0.0),
        }
    }
}
