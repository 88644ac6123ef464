//! Keys: notes that are played to the filter choose the bands that sound.

use super::keyboard::{Keyboard, NOTES};
use crate::{
    lanes::{BLOCK, Lanes},
    notes::{TONES, midi_note},
    settings::{BandMask, Keys},
};

/// Seconds in which a band's weight follows its key.
const TIME: f64 = 0.005;

/// The keys that are held, and the smoothed weights of the bands that follow from them.
#[derive(Debug, Clone)]
pub struct HeldKeys {
    /// The keys as they are now.
    pub keyboard: Keyboard,
    /// The bands' weights by their keys.
    weights: Lanes,
    /// Weight of what sounds without keys, 0..1.
    others: f32,
    /// Whether all that remains of keys has faded away.
    resting: bool,
    /// The greatest change of a weight within a block.
    pub(crate) step: f32,
}

impl HeldKeys {
    /// No key, for `sample_rate` in Hz.
    pub fn new(sample_rate: f64) -> Self {
        Self {
            keyboard: Keyboard::default(),
            weights: Lanes::ZERO,
            others: 1.0,
            resting: true,
            step: (BLOCK as f64 / (TIME * sample_rate)).min(1.0) as f32,
        }
    }

    /// Releases all keys, and sets the weights for `mode` without smoothing.
    pub fn reset(&mut self, mode: Keys) {
        self.keyboard = Keyboard::default();
        self.weights = Lanes::ZERO;
        self.others = self.target(mode, 0.0).1;
        self.resting = mode == Keys::Off;
    }

    /// Whether the keys have an effect in `mode`, or still had one in the last block.
    pub fn act(&self, mode: Keys) -> bool {
        mode != Keys::Off || !self.resting
    }

    /// Semitones by which the keys' player bends the bank, in `mode`.
    pub fn bend(&self, mode: Keys) -> f32 {
        if mode == Keys::Off { 0.0 } else { self.keyboard.bend }
    }

    /// Moves the weights by one block towards those of the keys that are held, with the bands moved by `transpose`
    /// semitones.
    pub fn follow(&mut self, mode: Keys, transpose: f32) {
        let (weights, others) = self.target(mode, transpose);
        self.weights.approach(&weights, self.step);
        self.others += (others - self.others).clamp(-self.step, self.step);
        self.resting = mode == Keys::Off && self.others == 1.0 && self.weights == Lanes::ZERO;
    }

    /// The weight of the band `tone` that has the weight `other` without keys.
    pub fn weight(&self, tone: usize, other: f32) -> f32 {
        (self.others * other).max(self.weights.0[tone])
    }

    /// The bands that sound by their keys.
    pub fn held(&self, mode: Keys, transpose: f32) -> BandMask {
        let (weights, _) = self.target(mode, transpose);
        let held = (0..TONES).filter(|&tone| weights.0[tone] > 0.0);
        held.fold(BandMask::NONE, |mask, tone| mask.with(tone, true))
    }

    fn target(&self, mode: Keys, transpose: f32) -> (Lanes, f32) {
        let mut weights = Lanes::ZERO;
        for (tone, weight) in weights.0.iter_mut().take(TONES).enumerate() {
            let own = midi_note(tone, transpose);
            *weight = match mode {
                Keys::Off => 0.0,
                Keys::Hold | Keys::Add => self.gain(own),
                Keys::HoldAny => (own.rem_euclid(12)..NOTES as i32)
                    .step_by(12)
                    .map(|key| self.gain(key))
                    .fold(0.0, f32::max),
            };
        }
        let others = if matches!(mode, Keys::Hold | Keys::HoldAny) { 0.0 } else { 1.0 };
        (weights, others)
    }

    fn gain(&self, key: i32) -> f32 {
        let gains = &self.keyboard.gains;
        usize::try_from(key).ok().and_then(|key| gains.get(key)).copied().unwrap_or(0.0)
    }
}

const _: () = assert!(TONES < NOTES);
