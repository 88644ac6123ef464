//! Keys of a player, and the weights of the bands from them.

use crate::{BLOCK, Keys, Sound, TONES, approach, midi_note};

/// Time in seconds in which a weight follows its key.
const TIME: f64 = 0.005;

/// Player's event, unheard with [`Keys::Off`]. MIDI notes are 0 to 127.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    /// Presses a key with a velocity above 0 to 1; a velocity of 0 releases the key.
    Key(usize, f64),
    /// Sets the gain of a sounding key to the square of a pressure of 0..1.
    Pressure(usize, f64),
    /// Sets the gain of a sounding key, limited to 4.
    Gain(usize, f64),
    /// Transposes all bands by a number of semitones, limited to four octaves either way.
    Bend(f64),
    /// Sets the pitch wheel, -1..1: two semitones either way.
    Wheel(f64),
    /// Presses or releases the sustain pedal.
    Sustain(bool),
    /// Releases all keys and the sustain pedal.
    ReleaseAll,
}

pub(crate) struct Keyboard {
    /// Gain of each key that is held or sustained; 0 for all others.
    gains: [f64; 128],
    down: [bool; 128],
    sustain: bool,
    /// Bend in semitones.
    pub bend: f64,
}

impl Keyboard {
    pub fn new() -> Self {
        Self { gains: [0.0; 128], down: [false; 128], sustain: false, bend: 0.0 }
    }

    pub fn play(&mut self, event: Event) {
        match event {
            Event::Key(note, velocity) if velocity > 0.0 => {
                (self.down[note], self.gains[note]) = (true, velocity.powi(2));
            }
            Event::Key(note, _) => self.down[note] = false,
            Event::Pressure(note, pressure) => self.change(note, pressure.powi(2)),
            Event::Gain(note, gain) => self.change(note, gain.min(4.0)),
            Event::Bend(semitones) => self.bend = semitones.clamp(-48.0, 48.0),
            Event::Wheel(position) => self.bend = 2.0 * position,
            Event::Sustain(down) => self.sustain = down,
            Event::ReleaseAll => *self = Self { bend: self.bend, ..Self::new() },
        }
        if !self.sustain {
            for (gain, down) in self.gains.iter_mut().zip(self.down) {
                *gain = if down { *gain } else { 0.0 };
            }
        }
    }

    fn change(&mut self, note: usize, gain: f64) {
        if self.gains[note] > 0.0 {
            self.gains[note] = gain.max(f64::MIN_POSITIVE);
        }
    }

    /// Returns the gain of a MIDI note's key; 0 if the key is silent or does not exist.
    pub fn gain(&self, note: f64) -> f64 {
        if (0.0..128.0).contains(&note) { self.gains[note as usize] } else { 0.0 }
    }

    /// Returns the maximum gain of the keys in a MIDI note's pitch class.
    pub fn gain_in_any_octave(&self, note: f64) -> f64 {
        let octaves = (0..11).map(|octave| note.rem_euclid(12.0) + 12.0 * f64::from(octave));
        octaves.map(|note| self.gain(note)).fold(0.0, f64::max)
    }
}

/// Weights of the bands with keys. A weight is the maximum of two values: `own`, and `others` times the weight without keys.
pub(crate) struct KeyWeights {
    own: [f64; TONES],
    others: [f64; TONES],
    step: f64,
}

impl KeyWeights {
    pub fn new(sound: &Sound, sample_rate: f64) -> Self {
        let others = match sound.keys {
            Keys::Hold | Keys::HoldAny => 0.0,
            Keys::Off | Keys::Add => 1.0,
        };
        let step = (BLOCK as f64 / (TIME * sample_rate)).min(1.0);
        Self { own: [0.0; TONES], others: [others; TONES], step }
    }

    /// Moves the weights by a block. `offsets` are the semitones by which a map moves the notes.
    pub fn follow(&mut self, sound: &Sound, keyboard: &Keyboard, offsets: &[f64; TONES]) {
        let snaps = sound.snaps_to_keys();
        for (tone, offset) in offsets.iter().enumerate() {
            let note = midi_note(tone, sound.transpose) + if snaps { *offset } else { 0.0 };
            let gain = match sound.keys {
                Keys::Off => 0.0,
                Keys::Hold | Keys::Add => keyboard.gain(note),
                Keys::HoldAny => keyboard.gain_in_any_octave(note),
            };
            let (own_target, others_target) = match sound.keys {
                // With a map to the keys, a note has its weight without keys times the gain of the key to which it moves.
                _ if snaps => (0.0, gain),
                Keys::Hold | Keys::HoldAny => (gain, 0.0),
                Keys::Off | Keys::Add => (gain, 1.0),
            };
            approach(&mut self.own[tone], own_target, self.step);
            approach(&mut self.others[tone], others_target, self.step);
        }
    }

    pub fn weight(&self, tone: usize, without: f64) -> f64 {
        self.own[tone].max(self.others[tone] * without)
    }
}
