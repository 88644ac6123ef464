//! From log odds to decisions.

use crate::{
    BLOCK, NOTES,
    detectors::FIRST_NOTE,
    weights::{COLUMNS, Thresholds},
};

/// Frames that a decision with lookahead looks ahead.
pub const LOOKAHEAD: usize = 4;

/// The decisions for one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// Whether each note, from MIDI note 28 on, is played.
    pub on: [bool; NOTES],
    /// Whether it begins about now, or began again while it was held: true in some frames after the beginning.
    pub begun: [bool; NOTES],
    /// Log odds that it is played, before threshold and hysteresis.
    pub logit: [f32; NOTES],
    /// Power of the input at the note's frequency, mean of the channels, at the time that the decision refers to: 0.5 for
    /// a full-scale sine.
    pub level: [f32; NOTES],
    /// Where the note lies at that time between left, 1, and right, -1: the difference of the amplitudes at its frequency over their
    /// sum. 0 for a single channel.
    pub place: [f32; NOTES],
    /// The greatest power there from that time to the last frame: with lookahead, that of a note that is just setting in.
    pub peak: [f32; NOTES],
    /// Frames decided since the reset. The decision refers to the time `frames * frame - lookahead` in samples of the
    /// input.
    pub frames: u64,
    /// Samples from the end of the last of these frames to the end of the block with which the decision was returned;
    /// at most [`Listener::delay`](crate::Listener::delay).
    pub age: u64,
}

impl Decisions {
    /// Nothing is played.
    pub const NONE: Self = Self {
        on: [false; NOTES],
        begun: [false; NOTES],
        logit: [0.0; NOTES],
        level: [0.0; NOTES],
        place: [0.0; NOTES],
        peak: [0.0; NOTES],
        frames: 0,
        age: 0,
    };
}

/// Decides, and remembers the levels and places of the last frames.
#[derive(Debug, Clone)]
pub struct Decider {
    /// Power at each note at the end of the last frames, newest first.
    levels: [[f32; NOTES]; LOOKAHEAD + 1],
    /// Their places.
    places: [[f32; NOTES]; LOOKAHEAD + 1],
    pub decisions: Decisions,
}

impl Decider {
    /// Nothing has been decided.
    pub const NEW: Self = Self {
        levels: [[0.0; NOTES]; LOOKAHEAD + 1],
        places: [[0.0; NOTES]; LOOKAHEAD + 1],
        decisions: Decisions::NONE,
    };

    /// The power and the place of each note at the end of a frame, whose decisions follow.
    pub fn push_levels(&mut self, [levels, places]: [[f32; NOTES]; 2]) {
        self.levels.rotate_right(1);
        self.places.rotate_right(1);
        (self.levels[0], self.places[0]) = (levels, places);
    }

    /// Decides about a frame of `frame` samples by the log odds. The threshold is lowered by `sensitivity`; detectors that
    /// are not `on` have no notes; `blocks` were pushed.
    pub fn decide(
        &mut self,
        logits: &[[f32; COLUMNS]; NOTES],
        looks_ahead: bool,
        thresholds: &[Thresholds; 2],
        sensitivity: f32,
        on: &[bool],
        (frame, blocks): (usize, u64),
    ) {
        let column = usize::from(looks_ahead);
        let Thresholds { on: threshold, hysteresis, begun } = thresholds[column];
        let lookahead = if looks_ahead { LOOKAHEAD } else { 0 };
        let decisions = &mut self.decisions;
        for (note, logits) in logits.iter().enumerate() {
            let (held, beginning) = (logits[column], logits[2 + column]);
            let threshold = threshold - sensitivity;
            let least = if decisions.on[note] { threshold - hysteresis } else { threshold };
            decisions.on[note] = on[FIRST_NOTE + note] && held > least;
            decisions.begun[note] = on[FIRST_NOTE + note] && beginning > begun;
            decisions.logit[note] = held;
            decisions.level[note] = self.levels[lookahead][note];
            decisions.place[note] = self.places[lookahead][note];
            decisions.peak[note] =
                self.levels[..=lookahead].iter().fold(0.0, |peak, level| peak.max(level[note]));
        }
        decisions.frames += 1;
        decisions.age = blocks * BLOCK as u64 - decisions.frames * frame as u64;
    }
}
