//! Names of the notes that bands sound.

use tone_filter_dsp::notes::{PITCH_CLASSES, TONES, midi_note};

/// Returns the name of the note that band `tone` sounds with a transposition of `transpose` semitones: for band 12, `A4` at 0 and
/// `A3` at -12.
pub fn name(tone: usize, transpose: f32) -> String {
    let key = midi_note(tone, transpose);
    // Pitch classes count from A, octaves from C.
    format!("{}{}", PITCH_CLASSES[(key + 3).rem_euclid(12) as usize], key.div_euclid(12) - 1)
}

/// Returns the [`name`] of each band.
pub fn names(transpose: f32) -> [String; TONES] {
    std::array::from_fn(|tone| name(tone, transpose))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tone_filter_dsp::notes;

    #[test]
    fn a_band_is_called_by_what_it_sounds() {
        for (tone, own) in names(0.0).iter().enumerate() {
            assert_eq!(own, notes::name(tone));
            assert_eq!(name(tone, -0.3), *own);
        }
        assert_eq!([name(12, -12.0), name(0, -24.0), name(2, 1.0)], ["A3", "A1", "C4"]);
    }
}
