//! The settings in engineering units, and the tables that describe them.
//!
//! [`Settings`] is shared by the DSP, the plugin, the presets and the command line. The ids never change: they are plugin parameter
//! ids, preset keys and flag names.

#[macro_use]
mod declare;

mod chip;
mod choices;
mod declaration;
mod groups;
mod idle;
mod listed;
mod map;
mod mask;
mod numbers;
mod routing;
mod setting;
pub(crate) mod smoother;
mod tempo;
mod text;

pub use chip::{Arp, Duty};
pub use choices::{Choice, Entry, Keys, Voice, choice};
pub use declaration::{CHOICES, Routing, SPECS, Settings, TEXTS};
pub use groups::Group;
pub use map::{BadTargets, Map, Targets};
pub use mask::{BadPitchClass, BadSwitches, BandMask, PitchClass, PitchClasses, Scale, Switches};
pub use numbers::{OutOfRange, Spec, Taper, quantity, spec};
pub use routing::{Controls, Listen};
pub use setting::Setting;
pub use tempo::{BadNoteValue, DEFAULT_TEMPO, NoteValue, SyncTo};
pub use text::{Text, TextOf};

use super::notes::{PUBLISHED, TONES, by_pitch, pitch_class};
use listed::entries;

entries! {
    /// Number of banks, and positions of the notes.
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
        self.tones().fold(BandMask::NONE, |mask, tone| mask.with(tone, true))
    }
}

impl Settings {
    /// Checks the ranges of all numbers. Returns the first setting that is out of range as an error.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        SPECS.iter().try_for_each(|spec| spec.check(spec.get(self)))
    }

    /// Whether scale or tuning follow the music, which requires the listener.
    pub fn follows(&self) -> bool {
        self.auto_tuning || self.scale == Scale::Auto
    }

    /// Returns the semitones from a band's untransposed note to the note that sounds, before the map.
    pub fn pitch_shift(&self) -> f32 {
        let octave = if self.voice == Voice::Soft { 0.0 } else { self.octave.round() };
        self.transpose + 12.0 * octave
    }

    /// Returns the settings interpolated by `morph`, from the untouched sound (0 %) to the set sound (100 %). Mix and output are
    /// interpolated linearly, drive logarithmically from 1, and tone from two octaves below its value.
    pub(crate) fn morphed(&self) -> Self {
        if self.morph == 100.0 {
            return *self;
        }
        let share = self.morph / 100.0;
        let lowest = spec("tone").map_or(self.tone, |tone| tone.min);
        Self {
            mix: share * self.mix,
            output: share * self.output,
            drive: libm::powf(self.drive, share),
            tone: (self.tone * libm::exp2f(2.0 * (share - 1.0))).max(lowest),
            ..*self
        }
    }

    /// Returns the bands that may sound by `bands`, range and scale. With a [`Map`] that moves notes, bands outside the scale
    /// sound, too, at the pitch of [`Settings::offsets`].
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

    /// Returns the bands that may sound while the keys of the bands `held` are held. Depending on `keys`, these are the bands of
    /// [`Settings::sounding_bands`], the held bands, or both.
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
    fn morph_goes_from_the_untouched_sound_to_the_preset_s() {
        let preset = Settings { output: -6.0, ..Settings::default() };
        assert_eq!(preset.morphed(), preset);
        let at = |morph| {
            let mut settings = preset;
            settings.morph = morph;
            settings.morphed()
        };
        assert_eq!((at(0.0).mix, at(0.0).output, at(0.0).drive), (0.0, 0.0, 1.0));
        let half = at(50.0);
        assert_eq!((half.mix, half.output), (25.0, -3.0));
        assert!((half.drive - 40f32.sqrt()).abs() < 1e-5);
        assert!((half.tone - preset.tone / 2.0).abs() < 1e-3);
        for percent in 0..=100 {
            let morphed = Settings { tone: 500.0, drive: 400.0, morph: percent as f32, ..preset };
            assert_eq!(morphed.morphed().validate(), Ok(()), "{percent}");
        }
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
    fn out_of_range_names_the_setting_and_the_remedy() {
        for sound in [Settings::default(), Settings::REFERENCE] {
            assert_eq!(sound.validate(), Ok(()));
        }
        for bad in [f32::NAN, f32::INFINITY, -0.1, 100.1] {
            let settings = Settings { mix: bad, ..Settings::default() };
            assert!(settings.validate().is_err(), "{bad}");
        }
        let settings = Settings { mix: 150.0, ..Settings::default() };
        let error = settings.validate().unwrap_err();
        assert_eq!(error.to_string(), "mix = 150 is out of range; use 0 to 100 %");
    }
}
