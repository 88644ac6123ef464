//! Notes of a single voice in a file, decoded as a path.
//!
//! Separate decisions for each note break a sung note into pieces, because the voice glides, wavers and rests between two
//! semitones. Instead, Viterbi's algorithm finds the best sequence of notes and silence. It is used in phrases in which a single
//! voice sings. `docs/listening.md` has the formulas, and the recordings by which the constants were chosen.

use crate::{Decisions, NOTES};
use std::ops::Range;

/// Log odds above the threshold at which a note scores as much as silence.
const HELD: f32 = 1.2;
/// Minimum and maximum score of a frame of a note.
const GAIN: [f32; 2] = [-3.0, 5.35];
/// Penalties of a note's two neighbours in log odds of being held, and of beginning. The highest log odds of the three notes
/// count, but the same note begins again by its own log odds alone.
const NEIGHBOR: [f32; 2] = [1.0, 2.0];
/// Weight of the log odds of a beginning.
const WEIGHT: f32 = 2.5;
/// Maximum absolute value of the log odds of a beginning.
const BEGUN: f32 = 7.0;
/// Cost of a beginning after silence, after another note, and after the same note.
const COSTS: [f64; 3] = [6.0, 5.0, 3.5];
/// Minimum length of a note in frames: 58 ms.
const SHORTEST: usize = 5;

/// Score of a frame with several voices in a phrase of one voice; a frame with one voice scores 1.
const SEVERAL: f64 = -6.0;
/// Cost of the start or the end of a phrase of one voice; 3.1 s of one voice make up for it.
const CHANGE: f64 = 270.0;
/// Number of notes without a detected beginning, as a fraction of the path's notes, above which a phrase counts as sung.
/// Instruments begin nearly all of their notes clearly.
const DOUBTS: f64 = 0.5;
/// Length in frames that half of a sung phrase's notes reach: 174 ms. Bands may seem to have one voice, but play faster.
const LONG: u64 = 15;

/// Note of a single voice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VoiceNote {
    /// Index of the note, 0..80.
    pub note: usize,
    /// Frame of the start.
    pub start: u64,
    /// First frame after the note.
    pub end: u64,
    /// Maximum power of the note, times the gain of [`Notes::set_gain`](crate::notes::Notes::set_gain).
    pub level: f32,
    /// Stereo position when the note is loudest.
    pub place: f32,
    /// Index of the previous note on the path, in [`OneVoice::ended`].
    before: Option<usize>,
}

/// Phrase in which a single voice sings.
#[derive(Debug, Clone, PartialEq)]
pub struct Phrase {
    /// Frames of the phrase.
    pub frames: Range<u64>,
    /// Notes that start in the phrase, cut at its end.
    pub notes: Vec<VoiceNote>,
}

/// Best path that ends with a certain note at a certain age, or with silence. The fields after `score` describe its last note, as
/// in [`VoiceNote`]. With silence, however, `before` is the last note itself.
#[derive(Debug, Clone, Copy)]
struct Path {
    score: f64,
    note: usize,
    start: u64,
    level: f32,
    place: f32,
    before: Option<usize>,
}

impl Path {
    const NONE: Self =
        Self { score: f64::NEG_INFINITY, note: 0, start: 0, level: 0.0, place: 0.0, before: None };
}

/// Numbers of voices and of notes in doubt in a frame.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    voices: usize,
    /// Calls of [`OneVoice::doubt`].
    doubts: usize,
}

/// Decoder of a single voice.
#[derive(Debug, Clone)]
pub struct OneVoice {
    /// For each note, the best path that ends with it at each age, from one frame on. The last path is also for all greater ages.
    notes: [[Path; SHORTEST]; NOTES],
    /// Best path that ends with silence.
    silence: Path,
    /// Notes that have ended on some path.
    ended: Vec<VoiceNote>,
    frames: Vec<Counts>,
    /// Number of frames that were removed from the start of `frames`.
    forgotten: u64,
}

impl OneVoice {
    /// State before the first frame.
    pub const NEW: Self = Self {
        notes: [[Path::NONE; SHORTEST]; NOTES],
        silence: Path { score: 0.0, ..Path::NONE },
        ended: Vec::new(),
        frames: Vec::new(),
        forgotten: 0,
    };

    /// Adds a frame. A note is impossible if `sounding` returns false for its index. `gain` multiplies the notes' powers.
    pub fn push(&mut self, decisions: &Decisions, sounding: impl Fn(usize) -> bool, gain: f32) {
        let Decisions { logit, begun_logit, frames, .. } = decisions;
        let only_sounding = |odds: &[f32; NOTES]| -> [f32; NOTES] {
            std::array::from_fn(|note| if sounding(note) { odds[note] } else { f32::NEG_INFINITY })
        };
        let [logit, begun_logit] = [logit, begun_logit].map(only_sounding);
        let nearby = |odds: &[f32; NOTES], note: usize, penalty: f32| {
            let nearby = odds[note.saturating_sub(1)..NOTES.min(note + 2)].iter();
            nearby.fold(odds[note], |highest, odds| highest.max(odds - penalty))
        };
        let begins = |odds: f32| f64::from(WEIGHT * odds.clamp(-BEGUN, BEGUN));

        self.frames.resize((*frames - self.forgotten) as usize, Counts::default());
        let [silence, best] = [self.silence, self.best()];
        // The best path, if its note ends before this frame.
        let rest = Path { before: self.end(best, *frames), ..best };
        for note in 0..NOTES {
            let begun = begins(nearby(&begun_logit, note, NEIGHBOR[1]));
            let same_note = self.notes[note][SHORTEST - 1];
            let from = [(silence, begun - COSTS[0]), (rest, begun - COSTS[1])];
            let again = same_note.score + begins(begun_logit[note]) - COSTS[2];
            let [other, rest] = from.map(|(path, gain)| Path { score: path.score + gain, ..path });
            let mut new = if rest.score > other.score && best.note != note { rest } else { other };
            if again > new.score {
                new = Path { score: again, before: self.end(same_note, *frames), ..same_note };
            }
            let paths = &mut self.notes[note];
            let [.., older, oldest] = *paths;
            paths.rotate_right(1);
            paths[0] = Path { note, start: *frames, level: 0.0, ..new };
            paths[SHORTEST - 1] = if older.score > oldest.score { older } else { oldest };

            let held = nearby(&logit, note, NEIGHBOR[0]) - decisions.threshold - HELD;
            let held =
                if sounding(note) { held.clamp(GAIN[0], GAIN[1]) } else { f32::NEG_INFINITY };
            let (level, place) = (gain * decisions.peak[note], decisions.place[note]);
            for path in paths {
                path.score += f64::from(held);
                if level > path.level {
                    (path.level, path.place) = (level, place);
                }
            }
        }
        if rest.score > silence.score {
            self.silence = rest;
        }
        if let Some(counts) = self.frames.last_mut() {
            counts.voices = decisions.voices;
        }
    }

    /// Counts a reported note that had no detected beginning.
    pub fn doubt(&mut self) {
        self.frames.last_mut().into_iter().for_each(|counts| counts.doubts += 1);
    }

    /// Forgets the frames before `frame` and the notes that end before it, as well as notes that are on no path any more.
    pub fn forget(&mut self, frame: u64) {
        let count = frame.saturating_sub(self.forgotten + 1).min(self.frames.len() as u64);
        self.frames.drain(..count as usize);
        self.forgotten += count;
        let paths = self.notes.as_flattened_mut().iter_mut().chain([&mut self.silence]);
        let mut starts: Vec<&mut Option<usize>> = paths.map(|path| &mut path.before).collect();
        let mut is_kept = vec![false; self.ended.len()];
        for start in &starts {
            let mut next = **start;
            while let Some(index) = next.filter(|index| !is_kept[*index]) {
                is_kept[index] = self.ended[index].end >= frame;
                next = self.ended[index].before.filter(|_| is_kept[index]);
            }
        }
        // A note comes after its predecessor, so the predecessor's new index is known.
        let mut moved = vec![None; is_kept.len()];
        let mut kept: Vec<VoiceNote> = Vec::new();
        for (index, note) in self.ended.iter().enumerate().filter(|(index, _)| is_kept[*index]) {
            moved[index] = Some(kept.len());
            kept.push(VoiceNote { before: note.before.and_then(|before| moved[before]), ..*note });
        }
        for start in &mut starts {
            **start = start.and_then(|index| moved[index]);
        }
        self.ended = kept;
    }

    /// Returns the best path that ends with a note of at least the minimum length.
    fn best(&self) -> Path {
        let paths = self.notes.iter().map(|paths| paths[SHORTEST - 1]);
        paths.max_by(|a, b| a.score.total_cmp(&b.score)).unwrap_or(Path::NONE)
    }

    /// Ends the note of `path` before `frame`. Returns the note's index in `ended`.
    fn end(&mut self, path: Path, frame: u64) -> Option<usize> {
        let Path { note, start, level, place, before, .. } = path;
        self.ended.push(VoiceNote { note, start, end: frame, level, place, before });
        Some(self.ended.len() - 1)
    }

    /// Returns the notes of the best path. Ends the last one after the last frame.
    fn path(&mut self) -> Vec<VoiceNote> {
        let best = self.best();
        let mut last = self.silence.before;
        if best.score > self.silence.score {
            last = self.end(best, self.forgotten + self.frames.len() as u64 + 1);
        }
        let note = |index: &usize| self.ended[*index];
        let path = std::iter::successors(last, |index| note(index).before);
        let mut path: Vec<_> = path.map(|index| note(&index)).collect();
        path.reverse();
        path
    }

    /// Returns the phrases in which a single voice sings.
    pub fn phrases(mut self) -> Vec<Phrase> {
        let path = self.path();
        let phrase = |range: Range<usize>| {
            let [start, end] = [range.start, range.end].map(|at| self.forgotten + at as u64 + 1);
            let frames = start..end;
            let notes = path.iter().filter(|note| frames.contains(&note.start));
            let notes: Vec<_> =
                notes.map(|note| VoiceNote { end: note.end.min(frames.end), ..*note }).collect();
            let doubts: usize = self.frames[range].iter().map(|counts| counts.doubts).sum();
            let long = notes.iter().filter(|note| note.end - note.start >= LONG).count();
            let is_sung = doubts as f64 > DOUBTS * notes.len() as f64 && 2 * long >= notes.len();
            is_sung.then_some(Phrase { frames, notes })
        };
        alone(&self.frames).into_iter().filter_map(phrase).collect()
    }
}

/// Divides the frames into ranges with one voice and with several, by the best sequence. Returns those with one voice.
fn alone(frames: &[Counts]) -> Vec<Range<usize>> {
    let mut scores = [0.0; 2];
    let change = |counts: &Counts| {
        let [several, one] = scores;
        let changed = [one - CHANGE > several, several - CHANGE > one];
        let gain = [0.0, 1.0, SEVERAL][counts.voices.min(2)];
        scores = [several.max(one - CHANGE), one.max(several - CHANGE) + gain];
        changed
    };
    let changes: Vec<_> = frames.iter().map(change).collect();
    let (mut is_one, mut end, mut ranges) = (scores[1] > scores[0], frames.len(), Vec::new());
    for (frame, changed) in changes.iter().enumerate().rev() {
        if changed[usize::from(is_one)] || frame == 0 {
            if is_one {
                ranges.push(frame..end);
            }
            (is_one, end) = (!is_one, frame);
        }
    }
    ranges.reverse();
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns index and log odds of the beginning of a note in each of its `frames`. The log odds are `odds` at first, then -5.
    fn note(note: usize, odds: f32, frames: usize) -> Vec<(usize, f32)> {
        (0..frames).map(|frame| (note, if frame == 0 { odds } else { -5.0 })).collect()
    }

    /// Returns the decoder after `frames` and two frames of silence. A held note has log odds of 3. Note 70 is impossible.
    fn decoded(frames: &[(usize, f32)]) -> OneVoice {
        decoded_with(frames, |_, _| ())
    }

    /// [`decoded`], with a call of `after` after each frame, with the frame's number.
    fn decoded_with(
        frames: &[(usize, f32)],
        mut after: impl FnMut(&mut OneVoice, u64),
    ) -> OneVoice {
        let mut voice = OneVoice::NEW;
        let silence = Decisions {
            logit: [-5.0; NOTES],
            begun_logit: [-5.0; NOTES],
            voices: 1,
            ..Decisions::NONE
        };
        for frame in 0..frames.len() + 2 {
            let mut decisions = Decisions { frames: frame as u64 + 1, ..silence.clone() };
            if let Some((note, begun)) = frames.get(frame) {
                (decisions.logit[*note], decisions.begun_logit[*note]) = (3.0, *begun);
            }
            voice.push(&decisions, |note| note != 70, 1.0);
            after(&mut voice, frame as u64 + 1);
        }
        voice
    }

    /// A frame scores 1.8 at log odds of 3, and -3 at -5. A beginning with log odds `b` scores `2.5 b - 6` after silence, `2.5 b - 5`
    /// after another note, and `2.5 b - 3.5` after the same note; at -5, this is -18.5, -17.5 and -16.
    #[test]
    fn the_best_path_has_whole_notes() {
        let two = |second, odds| [note(20, 2.0, 9), note(second, odds, 9)].concat();
        let waver: Vec<_> = (0..36).map(|frame| (20 + frame / 4 % 2, -5.0)).collect();
        for (case, frames, expected) in [
            ("not begun, 18 - 18.5", note(20, -5.0, 10), &[][..]),
            ("not begun, 19.8 - 18.5", note(20, -5.0, 11), &[(20, 1, 12)]),
            ("begun, 1 + 5.4 - 6", note(20, 2.8, 3), &[(20, 1, 6)]),
            ("begun, 1 + 3.6 - 9", note(20, 2.8, 2), &[]),
            ("another note", two(25, 2.0), &[(20, 1, 10), (25, 10, 19)]),
            ("begun again", two(20, 1.5), &[(20, 1, 10), (20, 10, 19)]),
            ("not begun again", two(20, 1.3), &[(20, 1, 19)]),
            ("between two notes", waver, &[(20, 1, 37)]),
            ("a note that does not sound", note(70, 2.0, 20), &[]),
        ] {
            let path = decoded(&frames).path();
            let notes: Vec<_> = path.iter().map(|note| (note.note, note.start, note.end)).collect();
            assert_eq!(notes, expected, "{case}");
        }
    }

    #[test]
    fn forgetting_changes_no_later_note() {
        let song: Vec<_> = (0..60).flat_map(|n| note(20 + 3 * n % 7, 2.0, 20)).collect();
        let kept = decoded_with(&song, |voice, frame| {
            voice.forget(frame.saturating_sub(400));
            assert!(voice.frames.len() <= 401 && voice.ended.len() < 1000, "{frame}");
        });
        let notes = [decoded(&song), kept].map(|mut voice| {
            let mut notes = voice.path();
            notes.retain(|note| note.start > 850);
            notes.iter().map(|note| (note.note, note.start, note.end)).collect::<Vec<_>>()
        });
        assert_eq!(notes[0], notes[1]);
        assert_eq!(notes[0].len(), 17);
    }

    #[test]
    fn phrases_are_sung_by_one_voice() {
        // A frame with one voice scores 1, a frame with several -6, a change -270.
        for (case, parts, expected) in [
            ("silence", [(0, 0), (0, 0), (0, 0)], &[][..]),
            ("one voice", [(1, 300), (0, 300), (1, 300)], &[(0, 900)]),
            ("solos at both ends", [(1, 300), (3, 300), (1, 300)], &[(0, 300), (600, 900)]),
            ("a solo in the middle, 541 - 540", [(2, 300), (1, 541), (2, 300)], &[(300, 841)]),
            ("a short solo, 539 - 540", [(2, 300), (1, 539), (2, 300)], &[]),
            ("overlaps of notes, 89 * 6 < 540", [(1, 600), (2, 89), (1, 600)], &[(0, 1289)]),
        ] {
            let frames = parts.map(|(voices, frames)| vec![Counts { voices, doubts: 0 }; frames]);
            let frames = frames.concat();
            let ranges = alone(&frames).into_iter().map(|range| (range.start, range.end));
            assert_eq!(ranges.collect::<Vec<_>>(), expected, "{case}");
        }
        // A phrase needs more than one in two notes that do not begin, and half of its notes need 15 frames.
        for (case, lengths, doubts, phrases) in [
            ("one in doubt", [300, 300], 1, 0),
            ("both in doubt", [300, 300], 2, 1),
            ("half of them long", [14, 300], 2, 1),
            ("short", [14, 14], 22, 0),
            ("long enough", [15, 14], 22, 1),
        ] {
            let pair = [note(20, 2.0, lengths[0]), note(25, 2.0, lengths[1])].concat();
            let mut voice = decoded(&pair.repeat(if doubts > 2 { 11 } else { 1 }));
            (0..doubts).for_each(|_| voice.doubt());
            assert_eq!(voice.phrases().len(), phrases, "{case}");
        }
        // One voice becomes a band and back. The first phrase ends its last note, and the band's notes are left out.
        let mut voice =
            decoded(&[note(20, 2.0, 400), note(25, 2.0, 400), note(20, 2.0, 300)].concat());
        voice.frames.fill(Counts { voices: 1, doubts: 1 });
        voice.frames[300..700].fill(Counts { voices: 2, doubts: 1 });
        let phrases = voice.phrases();
        let notes = phrases.iter().flat_map(|phrase| &phrase.notes);
        let notes: Vec<_> = notes.map(|note| (note.note, note.start, note.end)).collect();
        assert_eq!((phrases.len(), notes), (2, vec![(20, 1, 301), (20, 801, 1101)]));
    }
}
