//! Mapping: semitone offsets from detected to sounding notes, computed when settings or keys change.

use super::{found::Resolved, held_keys::HeldKeys};
use crate::{
    notes::TONES,
    settings::{Keys, Map, PitchClass, PitchClasses, Scale, Settings, Targets, Voice},
};

#[derive(Debug, Clone, Copy, PartialEq)]
struct Inputs {
    map: Map,
    /// Whether the voice is [`Voice::Soft`], whose notes are the resonators' own oscillation, at the detected pitch.
    soft: bool,
    root: PitchClass,
    scale: Scale,
    custom: PitchClasses,
    targets: Targets,
    keys: Keys,
    transpose: f32,
    /// MIDI notes of the keys that are held, one bit for each.
    held: u128,
}

/// Offsets of the last block, kept until their inputs change.
#[derive(Debug, Clone)]
pub struct Mapping {
    /// Inputs of `offsets`; `None` while nothing is mapped and all offsets are 0.
    inputs: Option<Inputs>,
    offsets: [i8; TONES],
}

impl Default for Mapping {
    fn default() -> Self {
        Self { inputs: None, offsets: [0; TONES] }
    }
}

impl Mapping {
    /// Returns [`Settings::offsets`] for the keys that are held.
    pub fn offsets(&mut self, settings: &Resolved, held: &HeldKeys) -> [i8; TONES] {
        let &Settings { map, root, scale, custom, targets, keys, transpose, voice, .. } =
            &**settings;
        if map == Map::Mute {
            *self = Self::default();
            return self.offsets;
        }
        let soft = voice == Voice::Soft;
        let held = if keys == Keys::Off { 0 } else { held.notes() };
        let inputs =
            Some(Inputs { map, soft, root, scale, custom, targets, keys, transpose, held });
        if self.inputs != inputs {
            (self.inputs, self.offsets) = (inputs, settings.offsets(held));
        }
        self.offsets
    }
}
