//! Tempo sync: note values, which set the times of the settings `ring` and `release`.

use super::{
    BadText, Entry, Settings, choice,
    listed::{Listed, entries},
    spec,
};

/// Tempo in beats per minute that applies while no tempo is known.
pub const DEFAULT_TEMPO: f64 = 120.0;

/// Number of release time constants in which a note falls by 60 dB. The time constants apply to the power of the note, not to
/// its amplitude.
const RELEASES: f64 = 13.815_510_557_964_274;

entries! {
    /// Tempo that [`Settings::sync`] counts by.
    SyncTo {
        /// Tempo of the host, if it has one.
        #[default]
        Host: "host", "Host";
        /// Tempo that is found in the music.
        Music: "music", "Music";
    }
}

/// A note value, or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoteValue(u8);

impl NoteValue {
    /// No note value.
    pub const OFF: Self = Self(0);

    /// Off, and the note values from the longest to the shortest.
    #[rustfmt::skip]
    pub const ENTRIES: [Entry; 19] = [
        ("off", "Off"),
        ("1/1d", "1/1 dotted"), ("1/1", "1/1"),
        ("1/2d", "1/2 dotted"), ("1/1t", "1/1 triplet"), ("1/2", "1/2"),
        ("1/4d", "1/4 dotted"), ("1/2t", "1/2 triplet"), ("1/4", "1/4"),
        ("1/8d", "1/8 dotted"), ("1/4t", "1/4 triplet"), ("1/8", "1/8"),
        ("1/16d", "1/16 dotted"), ("1/8t", "1/8 triplet"), ("1/16", "1/16"),
        ("1/32d", "1/32 dotted"), ("1/16t", "1/16 triplet"), ("1/32", "1/32"),
        ("1/32t", "1/32 triplet"),
    ];

    /// Returns the entry `index` of [`Self::ENTRIES`]; an index beyond the list means the last entry.
    pub const fn new(index: usize) -> Self {
        Self(if index < Self::ENTRIES.len() { index } else { Self::ENTRIES.len() - 1 } as u8)
    }

    /// Returns the index in [`Self::ENTRIES`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the length in quarter notes; `None` for off.
    pub fn beats(self) -> Option<f64> {
        let value = Self::ENTRIES[self.index()].0.strip_prefix("1/")?;
        let share: f64 = value.trim_end_matches(['d', 't']).parse().ok()?;
        let length = match value.as_bytes().last() {
            Some(b'd') => 1.5,
            Some(b't') => 2.0 / 3.0,
            _ => 1.0,
        };
        Some(4.0 / share * length)
    }
}

impl Listed for NoteValue {
    const ENTRIES: &'static [Entry] = &Self::ENTRIES;

    fn index(self) -> usize {
        self.index()
    }

    fn at(index: usize) -> Self {
        Self::new(index)
    }
}

impl TryFrom<String> for NoteValue {
    type Error = BadText;

    fn try_from(text: String) -> Result<Self, BadText> {
        let found = choice("sync").and_then(|sync| sync.parse(&text));
        found.map(Self::new).ok_or_else(|| {
            let remedy =
                "use off, 1/1, 1/2, 1/4, 1/8, 1/16 or 1/32, with a d for dotted or a t for triplet";
            BadText(format!("'{text}' is no note value; {remedy}"))
        })
    }
}

impl Settings {
    /// Returns the settings with `ring` and `release` computed from the note value `sync`, and with `sync` off. `tempo` is the
    /// host's tempo in beats per minute; an invalid one counts as [`DEFAULT_TEMPO`]. Within the duration of the note value,
    /// resonators from A3 up and released notes fall by 60 dB, unless `ring` or `release` reaches a limit of its range. Returns
    /// the settings unchanged if `sync` is off, or with [`SyncTo::Music`], because the filter then finds the tempo itself.
    ///
    /// ```
    /// use tone_filter_dsp::{Settings, NoteValue};
    ///
    /// let settings = Settings { sync: NoteValue::try_from("1/4".to_owned())?, ..Settings::default() };
    /// assert_eq!(settings.at_tempo(120.0).ring, 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn at_tempo(self, tempo: f64) -> Self {
        if self.sync_to == SyncTo::Music { self } else { self.synced(tempo) }
    }

    /// Whether the tempo of the music sets `ring` and `release`, which requires the listener. True while `sync` is on:
    /// [`Settings::at_tempo`] turns `sync` off when it has applied the tempo of the host.
    pub fn follows_tempo(&self) -> bool {
        self.sync != NoteValue::OFF
    }

    /// Does the same as [`Settings::at_tempo`], even with [`SyncTo::Music`].
    #[must_use]
    pub(crate) fn synced(self, tempo: f64) -> Self {
        let Some(beats) = self.sync.beats() else { return self };
        let tempo = if tempo.is_finite() && tempo > 0.0 { tempo } else { DEFAULT_TEMPO };
        let seconds = 60.0 / tempo * beats;
        let mut settings = Self { sync: NoteValue::OFF, ..self };
        for (id, value) in [("ring", seconds), ("release", 1000.0 * seconds / RELEASES)] {
            if let Some(spec) = spec(id) {
                spec.set(&mut settings, (value as f32).clamp(spec.min, spec.max));
            }
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_values_have_the_lengths_of_music_theory() {
        let beats = |id: &str| NoteValue::try_from(id.to_owned()).unwrap().beats();
        for (id, expected) in [
            ("off", None),
            ("1/1", Some(4.0)),
            ("1/1d", Some(6.0)),
            ("1/4", Some(1.0)),
            ("1/4t", Some(2.0 / 3.0)),
            ("1/8d", Some(0.75)),
            ("1/32t", Some(1.0 / 12.0)),
        ] {
            assert_eq!(beats(id), expected, "{id}");
        }
        let lengths: Vec<_> = (1..19).filter_map(|index| NoteValue::new(index).beats()).collect();
        assert!(lengths.is_sorted_by(|a, b| a > b), "{lengths:?}");
        assert!(NoteValue::try_from("1/3".to_owned()).unwrap_err().to_string().contains("'1/3'"));
    }

    #[test]
    fn times_follow_the_tempo_within_their_ranges() {
        let sync = NoteValue::try_from("1/4".to_owned()).unwrap();
        let at = |tempo| Settings { sync, ..Settings::default() }.at_tempo(tempo);
        assert_eq!(at(120.0).ring, 0.5);
        assert_eq!(at(60.0).ring, 1.0);
        // 60 dB of power are a factor of 10^6.
        let decay = (-1000.0 * 0.5 / f64::from(at(120.0).release)).exp();
        assert!((decay / 1e-6 - 1.0).abs() < 1e-4, "{decay}");
        assert_eq!(at(f64::NAN), at(DEFAULT_TEMPO));
        for tempo in [0.001, 1e6] {
            assert_eq!(at(tempo).validate(), Ok(()), "{tempo}");
        }
        let off = Settings::default();
        assert_eq!(off.at_tempo(90.0), off);
        let music = Settings { sync, sync_to: SyncTo::Music, ..Settings::default() };
        assert_eq!(music.at_tempo(90.0), music);
        let follows = [music, at(90.0), off].map(|settings| settings.follows_tempo());
        assert_eq!(follows, [true, false, false]);
    }
}
