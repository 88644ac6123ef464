//! Converts decisions, frame by frame, to notes with a start and an end.
//!
//! A held note is one note until the network decides that it begins again.
//!
//! In files, a note is reported once it has a minimum length; the report has the frame of its start. Live, a note is reported in
//! the first frame in which it begins or is clear. It ends after several frames off, so that flickering decisions do not start it
//! again.

use crate::{
    Decisions, NOTES,
    one_voice::{OneVoice, Phrase},
};

/// Minimum number of frames between two starts of a held note: 105 ms.
const AGAIN: u64 = 9;
/// Minimum length of a note in a file, in frames: 70 ms, rounded up.
const SHORTEST: u64 = 7;
/// Maximum gap within a live note, in frames: 35 ms.
const HOLD: u64 = 3;
/// Maximum number of frames from a detected beginning to the start of its note. A note without a beginning is in doubt: see
/// [`OneVoice::doubt`].
const LATE: u64 = 3;
/// Powers in dB that give the velocities 1 and 127. A full-scale sine has -3 dB.
const VELOCITY_DB: [f32; 2] = [-60.0, -3.0];

/// Start or end of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Index of the note, 0..80: its MIDI note less [`LOWEST_NOTE`](crate::LOWEST_NOTE), without transposition.
    pub note: usize,
    /// Value of [`Decisions::frames`] at the start or end.
    pub frame: u64,
    /// Velocity 1..=127 at the start; `None` at the end.
    pub velocity: Option<u8>,
}

/// Converter from decisions to notes.
#[derive(Debug, Clone)]
pub struct Notes {
    /// Minimum length of a note in frames.
    shortest: u64,
    /// Whether shorter notes are reported at their end; otherwise, they are left out.
    keeps_short: bool,
    /// Maximum gap within a note in frames.
    hold: u64,
    /// Whether a note must begin or be clear to start; otherwise, every note that is on starts.
    only_clear: bool,
    tracks: [Track; NOTES],
    frame: u64,
    /// Number of notes that were too short to be reported.
    left_out: u64,
    /// Gain of the powers from which velocities are computed.
    gain: f32,
    /// Decoder of a single voice; only in files.
    voice: Option<Box<OneVoice>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Track {
    /// Frame of the start; `None` while the note is off.
    start: Option<u64>,
    reported: bool,
    /// Whether the decision `begun` has been false in a frame since the start; only then can the note begin again.
    armed: bool,
    /// Maximum of [`Decisions::peak`] since the start.
    peak: f32,
    /// Last frame in which the note was on.
    last: u64,
    /// Last frame in which the decision `begun` was true; 0 before the first.
    begun: u64,
}

impl Track {
    const NONE: Self =
        Self { start: None, reported: false, armed: false, peak: 0.0, last: 0, begun: 0 };
}

impl Notes {
    /// Creates a converter for live use. A note starts in the first frame in which it begins or is [clear](Decisions::clear), and
    /// ends in the fourth frame off. Starts and ends have the frame in which they are reported.
    pub const fn live() -> Self {
        let mut notes = Self::every();
        notes.only_clear = true;
        notes
    }

    /// Creates a converter like [`Notes::live`], but every note that is on starts.
    pub(crate) const fn every() -> Self {
        let tracks = [Track::NONE; NOTES];
        Self {
            shortest: 1,
            keeps_short: false,
            hold: HOLD,
            only_clear: false,
            tracks,
            frame: 0,
            left_out: 0,
            gain: 1.0,
            voice: None,
        }
    }

    /// Creates a converter for files. It reports only notes of at least 70 ms (7 frames), with the frames of their starts and ends.
    /// Where a single voice sings, [`Notes::phrases`] returns better notes.
    pub fn checked() -> Self {
        let voice = Some(Box::new(OneVoice::NEW));
        Self { shortest: SHORTEST, hold: 0, voice, ..Self::every() }
    }

    /// Creates a converter like [`Notes::checked`], but it also reports shorter notes, at their end: all that the filter plays.
    pub fn unchecked() -> Self {
        Self { keeps_short: true, ..Self::checked() }
    }

    /// Sets the gain of the powers from which velocities are computed; initially 1.
    pub const fn set_gain(&mut self, gain: f32) {
        self.gain = gain;
    }

    /// Passes starts and ends of notes to `report`. Ignores decisions of the same frame as the last ones. A lower frame number
    /// means that the listener was reset, and ends all notes. A note counts as off if `sounding` returns false for its index.
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
            self.voice.iter_mut().for_each(|voice| **voice = OneVoice::NEW);
        }
        if let Some(voice) = &mut self.voice {
            voice.push(decisions, &sounding, self.gain);
        }
        let short = self.keeps_short.then_some(self.gain);
        for (note, track) in self.tracks.iter_mut().enumerate() {
            let begun = decisions.begun[note];
            if begun {
                track.begun = frame;
            }
            let may_start = !self.only_clear || begun || decisions.clear[note];
            let is_on = decisions.on[note] && (track.start.is_some() || may_start);
            if is_on && sounding(note) {
                let again = |start| begun && track.armed && frame - start >= AGAIN;
                if track.start.is_none_or(again) {
                    self.left_out += u64::from(track.end(note, frame, short, &mut report));
                    track.start = Some(frame);
                } else {
                    track.armed |= !begun;
                }
                track.last = frame;
                track.peak = track.peak.max(decisions.peak[note]);
                if let Some(start) = track.start
                    && !track.reported
                    && frame + 1 - start >= self.shortest
                {
                    if track.begun + LATE < start {
                        self.voice.iter_mut().for_each(|voice| voice.doubt());
                    }
                    track.report_start(note, self.gain, &mut report);
                }
            } else if track.start.is_some() {
                track.armed |= !begun;
                if frame - track.last > self.hold {
                    self.left_out += u64::from(track.end(note, frame, short, &mut report));
                }
            }
        }
        self.frame = frame;
    }

    /// Ends all notes after the last frame. [`Notes::left_out`] goes on counting, and [`Notes::phrases`] still has all phrases.
    pub fn finish(&mut self, mut report: impl FnMut(Event)) {
        let short = self.keeps_short.then_some(self.gain);
        for (note, track) in self.tracks.iter_mut().enumerate() {
            self.left_out += u64::from(track.end(note, self.frame + 1, short, &mut report));
        }
        self.frame = 0;
    }

    /// Forgets the frames before `frame`: they are no longer in [`Notes::phrases`].
    pub fn forget(&mut self, frame: u64) {
        self.voice.iter_mut().for_each(|voice| voice.forget(frame));
    }

    /// Returns the phrases of a file in which a single voice sings; their notes replace the reported ones. Empty for converters
    /// that are not for files, and from the second call on.
    pub fn phrases(&mut self) -> Vec<Phrase> {
        self.voice.take().map_or_else(Vec::new, |voice| voice.phrases())
    }

    /// Returns the number of notes so far that were too short to be reported.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl Track {
    /// Reports the start of the note if there is one that was not reported. `gain` is the factor on its power for the velocity.
    fn report_start(&mut self, note: usize, gain: f32, report: &mut impl FnMut(Event)) {
        if let (Some(frame), false) = (self.start, self.reported) {
            self.reported = true;
            report(Event { note, frame, velocity: Some(velocity(gain * self.peak)) });
        }
    }

    /// Ends the note if there is one. If it was too short to be reported, `short` has the gain of its power to report it now, or
    /// else this returns true.
    fn end(
        &mut self,
        note: usize,
        frame: u64,
        short: Option<f32>,
        report: &mut impl FnMut(Event),
    ) -> bool {
        if let Some(gain) = short {
            self.report_start(note, gain, report);
        }
        if self.reported {
            report(Event { note, frame, velocity: None });
        }
        let is_short = self.start.is_some() && !self.reported;
        *self = Self { begun: self.begun, ..Self::NONE };
        is_short
    }
}

/// Returns the MIDI velocity of a note with the power `level`.
pub fn velocity(level: f32) -> u8 {
    let [low, high] = VELOCITY_DB;
    let db = 10.0 * libm::log10f(level.max(f32::MIN_POSITIVE));
    (1.0 + 126.0 * ((db - low) / (high - low)).clamp(0.0, 1.0)).round() as u8
}

/// Returns the power at a note's frequency, as in [`Decisions::peak`], that gives `velocity` (1..=127).
pub fn level_of(velocity: u8) -> f32 {
    let [low, high] = VELOCITY_DB;
    let share = (f32::from(velocity) - 1.0) / 126.0;
    libm::exp10(f64::from(low + share * (high - low)) / 10.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the events of note 5 for a text with a letter per frame, from frame 1 on: `.` off, `?` held but not clear, `-` held and
    /// clear, `b` held and begun, but not clear.
    fn events(mut notes: Notes, frames: &str) -> Vec<(u64, Option<u8>)> {
        let mut events = Vec::new();
        let mut decisions = Decisions::NONE;
        for (frame, letter) in frames.chars().enumerate() {
            decisions.frames = frame as u64 + 1;
            (decisions.on[5], decisions.begun[5]) = (letter != '.', letter == 'b');
            decisions.clear[5] = letter == '-';
            decisions.peak[5] = 0.5;
            notes.push(&decisions, |_| true, |event| events.push(event));
        }
        notes.finish(|event| events.push(event));
        assert!(events.iter().all(|event| event.note == 5));
        events.iter().map(|event| (event.frame, event.velocity)).collect()
    }

    #[test]
    fn levels_of_velocities_give_these_velocities() {
        for wanted in 1..=127 {
            assert_eq!(velocity(level_of(wanted)), wanted);
        }
    }

    fn starts(notes: Notes, frames: &str) -> Vec<u64> {
        let events = events(notes, frames);
        events.iter().filter(|(_, on)| on.is_some()).map(|(frame, _)| *frame).collect()
    }

    #[test]
    fn a_note_begins_and_ends_with_its_decisions() {
        assert_eq!(events(Notes::live(), ".--.-...."), [(2, Some(127)), (9, None)]);
        assert_eq!(events(Notes::live(), ".--"), [(2, Some(127)), (4, None)]);
        assert_eq!(events(Notes::checked(), "--------.."), [(1, Some(127)), (9, None)]);
        assert_eq!(events(Notes::live(), "--------...."), [(1, Some(127)), (12, None)]);
    }

    #[test]
    fn notes_that_are_too_short_are_counted() {
        let mut notes = Notes::checked();
        let mut decisions = Decisions::NONE;
        for (frame, letter) in "--.-------.------.-".chars().enumerate() {
            decisions.frames = frame as u64 + 1;
            decisions.on[5] = letter == '-';
            notes.push(&decisions, |_| true, |_| ());
        }
        assert_eq!(notes.left_out(), 2);
        notes.finish(|_| ());
        assert_eq!(notes.left_out(), 3);
    }

    #[test]
    fn notes_start_by_their_decisions() {
        let [live, checked]: [fn() -> Notes; 2] = [Notes::live, Notes::checked];
        assert_eq!(events(live(), "???-??...."), [(4, Some(127)), (10, None)]);
        for (case, notes, frames, expected) in [
            ("less than 70 ms", checked, "------", &[][..]),
            ("70 ms", checked, "-------.-------", &[1, 9]),
            ("of any length", Notes::unchecked, "?.------", &[1, 3]),
            ("a short gap", live, "----...----", &[1]),
            ("a long gap", live, "----....----", &[1, 9]),
            ("in doubt", live, "?????", &[]),
            ("in doubt, then begun", live, "???b??", &[4]),
            ("clear, then in doubt, with a short gap", live, "-??...??", &[1]),
            ("in doubt after a long gap", live, "-??....??", &[1]),
            ("in doubt, all reported", Notes::every, "???????", &[1]),
            ("in doubt, in a file", checked, "???????", &[1]),
            ("two beginnings", live, "bbb--------bbbb-------", &[1, 12]),
            ("two beginnings in a file", checked, "bbb--------bbbb-------", &[1, 12]),
            ("one long beginning", live, "bbbbbbbbbbbbbbbbbbbbb", &[1]),
            ("one long beginning in a file", checked, "bbbbbbbbbbbbbbbbbbbbb", &[1]),
            ("a beginning too near to the first", live, "bb------b-------", &[1]),
            ("a beginning after 105 ms", live, "bb-------b------", &[1, 10]),
        ] {
            assert_eq!(starts(notes(), frames), expected, "{case}");
        }
    }

    #[test]
    fn velocities_span_57_db() {
        let velocity_of = |db: f32| velocity(10f32.powf(db / 10.0));
        assert_eq!([-200.0, -60.0, -31.5, -3.01, 0.0].map(velocity_of), [1, 1, 64, 127, 127]);
    }

    #[test]
    fn velocities_come_from_the_peak() {
        let mut decisions = Decisions { frames: 1, ..Decisions::NONE };
        (decisions.on[7], decisions.clear[7]) = (true, true);
        (decisions.level[7], decisions.peak[7]) = (1e-6, 1.0);
        let mut velocities = Vec::new();
        Notes::live().push(&decisions, |_| true, |event| velocities.push(event.velocity));
        assert_eq!(velocities, [Some(127)]);
    }
}
