//! Effect of scale and map: which notes may sound, and at which pitches.

use crate::{Keys, Map, Sound, TONES, keys::Keyboard, midi_note, semitone};

/// Returns the pitch class of a whole number of semitones above an A.
fn class(semitones: f64) -> usize {
    semitones.rem_euclid(12.0) as usize
}

impl Sound {
    fn in_scale(&self, class: usize) -> bool {
        self.scale.map_or(self.custom[class], |steps| {
            steps.iter().any(|step| (self.root + step) % 12 == class)
        })
    }

    pub(crate) fn may_sound(&self, tone: usize) -> bool {
        let empty = !(0..12).any(|class| self.in_scale(class));
        let allowed = match self.map() {
            Map::Mute => self.in_scale(class(semitone(tone))),
            // An empty scale without keys has no note to snap to.
            Map::Snap => !(empty && self.keys == Keys::Off),
            Map::Custom => true,
        };
        allowed && self.bands[tone] && (self.low_range || tone < 48)
    }

    /// Returns the semitones from each tone's own note to the note that it sounds; negative if that note is lower.
    pub(crate) fn offsets(&self, keyboard: &Keyboard) -> [f64; TONES] {
        std::array::from_fn(|tone| match self.map() {
            Map::Mute => 0.0,
            Map::Snap => self.snap(tone, keyboard),
            Map::Custom => {
                let pitch_class = class(semitone(tone));
                let up = (self.targets[pitch_class] + 12 - pitch_class) % 12;
                if up <= 5 { up as f64 } else { up as f64 - 12.0 }
            }
        })
    }

    /// Returns the semitones to the nearest note of the scale or the keys, the lower of two equally near ones; 0 if there is
    /// none.
    fn snap(&self, tone: usize, keyboard: &Keyboard) -> f64 {
        let allowed = |offset: f64| {
            let note = midi_note(tone, self.transpose) + offset;
            let scale = || self.in_scale(class(semitone(tone) + offset));
            match self.keys {
                Keys::Off => scale(),
                Keys::Hold => keyboard.gain(note) > 0.0,
                Keys::HoldAny => keyboard.gain_in_any_octave(note) > 0.0,
                Keys::Add => scale() || keyboard.gain(note) > 0.0,
            }
        };
        let distances = (0..127).map(f64::from);
        distances.flat_map(|far| [-far, far]).find(|offset| allowed(*offset)).unwrap_or(0.0)
    }
}
