//! The state of a player's keys.

/// MIDI notes.
pub(crate) const NOTES: usize = 128;

/// The greatest bend in semitones, either way.
const MOST_BEND: f32 = 48.0;

/// The greatest gain of a key: 12 dB.
const MOST_GAIN: f32 = 4.0;

/// Which keys are held, how strongly, and where pedal and pitch wheel are.
///
/// It is a plain value of 650 bytes: where player and filter have a thread each, the player changes one and hands over copies
/// ([`ToneFilter::set_keyboard`](crate::ToneFilter::set_keyboard)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Keyboard {
    /// Gain of each key that is held or sustained, else 0.
    pub(crate) gains: [f32; NOTES],
    /// Keys that are down; the others sound for the sustain pedal.
    down: [bool; NOTES],
    sustain: bool,
    /// Semitones.
    pub(crate) bend: f32,
}

impl Default for Keyboard {
    /// No key.
    fn default() -> Self {
        Self { gains: [0.0; NOTES], down: [false; NOTES], sustain: false, bend: 0.0 }
    }
}

impl Keyboard {
    /// Presses the key of the MIDI note `note` with a `velocity` of 0..1, whose square is the band's gain; 0 releases
    /// the key. Other notes than 0..128 are ignored.
    pub fn key(&mut self, note: u8, velocity: f32) {
        let (note, velocity) = (usize::from(note), bounded(velocity, 0.0, 1.0));
        if note < NOTES {
            self.down[note] = velocity > 0.0;
            if velocity > 0.0 {
                self.gains[note] = velocity * velocity;
            } else if !self.sustain {
                self.gains[note] = 0.0;
            }
        }
    }

    /// Gives the band of a key that is held or sustained another gain, 0..4.
    pub fn key_gain(&mut self, note: u8, gain: f32) {
        if let Some(held) = self.gains.get_mut(usize::from(note)).filter(|held| **held > 0.0) {
            // A key that is held stays distinct from one that is not.
            *held = bounded(gain, f32::MIN_POSITIVE, MOST_GAIN);
        }
    }

    /// Presses or releases the sustain pedal, which holds the keys that are released meanwhile.
    pub fn sustain(&mut self, down: bool) {
        self.sustain = down;
        if !down {
            let held = self.gains.iter_mut().zip(self.down);
            held.filter(|(_, down)| !down).for_each(|(gain, _)| *gain = 0.0);
        }
    }

    /// Moves all bands by so many semitones, -48..48, as long as keys are in use.
    pub fn bend(&mut self, semitones: f32) {
        self.bend = bounded(semitones, -MOST_BEND, MOST_BEND);
    }

    /// Releases all keys and the sustain pedal.
    pub fn release_keys(&mut self) {
        *self = Self { bend: self.bend, ..Self::default() };
    }
}

/// `x` within the bounds; for NaN, 0 or the lower one.
fn bounded(x: f32, low: f32, high: f32) -> f32 {
    if x.is_nan() { low.max(0.0) } else { x.clamp(low, high) }
}
