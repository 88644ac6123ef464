//! A score: the notes of a piece of music with their times, which replace the decisions of a listener.
//!
//! As text, the first line is `tone-filter-score 1`, and each other line is a note: start and end in seconds, MIDI note (69 is
//! A4), velocity (1 to 127), and stereo position from -100 (right) to 100 (left). Velocity and stereo position may be left out.
//! Empty lines and lines that begin with `#` are ignored. Numbers are written with the fewest digits that are exact.
//!
//! ```text
//! tone-filter-score 1
//! 0.512 1.234 69 96 -20
//! ```

use super::notes::{TONES, by_pitch, midi_note};
use std::{error::Error, fmt, str::FromStr, sync::Arc};

const HEADER: &str = "tone-filter-score 1";
/// Maximum distance of a time from the start of the music, in seconds: 30 years.
const LONGEST: f64 = 1e9;
/// Gap in seconds between two notes of a tone, so that the attack of the second one is audible.
const GAP: f64 = 0.02;
/// Duration in seconds for which a note counts as just begun.
const BEGUN: f64 = 0.035;

/// Note of a [`Score`]: a tone, with its times, velocity and stereo position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreNote {
    /// Tone, 0..77; see [`notes`](crate::notes).
    pub tone: usize,
    /// Start in seconds from the start of the music.
    pub start: f64,
    /// End in seconds, later than `start`.
    pub end: f64,
    /// MIDI velocity, 1..=127.
    pub velocity: u8,
    /// Stereo position from 1 (left) to -1 (right).
    pub place: f32,
}

/// State of a tone at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoreState {
    pub note: ScoreNote,
    /// Whether the note has just begun; see [`BEGUN`].
    pub begun: bool,
}

/// Notes with their times.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Notes of each tone, sorted by start, without overlap.
    tones: [Vec<ScoreNote>; TONES],
}

/// Parse error of a score: its first invalid line, and the number of invalid lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadScore {
    /// Number of the first invalid line, from 1 on.
    pub line: usize,
    /// Number of invalid lines.
    pub count: usize,
    reason: String,
}

impl fmt::Display for BadScore {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)?;
        if self.count > 1 { write!(f, " (invalid lines: {})", self.count) } else { Ok(()) }
    }
}

impl Error for BadScore {}

impl Default for Score {
    fn default() -> Self {
        Self::new([])
    }
}

impl Score {
    /// Creates a score of `notes` in any order. Each note ends at the latest 20 ms before the next one of its tone, or halfway
    /// between both starts if that is later. Notes of a tone with equal starts become one. Skips notes whose tone is 77 or more,
    /// whose times are more than 30 years from the start of the music, or whose end is not after their start. Velocity and place
    /// are clamped to their ranges.
    ///
    /// ```
    /// use tone_filter_dsp::{Score, ScoreNote, notes::A4};
    ///
    /// let note = ScoreNote { tone: A4, start: 1.0, end: 2.5, velocity: 100, place: 0.0 };
    /// let score = Score::new([note]);
    /// assert_eq!(score.notes().collect::<Vec<_>>(), [note]);
    /// assert_eq!(score.seconds(), 2.5);
    /// ```
    pub fn new(notes: impl IntoIterator<Item = ScoreNote>) -> Self {
        let mut tones = [const { Vec::new() }; TONES];
        for note in notes {
            let is_near = note.start >= -LONGEST && note.end <= LONGEST;
            if note.tone < TONES && note.start < note.end && is_near {
                let place = if note.place.is_nan() { 0.0 } else { note.place.clamp(-1.0, 1.0) };
                let velocity = note.velocity.clamp(1, 127);
                tones[note.tone].push(ScoreNote { velocity, place, ..note });
            }
        }
        for of_tone in &mut tones {
            of_tone.sort_by(|a: &ScoreNote, b| a.start.total_cmp(&b.start));
            // Notes of a tone with the same start become one, because the first would have no duration.
            of_tone.dedup_by(|later, first| {
                let same = later.start == first.start;
                if same {
                    first.end = first.end.max(later.end);
                }
                same
            });
            for index in 1..of_tone.len() {
                let next = of_tone[index].start;
                let note = &mut of_tone[index - 1];
                let end = note.end.min(next - GAP);
                note.end = end.max(note.start + 0.5 * (next - note.start)).min(note.end);
            }
            // Rounding may have halved the duration of a note to 0.
            of_tone.retain(|note| note.start < note.end);
        }
        Self { tones }
    }

    /// Parses a score, and skips invalid lines. Returns the score, and a report of the skipped lines.
    ///
    /// # Errors
    /// If the first line is not the header, or all other lines are invalid.
    pub fn read(text: &str) -> Result<(Self, Option<BadScore>), BadScore> {
        let mut lines = text.lines().zip(1..).map(|(line, number)| (line.trim(), number));
        if lines.next().is_none_or(|(line, _)| line.trim_start_matches('\u{feff}') != HEADER) {
            let reason = format!("is not {HEADER:?}, as in a score of this version");
            return Err(BadScore { line: 1, count: 1, reason });
        }
        let (mut notes, mut bad) = (Vec::new(), None::<BadScore>);
        for (line, number) in lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
            match (read(line), bad.as_mut()) {
                (Ok(note), _) => notes.push(note),
                (Err(_), Some(bad)) => bad.count += 1,
                (Err(reason), None) => bad = Some(BadScore { line: number, count: 1, reason }),
            }
        }
        match bad {
            Some(bad) if notes.is_empty() => Err(bad),
            bad => Ok((Self::new(notes.into_iter().flatten()), bad)),
        }
    }

    /// Returns all notes: the lowest tone first, and the notes of each tone by their start.
    pub fn notes(&self) -> impl Iterator<Item = ScoreNote> + '_ {
        by_pitch().flat_map(|tone| self.tones[tone].iter().copied())
    }

    /// Returns the end of the last note in seconds; 0 if no note ends after the start of the music.
    pub fn seconds(&self) -> f64 {
        self.notes().map(|note| note.end).fold(0.0, f64::max)
    }

    /// Returns the state of `tone` (0..77) at a time in seconds; `None` while no note plays.
    pub(crate) fn state(&self, tone: usize, seconds: f64) -> Option<ScoreState> {
        let notes = &self.tones[tone];
        let after = notes.partition_point(|note| note.start <= seconds);
        let note = *notes.get(after.checked_sub(1)?)?;
        let begun = seconds - note.start < BEGUN;
        (seconds < note.end).then_some(ScoreState { note, begun })
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{HEADER}\n# start end note velocity place")?;
        let mut notes: Vec<_> = self.notes().collect();
        notes.sort_by(|a, b| a.start.total_cmp(&b.start));
        for ScoreNote { tone, start, end, velocity, place } in notes {
            let place = percent(place);
            writeln!(f, "{start} {end} {} {velocity} {place}", midi_note(tone, 0.0))?;
        }
        Ok(())
    }
}

impl FromStr for Score {
    type Err = BadScore;

    /// Parses a score whose lines are all valid.
    fn from_str(text: &str) -> Result<Self, BadScore> {
        let (score, bad) = Self::read(text)?;
        bad.map_or(Ok(score), Err)
    }
}

/// Formats a stereo position in percent, with the fewest decimals that [`place_of`] reads back exactly.
fn percent(place: f32) -> String {
    let text = |decimals: usize| format!("{:.decimals$}", 100.0 * f64::from(place));
    let is_exact = |text: &String| text.parse().is_ok_and(|percent| place_of(percent) == place);
    (0..).map(text).find(is_exact).unwrap_or_default()
}

fn place_of(percent: f64) -> f32 {
    (percent / 100.0) as f32
}

/// Parses the line of a note; `None` if no tone has its MIDI note.
fn read(line: &str) -> Result<Option<ScoreNote>, String> {
    let mut words = line.split_whitespace();
    let mut number = |name: &str, default: Option<f64>, min: f64, max: f64| {
        let Some(word) = words.next() else {
            return default.ok_or_else(|| format!("has no {name}; write start, end and note"));
        };
        word.parse()
            .ok()
            .filter(|value| (min..=max).contains(value))
            .ok_or_else(|| format!("{name} = {word} is out of range; use {min} to {max}"))
    };
    let start = number("start", None, -LONGEST, LONGEST)?;
    let end = number("end", None, -LONGEST, LONGEST)?;
    let key = number("note", None, 0.0, 127.0)?;
    let velocity = number("velocity", Some(64.0), 1.0, 127.0)? as u8;
    let place = place_of(number("place", Some(0.0), -100.0, 100.0)?);
    if let Some(word) = words.next() {
        return Err(format!(
            "{word} is one number too many; write start, end, note, velocity, place"
        ));
    }
    if end <= start {
        return Err(format!("ends at {end}, which is not after its start"));
    }
    let tone = by_pitch().find(|&tone| midi_note(tone, 0.0) == key.round() as i32);
    Ok(tone.map(|tone| ScoreNote { tone, start, end, velocity, place }))
}

/// Scores that an audio thread may still use. The thread that sends scores stores a reference to each here, so the audio thread
/// never frees one. The audio thread gets clones of the [`Arc`], by any channel, and passes them to
/// [`ToneFilter::set_score`](crate::ToneFilter::set_score).
///
/// ```
/// use std::sync::Arc;
/// use tone_filter_dsp::{Score, SharedScores};
///
/// let (mut scores, score) = (SharedScores::default(), Arc::new(Score::default()));
/// scores.keep(Some(&score));
/// let audio_thread = score;
/// scores.keep(None);
/// assert_eq!(Arc::strong_count(&audio_thread), 2, "the audio thread has it");
/// let freed = Arc::downgrade(&audio_thread);
/// drop(audio_thread);
/// scores.keep(None);
/// assert!(freed.upgrade().is_none());
/// ```
#[derive(Debug, Default)]
pub struct SharedScores(Vec<Arc<Score>>);

impl SharedScores {
    /// Stores a score that is about to be sent, and frees the stored scores without another reference. Not for the audio thread.
    pub fn keep(&mut self, score: Option<&Arc<Score>>) {
        self.0.retain(|kept| Arc::strong_count(kept) > 1);
        let is_new = |score: &&Arc<Score>| !self.0.iter().any(|kept| Arc::ptr_eq(kept, score));
        let new = score.filter(is_new).cloned();
        self.0.extend(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notes::A4;
    use proptest::{collection, prelude::*};

    fn note(tone: usize, start: f64, end: f64) -> ScoreNote {
        ScoreNote { tone, start, end, velocity: 80, place: 0.25 }
    }

    /// Draws notes with any numbers, many of them close to each other.
    fn notes() -> impl Strategy<Value = Vec<ScoreNote>> {
        let times = prop_oneof![(0..4u8).prop_map(f64::from), 0.0..0.1, -1e6..1e6, any::<f64>()];
        let fields = (0..TONES + 2, times, 0.0..0.1, any::<u8>(), -1.1f32..1.1);
        let note = fields.prop_map(|(tone, start, length, velocity, place)| {
            // Some times are neighbouring floats.
            let start = if velocity % 5 == 0 { start.next_up() } else { start };
            ScoreNote { tone: tone % 9 * 10, start, end: start + length, velocity, place }
        });
        collection::vec(note, 0..20)
    }

    proptest! {
        #[test]
        fn a_score_is_the_same_after_its_text(notes in notes()) {
            let score = Score::new(notes);
            prop_assert_eq!(score.to_string().parse(), Ok(score));
        }
    }

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let text = "0 1.25 69 64 0\n86400.5 86401 69 1 -67.5\n";
        let score: Score = format!("{HEADER}\n{text}").parse().unwrap();
        assert!(score.to_string().ends_with(&format!("place\n{text}")));
        let shortest: Score = "tone-filter-score 1\r\n\r\n0 1 69".parse().unwrap();
        let expected = ScoreNote { tone: A4, start: 0.0, end: 1.0, velocity: 64, place: 0.0 };
        assert_eq!(shortest.notes().collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn bad_lines_are_named_with_the_remedy() {
        for (line, error) in [
            ("0", "line 3: has no end; write start, end and note"),
            ("0 1 128", "line 3: note = 128 is out of range; use 0 to 127"),
            ("0 1 x", "line 3: note = x is out of range; use 0 to 127"),
            ("nan 1 69", "line 3: start = nan is out of range; use -1000000000 to 1000000000"),
            ("2 1 69", "line 3: ends at 1, which is not after its start"),
            ("0 1 69 0", "line 3: velocity = 0 is out of range; use 1 to 127"),
            (
                "0 1 69 9 0 7",
                "line 3: 7 is one number too many; write start, end, note, velocity, place",
            ),
        ] {
            let text = format!("tone-filter-score 1\n\n{line}\n");
            assert_eq!(text.parse::<Score>().unwrap_err().to_string(), error);
            // The valid lines around it are kept.
            let text = format!("tone-filter-score 1\n0 1 69\n{line}\n1 2 69\n{line}\n");
            let (score, left_out) = Score::read(&text).unwrap();
            assert_eq!(score.notes().count(), 2);
            assert_eq!(left_out.unwrap().to_string(), format!("{error} (invalid lines: 2)"));
        }
        for text in ["", "0 1 69", "tone-filter-score 2\n"] {
            assert_eq!(text.parse::<Score>().unwrap_err().line, 1, "{text:?}");
        }
    }

    #[test]
    fn notes_of_a_tone_do_not_overlap() {
        let score = Score::new([
            note(3, 1.0, 3.0),
            note(3, 2.0, 2.5),
            note(3, 2.0, 2.2),
            note(99, 0.0, 1.0),
        ]);
        let times: Vec<_> = score.notes().map(|note| (note.start, note.end)).collect();
        assert_eq!(times, [(1.0, 2.0 - GAP), (2.0, 2.5)]);
        assert_eq!(score.state(3, 0.99), None);
        assert!(score.state(3, 1.0).unwrap().begun && !score.state(3, 1.5).unwrap().begun);
        assert_eq!(score.state(3, 1.99), None);
        assert_eq!(score.state(3, 2.0).unwrap().note.end, 2.5);
        assert_eq!(score.state(3, 2.5), None);
        // Notes that follow too closely are halved rather than left out.
        let dense = Score::new([note(3, 1.0, 2.0), note(3, 1.01, 2.0)]);
        assert_eq!(dense.notes().next().unwrap().end, 1.005);
    }
}
