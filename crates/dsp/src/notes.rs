//! The 77 tones of the filter: the published ones, four octaves of semitones from A3 on, then those below A3, from E1 on.

use tone_filter_listener::{LOWEST_NOTE, NOTES};

/// Number of tones of the filter.
pub const TONES: usize = 77;
/// Number of tones of the published filter, A3 to G#7. These come first; E1 to G#3 follow.
pub const PUBLISHED: usize = 48;
/// Tone A4, whose frequency is the setting `tuning`.
pub const A4: usize = 12;

const _: () = assert!(TONES <= NOTES && LOWEST_NOTE + TONES - PUBLISHED == A3);
const A3: usize = 57;

/// Returns the semitones from A3 to tone `index` (0..77): 0 to 47 for the published tones, -29 to -1 for the others.
pub const fn semitone(index: usize) -> i32 {
    index as i32 - if index < PUBLISHED { 0 } else { TONES as i32 }
}

/// Returns all tones by pitch, the lowest first.
pub fn by_pitch() -> impl DoubleEndedIterator<Item = usize> + Clone {
    (PUBLISHED..TONES).chain(0..PUBLISHED)
}

/// Returns the tone of the listener's note with the index `note`; `None` for a note above all tones.
pub fn of_listener(note: usize) -> Option<usize> {
    (note < TONES).then_some((note + PUBLISHED) % TONES)
}

/// Returns the index of tone `index` among the listener's notes.
pub const fn to_listener(index: usize) -> usize {
    (index + TONES - PUBLISHED) % TONES
}

/// Returns the pitch class of tone `index` as an index of [`PITCH_CLASSES`].
pub const fn pitch_class(index: usize) -> usize {
    semitone(index).rem_euclid(12) as usize
}

/// Names of the twelve pitch classes in the order of the band grid's columns, A first.
pub const PITCH_CLASSES: [&str; 12] =
    ["A", "A#", "B", "C", "C#", "D", "D#", "E", "F", "F#", "G", "G#"];

/// Returns the scientific name of tone `index` (0..77) before transposition: `A3` for 0, `G#7` for 47, `E1` for 48.
///
/// # Panics
/// If `index` is 77 or more.
pub const fn name(index: usize) -> &'static str {
    NAMES[index]
}

/// Returns the MIDI note of tone `index`, transposed by `transpose` semitones, which are rounded. Tone 0 is 57, A3.
pub fn midi_note(index: usize, transpose: f32) -> i32 {
    A3 as i32 + semitone(index) + transpose.round() as i32
}

/// Returns the scientific name of tone `index`, transposed by `transpose` semitones, which are rounded: for tone 12, `A4` at 0
/// and `A3` at -12.
pub fn name_at(index: usize, transpose: f32) -> String {
    key_name(midi_note(index, transpose))
}

/// Returns the scientific name of the MIDI note `key`: `C4` for 60.
pub fn key_name(key: i32) -> String {
    // Pitch classes count from A, octaves from C.
    format!("{}{}", PITCH_CLASSES[(key + 3).rem_euclid(12) as usize], key.div_euclid(12) - 1)
}

/// Returns the frequency in Hz of tone `index` in twelve-tone equal temperament, for an A4 of `tuning` Hz, transposed by
/// `transpose` semitones (fractions allowed).
pub fn frequency(index: usize, tuning: f64, transpose: f64) -> f64 {
    frequency_above_a3(semitone(index), tuning, transpose)
}

/// Returns the [`frequency`] of the note that is `semitones` above A3; it may lie outside the tones.
pub(crate) fn frequency_above_a3(semitones: i32, tuning: f64, transpose: f64) -> f64 {
    tuning * libm::exp2((f64::from(semitones) - A4 as f64 + transpose) / 12.0)
}

#[rustfmt::skip]
const NAMES: [&str; TONES] = [
    "A3", "A#3", "B3", "C4", "C#4", "D4", "D#4", "E4", "F4", "F#4", "G4", "G#4",
    "A4", "A#4", "B4", "C5", "C#5", "D5", "D#5", "E5", "F5", "F#5", "G5", "G#5",
    "A5", "A#5", "B5", "C6", "C#6", "D6", "D#6", "E6", "F6", "F#6", "G6", "G#6",
    "A6", "A#6", "B6", "C7", "C#7", "D7", "D#7", "E7", "F7", "F#7", "G7", "G#7",
    "E1", "F1", "F#1", "G1", "G#1",
    "A1", "A#1", "B1", "C2", "C#2", "D2", "D#2", "E2", "F2", "F#2", "G2", "G#2",
    "A2", "A#2", "B2", "C3", "C#3", "D3", "D#3", "E3", "F3", "F#3", "G3", "G#3",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_pitch_class_and_octave() {
        for index in 0..TONES {
            // MIDI numbers A3 as 57 and starts octave n at 12 (n + 1).
            let octave = midi_note(index, 0.0) / 12 - 1;
            assert_eq!(name(index), format!("{}{octave}", PITCH_CLASSES[pitch_class(index)]));
            assert_eq!(name(index), name_at(index, -0.3));
        }
        let rounded = [0.4, 0.5, -0.5, -24.0].map(|transpose| midi_note(0, transpose));
        assert_eq!((midi_note(A4, 0.0), rounded), (69, [57, 58, 56, 33]));
        assert_eq!([name_at(12, -12.0), name_at(0, -24.0), name_at(2, 1.0)], ["A3", "A1", "C4"]);
    }
}
