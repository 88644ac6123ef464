//! Transcription of the detected notes as MIDI or as a score.

use crate::timeline::{Layout, TICKS, Timeline, signature};
use midly::{
    Format, Header, MetaMessage, MidiMessage, Smf, Timing, TrackEvent, TrackEventKind,
    num::{u4, u7, u15, u24, u28},
};
use tone_filter_dsp::{
    FoundKey, Score, ScoreNote, ToneFilter,
    listener::{
        notes::{Event, Notes, velocity},
        one_voice::{Phrase, VoiceNote},
    },
    notes::{TONES, midi_note, of_listener, semitone},
};

/// Detected note.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Note {
    /// Index of the band, 0 for A3; [`notes::semitone`](tone_filter_dsp::notes::semitone) converts it to semitones.
    pub tone: usize,
    /// Semitones from the band's own note to the output note; see [`Settings::offsets`](tone_filter_dsp::Settings::offsets).
    pub offset: i8,
    /// Start in seconds from the start of the file.
    pub start: f64,
    /// End in seconds from the start of the file.
    pub end: f64,
    /// MIDI velocity, 1..=127.
    pub velocity: u8,
    /// Stereo position in the input, from -1 (right) to 1 (left).
    pub place: f32,
}

/// Recorder of the notes that the listener detects.
#[derive(Debug, Clone)]
pub struct Transcriber {
    events: Notes,
    notes: Vec<Note>,
    /// Length of a frame in samples, lookahead in samples, sample rate in Hz.
    clock: [f64; 3],
    /// Changes of the notes' offsets: first frame, offsets.
    offsets: Vec<(u64, [i8; TONES])>,
}

impl Transcriber {
    /// Creates an empty recorder of the notes that `events` reports: [`Notes::live`] as the plugin sends them, [`Notes::checked`]
    /// for MIDI, [`Notes::unchecked`] for scores. In files, the notes of a [`Phrase`] replace them where a single voice sings.
    pub fn new(events: Notes) -> Self {
        Self { events, notes: Vec::new(), clock: [0.0; 3], offsets: Vec::new() }
    }

    /// Records note-ons and note-offs of the filter's last block. Must be called after each of the filter's blocks.
    pub fn push(&mut self, filter: &ToneFilter) {
        let [frame, ago] = [filter.listener().frame(), filter.listener().lookahead()];
        self.clock = [frame as f64, ago as f64, filter.sample_rate()];
        let (clock, notes) = (self.clock, &mut self.notes);
        let (offsets, place) = (filter.offsets(), filter.decisions().place);
        filter.report_notes(&mut self.events, |event| {
            record(notes, event, seconds(clock, event.frame), &offsets, place[event.note]);
        });
        if self.offsets.last().is_none_or(|(_, last)| *last != offsets) {
            self.offsets.push((filter.decisions().frames, offsets));
        }
    }

    /// Returns the number of notes dropped so far because they were shorter than 70 ms.
    pub fn left_out(&self) -> u64 {
        self.events.left_out()
    }

    /// Allocates memory for `count` more notes.
    pub fn reserve(&mut self, count: usize) {
        self.notes.reserve_exact(count);
    }

    /// Forgets the notes that end before `seconds`.
    pub fn forget(&mut self, seconds: f64) {
        self.notes.retain(|note| note.end >= seconds);
        let [frame, ago, rate] = self.clock;
        // Rounded down by the conversion; 0 before the first decision.
        let frames = ((seconds * rate + ago) / frame) as u64;
        self.events.forget(frames);
        let passed = self.offsets.partition_point(|(since, _)| *since <= frames);
        self.offsets.drain(..passed.saturating_sub(1));
    }

    /// Returns all notes of a file of `seconds`, sorted by their start.
    pub fn finish(mut self, seconds: f64) -> Vec<Note> {
        let notes = &mut self.notes;
        // Ends the notes that still sound.
        self.events.finish(|event| record(notes, event, seconds, &[0; TONES], 0.0));
        for Phrase { frames, notes: voice } in self.events.phrases() {
            let [start, end] =
                [frames.start, frames.end].map(|frame| self::seconds(self.clock, frame));
            notes.retain(|note| !(start..end).contains(&note.start.midpoint(note.end)));
            notes.extend(voice.iter().filter_map(|note| sung(note, self.clock, &self.offsets)));
        }
        notes.iter_mut().for_each(|note| note.end = note.end.min(seconds));
        notes.retain(|note| note.start < seconds);
        notes.sort_by(|a, b| {
            a.start.total_cmp(&b.start).then(semitone(a.tone).cmp(&semitone(b.tone)))
        });
        self.notes
    }
}

/// Converts a note of a single voice; `None` above the highest band.
fn sung(note: &VoiceNote, clock: [f64; 3], offsets: &[(u64, [i8; TONES])]) -> Option<Note> {
    let tone = of_listener(note.note)?;
    let [start, end] = [note.start, note.end].map(|frame| seconds(clock, frame));
    let offset = offsets.iter().rev().find(|(frame, _)| *frame <= note.start);
    let offset = offset.map_or(0, |(_, offsets)| offsets[tone]);
    Some(Note { tone, offset, start, end, velocity: velocity(note.level), place: note.place })
}

/// Converts the listener's frame number to a time in the file in seconds.
fn seconds([frame, ago, rate]: [f64; 3], frames: u64) -> f64 {
    ((frames as f64 * frame - ago) / rate).max(0.0)
}

/// Starts or ends a note at `seconds`. A note that has started ends at infinity until its note-off.
fn record(notes: &mut Vec<Note>, event: Event, seconds: f64, offsets: &[i8; TONES], place: f32) {
    let Some(tone) = of_listener(event.note) else { return };
    match event.velocity {
        Some(velocity) => {
            let (offset, end) = (offsets[tone], f64::INFINITY);
            notes.push(Note { tone, offset, start: seconds, end, velocity, place });
        }
        None => {
            let mut held = notes.iter_mut().rev().filter(|note| note.tone == tone);
            if let Some(note) = held.next() {
                note.end = seconds;
            }
        }
    }
}

/// Converts `notes` to a score.
pub fn score(notes: &[Note]) -> Score {
    Score::new(notes.iter().map(|&Note { tone, start, end, velocity, place, .. }| ScoreNote {
        tone,
        start,
        end,
        velocity,
        place,
    }))
}

/// Returns `notes` as a MIDI file of one track, with the tempi, meters and key of `layout`.
///
/// `transpose` is the filter's transposition in semitones. Quantised notes keep their lengths. Notes outside the MIDI keys
/// 0..=127 are left out. Notes of one key that overlap, or start on the same step of the grid, are merged.
pub fn midi(notes: &[Note], transpose: f32, layout: &Layout) -> Vec<u8> {
    let Layout { timeline, key, grid } = layout;
    let mut events = signs(timeline, key.as_ref());
    // Last note of each key: end in seconds and index of the note-off.
    let mut last: [Option<(f64, usize)>; 128] = [None; 128];
    for note in notes {
        let key = u8::try_from(midi_note(note.tone, transpose) + i32::from(note.offset))
            .ok()
            .and_then(u7::try_from);
        let Some(key) = key else { continue };
        let [start, end] = [note.start, note.end].map(|seconds| timeline.tick(seconds));
        let moved = grid.as_ref().map_or(start, |grid| grid.quantize(start).max(0.0));
        let first = moved.round() as u32;
        let end = ((moved + end - start).round() as u32).max(first + 1);
        let last = &mut last[usize::from(key.as_int())];
        if let Some((ended, off)) = last {
            let begun = events[*off - 1].0;
            let off = &mut events[*off].0;
            if note.start < *ended || first <= begun {
                (*ended, *off) = (ended.max(note.end), end.max(*off));
                continue;
            }
            // Quantisation must not make the previous note overlap this one.
            *off = first.min(*off);
        }
        *last = Some((note.end, events.len() + 1));
        events.extend(on_and_off(0, key, u7::new(note.velocity), [first, end]));
    }
    file(Format::SingleTrack, vec![track(events)])
}

/// Tick, order among events at the same tick (lowest first), and event.
pub(crate) type Timed<'a> = (u32, u8, TrackEventKind<'a>);

/// Returns note-on and note-off at two ticks. Their order at the same tick puts note-offs before note-ons.
pub(crate) fn on_and_off<'a>(channel: u8, key: u7, vel: u7, [on, off]: [u32; 2]) -> [Timed<'a>; 2] {
    let channel = u4::new(channel);
    let event = |message| TrackEventKind::Midi { channel, message };
    let released = MidiMessage::NoteOff { key, vel: u7::new(64) };
    [(on, 2, event(MidiMessage::NoteOn { key, vel })), (off, 1, event(released))]
}

/// Returns the meta events for tempi, meters and the key signature.
pub(crate) fn signs<'a>(timeline: &Timeline, key: Option<&FoundKey>) -> Vec<Timed<'a>> {
    let mut events = Vec::new();
    for (tick, quarter) in timeline.tempi() {
        let quarter = quarter.min(u24::max_value().as_int());
        events.push((tick, 0, TrackEventKind::Meta(MetaMessage::Tempo(u24::new(quarter)))));
    }
    for (tick, meter) in &timeline.meters {
        // The beat is a quarter note: denominator 2^2, 24 MIDI clocks, eight 32nd notes.
        let meter = MetaMessage::TimeSignature(*meter, 2, 24, 8);
        events.push((*tick, 0, TrackEventKind::Meta(meter)));
    }
    if let Some(key) = key {
        let (sharps, minor) = signature(key);
        events.push((0, 0, TrackEventKind::Meta(MetaMessage::KeySignature(sharps, minor))));
    }
    events
}

pub(crate) fn track(mut events: Vec<Timed>) -> Vec<TrackEvent> {
    events.sort_by_key(|(tick, order, _)| (*tick, *order));
    let (mut track, mut now) = (Vec::new(), 0);
    for (tick, _, kind) in events {
        track.push(TrackEvent { delta: u28::new(tick - now), kind });
        now = tick;
    }
    let end = TrackEventKind::Meta(MetaMessage::EndOfTrack);
    track.push(TrackEvent { delta: u28::new(0), kind: end });
    track
}

pub(crate) fn file(format: Format, tracks: Vec<Vec<TrackEvent>>) -> Vec<u8> {
    let header = Header::new(format, Timing::Metrical(u15::new(TICKS)));
    let mut file = Vec::new();
    let written = Smf { header, tracks }.write_std(&mut file);
    written.expect("memory takes all that is written to it");
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::Grid;
    use tone_filter_dsp::NoteValue;

    /// Returns key, velocity, start and end of the written notes, sorted by end. A tick is 1/960 s.
    fn written(notes: &[Note], grid: Option<Grid>) -> Vec<(u8, u8, u32, u32)> {
        let file = midi(notes, 0.0, &Layout { grid, ..Layout::fixed(120.0) });
        let (mut now, mut sounding, mut written) = (0, Vec::new(), Vec::new());
        for event in &Smf::parse(&file).unwrap().tracks[0] {
            now += event.delta.as_int();
            let TrackEventKind::Midi { message, .. } = event.kind else { continue };
            match message {
                MidiMessage::NoteOn { key, vel } => sounding.push((key, vel, now)),
                MidiMessage::NoteOff { key, .. } => {
                    let place = sounding.iter().position(|note| note.0 == key).unwrap();
                    let (key, velocity, start) = sounding.remove(place);
                    written.push((key.as_int(), velocity.as_int(), start, now));
                }
                _ => panic!("{message:?}"),
            }
        }
        assert!(sounding.is_empty(), "{sounding:?}");
        written
    }

    #[test]
    fn notes_on_one_key_are_written_as_one() {
        let c4 = (0..TONES).find(|tone| midi_note(*tone, 0.0) == 60).unwrap();
        let c4_note =
            |start, end| Note { tone: c4, offset: 0, start, end, velocity: 90, place: 0.0 };
        let moved =
            |start, end| Note { tone: c4 + 1, offset: -1, velocity: 50, ..c4_note(start, end) };
        // Nested, overlapping, simultaneous and adjacent notes.
        assert_eq!(written(&[c4_note(0.5, 2.0), moved(1.0, 1.5)], None), [(60, 90, 480, 1920)]);
        assert_eq!(written(&[c4_note(0.5, 1.5), moved(1.0, 2.0)], None), [(60, 90, 480, 1920)]);
        assert_eq!(written(&[c4_note(0.5, 2.0), moved(0.5, 2.0)], None), [(60, 90, 480, 1920)]);
        let apart = [(60, 50, 480, 960), (60, 90, 960, 1920)];
        assert_eq!(written(&[moved(0.5, 1.0), c4_note(1.0, 2.0)], None), apart);
        // Notes on two keys remain two notes.
        let other = Note { offset: 0, ..moved(1.0, 1.5) };
        let both = [(61, 50, 960, 1440), (60, 90, 480, 1920)];
        assert_eq!(written(&[c4_note(0.5, 2.0), other], None), both);
    }

    #[test]
    fn notes_on_one_step_are_written_as_one() {
        let note = |start, end| Note { tone: 3, offset: 0, start, end, velocity: 90, place: 0.0 };
        let on_quarters = |notes: [Note; 3]| {
            let steps = vec![NoteValue::try_from("1/4".to_owned()).unwrap()];
            written(&notes, Some(Grid { steps, strength: 1.0 }))
        };
        // A quarter note has 480 ticks and lasts 0.5 s. The second note begins on the step of the first.
        let both = [note(0.45, 0.5), note(0.55, 0.6), note(1.0, 1.25)];
        assert_eq!(on_quarters(both), [(60, 90, 480, 528), (60, 90, 960, 1200)]);
        // A note that moves later does not reach into the next.
        let apart = [note(0.3, 0.9), note(0.9, 1.4), note(1.5, 1.75)];
        let all = [(60, 90, 480, 960), (60, 90, 960, 1440), (60, 90, 1440, 1680)];
        assert_eq!(on_quarters(apart), all);
    }
}
