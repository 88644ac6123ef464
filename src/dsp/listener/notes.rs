//! From decisions, frame by frame, to notes that begin and end.
//!
//! Decisions flicker, and a note that is struck again while it sounds stays on. So a note ends only after a
//! few frames off, and where its level jumps, it ends and a new one begins. A note that has to last some
//! frames before it is believed comes that much later, with the frame in which it began: for files, where
//! nobody waits for it.

use super::Decisions;
use crate::dsp::notes::TONES;

/// A note is struck anew when its level is this many times the least of the last [`RISE`] frames: 4.8 dB.
const STRUCK: f32 = 3.0;
/// In frames: 35 ms.
const RISE: usize = 3;
/// Frames from one stroke to the next at least: 139 ms.
const APART: u64 = 12;
/// The levels in dB of velocities 1 and 127; a sine of full scale has -3 dB.
const VELOCITY_DB: [f32; 2] = [-60.0, -3.0];

/// A note begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Its band, 0..48.
    pub band: usize,
    /// The [`Decisions::frames`] with which it does.
    pub frame: u64,
    /// Where it begins, its velocity, 1..=127; nothing where it ends.
    pub velocity: Option<u8>,
}

/// The notes of all bands.
#[derive(Debug, Clone)]
pub struct Notes {
    /// Frames that a note lasts at least.
    shortest: u64,
    /// Frames off that do not end it.
    bridge: u64,
    tracks: [Track; TONES],
    /// The levels of the last frames, in a ring.
    levels: [[f32; TONES]; RISE],
    frame: u64,
}

/// The note of a band.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Track {
    /// The frame in which it began, if there is one.
    start: Option<u64>,
    /// Whether its beginning was told.
    told: bool,
    /// Its greatest level.
    peak: f32,
    /// The last frame in which it was on.
    last: u64,
}

impl Track {
    const NONE: Self = Self { start: None, told: false, peak: 0.0, last: 0 };
}

impl Notes {
    /// Tells of notes as soon as they are heard.
    pub const fn at_once() -> Self {
        Self::new(1, 0)
    }

    /// Tells only of notes that last 93 ms, and passes over gaps of 23 ms: 8 and 2 frames.
    pub const fn checked() -> Self {
        Self::new(8, 2)
    }

    const fn new(shortest: u64, bridge: u64) -> Self {
        let levels = [[0.0; TONES]; RISE];
        Self { shortest, bridge, tracks: [Track::NONE; TONES], levels, frame: 0 }
    }

    /// Takes note of what was decided about the next frame, and tells of each note that begins or ends.
    pub fn push(&mut self, decisions: &Decisions, mut tell: impl FnMut(Event)) {
        let frame = decisions.frames;
        for (band, track) in self.tracks.iter_mut().enumerate() {
            let level = decisions.level[band];
            if decisions.on[band] {
                let least = self.levels.iter().fold(level, |least, levels| least.min(levels[band]));
                let struck = |start| frame - start >= APART && level > STRUCK * least;
                if track.start.is_none_or(struck) {
                    track.end(band, frame, &mut tell);
                    track.start = Some(frame);
                }
                track.last = frame;
                track.peak = track.peak.max(level);
                if let Some(start) = track.start
                    && !track.told
                    && frame + 1 - start >= self.shortest
                {
                    track.told = true;
                    let velocity = Some(velocity(track.peak));
                    tell(Event { band, frame: start, velocity });
                }
            } else if track.start.is_some() && frame - track.last > self.bridge {
                track.end(band, track.last + 1, &mut tell);
            }
        }
        self.levels[frame as usize % RISE] = decisions.level;
        self.frame = frame;
    }

    /// Ends all notes with the last frame, and forgets everything.
    pub fn finish(&mut self, mut tell: impl FnMut(Event)) {
        for (band, track) in self.tracks.iter_mut().enumerate() {
            track.end(band, self.frame + 1, &mut tell);
        }
        *self = Self::new(self.shortest, self.bridge);
    }
}

impl Track {
    /// Ends the note, if there is one.
    fn end(&mut self, band: usize, frame: u64, tell: &mut impl FnMut(Event)) {
        if self.told {
            tell(Event { band, frame, velocity: None });
        }
        *self = Self::NONE;
    }
}

/// The MIDI velocity of a note of this power.
fn velocity(level: f32) -> u8 {
    let [low, high] = VELOCITY_DB;
    let db = 10.0 * level.max(f32::MIN_POSITIVE).log10();
    (1.0 + 126.0 * ((db - low) / (high - low)).clamp(0.0, 1.0)).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of band 5, by its levels in the frames from 1 on; where they are negative, it is off.
    fn events(mut notes: Notes, levels: &[f32]) -> Vec<(u64, Option<u8>)> {
        let mut events = Vec::new();
        let mut decisions = Decisions::NONE;
        for (frame, level) in levels.iter().enumerate() {
            decisions.frames = frame as u64 + 1;
            (decisions.on[5], decisions.level[5]) = (*level > 0.0, level.abs());
            notes.push(&decisions, |event| events.push(event));
        }
        notes.finish(|event| events.push(event));
        assert!(events.iter().all(|event| event.band == 5));
        events.iter().map(|event| (event.frame, event.velocity)).collect()
    }

    #[test]
    fn a_note_begins_and_ends_with_its_decisions() {
        let levels = [-0.5, 0.5, 0.5, -0.5, -0.5];
        assert_eq!(events(Notes::at_once(), &levels), [(2, Some(127)), (4, None)]);
        assert_eq!(events(Notes::at_once(), &levels[..3]), [(2, Some(127)), (4, None)]);
    }

    #[test]
    fn a_short_note_is_not_believed_and_a_short_gap_is_passed_over() {
        assert_eq!(events(Notes::checked(), &[0.1; 7]), []);
        assert_eq!(events(Notes::checked(), &[0.1; 8]).len(), 2);
        let gap = |off: usize| [&[0.1; 8][..], &[-0.1; 3][..off], &[0.1; 8]].concat();
        let told = |levels: &[f32]| -> Vec<u64> {
            events(Notes::checked(), levels).iter().map(|(frame, _)| *frame).collect()
        };
        assert_eq!(told(&gap(2)), [1, 19]);
        assert_eq!(told(&gap(3)), [1, 9, 12, 20]);
    }

    #[test]
    fn a_jump_of_the_level_is_a_new_note() {
        let jump = |by: f32| [[0.01; 20], [0.01 * by; 20]].concat();
        let starts = |levels: &[f32]| -> Vec<u64> {
            let events = events(Notes::checked(), levels);
            events.iter().filter(|(_, on)| on.is_some()).map(|(frame, _)| *frame).collect()
        };
        assert_eq!(starts(&jump(2.5)), [1]);
        assert_eq!(starts(&jump(3.5)), [1, 21]);
        assert_eq!(starts(&jump(3.5)[12..]), [1], "too near to the first");
    }

    #[test]
    fn velocities_span_57_db() {
        let velocity_of = |db: f32| velocity(10f32.powf(db / 10.0));
        assert_eq!([-200.0, -60.0, -31.5, -3.01, 0.0].map(velocity_of), [1, 1, 64, 127, 127]);
    }
}
