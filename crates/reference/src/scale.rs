//! Scales, and the pitches to which a map moves the notes.

use crate::{Keys, Map, Sound, TONES, keys::Keyboard, midi_note, semitone};

/// Names of the pitch classes, A first.
const CLASSES: [&str; 12] = ["A", "A#", "B", "C", "C#", "D", "D#", "E", "F", "F#", "G", "G#"];

pub(crate) const CHROMATIC: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/// Returns the semitones from A up to the note called `name`.
pub(crate) fn pitch_class(name: &str) -> usize {
    CLASSES.iter().position(|class| *class == name).expect("a pitch class")
}

/// Returns the semitones of the scale called `name` above its root; `None` for the custom scale.
pub(crate) fn steps(name: &str) -> Option<&'static [usize]> {
    Some(match name {
        // With `auto`, the caller sets the scale of the detected key. Until a key is detected, all notes are in the scale.
        "chromatic" | "auto" => CHROMATIC,
        "major" => &[0, 2, 4, 5, 7, 9, 11],
        "dorian" => &[0, 2, 3, 5, 7, 9, 10],
        "phrygian" => &[0, 1, 3, 5, 7, 8, 10],
        "lydian" => &[0, 2, 4, 6, 7, 9, 11],
        "mixolydian" => &[0, 2, 4, 5, 7, 9, 10],
        "natural-minor" => &[0, 2, 3, 5, 7, 8, 10],
        "locrian" => &[0, 1, 3, 5, 6, 8, 10],
        "harmonic-minor" => &[0, 2, 3, 5, 7, 8, 11],
        "major-pentatonic" => &[0, 2, 4, 7, 9],
        "minor-pentatonic" => &[0, 3, 5, 7, 10],
        "blues" => &[0, 3, 5, 6, 7, 10],
        "whole-tone" => &[0, 2, 4, 6, 8, 10],
        "custom" => return None,
        _ => panic!("the reference has no scale '{name}'"),
    })
}

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

    /// Whether the notes move to held keys.
    pub(crate) fn snaps_to_keys(&self) -> bool {
        self.map() == Map::Snap && matches!(self.keys, Keys::Hold | Keys::HoldAny)
    }

    /// Returns the semitones from each tone's own note up to its pitch.
    pub(crate) fn offsets(&self, keyboard: &Keyboard) -> [f64; TONES] {
        std::array::from_fn(|tone| match self.map() {
            Map::Mute => 0.0,
            Map::Snap => self.snap(tone, keyboard),
            Map::Custom => {
                let own = class(semitone(tone));
                let up = (self.targets[own] + 12 - own) % 12;
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
