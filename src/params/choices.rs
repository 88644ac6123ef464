//! The settings that are a choice from a list, as hosts name them.

use crate::dsp::{PitchClass, Scale, Stereo, notes::PITCH_CLASSES};
use nice_plug::prelude::Enum;

impl Enum for Stereo {
    fn variants() -> &'static [&'static str] {
        &["Mono", "Stereo"]
    }

    fn ids() -> Option<&'static [&'static str]> {
        Some(&["mono", "stereo"])
    }

    fn to_index(self) -> usize {
        self as usize
    }

    fn from_index(index: usize) -> Self {
        if index == Self::Stereo as usize { Self::Stereo } else { Self::Mono }
    }
}

impl Enum for PitchClass {
    fn variants() -> &'static [&'static str] {
        &PITCH_CLASSES
    }

    fn ids() -> Option<&'static [&'static str]> {
        Some(&PITCH_CLASSES)
    }

    fn to_index(self) -> usize {
        self.index()
    }

    fn from_index(index: usize) -> Self {
        Self::new(index)
    }
}

impl Enum for Scale {
    #[rustfmt::skip]
    fn variants() -> &'static [&'static str] {
        &[
            "Chromatic", "Major", "Natural minor", "Harmonic minor", "Dorian", "Phrygian", "Lydian",
            "Mixolydian", "Locrian", "Major pentatonic", "Minor pentatonic", "Blues", "Whole tone",
            "Custom",
        ]
    }

    #[rustfmt::skip]
    fn ids() -> Option<&'static [&'static str]> {
        Some(&[
            "chromatic", "major", "natural-minor", "harmonic-minor", "dorian", "phrygian", "lydian",
            "mixolydian", "locrian", "major-pentatonic", "minor-pentatonic", "blues", "whole-tone",
            "custom",
        ])
    }

    fn to_index(self) -> usize {
        self as usize
    }

    fn from_index(index: usize) -> Self {
        Self::ALL.get(index).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every choice has a place, a name, and an id that presets write.
    fn check<T: Enum + Copy + PartialEq + std::fmt::Debug + serde::Serialize>(all: &[T]) {
        assert_eq!(T::variants().len(), all.len());
        assert_eq!(T::ids().unwrap().len(), all.len());
        for (index, choice) in all.iter().enumerate() {
            assert_eq!(choice.to_index(), index);
            assert_eq!(T::from_index(index), *choice);
            assert_eq!(serde_json::to_value(choice).unwrap(), T::ids().unwrap()[index]);
        }
    }

    #[test]
    fn choices_are_those_of_the_settings() {
        check(&[Stereo::Mono, Stereo::Stereo]);
        check(&std::array::from_fn::<_, 12, _>(PitchClass::new));
        check(&Scale::ALL);
        for (id, name) in Scale::ids().unwrap().iter().zip(Scale::variants()) {
            assert_eq!(name.to_lowercase().replace(' ', "-"), **id);
        }
    }
}
