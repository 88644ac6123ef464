//! Notes that may sound: switches of bands and of pitch classes, and scales.

use super::{
    BadText, Entry,
    listed::{Listed, entries},
};
use crate::notes::{PITCH_CLASSES, PUBLISHED, TONES};
use std::fmt;

/// A set of `N` switches, all on by default. As text, one `1` or `0` per switch; blanks are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches<const N: usize>(u128);

/// Switches of the bands: the 48 from A3 up, then the 29 from E1 up. As text, the 29 may be left out if all of them are on.
pub type BandMask = Switches<TONES>;

/// Switches of the twelve pitch classes, A first.
pub type PitchClasses = Switches<12>;

/// Returns the number of digits in the text of `switches` switches; bands may have either of two numbers.
pub(super) fn digit_counts(switches: usize) -> String {
    if switches == TONES { format!("{PUBLISHED} or {TONES}") } else { switches.to_string() }
}

impl<const N: usize> Switches<N> {
    /// All on.
    pub const ALL: Self = Self((1 << N) - 1);
    /// All off.
    pub const NONE: Self = Self(0);

    /// Creates switches that are on at `indices`.
    pub(crate) fn of(indices: impl IntoIterator<Item = usize>) -> Self {
        indices.into_iter().fold(Self::NONE, |set, index| set.with(index, true))
    }

    /// Returns the switches as bits: the first 64, and the remaining ones.
    pub const fn to_bits(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }

    /// Creates switches from [`Switches::to_bits`]; bits beyond `N` do not count.
    pub const fn from_bits([first, others]: [u64; 2]) -> Self {
        Self((first as u128 | (others as u128) << 64) & Self::ALL.0)
    }

    /// Whether switch `index` is on; `false` from `N` up.
    pub const fn contains(self, index: usize) -> bool {
        index < N && self.0 >> index & 1 == 1
    }

    /// Sets switch `index`, which must be below `N`, on or off.
    #[must_use]
    pub const fn with(self, index: usize, on: bool) -> Self {
        let bit = 1 << index & Self::ALL.0;
        Self(if on { self.0 | bit } else { self.0 & !bit })
    }

    /// Returns the switches that are on in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the switches that are on in `self` and off in `other`.
    #[must_use]
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl<const N: usize> Default for Switches<N> {
    fn default() -> Self {
        Self::ALL
    }
}

impl<const N: usize> fmt::Display for Switches<N> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let whole = Self::ALL.0 >> PUBLISHED != self.0 >> PUBLISHED;
        for index in 0..if whole { N } else { N.min(PUBLISHED) } {
            let space = if index > 0 && index % 12 == 0 { " " } else { "" };
            write!(f, "{space}{}", u8::from(self.contains(index)))?;
        }
        Ok(())
    }
}

impl<const N: usize> std::str::FromStr for Switches<N> {
    type Err = BadText;

    fn from_str(text: &str) -> Result<Self, BadText> {
        let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        let published = N == TONES && digits.len() == PUBLISHED;
        if digits.len() != N && !published || digits.iter().any(|c| !matches!(c, '0' | '1')) {
            let digits = digit_counts(N);
            let remedy = format!("write {digits} digits, 1 for on and 0 for off");
            return Err(BadText(format!("'{text}' is not a list of {digits} switches; {remedy}")));
        }
        let on = digits.iter().enumerate().filter(|(_, digit)| **digit == '1');
        let low = if published { Self(Self::ALL.0 >> PUBLISHED << PUBLISHED) } else { Self::NONE };
        Ok(on.fold(low, |set, (index, _)| set.with(index, true)))
    }
}

/// Pitch class, by its index in [`PITCH_CLASSES`]. As text, it is a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PitchClass(u8);

impl PitchClass {
    /// Creates the pitch class `index` semitones above A.
    pub const fn new(index: usize) -> Self {
        Self((index % 12) as u8)
    }

    /// Returns the pitch class that `text` names, with a sharp, a flat or neither. Does not allocate.
    pub(super) fn named(text: &str) -> Option<Self> {
        let mut letters = text.trim().chars();
        let letter = letters.next()?.to_ascii_uppercase();
        let natural = PITCH_CLASSES.iter().position(|name| name.chars().eq([letter]))?;
        let semitones = match letters.as_str() {
            "" => 0,
            "#" | "♯" => 1,
            "b" | "♭" => 11,
            _ => return None,
        };
        Some(Self::new(natural + semitones))
    }

    /// All twelve pitch classes, A first.
    pub const ENTRIES: [Entry; 12] = {
        let mut entries = [("", ""); 12];
        let mut index = 0;
        while index < 12 {
            entries[index] = (PITCH_CLASSES[index], PITCH_CLASSES[index]);
            index += 1;
        }
        entries
    };

    /// Returns the semitones above A, 0..12.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the name, with a sharp where needed.
    pub const fn name(self) -> &'static str {
        PITCH_CLASSES[self.index()]
    }
}

impl std::str::FromStr for PitchClass {
    type Err = BadText;

    fn from_str(text: &str) -> Result<Self, BadText> {
        Self::named(text).ok_or_else(|| {
            let notes = PITCH_CLASSES.join(" ");
            BadText(format!("'{text}' is no note; use one of {notes}, or a flat like Bb"))
        })
    }
}

impl Listed for PitchClass {
    const ENTRIES: &'static [Entry] = &Self::ENTRIES;

    fn index(self) -> usize {
        self.index()
    }

    fn at(index: usize) -> Self {
        Self::new(index)
    }
}

entries! {
    /// Scale: the notes that may sound.
    Scale {
        /// All twelve pitch classes.
        #[default]
        Chromatic: "chromatic", "Chromatic";
        /// Major, or Ionian.
        Major: "major", "Major";
        /// Natural minor, or Aeolian.
        NaturalMinor: "natural-minor", "Natural minor";
        /// Minor with a raised seventh.
        HarmonicMinor: "harmonic-minor", "Harmonic minor";
        /// Minor with a raised sixth.
        Dorian: "dorian", "Dorian";
        /// Minor with a lowered second.
        Phrygian: "phrygian", "Phrygian";
        /// Major with a raised fourth.
        Lydian: "lydian", "Lydian";
        /// Major with a lowered seventh.
        Mixolydian: "mixolydian", "Mixolydian";
        /// Minor with a lowered second and fifth.
        Locrian: "locrian", "Locrian";
        /// Major without its fourth and seventh.
        MajorPentatonic: "major-pentatonic", "Major pentatonic";
        /// Natural minor without its second and sixth.
        MinorPentatonic: "minor-pentatonic", "Minor pentatonic";
        /// Minor pentatonic and, in addition, a raised fourth.
        Blues: "blues", "Blues";
        /// Six whole tones.
        WholeTone: "whole-tone", "Whole tone";
        /// The pitch classes that the user picked; the root has no effect.
        Custom: "custom", "Custom";
        /// The key that is detected in the music, with its root; all twelve pitch classes while no key is found.
        Auto: "auto", "Auto";
    }
}

impl Scale {
    /// Returns the id in presets, states and flags.
    pub fn id(self) -> &'static str {
        Self::ENTRIES[self.index()].0
    }

    /// Returns the semitones above the root; `None` for [`Scale::Custom`]. [`Scale::Auto`] has all twelve.
    pub const fn steps(self) -> Option<&'static [usize]> {
        Some(match self {
            Self::Chromatic | Self::Auto => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
            Self::Major => &[0, 2, 4, 5, 7, 9, 11],
            Self::NaturalMinor => &[0, 2, 3, 5, 7, 8, 10],
            Self::HarmonicMinor => &[0, 2, 3, 5, 7, 8, 11],
            Self::Dorian => &[0, 2, 3, 5, 7, 9, 10],
            Self::Phrygian => &[0, 1, 3, 5, 7, 8, 10],
            Self::Lydian => &[0, 2, 4, 6, 7, 9, 11],
            Self::Mixolydian => &[0, 2, 4, 5, 7, 9, 10],
            Self::Locrian => &[0, 1, 3, 5, 6, 8, 10],
            Self::MajorPentatonic => &[0, 2, 4, 7, 9],
            Self::MinorPentatonic => &[0, 3, 5, 7, 10],
            Self::Blues => &[0, 3, 5, 6, 7, 10],
            Self::WholeTone => &[0, 2, 4, 6, 8, 10],
            Self::Custom => return None,
        })
    }

    /// Returns the pitch classes of the scale on `root`; `custom` if the scale is [`Scale::Custom`].
    pub fn pitch_classes(self, root: PitchClass, custom: PitchClasses) -> PitchClasses {
        self.steps().map_or(custom, |steps| {
            PitchClasses::of(steps.iter().map(|step| (root.index() + step) % 12))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scale: Scale, root: &str) -> Vec<&'static str> {
        let classes = scale.pitch_classes(root.parse().unwrap(), PitchClasses::NONE);
        (0..12).filter(|&class| classes.contains(class)).map(|class| PITCH_CLASSES[class]).collect()
    }

    #[test]
    fn scales_have_their_textbook_notes() {
        assert_eq!(names(Scale::Major, "C"), ["A", "B", "C", "D", "E", "F", "G"]);
        assert_eq!(names(Scale::NaturalMinor, "A"), names(Scale::Major, "C"));
        assert_eq!(names(Scale::Dorian, "D"), names(Scale::Major, "C"));
        assert_eq!(names(Scale::Phrygian, "E"), names(Scale::Major, "C"));
        assert_eq!(names(Scale::Lydian, "F"), names(Scale::Major, "C"));
        assert_eq!(names(Scale::Mixolydian, "G"), names(Scale::Major, "C"));
        assert_eq!(names(Scale::Locrian, "B"), names(Scale::Major, "C"));
        assert_eq!(names(Scale::HarmonicMinor, "A"), ["A", "B", "C", "D", "E", "F", "G#"]);
        assert_eq!(names(Scale::MajorPentatonic, "C"), names(Scale::MinorPentatonic, "A"));
        assert_eq!(names(Scale::Blues, "A"), ["A", "C", "D", "D#", "E", "G"]);
        assert_eq!(names(Scale::WholeTone, "C#"), ["A", "B", "C#", "D#", "F", "G"]);
        assert_eq!(names(Scale::Chromatic, "F#").len(), 12);
        assert!(names(Scale::Custom, "A").is_empty(), "custom takes what it is given");
    }

    #[test]
    fn switches_round_trip_as_text_and_refuse_other_texts() {
        let mask = BandMask::ALL.with(0, false).with(47, false);
        let text = mask.to_string();
        assert_eq!(text, "011111111111 111111111111 111111111111 111111111110");
        assert_eq!(text.parse(), Ok(mask));
        assert_eq!(text.replace(' ', "").parse(), Ok(mask), "those below A3 are on");
        let low = mask.with(76, false);
        assert_eq!(low.to_string(), text + " 111111111111 111111111111 11110");
        assert_eq!(low.to_string().parse(), Ok(low));
        assert_eq!(BandMask::from_bits(low.to_bits()), low);
        for bad in ["", "1", &"1".repeat(49), &"1".repeat(76), &"2".repeat(48)] {
            let message = bad.parse::<BandMask>().unwrap_err().to_string();
            assert!(message.contains(" 48 or 77 digits"), "{message}");
        }
        assert!(!BandMask::ALL.contains(77) && BandMask::ALL.contains(76));
        assert_eq!(PitchClasses::NONE.with(11, true).to_string(), "000000000001");
        assert!("1".parse::<PitchClasses>().unwrap_err().to_string().contains(" 12 digits"));
    }
}
