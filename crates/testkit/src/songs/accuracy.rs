//! Comparison of detected notes with the notes of a song.

use super::{KEYS, Note};

/// Time step of the comparison in seconds.
const GRID: f64 = 0.01;

/// Maximum difference in seconds between an onset and its match.
const ONSET: f64 = 0.1;

/// Onsets of a key that are closer than this time in seconds count as one: instruments may play in unison.
const TOGETHER: f64 = 0.05;

/// Accuracy of detected notes. All values are from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Fraction of the duration of the detected notes in which the score has the same note.
    pub precision: f64,
    /// Fraction of the duration of the score's notes in which the same note is detected.
    pub recall: f64,
    /// Frame-wise F1 score: harmonic mean of precision and recall.
    pub frames: f64,
    /// Onset F1 score. An onset matches one in the score within 0.1 s.
    pub onsets: f64,
}

/// Compares the detected notes `found` with the notes `score`, in the first `seconds` seconds.
pub fn accuracy(found: &[Note], score: &[Note], seconds: f64) -> Accuracy {
    let (mut hits, mut detected, mut real) = (0, 0, 0);
    for key in KEYS {
        let [found, real_ones] = [found, score].map(|notes| held_per_step(notes, key, seconds));
        for (found, played) in found.into_iter().zip(real_ones) {
            hits += u32::from(found && played);
            detected += u32::from(found);
            real += u32::from(played);
        }
    }
    let part = |hits: u32, count: u32| f64::from(hits) / f64::from(count.max(1));
    let (onset_hits, onsets_said, onsets_real) = onsets(found, score, seconds);
    Accuracy {
        precision: part(hits, detected),
        recall: part(hits, real),
        frames: part(2 * hits, detected + real),
        onsets: part(2 * onset_hits, onsets_said + onsets_real),
    }
}

/// Returns for each time step whether `key` is held.
fn held_per_step(notes: &[Note], key: u8, seconds: f64) -> Vec<bool> {
    let steps = (seconds / GRID).round() as usize;
    let step = |time: f64| ((time / GRID).ceil() as usize).min(steps);
    let mut held = vec![false; steps];
    for note in notes.iter().filter(|note| note.key == key) {
        held[step(note.start)..step(note.end)].fill(true);
    }
    held
}

/// Returns the onsets of `key` before `seconds`. `notes` must be sorted by start. Onsets in unison count once.
pub fn starts(notes: &[Note], key: u8, seconds: f64) -> Vec<f64> {
    let notes = notes.iter().filter(|note| note.key == key && note.start < seconds);
    let mut starts: Vec<f64> = notes.map(|note| note.start).collect();
    starts.dedup_by(|next, first| *next - *first < TOGETHER);
    starts
}

/// Counts the correctly detected onsets, all detected onsets, and the onsets in the score.
fn onsets(found: &[Note], score: &[Note], seconds: f64) -> (u32, u32, u32) {
    let (mut hits, mut detected, mut real) = (0, 0, 0);
    for key in KEYS {
        let [mut found, played] = [found, score].map(|notes| starts(notes, key, seconds));
        detected += found.len() as u32;
        real += played.len() as u32;
        for start in played {
            // Takes the earliest match, which leaves the most candidates for later notes.
            if let Some(index) = found.iter().position(|other| (other - start).abs() <= ONSET) {
                found.drain(..=index);
                hits += 1;
            }
        }
    }
    (hits, detected, real)
}

/// Returns the latency of each note of `score`: the seconds from the note's start until it is detected.
///
/// Leaves out notes that are shorter than 0.1 s, that are already detected before they start, or that are not detected before
/// they end.
pub fn latencies(found: &[Note], score: &[Note]) -> Vec<f64> {
    let long = score.iter().filter(|note| note.end - note.start >= 0.1);
    long.filter_map(|note| {
        let same = || found.iter().filter(|other| other.key == note.key);
        if same().any(|other| other.start < note.start && note.start < other.end) {
            return None;
        }
        let late = same().find(|other| (note.start..note.end).contains(&other.start))?;
        Some(late.start - note.start)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(key: u8, start: f64, end: f64) -> Note {
        Note { key, start, end }
    }

    #[test]
    fn half_found_is_half_accurate() {
        let real = [note(60, 0.0, 1.0), note(64, 0.5, 1.0)];
        let all = accuracy(&real, &real, 1.0);
        assert_eq!((all.precision, all.recall, all.frames, all.onsets), (1.0, 1.0, 1.0, 1.0));
        let found = [note(60, 0.05, 0.55), note(61, 0.0, 0.5)];
        let half = accuracy(&found, &real, 1.0);
        assert!((half.precision - 0.5).abs() < 0.011 && (half.recall - 1.0 / 3.0).abs() < 0.011);
        assert_eq!(half.onsets, 0.5);
        assert_eq!(accuracy(&[], &real, 1.0).frames, 0.0);
        let late = latencies(&found, &real);
        assert!(late.len() == 1 && (late[0] - 0.05).abs() < 1e-9, "{late:?}");

        // Two instruments in unison count as one note, and each note can be detected only once.
        let real = [note(60, 0.0, 0.3), note(60, 0.01, 0.4), note(60, 0.5, 0.6)];
        let found = [note(60, 0.02, 0.05), note(60, 0.09, 0.4), note(60, 0.5, 0.6)];
        assert_eq!(accuracy(&found, &real, 1.0).onsets, 0.8);
    }
}
