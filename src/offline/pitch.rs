//! The pitch at which a band sounds.

use crate::dsp::{
    Settings, Voice,
    notes::{PITCH_CLASSES, TONES, midi_note},
};

/// Semitones from a band's own note to what sounds with `settings`.
pub fn shift(settings: &Settings) -> f32 {
    let octave = if settings.voice == Voice::Soft { 0.0 } else { settings.octave.round() };
    settings.transpose + 12.0 * octave
}

/// The name of the note that band `tone` sounds when it is moved by `transpose` semitones: `A4` for band 12, `A3` an
/// octave lower.
pub fn name(tone: usize, transpose: f32) -> String {
    let key = midi_note(tone, transpose);
    // The pitch classes begin at A, the octaves at C.
    format!("{}{}", PITCH_CLASSES[(key + 3).rem_euclid(12) as usize], key.div_euclid(12) - 1)
}

/// The names of all bands.
pub fn names(transpose: f32) -> [String; TONES] {
    std::array::from_fn(|tone| name(tone, transpose))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dsp::notes;

    #[test]
    fn a_band_is_called_by_what_it_sounds() {
        for (tone, own) in names(0.0).iter().enumerate() {
            assert_eq!(own, notes::name(tone));
            assert_eq!(name(tone, -0.3), *own);
        }
        let soft = Settings { transpose: -3.0, octave: 1.0, ..Settings::REFERENCE };
        assert_eq!(shift(&soft), -3.0, "the soft clip has no octave");
        assert_eq!(shift(&Settings { voice: Voice::Saw, ..soft }), 9.0);
        assert_eq!([name(12, -12.0), name(0, -24.0), name(2, 1.0)], ["A3", "A1", "C4"]);
    }
}
