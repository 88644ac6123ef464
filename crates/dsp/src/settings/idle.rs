//! Reasons why a setting has no effect on the sound, because of other settings.

use super::{Arp, Map, NoteValue, PitchClasses, SPECS, Scale, Settings, Targets, Voice};

impl Settings {
    /// Returns why the setting `id` has no effect on the notes, as the end of a sentence; `None` if it has an effect.
    ///
    /// ```
    /// use tone_filter_dsp::{Settings, Voice};
    ///
    /// let settings = Settings { voice: Voice::Square, ..Settings::default() };
    /// assert_eq!(settings.idle("drive"), Some("it shapes the voices Soft and Soft clean only"));
    /// assert_eq!(settings.idle("octave"), None);
    /// ```
    pub fn idle(&self, id: &str) -> Option<&'static str> {
        match id {
            "sensitivity" | "listener" if self.focus == 0.0 && !self.follows() => {
                Some("Focus is at 0 %")
            }
            "lookahead" if self.focus == 0.0 => {
                Some("it only delays the sound while Focus is at 0 %")
            }
            "drive" if !self.voice.is_driven() => {
                Some("it shapes the voices Soft and Soft clean only")
            }
            "arp" | "duty" | "attack" | "decay" if self.voice != Voice::Chip => {
                Some("it shapes the voice Chip only")
            }
            "arp" if self.arp != Arp::Off && self.has_all_voices() => {
                Some("Voices lets all notes sound, so none is left over; set it to 3 or so")
            }
            "octave" if self.voice == Voice::Soft => {
                Some("the voice Soft sounds at the detected note")
            }
            "map" | "glide" | "vibrato" if self.voice == Voice::Soft => {
                Some("the voice Soft always plays at the detected pitch")
            }
            "map" => self.idle_map(),
            "scale" => self.idle_scale(),
            "root" => self.idle_scale().or(match self.scale {
                Scale::Chromatic => Some("the scale Chromatic has all notes, whatever its root"),
                Scale::Custom => Some("the notes of the scale Custom are picked one by one"),
                Scale::Auto => Some("the scale Auto finds the root in the music"),
                _ => None,
            }),
            "ring" | "release" if self.sync != NoteValue::OFF => Some("Sync sets it, by the tempo"),
            "sync-to" if self.sync == NoteValue::OFF => Some("Sync is off"),
            _ => None,
        }
    }

    /// Returns why the map acts like [`Map::Mute`]; `None` for Mute, or if the map acts differently. The voice must not be
    /// Soft.
    fn idle_map(&self) -> Option<&'static str> {
        match self.map {
            Map::Snap if !self.keys.choose() && self.has_all_notes() => {
                Some("the scale has all notes, so none has to move; choose another Scale")
            }
            Map::Custom
                if self.targets == Targets::IDENTITY
                    && (self.keys.choose() || self.has_all_notes()) =>
            {
                Some("every note is its own target; choose other targets")
            }
            _ => None,
        }
    }

    /// Returns why the scale has no effect; `None` if it can silence or move notes.
    fn idle_scale(&self) -> Option<&'static str> {
        if self.keys.choose() {
            return Some("the keys choose the notes");
        }
        let maps_all = self.active_map() == Map::Custom;
        maps_all.then_some("Map at Custom lets all notes sound, each at its target")
    }

    /// Whether the scale has all twelve notes. False for a scale that follows the music.
    fn has_all_notes(&self) -> bool {
        let classes = self.scale.pitch_classes(self.root, self.custom);
        self.scale != Scale::Auto && classes == PitchClasses::ALL
    }

    /// Whether `voices` is at its maximum, which means no limit.
    fn has_all_voices(&self) -> bool {
        SPECS.iter().any(|spec| spec.id == "voices" && self.voices >= spec.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BandMask, Keys, PitchClass,
        notes::{TONES, midi_note},
    };

    /// Returns the bands that sound and their offsets in semitones: first with no key held, then with A4 held.
    fn notes(settings: &Settings) -> [(BandMask, [i8; TONES]); 2] {
        let a4 = (0..TONES).find(|tone| midi_note(*tone, 0.0) == 69).unwrap();
        [(BandMask::NONE, 0), (BandMask::NONE.with(a4, true), 1 << 69)]
            .map(|(bands, keys)| (settings.bands_with_keys(bands), settings.offsets(keys)))
    }

    /// Returns the default with each combination of scale, keys, map, custom scale, targets and voice.
    fn combinations() -> Vec<Settings> {
        let picked = [PitchClasses::ALL, PitchClasses::NONE.with(3, true).with(7, true)];
        let mapped = [Targets::IDENTITY, Targets::IDENTITY.with(4, PitchClass::new(3))];
        let mut all = vec![Settings::default()];
        let mut vary = |each: &dyn Fn(&Settings) -> Vec<Settings>| {
            all = all.iter().flat_map(each).collect();
        };
        vary(&|s| Scale::ALL.map(|scale| Settings { scale, ..*s }).into());
        vary(&|s| Keys::ALL.map(|keys| Settings { keys, ..*s }).into());
        vary(&|s| Map::ALL.map(|map| Settings { map, ..*s }).into());
        vary(&|s| picked.map(|custom| Settings { custom, ..*s }).into());
        vary(&|s| mapped.map(|targets| Settings { targets, ..*s }).into());
        vary(&|s| [Voice::Soft, Voice::Square].map(|voice| Settings { voice, ..*s }).into());
        all
    }

    #[test]
    fn root_and_scale_are_idle_without_effect() {
        for settings in combinations() {
            let moves = |change: &dyn Fn(&mut Settings)| {
                let mut other = settings;
                change(&mut other);
                notes(&other) != notes(&settings)
            };
            let by_root = (1..12).any(|root| moves(&|s| s.root = PitchClass::new(root)));
            assert_eq!(settings.idle("root").is_none(), by_root, "{settings:?}");
            let by_scale = Scale::ALL.iter().any(|scale| moves(&|s| s.scale = *scale));
            assert_eq!(settings.idle("scale").is_none(), by_scale, "{settings:?}");
            assert_eq!(settings.idle("octave").is_none(), settings.voice != Voice::Soft);
        }
    }

    #[test]
    fn a_map_that_acts_like_mute_is_idle() {
        for settings in combinations().iter().filter(|settings| settings.map != Map::Mute) {
            let mut found = *settings;
            if settings.scale == Scale::Auto {
                // Once a key is found, Auto acts as a scale.
                found.scale = Scale::Dorian;
            }
            let moves = notes(&Settings { map: Map::Mute, ..found }) != notes(&found);
            assert_eq!(settings.idle("map").is_none(), moves, "{settings:?}");
        }
    }
}
