//! Music of the voice Chip, as files for the 2A03, the sound chip of an 8-bit console.
//!
//! `docs/dsp.md` describes the registers.

mod nsf;
mod registers;
mod vgm;

pub use nsf::nsf;
pub(crate) use registers::unit;
pub use registers::{Song, Write};
pub(crate) use vgm::{Log, SAMPLE_RATE};
pub use vgm::{vgm, vgz};

use tone_filter_dsp::{BLOCK, ChipTick, Settings, ToneFilter, Voice};

/// Clock rate of the console in Hz.
const CLOCK: u32 = 1_789_773;

/// Number of ticks per second.
pub const TICKS: u32 = 60;

/// Returns the settings of a filter for a song with the sound of `settings`: the voice Chip, and lookahead if there is focus, as a file can be read ahead.
pub fn settings(settings: Settings) -> Settings {
    Settings { voice: Voice::Chip, lookahead: settings.focus > 0.0, ..settings }
}

/// Tags of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tags {
    /// Title.
    pub title: String,
    /// Author.
    pub author: String,
}

/// Recorder of the voice Chip, tick by tick.
#[derive(Debug, Default)]
pub struct Recorder {
    ticks: Vec<ChipTick>,
    /// Number of the last tick.
    number: u64,
    /// Number of the filter's frames so far.
    frames: u64,
    /// Number of ticks before the first one of the file: the delay of the filter's bands.
    ticks_to_drop: usize,
}

impl Recorder {
    /// Records the filter's last block. Must be called after each of the filter's blocks. Other voices count as silence.
    pub fn push(&mut self, filter: &ToneFilter) {
        let ticks = |frames: u64| frames as f64 * f64::from(TICKS) / filter.sample_rate();
        self.ticks_to_drop = ticks(filter.bank_delay() as u64).round() as usize;
        let due = ticks(self.frames) as usize;
        self.frames += BLOCK as u64;
        let tick = filter.chip().unwrap_or_default();
        if tick.number != self.number {
            self.number = tick.number;
            self.ticks.push(tick);
        }
        // A block may be longer than a tick.
        if self.ticks.len() < due {
            self.ticks.resize(due, tick);
        }
    }

    /// Returns all ticks of a file of `seconds`: at least one.
    pub fn finish(self, seconds: f64) -> Vec<ChipTick> {
        let mut ticks: Vec<_> = self.ticks.into_iter().skip(self.ticks_to_drop).collect();
        let count = (seconds * f64::from(TICKS)).ceil() as usize;
        ticks.resize(count.max(1), ChipTick::default());
        ticks
    }
}

#[cfg(test)]
mod tests;
