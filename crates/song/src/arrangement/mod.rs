//! Arranges the notes of a file as lead, harmony, bass and drums, quantised to the rows of a grid.
//!
//! ```text
//! Notes -> rows -> lead -> bass -> chords -+
//! Noise of ChipTicks -> drums -------------+-> repeats -> Arrangement
//! ```
//!
//! `docs/tracker.md` has the rules.

mod drums;
mod grid;
mod midi;
mod parts;
mod repeats;
mod sections;

pub use drums::Drum;
pub use grid::Grid;
pub use midi::midi;

use crate::{timeline::Timeline, transcribe::Note};
use drums::hits;
use parts::{Voiced, chords, line, loudest};
use repeats::{ACCOMPANIMENT, MELODY, unify};
use sections::{contents, patterns};
use std::ops::Range;
use tone_filter_dsp::{ChipTick, Duty, Settings};

/// Maximum volume of notes and hits.
pub const LOUDEST: u8 = 15;

/// Note or chord of a part, or hit of a drum.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartNote {
    /// First row.
    pub row: usize,
    /// Length in rows, at least 1. A hit has one row.
    pub rows: usize,
    /// MIDI key; of a chord, the lowest. For a hit, the drum's index in [`Drum::ALL`].
    pub key: u8,
    /// Intervals in semitones from `key` up to the other notes of a chord, ascending; empty for a single note.
    pub chord: Vec<u8>,
    /// Volume, 1 to [`LOUDEST`].
    pub volume: u8,
}

/// Timbre of lead and harmony. The bass has a constant volume, and the drums have envelopes of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sound {
    /// Length of the attack in ticks of 1/60 s.
    pub attack: u32,
    /// Time in which the volume falls to 25 %, in ticks of 1/60 s; 0: off.
    pub decay: u32,
    /// Duty cycle of the lead. The harmony always has 50 %.
    pub duty: Duty,
    /// Length of each note of an arpeggio, in ticks of 1/60 s; `None` without arpeggios.
    pub arpeggio: Option<u32>,
}

impl Sound {
    /// Returns the sound that the voice Chip has with `settings`.
    pub fn of(settings: &Settings) -> Self {
        let [attack, decay] = [settings.attack, settings.decay].map(|ticks| ticks.round() as u32);
        Self { attack, decay, duty: settings.duty, arpeggio: settings.arp.ticks() }
    }
}

/// Song in four monophonic parts, each sorted by time. A chord counts as one note.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrangement {
    /// Grid that converts rows to times.
    pub grid: Grid,
    /// Length in rows.
    pub rows: usize,
    /// Melody.
    pub lead: Vec<PartNote>,
    /// Chords and single notes that are neither lead nor bass.
    pub harmony: Vec<PartNote>,
    /// Bass line.
    pub bass: Vec<PartNote>,
    /// Hits of the drums.
    pub drums: Vec<PartNote>,
    /// Timbre of lead and harmony.
    pub sound: Sound,
}

impl Arrangement {
    /// Arranges the `notes` of a file of `seconds`, with drums from the noise in the `ticks` of the voice Chip.
    ///
    /// `transpose` is the filter's transposition in semitones.
    pub fn new(
        notes: &[Note],
        transpose: f32,
        ticks: &[ChipTick],
        seconds: f64,
        timeline: Timeline,
        sound: Sound,
    ) -> Self {
        let grid = Grid::new(timeline, notes.iter().map(|note| note.start), seconds);
        let rows = (grid.row(seconds).ceil() as usize).max(1);
        let mut voiced = Voiced::of(notes, transpose, &grid, rows);
        let unit = loudest(&voiced);
        // Each line takes its notes out of `voiced`.
        let lead = line(&mut voiced, rows, unit, parts::melody);
        let bass = line(&mut voiced, rows, unit, parts::bass);
        let harmony = chords(&voiced, rows, unit, sound.arpeggio.is_some());
        let drums = hits(ticks, &grid, rows);
        let mut song = Self { grid, rows, lead, harmony, bass, drums, sound };
        // Makes similar bars equal, and then similar patterns.
        song.unify(&song.grid.bars(rows));
        let patterns = song.patterns();
        song.unify(&patterns.iter().map(|pattern| pattern.start).collect::<Vec<_>>());
        song
    }

    /// Makes similar sections equal. `starts` has the first row of each section.
    fn unify(&mut self, starts: &[usize]) {
        self.lead = unify(&self.lead, starts, MELODY);
        for part in [&mut self.harmony, &mut self.bass, &mut self.drums] {
            *part = unify(part, starts, ACCOMPANIMENT);
        }
    }

    fn parts(&self) -> [&[PartNote]; 4] {
        [&self.lead, &self.harmony, &self.bass, &self.drums]
    }

    /// Divides the song into patterns of up to four bars, so that many of them are equal. Returns the rows of each.
    pub fn patterns(&self) -> Vec<Range<usize>> {
        let bars = self.grid.bars(self.rows);
        patterns(&bars, self.rows, &self.parts().map(|part| contents(part, &bars)))
    }

    /// Returns the number of notes and hits of all parts.
    pub fn notes(&self) -> usize {
        self.parts().iter().map(|part| part.len()).sum()
    }
}

#[cfg(test)]
mod tests;
