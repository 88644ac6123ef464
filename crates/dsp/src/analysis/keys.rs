//! Keys: notes that are played to the filter choose the bands that sound.

use super::keyboard::{Keyboard, NOTES};
use crate::{
    ToneFilter,
    lanes::{BLOCK, Lanes},
    notes::{TONES, midi_note},
    settings::{BandMask, Keys},
};

/// Seconds in which a band's weight follows its key.
const TIME: f64 = 0.005;

/// Semitones of a pitch wheel that is all the way up, as in General MIDI; see [`ToneFilter::bend`].
pub const PITCH_WHEEL: f32 = 2.0;

/// The keys that are held, and the smoothed weights of the bands that follow from them.
#[derive(Debug, Clone)]
pub(crate) struct HeldKeys {
    keyboard: Keyboard,
    /// The bands' weights by their keys.
    weights: Lanes,
    /// Weight of what sounds without keys, 0..1.
    others: f32,
    /// Whether all that remains of keys has faded away.
    resting: bool,
    /// The greatest change of a weight within a block.
    step: f32,
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
        for (tone, weight) in weights.0.iter_mut().enumerate() {
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

/// What a player does. It takes effect from the next multiple of 64 samples on, and is heard if [`Settings::keys`]
/// says so.
///
/// [`Settings::keys`]: crate::Settings::keys
impl ToneFilter {
    /// Presses the key of the MIDI note `note` with a `velocity` of 0..1, whose square is the band's gain; 0 releases
    /// the key. Key 69 is the band that sounds A4, which `transpose` moves. Other notes than 0..128 are ignored.
    ///
    /// ```
    /// use tone_filter_dsp::{Keys, Settings, ToneFilter};
    ///
    /// // Of all that the bands hear, only A4 sounds.
    /// let settings = Settings { keys: Keys::Hold, ..Settings::default() };
    /// let mut filter = ToneFilter::new(48_000.0, &settings)?;
    /// filter.key(69, 1.0);
    /// filter.process(&mut [&mut [0.0; 512]]);
    /// filter.key(69, 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn key(&mut self, note: u8, velocity: f32) {
        self.keys.keyboard.key(note, velocity);
    }

    /// Gives the band of a key that is held or sustained another gain, 0..4.
    pub fn key_gain(&mut self, note: u8, gain: f32) {
        self.keys.keyboard.key_gain(note, gain);
    }

    /// Presses or releases the sustain pedal, which holds the keys that are released meanwhile.
    pub fn sustain(&mut self, down: bool) {
        self.keys.keyboard.sustain(down);
    }

    /// Moves all bands by so many semitones, -48..48, as long as keys are in use.
    pub fn bend(&mut self, semitones: f32) {
        self.keys.keyboard.bend(semitones);
        self.aim();
    }

    /// Plays what `keyboard` holds, in place of all keys so far. Does not allocate.
    ///
    /// ```
    /// use tone_filter_dsp::{Keyboard, Keys, Settings, ToneFilter};
    ///
    /// let settings = Settings { keys: Keys::Hold, ..Settings::default() };
    /// let mut filter = ToneFilter::new(48_000.0, &settings)?;
    /// // On the player's thread, which sends a copy:
    /// let mut keyboard = Keyboard::default();
    /// keyboard.key(69, 0.8);
    /// keyboard.sustain(true);
    /// // On the audio thread:
    /// filter.set_keyboard(&keyboard);
    /// assert_eq!(*filter.keyboard(), keyboard);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_keyboard(&mut self, keyboard: &Keyboard) {
        self.keys.keyboard = *keyboard;
        self.aim();
    }

    /// The keys that are held.
    pub fn keyboard(&self) -> &Keyboard {
        &self.keys.keyboard
    }

    /// The bands that may sound now; see [`Settings::bands_with_keys`].
    ///
    /// [`Settings::bands_with_keys`]: crate::Settings::bands_with_keys
    pub fn sounding_bands(&self) -> BandMask {
        self.settings.bands_with_keys(self.held())
    }

    /// The bands that sound by their keys.
    pub(crate) fn held(&self) -> BandMask {
        self.keys.held(self.settings.keys, self.settings.transpose)
    }

    /// Releases all keys and the sustain pedal.
    pub fn release_keys(&mut self) {
        self.keys.keyboard.release_keys();
    }
}

const _: () = assert!(TONES < NOTES);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{PitchClasses, Scale, Settings};

    fn filter() -> ToneFilter {
        ToneFilter::new(48_000.0, &Settings::default()).unwrap()
    }

    /// The weights of a block after keys have been pressed for long, of bands that have a weight of 1/2 without keys.
    fn weights(filter: &ToneFilter, mode: Keys, transpose: f32) -> Vec<(usize, f32)> {
        let mut keys = filter.keys.clone();
        (0..10).for_each(|_| keys.follow(mode, transpose));
        let weights = (0..TONES).map(|tone| (tone, keys.weight(tone, 0.5)));
        weights.filter(|(_, weight)| *weight != 0.5 && *weight != 0.0).collect()
    }

    #[test]
    fn keys_choose_the_bands_that_sound_their_notes() {
        let mut filter = filter();
        filter.key(69, 1.0);
        filter.key(33, 0.5);
        filter.key(200, 1.0);
        assert_eq!(weights(&filter, Keys::Off, 0.0), []);
        assert_eq!(weights(&filter, Keys::Hold, 0.0), [(12, 1.0)]);
        assert_eq!(weights(&filter, Keys::Hold, -24.0), [(0, 0.25), (36, 1.0)]);
        assert_eq!(weights(&filter, Keys::Hold, 2.2), [(10, 1.0)]);
        assert_eq!(weights(&filter, Keys::Add, 0.0), [(12, 1.0)]);
        let any = weights(&filter, Keys::HoldAny, 0.0);
        assert_eq!(any, [(0, 1.0), (12, 1.0), (24, 1.0), (36, 1.0)]);
        for (keys, count) in [(Keys::Off, 4), (Keys::Hold, 1), (Keys::HoldAny, 4), (Keys::Add, 5)] {
            // G# in four octaves.
            let scale = Settings {
                scale: Scale::Custom,
                custom: PitchClasses::NONE.with(11, true),
                ..Settings::default()
            };
            filter.set_settings(&Settings { keys, ..scale }).unwrap();
            let sounding = filter.sounding_bands();
            assert_eq!((0..TONES).filter(|tone| sounding.contains(*tone)).count(), count);
            assert_eq!(sounding.contains(12), keys != Keys::Off);
        }
    }

    #[test]
    fn a_pedal_holds_what_is_released_and_a_release_of_all_ends_it() {
        let mut filter = filter();
        filter.key(69, 1.0);
        filter.sustain(true);
        filter.key(69, 0.0);
        filter.key(81, 1.0);
        assert_eq!(weights(&filter, Keys::Hold, 0.0), [(12, 1.0), (24, 1.0)]);
        filter.sustain(false);
        assert_eq!(weights(&filter, Keys::Hold, 0.0), [(24, 1.0)]);
        filter.key_gain(81, 2.0);
        filter.key_gain(69, 2.0);
        assert_eq!(weights(&filter, Keys::Hold, 0.0), [(24, 2.0)]);
        filter.key_gain(81, f32::NAN);
        filter.release_keys();
        assert_eq!(weights(&filter, Keys::Hold, 0.0), []);
    }

    #[test]
    fn a_keyboard_that_is_set_plays_as_its_keys_do() {
        let (mut played, mut keyboard) = (filter(), Keyboard::default());
        played.key(60, 1.0);
        played.key(69, 0.5);
        played.bend(1.0);
        played.key(60, 0.0);
        keyboard.key(69, 0.5);
        keyboard.bend(1.0);
        let mut set = filter();
        set.key(72, 1.0);
        set.set_keyboard(&keyboard);
        assert_eq!(played.keyboard(), set.keyboard());
        let settings = Settings { keys: Keys::Hold, ..Settings::default() };
        let output = |filter: &mut ToneFilter| {
            filter.set_settings(&settings).unwrap();
            let mut sound: Vec<f32> = (0..4800).map(|i| (i % 109) as f32 / 200.0).collect();
            filter.process(&mut [&mut sound]);
            sound
        };
        assert_eq!(output(&mut played), output(&mut set));
    }

    #[test]
    fn weights_move_within_5_ms() {
        let mut filter = filter();
        filter.key(69, 1.0);
        let keys = &mut filter.keys;
        assert!(!keys.act(Keys::Off));
        for block in 1..=4 {
            keys.follow(Keys::Hold, 0.0);
            let reached = (block as f32 * keys.step).min(1.0);
            assert!((keys.weight(12, 0.0) - reached).abs() < 1e-6);
            assert!((keys.weight(13, 1.0) - (1.0 - reached)).abs() < 1e-6);
        }
        (0..4).for_each(|_| keys.follow(Keys::Off, 0.0));
        assert!(!keys.act(Keys::Off));
        assert_eq!(keys.weight(12, 0.3), 0.3);
    }
}
