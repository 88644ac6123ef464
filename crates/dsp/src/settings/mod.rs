//! The settings in engineering units, and the tables that describe them.
//!
//! [`Settings`] is shared by the DSP, the plugin, the presets and the command line. The ids of [`SPECS`] and
//! [`CHOICES`] never change: they are plugin parameter ids, preset keys and flag names.

mod chip;
mod choices;
pub mod groups;
mod idle;
mod map;
mod mask;
mod numbers;
mod routing;
pub(crate) mod smoother;
mod tempo;

pub use chip::{Arp, Duty};
pub use choices::{CHOICES, Choice, Entry, Keys, Voice, choice};
pub use map::{BadTargets, Map, Targets};
pub use mask::{BadPitchClass, BadSwitches, BandMask, PitchClass, PitchClasses, Scale, Switches};
pub use numbers::{OutOfRange, SPECS, Spec, Taper, quantity, spec};
pub use routing::{Controls, Listen, Routing};
pub use tempo::{BadNoteValue, DEFAULT_TEMPO, NoteValue};

use super::notes::{PUBLISHED, TONES, by_pitch, pitch_class};
use tone_filter_listener::Model;

/// The settings of the sound; the connections are in [`Routing`]. `Default` is the sound of a new instance, [`Settings::REFERENCE`] that of the published filter.
///
/// The crate `tone-filter-presets` reads and writes them in JSON and other formats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The balance of dry (0 %) and wet (100 %).
    pub mix: f32,
    /// Gain after the mix, -24..12 dB.
    pub output: f32,
    /// The gain of each resonator into its soft clip, 1..400.
    pub drive: f32,
    /// Relative gate: the power, in dB of the total power, below which a band fades away. -60..-10.
    pub threshold: f32,
    /// Relative limit: the power, in dB of the total power, above which a band stops growing. -30..0.
    pub ceiling: f32,
    /// Absolute gate: the power, in dB full scale, below which a band fades away. -90..-20.
    pub floor: f32,
    /// T60 of a resonator, 0.05..10 s.
    pub ring: f32,
    /// Time constant of the band power trackers, 10..1000 ms.
    pub release: f32,
    /// Cutoff of the low-pass after the bands, 500..20000 Hz.
    pub tone: f32,
    /// Frequency of A4, 400..480 Hz.
    pub tuning: f32,
    /// Moves all tones, -24..24 semitones.
    pub transpose: f32,
    /// Attenuation of notes that are not played: none at 0 %, 24 dB at 50 %, muted at 100 %.
    pub focus: f32,
    /// How readily a note counts as played, 0..100 %; 50 % is the fitted decision threshold.
    pub sensitivity: f32,
    /// Octaves from the detected note to the one that sounds, a whole number, -2..2. No effect on [`Voice::Soft`].
    pub octave: f32,
    /// The most notes that sound at a time, a whole number, 1..48; 48 for any number.
    pub voices: f32,
    /// Ticks of 60 Hz in which a note of [`Voice::Chip`] reaches its volume, a whole number, 0..30.
    pub attack: f32,
    /// Ticks in which its volume then falls to a quarter, a whole number, 0..120; 0 for a volume that stays.
    pub decay: f32,
    /// The way from the untouched sound (0 %) to that of the other settings (100 %).
    pub morph: f32,
    /// Time that a note takes from the pitch of a near one that ends to its own, 0..500 ms. No effect on [`Voice::Soft`].
    pub glide: f32,
    /// The share of the deviation from a note's nominal pitch that remains, 0..100 %. No effect on [`Voice::Soft`].
    pub vibrato: f32,
    /// One bank for the mean of the channels, one for each of two channels, or one whose notes keep their place.
    pub stereo: Stereo,
    /// How far down the bands reach.
    pub range: BandRange,
    /// The bands that may sound.
    pub bands: BandMask,
    /// The note that `scale` starts from.
    pub root: PitchClass,
    /// The scale whose notes may sound, by the bands' names before `tuning` and `transpose`.
    pub scale: Scale,
    /// The notes of [`Scale::Custom`].
    pub custom: PitchClasses,
    /// What becomes of notes outside the scale.
    pub map: Map,
    /// Where the pitch classes sound with [`Map::Custom`].
    pub targets: Targets,
    /// Adapts the bank to the level of the input, and makes the output as loud as the input.
    pub auto: bool,
    /// Delays the sound by [`ToneFilter::latency`](super::ToneFilter::latency), which makes `focus` more accurate.
    pub lookahead: bool,
    /// The network that finds the notes.
    pub listener: Model,
    /// The waveform of the notes.
    pub voice: Voice,
    /// What becomes of the notes beyond `voices`, with [`Voice::Chip`].
    pub arp: Arp,
    /// The lead's waveform, with [`Voice::Chip`].
    pub duty: Duty,
    /// Which bands the keys let through; see [`KeyEvent`](crate::KeyEvent).
    pub keys: Keys,
    /// The note value that `ring` and `release` last; see [`Settings::at_tempo`]. The filter itself knows no tempo.
    pub sync: NoteValue,
    /// The resonators ring on without loss and without input.
    pub freeze: bool,
    /// Follows the tuning of the music, within 60 cents of `tuning`.
    pub auto_tuning: bool,
}

/// The input signal of the resonators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stereo {
    /// One bank processes the mean of all channels and is mixed to every channel.
    #[default]
    Mono,
    /// Left and right have a bank each. Signals of one channel, or of more than two, are treated as
    /// [`Stereo::Mono`].
    Stereo,
    /// One bank, whose notes sound where they are in the input, as far as the listener runs. Signals of one channel, or of
    /// more than two, are treated as [`Stereo::Mono`].
    Place,
}

impl Stereo {
    /// All entries, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Mono, Self::Stereo, Self::Place];
}

/// Which bands there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BandRange {
    /// The 48 of the published filter, A3 to G#7.
    #[default]
    Published,
    /// All 77, E1 to G#7.
    Whole,
}

impl BandRange {
    /// The tones by their index: the published ones, A3 first, then those from E1 on.
    pub fn tones(self) -> std::ops::Range<usize> {
        0..if self == Self::Whole { TONES } else { PUBLISHED }
    }

    /// The tones by their pitch, the lowest first.
    pub fn by_pitch(self) -> impl DoubleEndedIterator<Item = usize> + Clone {
        by_pitch().filter(move |tone| self.tones().contains(tone))
    }

    /// The same as a mask.
    pub fn bands(self) -> BandMask {
        self.tones().fold(BandMask::NONE, |mask, tone| mask.with(tone, true))
    }
}

impl Settings {
    /// The sound of the published filter at any sample rate, without auto level and without focus. `docs/dsp.md`
    /// derives the numbers.
    pub const REFERENCE: Self = Self {
        mix: 50.0,
        output: 0.0,
        drive: 40.0,
        threshold: -36.989_7,
        ceiling: -10.0,
        floor: -36.666_668,
        ring: 1.566_306,
        release: 188.952_5,
        tone: 4_865.015,
        tuning: 440.0,
        transpose: 0.0,
        focus: 0.0,
        sensitivity: 50.0,
        octave: 0.0,
        voices: 48.0,
        attack: 0.0,
        decay: 0.0,
        morph: 100.0,
        glide: 0.0,
        vibrato: 100.0,
        stereo: Stereo::Mono,
        range: BandRange::Published,
        bands: BandMask::ALL,
        root: PitchClass::new(0),
        scale: Scale::Chromatic,
        custom: PitchClasses::ALL,
        map: Map::Mute,
        targets: Targets::IDENTITY,
        auto: false,
        lookahead: false,
        listener: Model::Full,
        voice: Voice::Soft,
        arp: Arp::Off,
        duty: Duty::Quarter,
        keys: Keys::Off,
        sync: NoteValue::OFF,
        freeze: false,
        auto_tuning: false,
    };

    /// The first setting that is out of range, as an error.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        SPECS.iter().try_for_each(|spec| spec.check(spec.get(self)))
    }

    /// Whether scale or tuning follow the music, for which the listener runs.
    pub fn follows(&self) -> bool {
        self.auto_tuning || self.scale == Scale::Auto
    }

    /// Semitones from a band's own note to what sounds.
    pub fn pitch_shift(&self) -> f32 {
        let octave = if self.voice == Voice::Soft { 0.0 } else { self.octave.round() };
        self.transpose + 12.0 * octave
    }

    /// The bands that may sound, by `bands` and by the scale. With a [`Map`] that moves notes, bands outside the scale sound, too,
    /// at the pitch of [`Settings::offsets`].
    pub fn sounding_bands(&self) -> BandMask {
        let scale = self.scale.pitch_classes(self.root, self.custom);
        let classes = match self.active_map() {
            Map::Mute => scale,
            Map::Snap if scale == PitchClasses::NONE && self.keys == Keys::Off => scale,
            Map::Snap | Map::Custom => PitchClasses::ALL,
        };
        let kept = self
            .range
            .tones()
            .filter(|&tone| self.bands.contains(tone) && classes.contains(pitch_class(tone)));
        kept.fold(BandMask::NONE, |mask, tone| mask.with(tone, true))
    }

    /// The bands that may sound while the keys of the bands `held` are held: those of [`Settings::sounding_bands`], those
    /// that are held, or both, by `keys`.
    pub fn bands_with_keys(&self, held: BandMask) -> BandMask {
        match self.keys {
            Keys::Off => self.sounding_bands(),
            Keys::Hold | Keys::HoldAny if self.snaps_to_keys() => match held {
                BandMask::NONE => BandMask::NONE,
                _ => self.sounding_bands(),
            },
            Keys::Hold | Keys::HoldAny => held.intersection(self.range.bands()),
            Keys::Add => self
                .range
                .tones()
                .filter(|&tone| held.contains(tone))
                .fold(self.sounding_bands(), |mask, tone| mask.with(tone, true)),
        }
    }
}

impl Default for Settings {
    /// The sound of a new instance.
    fn default() -> Self {
        Self {
            ring: 0.2,
            release: 20.0,
            // Focus leaves out what is not played, so that faint notes need less of a gate, and fewer notes share the power.
            floor: -46.0,
            ceiling: -14.0,
            focus: 100.0,
            auto: true,
            stereo: Stereo::Place,
            range: BandRange::Whole,
            ..Self::REFERENCE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voices_but_the_soft_clip_have_an_octave() {
        let soft = Settings { transpose: -3.0, octave: 1.0, ..Settings::REFERENCE };
        assert_eq!(soft.pitch_shift(), -3.0);
        assert_eq!(Settings { voice: Voice::Saw, ..soft }.pitch_shift(), 9.0);
    }

    #[test]
    fn the_reference_equals_the_published_constants() {
        let near = |id: &str, value: f64| {
            let reference = f64::from(spec(id).unwrap().get(&Settings::REFERENCE));
            assert!((reference / value - 1.0).abs() < 1e-7, "{id}: {reference} is not {value}");
        };
        near("threshold", 10.0 * 2e-4f64.log10());
        near("ceiling", 10.0 * 0.1f64.log10());
        near("floor", 10.0 * 1e-11f64.cbrt().log10());
        near("ring", 1000f64.ln() / (44_100.0 * -0.9999f64.ln()));
        near("release", -1000.0 / 0.00503f64.ln());
        near("tone", 2f64.ln() * 44_100.0 / std::f64::consts::TAU);
        near("drive", 40.0);
    }

    #[test]
    fn every_spec_names_its_own_field_and_allows_its_default() {
        let mut settings = Settings::default();
        for (index, spec) in SPECS.iter().enumerate() {
            for sound in [Settings::default(), Settings::REFERENCE] {
                assert_eq!(spec.check(spec.get(&sound)), Ok(()));
            }
            spec.set(&mut settings, 1000.0 + index as f32);
        }
        // `Debug` has the fields' names.
        let text = format!("{settings:?}");
        for (index, spec) in SPECS.iter().enumerate() {
            let expected = format!("{}: {}.0,", spec.id, 1000 + index);
            assert!(text.contains(&expected), "{expected} is missing in {text}");
        }
    }

    #[test]
    fn out_of_range_names_the_setting_and_the_remedy() {
        for bad in [f32::NAN, f32::INFINITY, -0.1, 100.1] {
            let settings = Settings { mix: bad, ..Settings::default() };
            assert!(settings.validate().is_err(), "{bad}");
        }
        let settings = Settings { mix: 150.0, ..Settings::default() };
        let error = settings.validate().unwrap_err();
        assert_eq!(error.to_string(), "mix = 150 is out of range; use 0 to 100 %");
    }
}
