//! Which settings have no effect on the sound because of others.

use super::{Arp, NoteValue, SPECS, Settings, Voice};

impl Settings {
    /// Why the setting called `id` has no effect on the sound of the notes, as the end of a sentence; `None` if it has one.
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
            "sensitivity" if self.focus == 0.0 => Some("Focus is at 0 %"),
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
                Some("the voice Soft is the resonator itself, at its own pitch")
            }
            "ring" | "release" if self.sync != NoteValue::OFF => {
                Some("Sync sets it, by the song's tempo")
            }
            _ => None,
        }
    }

    /// Whether `voices` is at its end, where it stands for any number.
    fn has_all_voices(&self) -> bool {
        SPECS.iter().any(|spec| spec.id == "voices" && self.voices >= spec.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CHOICES, Controls};

    #[test]
    fn settings_have_an_effect_where_their_voice_sounds() {
        let default = Settings::default();
        let chip = Settings { voice: Voice::Chip, voices: 3.0, ..default };
        for id in ["arp", "duty", "attack", "decay"] {
            assert!(default.idle(id).is_some() && chip.idle(id).is_none(), "{id}");
        }
        let fast = Settings { arp: Arp::Fast, ..chip };
        assert_eq!(fast.idle("arp"), None);
        assert!(Settings { voices: 48.0, ..fast }.idle("arp").is_some());
        assert!(default.idle("octave").is_some() && chip.idle("octave").is_none());
        assert!(chip.idle("drive").is_some() && default.idle("drive").is_none());
        assert!(Settings { focus: 0.0, ..default }.idle("sensitivity").is_some());
        assert!(Settings { sync: NoteValue::new(5), ..default }.idle("ring").is_some());
    }

    #[test]
    fn every_id_is_that_of_a_setting() {
        let idle = [
            Settings {
                focus: 0.0,
                voice: Voice::Saw,
                sync: NoteValue::new(5),
                ..Settings::default()
            },
            Settings::default(),
        ];
        let ids = SPECS.iter().map(|spec| spec.id).chain(CHOICES.iter().map(|choice| choice.id));
        let found = ids.filter(|id| idle.iter().any(|settings| settings.idle(id).is_some()));
        // All of them but `arp` with the voice Chip.
        assert_eq!(found.count(), 13);
        assert_eq!(Controls::default().settings.idle("mix"), None);
    }
}
