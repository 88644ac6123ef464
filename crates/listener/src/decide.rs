//! Decisions from log odds.

use crate::{
    BLOCK, NOTES,
    detectors::FIRST_NOTE,
    weights::{COLUMNS, Thresholds},
};

/// Lookahead of a decision in frames.
pub const LOOKAHEAD: usize = 4;

/// Decisions of one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// Whether each note is played, from MIDI note 28 on.
    pub on: [bool; NOTES],
    /// Whether each note begins, also anew while it is held; true for some frames after the beginning.
    pub begun: [bool; NOTES],
    /// Log odds that each note is played, before threshold and hysteresis.
    pub logit: [f32; NOTES],
    /// Power of the input at each note's frequency, averaged over the channels, at the time that the decision refers to; 0.5 for
    /// a full-scale sine.
    pub level: [f32; NOTES],
    /// Stereo position of each note at that time, from left, 1, to right, -1: the difference of the channels' amplitudes at its
    /// frequency over their sum. 0 for a single channel.
    pub place: [f32; NOTES],
    /// Maximum power at each note's frequency from that time to the last frame; with lookahead, of a note that is just beginning.
    pub peak: [f32; NOTES],
    /// Number of frames decided since the reset. The decision refers to the time `frames * frame - lookahead` in samples of the
    /// input.
    pub frames: u64,
    /// Samples from the end of the last decided frame to the end of the block with which the decision was returned; at most
    /// [`Listener::delay`](crate::Listener::delay).
    pub age: u64,
}

impl Decisions {
    /// Decisions before the first frame: no note is played.
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

/// Decider, with the levels and stereo positions of the last frames.
#[derive(Debug, Clone)]
pub struct Decider {
    /// Power of each note at the end of the last frames, newest first.
    levels: [[f32; NOTES]; LOOKAHEAD + 1],
    /// Stereo position of each note at these times.
    places: [[f32; NOTES]; LOOKAHEAD + 1],
    pub decisions: Decisions,
}

impl Decider {
    pub const NEW: Self = Self {
        levels: [[0.0; NOTES]; LOOKAHEAD + 1],
        places: [[0.0; NOTES]; LOOKAHEAD + 1],
        decisions: Decisions::NONE,
    };

    /// Stores the power and the stereo position of each note at the end of a frame, before its decisions.
    pub fn push_levels(&mut self, [levels, places]: [[f32; NOTES]; 2]) {
        self.levels.rotate_right(1);
        self.places.rotate_right(1);
        (self.levels[0], self.places[0]) = (levels, places);
    }

    /// Decides on a frame by its log odds. `sensitivity` lowers the threshold of held notes. Notes whose detector is not `on` are
    /// off. `frame` is the length of a frame in samples, `blocks` the number of blocks so far.
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
