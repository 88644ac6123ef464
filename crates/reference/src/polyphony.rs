//! Polyphony limit: only the strongest notes sound.

use crate::{BLOCK, TONES, approach, bank::Tones};

/// Fade time in seconds when a note replaces another.
const FADE: f64 = 0.005;

/// Advantage of a note that already sounds: 3 dB.
const ADVANTAGE: f64 = 3.0;

/// Choice of the notes that may sound.
pub(crate) struct Polyphony {
    step: f64,
    chosen: [bool; TONES],
    /// Weights in the sum, 0..1.
    pub weights: Tones,
}

impl Polyphony {
    /// Creates the state for at most `limit` notes. With a limit below 77, no note sounds at first.
    pub fn new(limit: usize, sample_rate: f64) -> Self {
        let all = limit >= TONES;
        let weight = if all { 1.0 } else { 0.0 };
        let step = (BLOCK as f64 / (FADE * sample_rate)).min(1.0);
        Self { step, chosen: [all; TONES], weights: [weight; TONES] }
    }

    /// Chooses the strongest notes by their `powers`, at most `limit`, and moves the weights on by a block.
    pub fn follow(&mut self, limit: usize, powers: &Tones) {
        let advantage = 10f64.powf(ADVANTAGE / 10.0);
        let rank = |tone: usize| if self.chosen[tone] { advantage } else { 1.0 } * powers[tone];
        let mut ranked: Vec<usize> =
            (0..TONES).filter(|tone| limit >= TONES || powers[*tone] > 0.0).collect();
        // The sort is stable: of equal powers, the first tone wins.
        ranked.sort_by(|a, b| rank(*b).total_cmp(&rank(*a)));
        ranked.truncate(limit);
        self.chosen = std::array::from_fn(|tone| ranked.contains(&tone));
        for (weight, chosen) in self.weights.iter_mut().zip(self.chosen) {
            approach(weight, if chosen { 1.0 } else { 0.0 }, self.step);
        }
    }
}
