//! The settings in engineering units, and the tables that describe them.
//!
//! [`Settings`] is the sound, which a preset saves. [`Routing`] is the connections, which belong to a session or a program.
//! [`Controls`] is both, for interfaces with a parameter or a flag for each setting. The ids never change: they are plugin
//! parameter ids, preset keys and flag names.

#[macro_use]
mod declare;

mod choices;
mod declaration;
mod groups;
mod idle;
mod listed;
mod map;
mod mask;
mod numbers;
mod setting;
pub(crate) mod smoother;
mod tempo;
mod text;

pub use choices::{Arp, BandRange, Choice, Duty, Keys, Listen, Stereo, Voice, choice};
pub use declaration::{CHOICES, Routing, SPECS, Settings, TEXTS};
pub use groups::Group;
pub use listed::Entry;
pub use map::{Map, Targets};
pub use mask::{BandMask, PitchClass, PitchClasses, Scale, Switches};
pub use numbers::{OutOfRange, Spec, Taper, quantity, spec};
pub use setting::Setting;
pub use tempo::{DEFAULT_TEMPO, NoteValue, SyncTo};
pub use text::{BadText, Text, TextOf};

use super::notes::pitch_class;
use smoother::{Fade, Fades};

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

    /// Returns the bands that may sound by `bands`, range and scale. With a [`Map`] that has notes to move to, bands outside the
    /// scale sound, too, at the pitch of [`Settings::offsets`].
    pub fn sounding_bands(&self) -> BandMask {
        let scale = self.scale.pitch_classes(self.root, self.custom);
        let classes = match self.active_map() {
            Map::Mute => scale,
            Map::Snap if scale == PitchClasses::NONE && self.keys == Keys::Off => scale,
            Map::Snap | Map::Custom => PitchClasses::ALL,
        };
        let sounds = |tone: &usize| classes.contains(pitch_class(*tone));
        self.bands.intersection(BandMask::of(self.range.tones().filter(sounds)))
    }

    /// Returns the bands that may sound while the keys of the bands `held` are held. Depending on `keys`, these are the bands of
    /// [`Settings::sounding_bands`], the held bands, or both. If detected notes move to the held keys, these are the bands of
    /// `sounding_bands` while any key is held.
    pub fn bands_with_keys(&self, held: BandMask) -> BandMask {
        match self.keys {
            Keys::Off => self.sounding_bands(),
            Keys::Hold | Keys::HoldAny if self.snaps_to_keys() => match held {
                BandMask::NONE => BandMask::NONE,
                _ => self.sounding_bands(),
            },
            Keys::Hold | Keys::HoldAny => held.intersection(self.range.bands()),
            Keys::Add => {
                let sounding = self.sounding_bands();
                let sounds = |tone: &usize| sounding.contains(*tone) || held.contains(*tone);
                BandMask::of(self.range.tones().filter(sounds))
            }
        }
    }
}

/// Everything that a user sets: sound and connections.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Controls {
    /// Sound, which presets save.
    pub settings: Settings,
    /// Connections, which no preset changes.
    pub routing: Routing,
}

impl From<Settings> for Controls {
    /// Creates controls with the sound `settings` and the default connections.
    fn from(settings: Settings) -> Self {
        Self { settings, routing: Routing::default() }
    }
}

impl Controls {
    /// Returns why the setting or connection `id` has no effect; see [`Settings::idle`].
    ///
    /// ```
    /// use tone_filter_dsp::Controls;
    ///
    /// assert_eq!(Controls::default().idle("mpe"), Some("MIDI out is off"));
    /// ```
    pub fn idle(&self, id: &str) -> Option<&'static str> {
        match id {
            "mpe" if !self.routing.midi_out => Some("MIDI out is off"),
            _ => self.settings.idle(id),
        }
    }

    /// Returns the targets of the crossfades. The smoother sets the target of [`Fade::LowBands`].
    pub(crate) fn fades(&self) -> Fades<bool> {
        let Self { settings, routing } = self;
        let mut fades = Fades::OFF;
        fades[Fade::Stereo] = settings.stereo == Stereo::Stereo;
        fades[Fade::Place] = settings.stereo == Stereo::Place;
        fades[Fade::Bypass] = routing.bypass;
        fades[Fade::Auto] = settings.auto;
        fades[Fade::Lookahead] = settings.lookahead;
        fades[Fade::Sidechain] = routing.listen == Listen::Sidechain;
        fades
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn notes_of_all_bands_move_to_a_held_key() {
        let (voice, map, keys) = (Voice::Square, Map::Snap, Keys::Hold);
        let settings = Settings { voice, map, keys, ..Settings::default() };
        let held = BandMask::of([crate::notes::A4]);
        assert_eq!(settings.bands_with_keys(held), settings.sounding_bands());
    }
}
