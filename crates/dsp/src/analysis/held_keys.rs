//! Held keys: weights of the bands from the keys that a player holds.

use super::keyboard::{KeyEvent, Keyboard, NOTES};
use crate::{
    lanes::Lanes,
    notes::{TONES, midi_note},
    ramp::Approach,
    settings::{BandMask, Keys},
};

/// Seconds in which a band's weight moves from 0 to 1, or back.
const TIME: f64 = 0.005;

/// Inputs of the target weights, besides the keys.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Inputs {
    mode: Keys,
    transpose: f32,
    /// Semitones from each detected note to its key; `None` if notes do not move to keys.
    offsets: Option<[i8; TONES]>,
}

/// Held keys, and their smoothed effect on the bands.
#[derive(Debug, Clone)]
pub struct HeldKeys {
    /// State of the keys; only [`HeldKeys::set_keyboard`] and [`HeldKeys::play`] change it.
    pub keyboard: Keyboard,
    /// Inputs of the current targets; `None` after a change of the keys.
    inputs: Option<Inputs>,
    mode: Keys,
    weights: Approach,
    /// Factors on the weights that mask, scale and focus give the bands.
    others: Approach,
}

impl HeldKeys {
    pub fn new(sample_rate: f64) -> Self {
        Self {
            keyboard: Keyboard::default(),
            inputs: None,
            mode: Keys::Off,
            weights: Approach::new(Lanes::ZERO, TIME, sample_rate),
            others: Approach::new(Lanes::of(|_| 1.0), TIME, sample_rate),
        }
    }

    pub fn set_keyboard(&mut self, keyboard: Keyboard) {
        (self.keyboard, self.inputs) = (keyboard, None);
    }

    pub fn play(&mut self, event: KeyEvent) {
        self.keyboard.play(event);
        self.inputs = None;
    }

    /// Resets the keyboard (keys, pedal, bend), and jumps to the weights for `mode`.
    pub fn reset(&mut self, mode: Keys) {
        self.set_keyboard(Keyboard::default());
        let (weights, others) = self.target(mode, 0.0, None);
        self.weights.reset(weights);
        self.others.reset(others);
        self.mode = mode;
    }

    /// Whether the keys have an effect in `mode`, or still had one in the last block.
    pub fn act(&self, mode: Keys) -> bool {
        [mode, self.mode] != [Keys::Off; 2] || self.weights.moves() || self.others.moves()
    }

    /// Moves the weights by one block towards their targets. `transpose` shifts the bands, in semitones. With `offsets`, detected
    /// notes move to the held keys by these numbers of semitones. Returns whether a weight has moved.
    pub fn follow(&mut self, mode: Keys, transpose: f32, offsets: Option<&[i8; TONES]>) -> bool {
        let inputs = Some(Inputs { mode, transpose, offsets: offsets.copied() });
        if self.inputs != inputs {
            let (weights, others) = self.target(mode, transpose, offsets);
            self.weights.aim(weights);
            self.others.aim(others);
            (self.inputs, self.mode) = (inputs, mode);
        }
        self.weights.step() | self.others.step()
    }

    /// Returns the weight of the band `tone`, whose weight without keys is `other`.
    pub fn weight(&self, tone: usize, other: f32) -> f32 {
        (self.others.now.0[tone] * other).max(self.weights.now.0[tone])
    }

    /// Returns the bands that sound because their keys are held.
    pub fn held(&self, mode: Keys, transpose: f32) -> BandMask {
        let (weights, _) = self.target(mode, transpose, None);
        BandMask::of((0..TONES).filter(|&tone| weights.0[tone] > 0.0))
    }

    /// Returns a bit for each MIDI note whose key is held.
    pub fn notes(&self) -> u128 {
        let gains = self.keyboard.gains.iter().enumerate();
        gains.fold(0, |notes, (note, gain)| notes | u128::from(*gain > 0.0) << note)
    }

    /// Returns the target weights by the keys, and the target factors on the weights without keys.
    fn target(&self, mode: Keys, transpose: f32, offsets: Option<&[i8; TONES]>) -> (Lanes, Lanes) {
        let mut weights = Lanes::ZERO;
        for (tone, weight) in weights.0.iter_mut().take(TONES).enumerate() {
            let offset = offsets.map_or(0, |offsets| offsets[tone]);
            let note = midi_note(tone, transpose) + i32::from(offset);
            *weight = match mode {
                Keys::Off => 0.0,
                Keys::Hold | Keys::Add => self.gain(note),
                Keys::HoldAny => (note.rem_euclid(12)..NOTES as i32)
                    .step_by(12)
                    .map(|key| self.gain(key))
                    .fold(0.0, f32::max),
            };
        }
        if offsets.is_some() {
            return (Lanes::ZERO, weights);
        }
        let others = if matches!(mode, Keys::Hold | Keys::HoldAny) { 0.0 } else { 1.0 };
        (weights, Lanes::of(|_| others))
    }

    fn gain(&self, key: i32) -> f32 {
        let gains = &self.keyboard.gains;
        usize::try_from(key).ok().and_then(|key| gains.get(key)).copied().unwrap_or(0.0)
    }
}

const _: () = assert!(TONES < NOTES);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BandRange, PitchClasses, Scale, Settings, ToneFilter};

    #[test]
    fn keys_choose_the_bands_that_sound_their_notes() {
        let mut filter = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
        filter.play(KeyEvent::Key(69, 1.0));
        filter.play(KeyEvent::Key(33, 0.5));
        filter.play(KeyEvent::Key(200, 1.0));
        assert_eq!(filter.analysis.keys.notes(), 1 << 69 | 1 << 33);
        // The gain of a held key stays above 0.
        let least = f32::MIN_POSITIVE;
        for (pressure, gain) in
            [(0.5, 0.25), (2.0, 1.0), (-1.0, least), (f32::NAN, least), (1.0, 1.0)]
        {
            filter.play(KeyEvent::Pressure(69, pressure));
            assert_eq!(filter.analysis.keys.keyboard.gains[69], gain, "{pressure}");
        }
        for (keys, [published, whole]) in [
            (Keys::Off, [4, 7]),
            (Keys::Hold, [1, 2]),
            (Keys::HoldAny, [4, 6]),
            (Keys::Add, [5, 9]),
        ] {
            // G# occurs in four or seven octaves.
            let scale = Settings {
                scale: Scale::Custom,
                custom: PitchClasses::NONE.with(11, true),
                ..Settings::default()
            };
            for (range, count) in [(BandRange::Published, published), (BandRange::Whole, whole)] {
                filter.set_settings(&Settings { keys, range, ..scale }).unwrap();
                let sounding = filter.sounding_bands();
                assert_eq!((0..TONES).filter(|tone| sounding.contains(*tone)).count(), count);
                assert_eq!(sounding.contains(12), keys != Keys::Off);
                // The key of A1 is held.
                let low = keys != Keys::Off && range == BandRange::Whole;
                assert_eq!(sounding.contains(53), low);
            }
        }
    }
}
