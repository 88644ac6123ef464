//! Gates: with lookahead, notes open and close on the edges of the sound that leaves the delay.
//!
//! A decision with lookahead is sure, but comes only after the edge has left the delay. The decision without lookahead is 46 ms
//! earlier, and less sure. So where the sound has a clear edge, the early one turns the gate on time; the sure one confirms it
//! some frames later, or turns it back.

use crate::{
    lanes::BLOCK,
    notes::{TONES, to_listener},
    settings::BandMask,
};
use tone_filter_listener::Decisions;

/// Seconds before an edge at which a gate begins to close and to open; a weight moves in 5 ms.
const BEFORE: [f64; 2] = [0.003, 0.005_5];

/// Number of decisions from an early one to the sure one about its frame.
const UNSURE: u32 = 5;

/// Planned turn of a gate.
#[derive(Debug, Clone, Copy)]
struct Turn {
    /// Blocks until the gate turns.
    left: u32,
    opens: bool,
}

/// State of one gate.
#[derive(Debug, Clone, Copy)]
struct Gate {
    opened: bool,
    turn: Option<Turn>,
    /// Whether a planned opening may happen by the last decisions.
    may_open: bool,
    /// Decisions during which the early one counts.
    unsure: u32,
}

impl Gate {
    /// Creates a gate that rests.
    const fn resting(opened: bool) -> Self {
        Self { opened, turn: None, may_open: opened, unsure: 0 }
    }

    /// Whether the gate is open, or is going to be.
    fn opens(&self) -> bool {
        self.turn.map_or(self.opened, |turn| turn.opens)
    }

    /// Turns the gate in `left` blocks.
    fn turn(&mut self, opens: bool, left: u32) {
        self.turn = Some(Turn { left, opens });
    }
}

/// Gates of all notes.
#[derive(Debug, Clone)]
pub(super) struct Gates {
    /// Samples from a decision to the sound that leaves the delay, less [`BEFORE`].
    delays: [f64; 2],
    gates: [Gate; TONES],
}

impl Gates {
    /// Creates closed gates for sound that is delayed by `latency` samples at `sample_rate` Hz.
    pub fn new(sample_rate: f64, latency: usize) -> Self {
        Self {
            delays: BEFORE.map(|seconds| latency as f64 - seconds * sample_rate),
            gates: [Gate::resting(false); TONES],
        }
    }

    /// Sets the gates of the notes `played` open, and all others closed.
    pub fn set(&mut self, played: BandMask) {
        for (tone, gate) in self.gates.iter_mut().enumerate() {
            *gate = Gate::resting(played.contains(tone));
        }
    }

    /// Plans turns by new decisions with lookahead.
    pub fn decide(&mut self, decisions: &Decisions) {
        for (tone, gate) in self.gates.iter_mut().enumerate() {
            let note = to_listener(tone);
            let (sure, early, likely) =
                (decisions.on[note], decisions.early[note], decisions.likely[note]);
            gate.unsure = gate.unsure.saturating_sub(1);
            gate.may_open = sure || likely;
            let opens = gate.opens();
            let turns = if opens { !early } else { likely };
            match decisions.edge[note].filter(|_| turns) {
                Some(samples) => {
                    let left = self.delays[usize::from(!opens)] - f64::from(samples);
                    gate.turn(!opens, (left / BLOCK as f64) as u32);
                    gate.unsure = UNSURE;
                }
                // Neither decision holds an early beginning.
                None if gate.unsure > 0 && opens && !(sure || early || likely) => {
                    gate.turn(false, 0);
                }
                None if gate.unsure == 0 && opens != sure => gate.turn(sure, 0),
                None => {}
            }
        }
    }

    /// Advances by a block. Returns the notes whose gates are open.
    pub fn step(&mut self) -> BandMask {
        let mut open = BandMask::NONE;
        for (tone, gate) in self.gates.iter_mut().enumerate() {
            match &mut gate.turn {
                Some(Turn { left: 0, opens }) if !*opens || gate.may_open => {
                    (gate.opened, gate.turn) = (*opens, None);
                }
                Some(turn) => turn.left = turn.left.saturating_sub(1),
                None => {}
            }
            open = open.with(tone, gate.opened);
        }
        open
    }
}
