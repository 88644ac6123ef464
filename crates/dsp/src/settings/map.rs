//! Where found notes sound: at their own pitch, or moved to a note of the scale, to a key or to a target.

use super::{Keys, PitchClass, Settings, Voice, choices::Entry};
use crate::notes::{PITCH_CLASSES, TONES, midi_note, pitch_class};
use std::{error::Error, fmt, str::FromStr};

/// MIDI notes.
const NOTES: i32 = 128;

/// Treatment of notes outside the scale. The voice Soft is the resonator itself, which has but one pitch: with it, all
/// entries are [`Map::Mute`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Map {
    /// They are silent.
    #[default]
    Mute,
    /// They sound at the nearest note of the scale, of two the lower. With [`Keys::Hold`] and [`Keys::HoldAny`], all notes
    /// sound at the nearest key or pitch class that is held.
    Snap,
    /// All notes sound at the nearest octave of the target of their pitch class, of two the lower; the scale has no effect.
    Custom,
}

impl Map {
    /// All entries, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Mute, Self::Snap, Self::Custom];

    pub(super) const ENTRIES: [Entry; 3] =
        [("mute", "Mute"), ("snap", "Snap"), ("custom", "Custom")];
}

/// The target of each of the twelve pitch classes, A first. As text, twelve names of notes.
///
/// ```
/// use tone_filter_dsp::Targets;
///
/// let targets: Targets = "A A B C C D D E F F G G".parse()?;
/// assert_eq!(targets.of(1).name(), "A");
/// assert_eq!(Targets::IDENTITY.to_string(), "A A# B C C# D D# E F F# G G#");
/// # Ok::<(), tone_filter_dsp::BadTargets>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Targets([PitchClass; 12]);

impl Targets {
    /// Every pitch class is its own target.
    pub const IDENTITY: Self = {
        let mut targets = [PitchClass::new(0); 12];
        let mut index = 0;
        while index < 12 {
            targets[index] = PitchClass::new(index);
            index += 1;
        }
        Self(targets)
    };

    /// The target of the pitch class `class`, semitones above A, 0..12.
    ///
    /// # Panics
    /// When `class` is 12 or more.
    pub const fn of(self, class: usize) -> PitchClass {
        self.0[class]
    }

    /// Sets the `target` of `class`.
    ///
    /// # Panics
    /// When `class` is 12 or more.
    #[must_use]
    pub const fn with(mut self, class: usize, target: PitchClass) -> Self {
        self.0[class] = target;
        self
    }
}

impl Targets {
    /// As bits: four for each target, the first lowest.
    pub(super) fn to_bits(self) -> [u64; 2] {
        let bits = |bits, class| bits | (self.of(class).index() as u64) << (4 * class);
        [(0..12).fold(0, bits), 0]
    }

    /// Reads the format of `to_bits`; every bit pattern is valid.
    pub(super) fn from_bits([bits, _]: [u64; 2]) -> Self {
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

/// Text that is not the names of twelve notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadTargets(String);

impl fmt::Display for BadTargets {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let notes = PITCH_CLASSES.join(" ");
        write!(f, "'{}' is not the names of twelve notes; write one for each of {notes}", self.0)
    }
}

impl Error for BadTargets {}

impl FromStr for Targets {
    type Err = BadTargets;

    fn from_str(text: &str) -> Result<Self, BadTargets> {
        let bad = || BadTargets(text.to_owned());
        let mut words = text.split_whitespace();
        let mut targets = Self::IDENTITY;
        for target in &mut targets.0 {
            *target = words.next().and_then(|word| word.parse().ok()).ok_or_else(bad)?;
        }
        words.next().map_or(Ok(targets), |_| Err(bad()))
    }
}

impl Settings {
    /// The map as far as the voice has one.
    pub(super) fn active_map(&self) -> Map {
        if self.voice == Voice::Soft { Map::Mute } else { self.map }
    }

    /// Whether found notes move to the keys that are held.
    pub(crate) fn snaps_to_keys(&self) -> bool {
        self.active_map() == Map::Snap && self.keys.choose()
    }

    /// Semitones from each band's own note to the one at which it sounds, before [`Settings::pitch_shift`], while the keys of
    /// the MIDI notes `held` are held, one bit for each. 0 for a band that has nowhere to go.
    pub fn offsets(&self, held: u128) -> [i8; TONES] {
        match self.active_map() {
            Map::Mute => [0; TONES],
            Map::Custom => std::array::from_fn(|tone| {
                let own = pitch_class(tone);
                let up = (self.targets.of(own).index() + 12 - own) % 12;
                up as i8 - if up < 6 { 0 } else { 12 }
            }),
            Map::Snap => std::array::from_fn(|tone| self.snap(tone, held)),
        }
    }

    fn snap(&self, tone: usize, held: u128) -> i8 {
        let scale = self.scale.pitch_classes(self.root, self.custom);
        let own = midi_note(tone, self.transpose);
        let in_scale = |offset: i32| {
            scale.contains((pitch_class(tone) as i32 + offset).rem_euclid(12) as usize)
        };
        let key = |note: i32| (0..NOTES).contains(&note) && held >> note & 1 == 1;
        let allows = |offset: &i32| match self.keys {
            Keys::Off => in_scale(*offset),
            Keys::Hold => key(own + offset),
            Keys::HoldAny => ((own + offset).rem_euclid(12)..NOTES).step_by(12).any(key),
            Keys::Add => in_scale(*offset) || key(own + offset),
        };
        let nearest = (0..NOTES - 1).flat_map(|distance| [-distance, distance]).find(allows);
        nearest.unwrap_or(0) as i8
    }
}
