//! Levels of the bands, written on the audio thread and read on any other.

use std::sync::atomic::{AtomicU32, Ordering};
use tone_filter_dsp::{
    BandState, Bands,
    notes::{TONES, by_pitch},
};

/// Levels of the bands after the last block, E1 first, as the bits of `f32`: amplitudes of 0 to 1, where 1 is the ceiling.
/// The level of a band that does not sound is negative.
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

    /// Writes `count` levels, E1 first. Behind the last band it writes 0, and if `sounding`, also for bands that do not sound.
    ///
    /// # Safety
    /// `to` must be valid for writes of `count` numbers.
    pub unsafe fn read(&self, sounding: bool, to: *mut f32, count: usize) {
        for index in 0..count {
            let level = self.0.get(index).map_or(0, |cell| cell.load(Ordering::Relaxed));
            let level = f32::from_bits(level);
            // SAFETY: the caller guarantees it.
            unsafe { to.add(index).write(if sounding { level.max(0.0) } else { level.abs() }) };
        }
    }
}
