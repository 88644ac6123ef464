//! [`Keyboard`], the state of a player's keys, and [`KeyEvent`], which changes it; also from MIDI.

pub(crate) const NOTES: usize = 128;
/// Maximum pitch bend in semitones, up or down.
const MOST_BEND: f32 = 48.0;
/// Maximum gain of a key: 12 dB.
const MOST_GAIN: f32 = 4.0;
/// Pitch bend in semitones of a pitch wheel that is all the way up, as in General MIDI.
const PITCH_WHEEL: f32 = 2.0;

/// Event from a player: a key, its pressure or gain, the pitch bend, or the sustain pedal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeyEvent {
    /// Presses the key of a MIDI note (0..128; others are ignored) with a velocity of 0..1. A velocity of 0 releases the key. The
    /// gain of the band is the square of the velocity. Key 69 belongs to the band that sounds A4 after `transpose`.
    Key(u8, f32),
    /// Sets the gain of a key's band to the square of a pressure of 0..1, while the key is held or sustained.
    Pressure(u8, f32),
    /// Sets the gain of a key's band to 0..4, while the key is held or sustained.
    Gain(u8, f32),
    /// Bends all bands by semitones, -48..48, while keys are in use.
    Bend(f32),
    /// Bends all bands by a pitch wheel, -1..1: two semitones up or down, as in General MIDI.
    Wheel(f32),
    /// Presses or releases the sustain pedal. Keys that are released while the pedal is down go on sounding.
    Sustain(bool),
    /// Releases all keys and the sustain pedal; the pitch bend stays.
    ReleaseAll,
}

impl KeyEvent {
    /// Translates a MIDI message on any channel; messages shorter than three bytes are padded with zeros. `None` if the message
    /// has no effect on keys. Understands notes, polyphonic pressure, the pitch wheel, the sustain pedal (controller 64) and the
    /// end of all notes or sounds (123 and 120).
    ///
    /// ```
    /// use tone_filter_dsp::KeyEvent;
    ///
    /// assert_eq!(KeyEvent::from_midi([0x90, 69, 127]), Some(KeyEvent::Key(69, 1.0)));
    /// assert_eq!(KeyEvent::from_midi([0x90, 69, 0]), Some(KeyEvent::Key(69, 0.0)));
    /// assert_eq!(KeyEvent::from_midi([0xE0, 0, 96]), Some(KeyEvent::Wheel(0.5)));
    /// assert_eq!(KeyEvent::from_midi([0xB0, 64, 127]), Some(KeyEvent::Sustain(true)));
    /// assert_eq!(KeyEvent::from_midi([0xC0, 5, 0]), None);
    /// ```
    pub fn from_midi([status, first, second]: [u8; 3]) -> Option<Self> {
        let share = f32::from(second.min(127)) / 127.0;
        Some(match (status & 0xF0, first) {
            (0x80, key) => Self::Key(key, 0.0),
            (0x90, key) => Self::Key(key, share),
            (0xA0, key) => Self::Pressure(key, share),
            (0xB0, number) => return Self::from_controller(number, share),
            (0xE0, low) => {
                let position = f32::from(second) * 128.0 + f32::from(low);
                Self::Wheel((position - 8192.0) / 8192.0)
            }
            _ => return None,
        })
    }

    /// Returns the event of a MIDI controller with a value of 0..1; `None` for a controller without effect.
    pub fn from_controller(number: u8, value: f32) -> Option<Self> {
        match number {
            64 => Some(Self::Sustain(value >= 0.5)),
            120 | 123 => Some(Self::ReleaseAll),
            _ => None,
        }
    }
}

/// State of a player's keys: gains of the held keys, sustain pedal and pitch bend.
///
/// A small value that can be copied between threads. A player on another thread changes its own keyboard and sends copies to the
/// filter ([`ToneFilter::set_keyboard`](crate::ToneFilter::set_keyboard)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Keyboard {
    /// Gain of each key that is held or sustained; 0 for all others.
    pub(crate) gains: [f32; NOTES],
    /// Keys that are pressed. Other keys with a gain are held by the sustain pedal.
    down: [bool; NOTES],
    sustain: bool,
    pub(crate) bend: f32,
}

impl Default for Keyboard {
    fn default() -> Self {
        Self { gains: [0.0; NOTES], down: [false; NOTES], sustain: false, bend: 0.0 }
    }
}

impl Keyboard {
    /// Updates the state of the keys. Values out of range are clamped.
    pub fn play(&mut self, event: KeyEvent) {
        match event {
            KeyEvent::Key(note, velocity) => self.key(note.into(), bounded(velocity, 0.0, 1.0)),
            KeyEvent::Pressure(note, pressure) => {
                self.gain(note, bounded(pressure, 0.0, 1.0).powi(2));
            }
            KeyEvent::Gain(note, gain) => self.gain(note, gain),
            KeyEvent::Bend(semitones) => self.bend = bounded(semitones, -MOST_BEND, MOST_BEND),
            KeyEvent::Wheel(position) => {
                self.bend = bounded(PITCH_WHEEL * position, -MOST_BEND, MOST_BEND);
            }
            KeyEvent::Sustain(down) => self.sustain = down,
            KeyEvent::ReleaseAll => *self = Self { bend: self.bend, ..Self::default() },
        }
        if !self.sustain {
            let held = self.gains.iter_mut().zip(self.down);
            held.filter(|(_, down)| !down).for_each(|(gain, _)| *gain = 0.0);
        }
    }

    fn key(&mut self, note: usize, velocity: f32) {
        if note < NOTES {
            self.down[note] = velocity > 0.0;
            if velocity > 0.0 {
                self.gains[note] = velocity * velocity;
            }
        }
    }

    fn gain(&mut self, note: u8, gain: f32) {
        if let Some(held) = self.gains.get_mut(usize::from(note)).filter(|held| **held > 0.0) {
            // A gain of 0 would mean that the key is not held.
            *held = bounded(gain, f32::MIN_POSITIVE, MOST_GAIN);
        }
    }
}

/// Returns `x` limited to `low..=high`; for NaN, 0 or `low`, whichever is greater.
fn bounded(x: f32, low: f32, high: f32) -> f32 {
    if x.is_nan() { low.max(0.0) } else { x.clamp(low, high) }
}
