//! A MIDI file that plays the bands of a filter, for the setting `keys`.

use super::Error;
use midly::{Format, MetaMessage, MidiMessage, Smf, Timing, TrackEventKind, num::u7};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read,
    iter::Peekable,
    ops::Range,
    path::Path,
    sync::Arc,
    vec::IntoIter,
};
use tone_filter_dsp::{
    KeyEvent, ScoreNote, ToneFilter,
    notes::{by_pitch, midi_note},
};

/// Microseconds of a quarter note until a file sets its tempo.
const QUARTER: u32 = 500_000;

/// What is played on the bands; nothing by default.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// With seconds from the start, in order.
    events: Arc<[(f64, KeyEvent)]>,
    tempo: Option<f64>,
}

impl Score {
    /// Reads the standard MIDI file `path`, with all tracks and channels as one.
    ///
    /// # Errors
    /// When it cannot be read, is no MIDI file of format 0 or 1, or has no notes.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let not_midi = |reason: &str| Error::NotMidi { path: path.into(), reason: reason.into() };
        let bytes = fs::read(path).map_err(|source| Error::Read { path: path.into(), source })?;
        let file = Smf::parse(&bytes).map_err(|error| not_midi(&error.to_string()))?;
        let seconds_a_tick = |quarter: u32| match file.header.timing {
            Timing::Metrical(ticks) => f64::from(quarter) / 1e6 / f64::from(ticks.as_int()),
            Timing::Timecode(fps, ticks) => 1.0 / f64::from(fps.as_f32()) / f64::from(ticks),
        };
        let mut tick = seconds_a_tick(QUARTER);
        if file.header.format == Format::Sequential {
            return Err(not_midi("its tracks are songs of their own"));
        }
        if !tick.is_finite() {
            return Err(not_midi("its ticks have no length"));
        }

        let mut messages = Vec::new();
        for (track, own) in file.tracks.iter().enumerate() {
            let mut ticks = 0;
            for event in own {
                ticks += u64::from(event.delta.as_int());
                messages.push((ticks, track, event.kind));
            }
        }
        messages.sort_by_key(|(ticks, ..)| *ticks);
        let (mut events, mut tempo) = (Vec::new(), None);
        let (mut now, mut seconds) = (0, 0.0);
        // Who holds which keys: one that two parts share is released by the last of them.
        let mut held = BTreeSet::new();
        for (ticks, track, kind) in messages {
            seconds += (ticks - now) as f64 * tick;
            now = ticks;
            let (channel, message) = match kind {
                TrackEventKind::Midi { channel, message } => (channel.as_int(), message),
                TrackEventKind::Meta(MetaMessage::Tempo(quarter)) => {
                    tick = seconds_a_tick(quarter.as_int());
                    tempo.get_or_insert(60e6 / f64::from(quarter.as_int()));
                    continue;
                }
                _ => continue,
            };
            let Some(event) = key_event(message) else { continue };
            match event {
                KeyEvent::Key(key, 0.0) => {
                    held.remove(&(key, track, channel));
                    if held.range((key, 0, 0)..(key + 1, 0, 0)).next().is_some() {
                        continue;
                    }
                }
                KeyEvent::Key(key, _) => drop(held.insert((key, track, channel))),
                KeyEvent::ReleaseAll => held.clear(),
                _ => {}
            }
            events.push((seconds, event));
        }
        if !events
            .iter()
            .any(|(_, event)| matches!(event, KeyEvent::Key(_, velocity) if *velocity > 0.0))
        {
            return Err(Error::NoNotes(path.into()));
        }
        Ok(Self { events: events.into(), tempo })
    }

    /// Its notes, as a score of what a sound plays. Keys that no tone has are left out, and so is the pedal.
    fn notes(&self) -> tone_filter_dsp::Score {
        let last = self.events.last().map_or(0.0, |(seconds, _)| *seconds);
        let mut held = BTreeMap::new();
        let mut notes = Vec::new();
        for (seconds, event) in self.events.iter() {
            let ended: Vec<u8> = match event {
                KeyEvent::Key(key, _) => vec![*key],
                KeyEvent::ReleaseAll => held.keys().copied().collect(),
                _ => continue,
            };
            for key in ended {
                notes.extend(held.remove(&key).map(|begun| (key, begun, *seconds)));
            }
            if let KeyEvent::Key(key, velocity) = event
                && *velocity > 0.0
            {
                held.insert(*key, (*seconds, *velocity));
            }
        }
        notes.extend(held.into_iter().map(|(key, begun)| (key, begun, last)));
        let note = |(key, (start, velocity), end): (u8, (f64, f32), f64)| {
            let tone = by_pitch().find(|&tone| midi_note(tone, 0.0) == i32::from(key))?;
            let velocity = (127.0 * velocity).round().clamp(1.0, 127.0) as u8;
            Some(ScoreNote { tone, start, end, velocity, place: 0.0 })
        };
        tone_filter_dsp::Score::new(notes.into_iter().filter_map(note))
    }

    /// Its first tempo in beats a minute, if it sets one.
    pub fn tempo(&self) -> Option<f64> {
        self.tempo
    }
}

/// The largest file that is read as a score: more than a day of music has.
const LARGEST: u64 = 64 << 20;

/// Reads which notes a sound plays: a score as [`tone_filter_dsp::Score`] writes it, or a MIDI file if the name ends in `.mid` or
/// `.midi`.
///
/// # Errors
/// When it cannot be read, or is no score.
pub fn read_notes(path: &Path) -> Result<tone_filter_dsp::Score, Error> {
    let extension = path.extension().map(|own| own.to_string_lossy().to_lowercase());
    if matches!(extension.as_deref(), Some("mid" | "midi")) {
        return Score::read(path).map(|score| score.notes());
    }
    let mut text = String::new();
    fs::File::open(path)
        .and_then(|file| file.take(LARGEST).read_to_string(&mut text))
        .map_err(|source| Error::Read { path: path.into(), source })?;
    text.parse().map_err(|source| Error::NotScore { path: path.into(), source })
}

/// What `message` does, as in the plugin; `None` for nothing.
fn key_event(message: MidiMessage) -> Option<KeyEvent> {
    let share = |value: u7| f32::from(value.as_int()) / 127.0;
    Some(match message {
        MidiMessage::NoteOn { key, vel } => KeyEvent::Key(key.as_int(), share(vel)),
        MidiMessage::NoteOff { key, .. } => KeyEvent::Key(key.as_int(), 0.0),
        MidiMessage::Aftertouch { key, vel } => KeyEvent::Pressure(key.as_int(), share(vel)),
        MidiMessage::PitchBend { bend } => KeyEvent::Wheel(bend.as_f32()),
        MidiMessage::Controller { controller, value } => match controller.as_int() {
            64 => KeyEvent::Sustain(value >= 64),
            120 | 123 => KeyEvent::ReleaseAll,
            _ => return None,
        },
        _ => return None,
    })
}

/// A score on its way through a filter.
pub struct Player {
    /// What is still to be played, with the frame of the filter at which it is due.
    events: Peekable<IntoIter<(u64, KeyEvent)>>,
    /// Frames so far.
    frame: u64,
}

impl Player {
    /// At the start of `score`, for a `filter` that is at rest. Keys act on what lookahead has delayed, so they are
    /// pressed as much later.
    pub fn new(score: &Score, filter: &ToneFilter) -> Self {
        let (rate, latency) = (filter.sample_rate(), filter.latency() as u64);
        let due = |seconds: f64| (seconds * rate).round() as u64 + latency;
        let events: Vec<_> =
            score.events.iter().map(|(time, event)| (due(*time), *event)).collect();
        Self { events: events.into_iter().peekable(), frame: 0 }
    }

    /// Lets `filter` process the frames `range` of `channels`, while the score is played. `each` gets the filter after each
    /// of its blocks.
    pub fn process(
        &mut self,
        filter: &mut ToneFilter,
        channels: &mut [Vec<f32>],
        range: Range<usize>,
        mut each: impl FnMut(&ToneFilter),
    ) {
        let (start, end) = (self.frame, self.frame + range.len() as u64);
        self.frame = end;
        let due = std::iter::from_fn(|| self.events.next_if(|(due, _)| *due < end));
        let events = due.map(|(due, event)| ((due - start) as usize, event));
        let mut parts: Vec<_> = channels.iter_mut().map(|c| &mut c[range.clone()]).collect();
        filter.process_events(&mut parts, &[], events, |_, filter| each(filter));
    }
}
