//! The settings that are a choice from a list: the types of most of them, and [`Choice`], which describes each.

use super::{
    BandMask, CHOICES, Controls, Entry, Group, PitchClass, Settings,
    listed::{SWITCH, entries},
};
use crate::notes::{PUBLISHED, TONES, by_pitch};

entries! {
    /// Effect of held keys on the bands.
    Keys {
        /// Keys have no effect.
        #[default]
        Off: "off", "Off";
        /// A band sounds only while its key is held.
        Hold: "hold", "Hold";
        /// A band sounds only while its key is held, in this or another octave.
        HoldAny: "hold-any", "Hold any octave";
        /// A band whose key is held sounds, too, in addition to the bands that sound without keys.
        Add: "add", "Add";
    }
}

impl Keys {
    /// Whether only the bands of held keys sound.
    pub(super) const fn choose(self) -> bool {
        matches!(self, Self::Hold | Self::HoldAny)
    }
}

entries! {
    /// Waveform of the notes.
    Voice {
        /// The resonator's own oscillation, driven into a soft clip: the published sound.
        #[default]
        Soft: "soft", "Soft";
        /// A sine.
        Sine: "sine", "Sine";
        /// A square.
        Square: "square", "Square";
        /// A pulse that is high for a quarter of its period.
        Pulse25: "pulse25", "Pulse 25 %";
        /// A pulse that is high for an eighth of its period.
        Pulse12: "pulse12", "Pulse 12.5 %";
        /// A triangle.
        Triangle: "triangle", "Triangle";
        /// A saw.
        Saw: "saw", "Saw";
        /// The channels of an 8-bit console's sound chip: two pulses, a triangle of 32 steps, and noise.
        Chip: "chip", "Chip";
        /// The waveform of [`Voice::Soft`], played by an oscillator, so that nothing aliases.
        SoftClean: "soft-clean", "Soft clean";
    }
}

impl Voice {
    /// Whether the setting `drive` shapes this voice.
    pub const fn is_driven(self) -> bool {
        matches!(self, Self::Soft | Self::SoftClean)
    }

    /// Voices that are a single waveform, whatever the drive.
    pub const WAVEFORMS: [Self; 6] =
        [Self::Sine, Self::Square, Self::Pulse25, Self::Pulse12, Self::Triangle, Self::Saw];
}

entries! {
    /// Treatment of the notes beyond the maximum number [`Settings::voices`], with [`Voice::Chip`].
    Arp {
        /// Notes beyond the number are silent.
        #[default]
        Off: "off", "Off";
        /// The last voice plays the weakest notes in turn from the lowest to the highest, 15 per second.
        Up: "up", "Up";
        /// The last voice plays the weakest notes in turn, 60 per second, which sounds like a chord.
        Fast: "fast", "Fast";
    }
}

impl Arp {
    /// Returns the duration of a note in ticks of 60 Hz; `None` for Off.
    pub fn ticks(self) -> Option<u32> {
        match self {
            Self::Off => None,
            Self::Up => Some(4),
            Self::Fast => Some(1),
        }
    }
}

entries! {
    /// Duty of the lead of [`Voice::Chip`]: the fraction of a period for which the pulse is high.
    Duty {
        /// 12.5 %: thin.
        Eighth: "12.5", "12.5 %";
        /// 25 %.
        #[default]
        Quarter: "25", "25 %";
        /// 50 %: hollow, like the other notes.
        Half: "50", "50 %";
    }
}

impl Duty {
    /// Returns the voice that has this waveform.
    pub const fn voice(self) -> Voice {
        match self {
            Self::Eighth => Voice::Pulse12,
            Self::Quarter => Voice::Pulse25,
            Self::Half => Voice::Square,
        }
    }

    /// Returns the duty as a fraction of the period, 0..1.
    pub const fn share(self) -> f64 {
        match self {
            Self::Eighth => 0.125,
            Self::Quarter => 0.25,
            Self::Half => 0.5,
        }
    }
}

entries! {
    /// Number of banks, and stereo positions of the notes.
    Stereo {
        /// One bank processes the mean of all channels and is mixed to every channel.
        #[default]
        Mono: "mono", "Mono";
        /// Left and right have a bank each. With one channel, or more than two, [`Stereo::Mono`] applies.
        Stereo: "stereo", "Stereo";
        /// One bank, whose notes sound at their stereo positions in the input while the listener runs. With one channel, or more than
        /// two, [`Stereo::Mono`] applies.
        Place: "place", "Place";
    }
}

entries! {
    /// Range of the bands.
    BandRange {
        /// The 48 bands of the published filter, A3 to G#7.
        #[default]
        Published: "published", "From A3";
        /// All 77 bands, E1 to G#7.
        Whole: "whole", "From E1";
    }
}

impl BandRange {
    /// Returns the tones by index: the published ones from A3 up, then the tones from E1 up.
    pub fn tones(self) -> std::ops::Range<usize> {
        0..if self == Self::Whole { TONES } else { PUBLISHED }
    }

    /// Returns the tones by pitch, the lowest first.
    pub fn by_pitch(self) -> impl DoubleEndedIterator<Item = usize> + Clone {
        by_pitch().filter(move |tone| self.tones().contains(tone))
    }

    /// Returns the bands of the range as a mask.
    pub fn bands(self) -> BandMask {
        BandMask::of(self.tones())
    }
}

entries! {
    /// Input of the bands and of the listener.
    Listen {
        /// The main input, which is also the dry signal.
        #[default]
        Main: "main", "Off";
        /// The sidechain, if it is connected.
        Sidechain: "sidechain", "On";
    }
}

/// Description of a setting that is a choice from a list.
#[derive(Debug)]
pub struct Choice {
    /// Stable id: field name, preset key, parameter id and flag.
    pub id: &'static str,
    /// Display name.
    pub name: &'static str,
    /// Entries, in the order in which they are offered.
    pub entries: &'static [Entry],
    /// Effect on the sound, in one sentence.
    pub help: &'static str,
    /// Group in the editor and in hosts.
    pub group: Group,
    /// Whether random sounds change the setting. False for settings that adapt the filter to the music and the mix, and for
    /// settings that concern playing.
    pub random: bool,
    /// Position of the setting in its group.
    pub(super) place: u8,
    pub(super) routing: bool,
    pub(super) get: fn(&Controls) -> usize,
    pub(super) set: fn(&mut Controls, usize),
}

/// Returns the choice called `id`, if there is one.
///
/// ```
/// use tone_filter_dsp::{Controls, Voice, choice};
///
/// let voice = choice("voice").ok_or("no such setting")?;
/// let square = voice.entries.iter().position(|(id, _)| *id == "square").ok_or("no such voice")?;
/// let mut controls = Controls::default();
/// voice.set(&mut controls, square);
/// assert_eq!(controls.settings.voice, Voice::Square);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn choice(id: &str) -> Option<&'static Choice> {
    CHOICES.iter().find(|choice| choice.id == id)
}

impl Choice {
    /// Returns the index of the entry in `controls`.
    pub fn get(&self, controls: &Controls) -> usize {
        (self.get)(controls)
    }

    /// Returns the index of the entry in a new instance.
    pub fn default(&self) -> usize {
        self.get(&Controls::default())
    }

    /// Returns the index of the entry for states and presets that lack the setting.
    pub fn reference(&self) -> usize {
        self.get(&Settings::REFERENCE.into())
    }

    /// Sets the entry in `controls` to `index`; an index beyond the list means the last entry.
    pub fn set(&self, controls: &mut Controls, index: usize) {
        (self.set)(controls, index.min(self.entries.len() - 1));
    }

    /// Whether the setting is a field of [`Routing`](super::Routing), not a part of the sound.
    pub const fn is_routing(&self) -> bool {
        self.routing
    }

    /// Whether the entries are off and on.
    pub fn is_switch(&self) -> bool {
        self.entries == SWITCH
    }

    /// Returns the index of the entry with this id or name, as people type it: case, blanks, `-`, `_` and % do not count, and a
    /// decimal comma is a point. Synonyms are read, too, like `minor`, and flats as roots. Does not allocate.
    pub fn parse(&self, text: &str) -> Option<usize> {
        let is = |name: &str| bare(name).eq(bare(text));
        let found = self.entries.iter().position(|(id, name)| is(id) || is(name));
        let short = || {
            let (_, meant) = SHORT.iter().find(|(short, _)| is(short))?;
            self.entries.iter().position(|(id, _)| id == meant)
        };
        let flat = || (self.id == "root").then(|| PitchClass::named(text).map(PitchClass::index));
        found.or_else(short).or_else(|| flat().flatten())
    }
}

/// Synonyms that users type, with the ids of their entries.
const SHORT: [(&str, &str); 9] = [
    ("min", "natural-minor"),
    ("minor", "natural-minor"),
    ("aeolian", "natural-minor"),
    ("maj", "major"),
    ("ionian", "major"),
    ("true", "on"),
    ("1", "on"),
    ("false", "off"),
    ("0", "off"),
];

/// Returns the characters of `text` that distinguish entries, in lower case.
fn bare(text: &str) -> impl Iterator<Item = char> {
    let counts = |c: &char| !c.is_whitespace() && !"-_%".contains(*c);
    let letters = text.chars().filter(counts).flat_map(char::to_lowercase);
    letters.map(|c| if c == ',' { '.' } else { c })
}
