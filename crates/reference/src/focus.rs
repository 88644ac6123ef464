//! Focus: weights and places of the notes, from decisions that are given.

use crate::{BLOCK, TONES, approach, bank::Tones, smoothing::Moment, step};

/// Seconds in which a weight follows a decision.
const TIME: f64 = 0.005;
/// Seconds for which a held note that begins anew counts as not played.
const GAP: f64 = 0.02;
/// Time constant in seconds of a note's place.
const PLACE: f64 = 0.03;
/// Decisions that are left out after the listener is switched on or its network changes.
const WARM_UP: usize = 9;

/// The listener's decisions for a frame, for each note.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Whether it is played.
    pub played: [bool; TONES],
    /// Whether it begins.
    pub begun: [bool; TONES],
    /// Power of the input at its frequency, 0.5 for a sine at full scale.
    pub level: [f64; TONES],
    /// Place between left, 1, and right, -1.
    pub place: [f64; TONES],
}

/// The weights and places that follow.
#[derive(Debug, Clone)]
pub(crate) struct Focus {
    sample_rate: f64,
    listening: bool,
    light: bool,
    /// Decisions still to be left out.
    warming_up: usize,
    played: [bool; TONES],
    begun: [bool; TONES],
    /// Blocks until each note counts as played again.
    gaps: [f64; TONES],
    /// Powers of the last decision; `None` while there is none since the listener started.
    levels: Option<Tones>,
    /// Places by the last decision, and as they are followed.
    aims: Tones,
    pub places: Tones,
    pub weights: Tones,
}

impl Focus {
    /// At rest, where the listener runs from the start if it is needed.
    pub fn new(now: &Moment, follow: bool, sample_rate: f64) -> Self {
        let residue = residue(now.sound.focus);
        Self {
            sample_rate,
            listening: now.sound.focus > 0.0 || follow,
            light: now.sound.light,
            warming_up: 0,
            played: [false; TONES],
            begun: [false; TONES],
            gaps: [0.0; TONES],
            levels: Some([0.0; TONES]),
            aims: [0.0; TONES],
            places: [0.0; TONES],
            weights: [residue; TONES],
        }
    }

    /// Begins a block. The listener runs at a focus above 0, or where key or tuning `follow` the music.
    pub fn begin_block(&mut self, now: &Moment, follow: bool) {
        let listening = now.sound.focus > 0.0 || follow;
        if listening && !self.listening {
            // Until it has settled, all notes count as played.
            (self.warming_up, self.played, self.levels) = (WARM_UP, [true; TONES], None);
        } else if now.sound.light != self.light {
            self.warming_up = WARM_UP;
        }
        (self.listening, self.light) = (listening, now.sound.light);

        let most = BLOCK as f64 / (TIME * self.sample_rate);
        let residue = residue(now.sound.focus);
        for tone in 0..TONES {
            let sounds = self.played[tone] && self.gaps[tone] == 0.0;
            let target = if sounds { 1.0 } else { residue };
            approach(&mut self.weights[tone], target, most.min(1.0));
            self.gaps[tone] = (self.gaps[tone] - 1.0).max(0.0);
        }
    }

    /// Whether notes have places.
    pub fn is_listening(&self) -> bool {
        self.listening
    }

    /// Moves the places on by a block. A silent note is at its place at once.
    pub fn move_places(&mut self) {
        let slow = step(PLACE, self.sample_rate / BLOCK as f64);
        for tone in 0..TONES {
            let step = if self.weights[tone] == 0.0 { 1.0 } else { slow };
            self.places[tone] += step * (self.aims[tone] - self.places[tone]);
        }
    }

    /// Powers that the voices follow in place of the bands' powers.
    pub fn levels(&self, now: &Moment) -> Option<Tones> {
        self.levels.filter(|_| self.listening && now.sound.focus > 0.0)
    }

    /// Takes the decision that was made at the end of a block.
    pub fn decide(&mut self, decision: &Decision) {
        if !self.listening {
            return;
        }
        if self.warming_up > 0 {
            self.warming_up -= 1;
            return;
        }
        let gap = (GAP * self.sample_rate / BLOCK as f64).round().max(1.0);
        for tone in 0..TONES {
            if decision.begun[tone] && !self.begun[tone] && self.played[tone] {
                self.gaps[tone] = gap;
            }
        }
        (self.played, self.begun) = (decision.played, decision.begun);
        (self.levels, self.aims) = (Some(decision.level), decision.place);
    }
}

/// Weight of a note that is not played.
fn residue(focus: f64) -> f64 {
    (1.0 - focus / 100.0).powi(4)
}
