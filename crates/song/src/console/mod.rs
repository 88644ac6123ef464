//! Files for the sound chip of the NES, the 2A03, with the music of the voice Chip.
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

/// Clock rate of the 2A03 in Hz, in consoles for NTSC.
const CLOCK: u32 = 1_789_773;
/// Ticks of the voice Chip per second.
pub const TICKS: u32 = 60;
/// Level of compression: 9 is the highest of zlib.
pub(crate) const BEST: u8 = 9;

/// Returns `settings` for recording a song: with the voice Chip. Lookahead is on if focus is on, and off otherwise.
pub fn settings(settings: Settings) -> Settings {
    Settings { voice: Voice::Chip, lookahead: settings.focus > 0.0, ..settings }
}

/// Metadata of a song file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tags {
    /// Title of the song.
    pub title: String,
    /// Author of the song.
    pub author: String,
}

/// Recorder of the ticks of the voice Chip.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    ticks: Vec<ChipTick>,
    /// Number of ticks that were removed from the start of `ticks`.
    forgotten: usize,
    /// [`ChipTick::number`] of the last recorded tick.
    number: u64,
    /// Number of the filter's samples so far.
    samples: u64,
    /// Delay of the filter's bands in ticks. As many ticks are dropped from the start.
    ticks_to_drop: usize,
}

impl Recorder {
    /// Records the filter's last block. Must be called after each of the filter's blocks. With a voice other than Chip, it
    /// records silence.
    pub fn push(&mut self, filter: &ToneFilter) {
        let ticks = |samples: u64| samples as f64 * f64::from(TICKS) / filter.sample_rate();
        self.ticks_to_drop = ticks(filter.bank_delay() as u64).round() as usize;
        let due = ticks(self.samples) as usize;
        self.samples += BLOCK as u64;
        let tick = filter.chip().unwrap_or_default();
        if tick.number != self.number {
            self.number = tick.number;
            self.ticks.push(tick);
        }
        // A block may be longer than a tick.
        if self.forgotten + self.ticks.len() < due {
            self.ticks.resize(due - self.forgotten, tick);
        }
    }

    /// Allocates memory for `seconds` more.
    pub fn reserve(&mut self, seconds: f64) {
        self.ticks.reserve_exact((seconds * f64::from(TICKS)) as usize);
    }

    /// Forgets the ticks before `seconds`. [`Recorder::finish`] then begins at [`Recorder::start`].
    pub fn forget(&mut self, seconds: f64) {
        let end = (seconds * f64::from(TICKS)) as usize;
        let count = end.saturating_sub(self.forgotten).min(self.ticks.len());
        self.ticks.drain(..count);
        self.forgotten += count;
    }

    /// Returns the time of the first kept tick in seconds; 0 unless ticks were forgotten.
    pub fn start(&self) -> f64 {
        self.forgotten as f64 / f64::from(TICKS)
    }

    /// Returns the ticks from [`Recorder::start`] to `seconds`, at least one.
    pub fn finish(self, seconds: f64) -> Vec<ChipTick> {
        let mut ticks: Vec<_> = self.ticks.into_iter().skip(self.ticks_to_drop).collect();
        let count = (seconds * f64::from(TICKS)).ceil() as usize;
        ticks.resize(count.saturating_sub(self.forgotten).max(1), ChipTick::default());
        ticks
    }
}

#[cfg(test)]
mod tests;
