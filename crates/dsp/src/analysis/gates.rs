//! Gates: with lookahead, notes start and end exactly with the delayed sound.
//!
//! The listener decides twice about a frame. The early decision comes 46 ms before the sure one, and is less reliable. The sure
//! decision comes after the edge has left the delay. At a clear edge, the early decision opens or closes the gate in
//! time. The sure decision confirms or reverts it some frames later.

use crate::{
    lanes::BLOCK,
    notes::{TONES, to_listener},
    settings::BandMask,
};
use tone_filter_listener::Decisions;

/// Seconds by which a gate turns before the edge of its note leaves the delay: first for closing, then for opening. The weight of
/// the band then moves within 5 ms.
const BEFORE: [f64; 2] = [0.003, 0.005_5];
/// Number of decisions after an early one until the sure decisions control the gate again.
const UNSURE: u32 = 5;

/// Scheduled opening or closing of a gate.
#[derive(Debug, Clone, Copy)]
struct Turn {
    /// Blocks until the gate turns.
    blocks_left: u32,
    opens: bool,
}

#[derive(Debug, Clone, Copy)]
struct Gate {
    opened: bool,
    turn: Option<Turn>,
    /// Whether the latest decisions still allow a scheduled opening.
    may_open: bool,
    /// Number of decisions until the sure ones control the gate again.
    unsure: u32,
}

impl Gate {
    const fn resting(opened: bool) -> Self {
        Self { opened, turn: None, may_open: opened, unsure: 0 }
    }

    /// Whether the gate is open after its scheduled turn.
    fn opens(&self) -> bool {
        self.turn.map_or(self.opened, |turn| turn.opens)
    }

    fn turn(&mut self, opens: bool, blocks_left: u32) {
        self.turn = Some(Turn { blocks_left, opens });
    }
}

#[derive(Debug, Clone)]
pub(super) struct Gates {
    /// Samples from the arrival of an edge until its gate turns: first for closing, then for opening; see [`BEFORE`].
    delays: [f64; 2],
    gates: [Gate; TONES],
}

impl Gates {
    pub fn new(sample_rate: f64, latency: usize) -> Self {
        Self {
            delays: BEFORE.map(|seconds| latency as f64 - seconds * sample_rate),
            gates: [Gate::resting(false); TONES],
        }
    }

    /// Opens the gates of the notes `played` and closes all others at once.
    pub fn set(&mut self, played: BandMask) {
        for (tone, gate) in self.gates.iter_mut().enumerate() {
            *gate = Gate::resting(played.contains(tone));
        }
    }

    /// Schedules turns after new decisions.
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
                    let samples_left = self.delays[usize::from(!opens)] - f64::from(samples);
                    gate.turn(!opens, (samples_left / BLOCK as f64) as u32);
                    gate.unsure = UNSURE;
                }
                // No decision supports the early opening.
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
                Some(Turn { blocks_left: 0, opens }) if !*opens || gate.may_open => {
                    (gate.opened, gate.turn) = (*opens, None);
                }
                Some(turn) => turn.blocks_left = turn.blocks_left.saturating_sub(1),
                None => {}
            }
            open = open.with(tone, gate.opened);
        }
        open
    }
}
