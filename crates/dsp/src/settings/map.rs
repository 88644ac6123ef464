//! Pitches at which detected notes sound: their own pitch, or the pitch of a note of the scale, of a held key, or of a target.

use super::{BadText, Keys, PitchClass, Settings, TextOf, Voice, listed::entries, text::TextValue};
use crate::notes::{PITCH_CLASSES, TONES, midi_note, pitch_class};
use std::{fmt, iter::successors, str::FromStr};

/// Bits of the MIDI notes 0, 12, ..., 120: each C.
const EVERY_OCTAVE: u128 = 0x1_001_001_001_001_001_001_001_001_001_001;

entries! {
    /// Effect of the scale, the held keys or the custom targets on the notes. With the voice Soft, all entries act as
    /// [`Map::Mute`]: its notes are the resonators' own oscillation, at the detected pitch.
    Map {
        /// Notes outside the scale are silent.
        #[default]
        Mute: "mute", "Mute";
        /// Notes outside the scale sound at the nearest note of the scale, the lower of two equally near ones. With [`Keys::Hold`]
        /// and [`Keys::HoldAny`], all notes sound at the nearest held key or pitch class.
        Snap: "snap", "Snap";
        /// All notes sound at the nearest octave of their pitch class's target, the lower of two equally near ones. The scale
        /// has no effect.
        Custom: "custom", "Custom";
    }
}

/// Target of each of the twelve pitch classes, A first. As text, twelve names of notes.
///
/// ```
/// use tone_filter_dsp::Targets;
///
/// let targets: Targets = "A A B C C D D E F F G G".parse()?;
/// assert_eq!(targets.of(1).name(), "A");
/// assert_eq!(Targets::IDENTITY.to_string(), "A A# B C C# D D# E F F# G G#");
/// # Ok::<(), tone_filter_dsp::BadText>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Targets([PitchClass; 12]);

impl Targets {
    /// Identity: every pitch class is its own target.
    pub const IDENTITY: Self = {
        let mut targets = [PitchClass::new(0); 12];
        let mut index = 0;
        while index < 12 {
            targets[index] = PitchClass::new(index);
            index += 1;
        }
        Self(targets)
    };

    /// Returns the target of the pitch class that is `class` semitones above A (0..12).
    ///
    /// # Panics
    /// If `class` is 12 or more.
    pub const fn of(self, class: usize) -> PitchClass {
        self.0[class]
    }

    /// Sets the target of `class`.
    ///
    /// # Panics
    /// If `class` is 12 or more.
    #[must_use]
    pub const fn with(mut self, class: usize, target: PitchClass) -> Self {
        self.0[class] = target;
        self
    }
}

/// Bits: four for each target, the first one in the lowest.
impl TextValue for Targets {
    const OF: TextOf = TextOf::Notes(12);

    fn to_bits(self) -> [u64; 2] {
        let bits = |bits, class| bits | (self.of(class).index() as u64) << (4 * class);
        [(0..12).fold(0, bits), 0]
    }

    fn from_bits([bits, _]: [u64; 2]) -> Self {
        let target = |class| PitchClass::new((bits >> (4 * class) & 15) as usize);
        Self(std::array::from_fn(target))
    }
}

impl Default for Targets {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl fmt::Display for Targets {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0.map(PitchClass::name).join(" "))
    }
}

impl FromStr for Targets {
    type Err = BadText;

    fn from_str(text: &str) -> Result<Self, BadText> {
        let bad = || {
            let notes = PITCH_CLASSES.join(" ");
            BadText(format!(
                "'{text}' is not the names of twelve notes; write one for each of {notes}"
            ))
        };
        let mut words = text.split_whitespace();
        let mut targets = Self::IDENTITY;
        for target in &mut targets.0 {
            *target = words.next().and_then(|word| word.parse().ok()).ok_or_else(bad)?;
        }
        words.next().map_or(Ok(targets), |_| Err(bad()))
    }
}

impl Settings {
    /// Returns the map in effect: Mute with the voice Soft.
    pub(super) fn active_map(&self) -> Map {
        if self.voice == Voice::Soft { Map::Mute } else { self.map }
    }

    /// Whether detected notes move to the held keys.
    pub(crate) fn snaps_to_keys(&self) -> bool {
        self.active_map() == Map::Snap && self.keys.choose()
    }

    /// Returns the semitones from each band's own note to the note that sounds, before [`Settings::pitch_shift`]. `held` has a
    /// bit for each held MIDI note. Bands without a target get 0.
    pub fn offsets(&self, held: u128) -> [i8; TONES] {
        match self.active_map() {
            Map::Mute => [0; TONES],
            Map::Custom => std::array::from_fn(|tone| {
                let class = pitch_class(tone);
                let up = (self.targets.of(class).index() + 12 - class) % 12;
                up as i8 - if up < 6 { 0 } else { 12 }
            }),
            Map::Snap => std::array::from_fn(|tone| self.snap(tone, held)),
        }
    }

    fn snap(&self, tone: usize, held: u128) -> i8 {
        let note = midi_note(tone, self.transpose);
        let scale = self.scale.pitch_classes(self.root, self.custom);
        let in_class = |offset: &i32| match self.keys {
            Keys::Off | Keys::Add => {
                scale.contains((pitch_class(tone) as i32 + offset).rem_euclid(12) as usize)
            }
            Keys::Hold => false,
            Keys::HoldAny => held >> (note + offset).rem_euclid(12) & EVERY_OCTAVE != 0,
        };
        let keys = if matches!(self.keys, Keys::Hold | Keys::Add) { held } else { 0 };
        let keys = successors(Some(keys), |rest| Some(rest & rest.wrapping_sub(1)))
            .take_while(|rest| *rest != 0)
            .map(|rest| rest.trailing_zeros() as i32 - note);
        let class = (0..=6).flat_map(|far| [-far, far]).find(in_class);
        class.into_iter().chain(keys).min_by_key(|offset| (offset.abs(), *offset)).unwrap_or(0)
            as i8
    }
}
