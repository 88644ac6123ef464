//! Focus: weights and stereo positions of the notes, from given decisions. With lookahead, gates make notes start and end exactly
//! with the delayed sound.

use crate::{BLOCK, TONES, approach, bank::Tones, output::delay, smoothing::Smoothed, step};

/// Time in seconds in which a weight follows a decision.
const TIME: f64 = 0.005;
/// Time in seconds for which a restarting note counts as not played.
const GAP: f64 = 0.02;
/// Time constant of a note's stereo position in seconds.
const PLACE: f64 = 0.03;
/// Number of decisions that are ignored after the listener is switched on or its network changes.
const WARM_UP: usize = 9;

/// Listener's decisions on a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Whether each note is played.
    pub played: [bool; TONES],
    /// Whether each note has just begun.
    pub begun: [bool; TONES],
    /// Power of the input at each note's frequency; 0.5 for a full-scale sine.
    pub level: [f64; TONES],
    /// Stereo position of each note from left, 1, to right, -1.
    pub place: [f64; TONES],
    /// Early decisions, with lookahead.
    pub early: Option<Early>,
}

/// Listener's decisions without lookahead on a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Early {
    /// Whether each note is played.
    pub played: [bool; TONES],
    /// Whether each note is likely to be played.
    pub likely: [bool; TONES],
    /// Samples since the edge of the sound at which a note became likely or ended; `None` without a clear edge.
    pub edge: [Option<f64>; TONES],
}

pub(crate) struct Focus {
    sample_rate: f64,
    /// Whether the listener runs, so that notes have stereo positions.
    pub listening: bool,
    light: bool,
    /// Number of decisions still to be ignored.
    warming_up: usize,
    /// Played notes of the last decision.
    played: [bool; TONES],
    begun: [bool; TONES],
    gates: Gates,
    /// Notes whose gates are open.
    sounding: [bool; TONES],
    /// Number of blocks until each note counts as played again.
    gaps: [f64; TONES],
    /// Powers of the last decision, at first 0. `None` from when the listener is switched on until it has settled.
    levels: Option<Tones>,
    /// Stereo positions of the last decision.
    aims: Tones,
    /// Stereo positions as they follow the decisions.
    pub pans: Tones,
    pub weights: Tones,
}

impl Focus {
    /// Creates the state at rest. The listener runs from the start if `now` needs it, or if key, tuning or tempo `follow` the music.
    pub fn new(now: &Smoothed, follow: bool, sample_rate: f64) -> Self {
        let residue = residue(now.sound.focus);
        Self {
            sample_rate,
            listening: now.sound.focus > 0.0 || follow,
            light: now.sound.light,
            warming_up: 0,
            played: [false; TONES],
            begun: [false; TONES],
            gates: Gates::new(sample_rate),
            sounding: [false; TONES],
            gaps: [0.0; TONES],
            levels: Some([0.0; TONES]),
            aims: [0.0; TONES],
            pans: [0.0; TONES],
            weights: [residue; TONES],
        }
    }

    /// Begins a block. The listener runs at a focus above 0 in `now` or in `undelayed`, or if key, tuning or tempo
    /// `follow` the music.
    pub fn begin_block(&mut self, now: &Smoothed, undelayed: &Smoothed, follow: bool) {
        let listening = now.sound.focus.max(undelayed.sound.focus) > 0.0 || follow;
        if listening && !self.listening {
            // Until the listener has settled, all notes count as played.
            (self.warming_up, self.played, self.levels) = (WARM_UP, [true; TONES], None);
            self.set_sounding();
        } else if undelayed.sound.light != self.light {
            self.warming_up = WARM_UP;
        }
        (self.listening, self.light) = (listening, undelayed.sound.light);

        if listening && !now.sound.freeze {
            self.sounding = self.gates.begin_block();
        }
        let block_step = BLOCK as f64 / (TIME * self.sample_rate);
        let residue = residue(now.sound.focus);
        for tone in 0..TONES {
            let sounds = self.sounding[tone] && self.gaps[tone] == 0.0;
            let target = if sounds { 1.0 } else { residue };
            approach(&mut self.weights[tone], target, block_step.min(1.0));
            self.gaps[tone] = (self.gaps[tone] - 1.0).max(0.0);
        }
    }

    /// Sets the sounding notes to the played ones, without delay.
    fn set_sounding(&mut self) {
        self.gates.set(&self.played);
        self.sounding = self.played;
    }

    /// Moves the stereo positions by a block. A silent note takes its new position at once.
    pub fn move_pans(&mut self) {
        let slow = step(PLACE, self.sample_rate / BLOCK as f64);
        for tone in 0..TONES {
            let step = if self.weights[tone] == 0.0 { 1.0 } else { slow };
            self.pans[tone] += step * (self.aims[tone] - self.pans[tone]);
        }
    }

    /// Returns the listener's powers, which the voices follow; `None` if they follow the bands' powers.
    pub fn levels(&self, now: &Smoothed) -> Option<Tones> {
        self.levels.filter(|_| self.listening && now.sound.focus > 0.0)
    }

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
        match &decision.early {
            Some(early) => self.gates.decide(&decision.played, early),
            None => self.set_sounding(),
        }
        (self.levels, self.aims) = (Some(decision.level), decision.place);
    }
}

/// Returns the weight of a note that is not played.
fn residue(focus: f64) -> f64 {
    (1.0 - focus / 100.0).powi(4)
}

#[derive(Debug, Clone, Copy)]
struct Gate {
    opened: bool,
    /// Next change: blocks until then, and whether it opens the gate.
    change: Option<(f64, bool)>,
    /// Whether the last decisions allow the gate to open.
    may_open: bool,
    /// Number of decisions for which an early decision still takes precedence over the one with lookahead.
    unsure: u32,
}

struct Gates {
    sample_rate: f64,
    gates: [Gate; TONES],
}

impl Gates {
    fn new(sample_rate: f64) -> Self {
        Self { sample_rate, gates: [Gate::resting(false); TONES] }
    }

    /// Opens the gates of the notes `played`, and closes all others.
    fn set(&mut self, played: &[bool; TONES]) {
        self.gates = played.map(Gate::resting);
    }

    /// Schedules changes, from the decisions with lookahead (`sure`) and without it (`early`).
    fn decide(&mut self, sure: &[bool; TONES], early: &Early) {
        for (tone, gate) in self.gates.iter_mut().enumerate() {
            let held = sure[tone] || early.played[tone] || early.likely[tone];
            gate.unsure = gate.unsure.max(1) - 1;
            gate.may_open = sure[tone] || early.likely[tone];
            let opens = gate.change.map_or(gate.opened, |(_, opens)| opens);
            let changes = if opens { !early.played[tone] } else { early.likely[tone] };
            if let (Some(edge), true) = (early.edge[tone], changes) {
                // A weight moves in 5 ms.
                let before = if opens { 0.003 } else { 0.0055 };
                let samples_left =
                    delay(self.sample_rate) as f64 - before * self.sample_rate - edge;
                gate.change = Some(((samples_left.max(0.0) / BLOCK as f64).floor(), !opens));
                gate.unsure = 5;
            } else if gate.unsure > 0 && opens && !held {
                gate.change = Some((0.0, false));
            } else if gate.unsure == 0 && sure[tone] != opens {
                gate.change = Some((0.0, sure[tone]));
            }
        }
    }

    /// Begins a block. Returns the notes whose gates are open.
    fn begin_block(&mut self) -> [bool; TONES] {
        for gate in &mut self.gates {
            match gate.change {
                Some((wait, opens)) if wait > 0.0 => gate.change = Some((wait - 1.0, opens)),
                Some((_, opens)) if !opens || gate.may_open => {
                    (gate.opened, gate.change) = (opens, None);
                }
                _ => {}
            }
        }
        self.gates.map(|gate| gate.opened)
    }
}

impl Gate {
    fn resting(opened: bool) -> Self {
        Self { opened, change: None, may_open: opened, unsure: 0 }
    }
}
