//! Converts decisions, frame by frame, to notes with a start and an end.
//!
//! Decisions flicker, and stay on when a note is struck again while it sounds. So a note ends only after a few frames
//! off, and where its level jumps it ends and a new one starts. With a minimum length, a note is reported late, when it
//! has reached that length, but with the frame in which it started; this is for files, where latency does not matter.
//! Live, it is reported at once.

use super::{Decisions, TONES};

/// A note is struck again when its level is this many times the least of the last [`RISE`] frames: 4.8 dB.
const STRUCK: f32 = 3.0;
/// In frames: 35 ms.
const RISE: usize = 3;
/// Least number of frames between two strokes: 139 ms.
const APART: u64 = 12;
/// Frames off that do not end a note: 23 ms.
const BRIDGE: u64 = 2;
/// The levels in dB of velocities 1 and 127; a sine of full scale has -3 dB.
const VELOCITY_DB: [f32; 2] = [-60.0, -3.0];

/// The start or the end of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Its band, 0..48.
    pub band: usize,
    /// The value of [`Decisions::frames`] at the start or end.
    pub frame: u64,
    /// The velocity 1..=127 at the start; `None` at the end.
    pub velocity: Option<u8>,
}

/// The notes of all bands.
#[derive(Debug, Clone)]
pub struct Notes {
    /// Minimum length of a note in frames.
    shortest: u64,
    tracks: [Track; TONES],
    /// The levels of the last frames, as a ring buffer.
    levels: [[f32; TONES]; RISE],
    frame: u64,
}

/// The note of a band.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Track {
    /// The frame in which it started; `None` without a note.
    start: Option<u64>,
    /// Whether its start was reported.
    reported: bool,
    /// Its greatest level.
    peak: f32,
    /// The last frame in which it was on.
    last: u64,
}

impl Track {
    const NONE: Self = Self { start: None, reported: false, peak: 0.0, last: 0 };
}

impl Notes {
    /// Reports notes as soon as they start, and their end as soon as it is known, in that frame.
    pub const fn live() -> Self {
        Self::new(1)
    }

    /// Reports only notes of at least 93 ms (8 frames), with the frames in which they start and end.
    pub const fn checked() -> Self {
        Self::new(8)
    }

    const fn new(shortest: u64) -> Self {
        let levels = [[0.0; TONES]; RISE];
        Self { shortest, tracks: [Track::NONE; TONES], levels, frame: 0 }
    }

    /// Passes the start and the end of notes on the bands `sounding` to `report`, if the decisions are those for a new
    /// frame.
    pub fn push(
        &mut self,
        decisions: &Decisions,
        sounding: impl Fn(usize) -> bool,
        mut report: impl FnMut(Event),
    ) {
        let frame = decisions.frames;
        if frame == self.frame {
            return;
        }
        if frame < self.frame {
            // The listener was reset.
            self.finish(&mut report);
        }
        for (band, track) in self.tracks.iter_mut().enumerate() {
            let level = decisions.level[band];
            if decisions.on[band] && sounding(band) {
                let least = self.levels.iter().fold(level, |least, levels| least.min(levels[band]));
                let struck = |start| frame - start >= APART && level > STRUCK * least;
                if track.start.is_none_or(struck) {
                    track.end(band, frame, &mut report);
                    track.start = Some(frame);
                }
                track.last = frame;
                track.peak = track.peak.max(decisions.peak[band]);
                if let Some(start) = track.start
                    && !track.reported
                    && frame + 1 - start >= self.shortest
                {
                    track.reported = true;
                    let velocity = Some(velocity(track.peak));
                    report(Event { band, frame: start, velocity });
                }
            } else if track.start.is_some() && frame - track.last > BRIDGE {
                let end = if self.shortest == 1 { frame } else { track.last + 1 };
                track.end(band, end, &mut report);
            }
        }
        self.levels[frame as usize % RISE] = decisions.level;
        self.frame = frame;
    }

    /// Ends all notes after the last frame, and resets the state.
    pub fn finish(&mut self, mut report: impl FnMut(Event)) {
        for (band, track) in self.tracks.iter_mut().enumerate() {
            track.end(band, self.frame + 1, &mut report);
        }
        *self = Self::new(self.shortest);
    }
}

impl Track {
    /// Ends the note, if there is one.
    fn end(&mut self, band: usize, frame: u64, report: &mut impl FnMut(Event)) {
        if self.reported {
            report(Event { band, frame, velocity: None });
        }
        *self = Self::NONE;
    }
}

/// The MIDI velocity of a note of this power.
fn velocity(level: f32) -> u8 {
    let [low, high] = VELOCITY_DB;
    let db = 10.0 * libm::log10f(level.max(f32::MIN_POSITIVE));
    (1.0 + 126.0 * ((db - low) / (high - low)).clamp(0.0, 1.0)).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of band 5 for its levels in the frames from 1 on; where a level is negative, the band is off.
    fn events(mut notes: Notes, levels: &[f32]) -> Vec<(u64, Option<u8>)> {
        let mut events = Vec::new();
        let mut decisions = Decisions::NONE;
        for (frame, level) in levels.iter().enumerate() {
            decisions.frames = frame as u64 + 1;
            (decisions.on[5], decisions.level[5]) = (*level > 0.0, level.abs());
            decisions.peak = decisions.level;
            notes.push(&decisions, |_| true, |event| events.push(event));
        }
        notes.finish(|event| events.push(event));
        assert!(events.iter().all(|event| event.band == 5));
        events.iter().map(|event| (event.frame, event.velocity)).collect()
    }

    #[test]
    fn a_note_begins_and_ends_with_its_decisions() {
        let levels = [-0.5, 0.5, 0.5, -0.5, 0.5, -0.5, -0.5, -0.5];
        assert_eq!(events(Notes::live(), &levels), [(2, Some(127)), (8, None)]);
        assert_eq!(events(Notes::live(), &levels[..3]), [(2, Some(127)), (4, None)]);
        let long = [&[0.5; 8][..], &[-0.5; 4]].concat();
        assert_eq!(events(Notes::checked(), &long), [(1, Some(127)), (9, None)]);
        assert_eq!(events(Notes::live(), &long), [(1, Some(127)), (11, None)]);
    }

    #[test]
    fn a_short_note_is_not_reported_and_a_short_gap_is_bridged() {
        assert_eq!(events(Notes::checked(), &[0.1; 7]), []);
        assert_eq!(events(Notes::checked(), &[0.1; 8]).len(), 2);
        let gap = |off: usize| [&[0.1; 8][..], &[-0.1; 3][..off], &[0.1; 8]].concat();
        let frames = |levels: &[f32]| -> Vec<u64> {
            events(Notes::checked(), levels).iter().map(|(frame, _)| *frame).collect()
        };
        assert_eq!(frames(&gap(2)), [1, 19]);
        assert_eq!(frames(&gap(3)), [1, 9, 12, 20]);
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

    #[test]
    fn a_velocity_is_that_of_the_peak_that_is_known() {
        let mut decisions = Decisions { frames: 1, ..Decisions::NONE };
        (decisions.on[7], decisions.level[7], decisions.peak[7]) = (true, 1e-6, 1.0);
        let mut velocities = Vec::new();
        Notes::live().push(&decisions, |_| true, |event| velocities.push(event.velocity));
        assert_eq!(velocities, [Some(127)]);
    }
}
