//! Gates: with lookahead, notes start and end exactly with the delayed sound.

use crate::{BLOCK, TONES, focus::Early, output::delay};

#[derive(Debug, Clone, Copy)]
struct Gate {
    opened: bool,
    /// Blocks until the next turn, and whether it opens the gate; `None` without a turn.
    turn: Option<(f64, bool)>,
    /// Whether the last decisions allow the gate to open.
    may_open: bool,
    /// Decisions left until the sure one applies.
    unsure: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Gates {
    sample_rate: f64,
    gates: [Gate; TONES],
}

impl Gates {
    pub fn new(sample_rate: f64) -> Self {
        Self { sample_rate, gates: [Gate::resting(false); TONES] }
    }

    /// Opens the gates of the notes `played`, and closes all others.
    pub fn set(&mut self, played: &[bool; TONES]) {
        self.gates = played.map(Gate::resting);
    }

    /// Schedules turns from the decisions with lookahead, `sure`, and those without, `early`.
    pub fn decide(&mut self, sure: &[bool; TONES], early: &Early) {
        for (tone, gate) in self.gates.iter_mut().enumerate() {
            let held = sure[tone] || early.played[tone] || early.likely[tone];
            gate.unsure = gate.unsure.max(1) - 1;
            gate.may_open = sure[tone] || early.likely[tone];
            let opens = gate.turn.map_or(gate.opened, |(_, opens)| opens);
            let turns = if opens { !early.played[tone] } else { early.likely[tone] };
            if let (Some(edge), true) = (early.edge[tone], turns) {
                // A weight moves in 5 ms.
                let before = if opens { 0.003 } else { 0.0055 };
                let left = delay(self.sample_rate) as f64 - before * self.sample_rate - edge;
                gate.turn = Some(((left.max(0.0) / BLOCK as f64).floor(), !opens));
                gate.unsure = 5;
            } else if gate.unsure > 0 && opens && !held {
                gate.turn = Some((0.0, false));
            } else if gate.unsure == 0 && sure[tone] != opens {
                gate.turn = Some((0.0, sure[tone]));
            }
        }
    }

    /// Begins a block. Returns the notes whose gates are open.
    pub fn begin_block(&mut self) -> [bool; TONES] {
        for gate in &mut self.gates {
            match gate.turn {
                Some((left, opens)) if left > 0.0 => gate.turn = Some((left - 1.0, opens)),
                Some((_, opens)) if !opens || gate.may_open => {
                    (gate.opened, gate.turn) = (opens, None);
                }
                _ => {}
            }
        }
        self.gates.map(|gate| gate.opened)
    }
}

impl Gate {
    fn resting(opened: bool) -> Self {
        Self { opened, turn: None, may_open: opened, unsure: 0 }
    }
}
