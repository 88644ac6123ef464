#![doc = include_str!("../README.md")]

use midly::{Format, MetaMessage, Smf, Timing, TrackEventKind, live::LiveEvent};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;
use tone_filter_dsp::{
    KeyEvent, Score, ScoreNote,
    notes::{by_pitch, midi_note},
};

/// The extensions of MIDI files.
pub const EXTENSIONS: [&str; 2] = ["mid", "midi"];

/// Microseconds of a quarter note until a file sets its tempo.
const QUARTER: u32 = 500_000;

/// Why bytes are no MIDI file that can be played.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadMidi {
    /// They are no standard MIDI file of format 0 or 1, or a broken one.
    #[error("not a MIDI file to play ({0}); give a standard MIDI file of format 0 or 1")]
    NotMidi(String),
    /// The file has no notes.
    #[error("holds no notes; give a MIDI file with notes")]
    NoNotes,
}

/// Content of a standard MIDI file, with all tracks and channels as one.
#[derive(Debug, Clone, PartialEq)]
pub struct MidiFile {
    events: Vec<(f64, KeyEvent)>,
    tempo: Option<f64>,
}

impl MidiFile {
    /// Reads the content of a file.
    ///
    /// # Errors
    /// When it is no MIDI file of format 0 or 1, or has no notes.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadMidi> {
        let not_midi = |reason: &str| BadMidi::NotMidi(reason.to_owned());
        let file = Smf::parse(bytes).map_err(|error| not_midi(&error.to_string()))?;
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
                TrackEventKind::Midi { channel, message } => (channel, message),
                TrackEventKind::Meta(MetaMessage::Tempo(quarter)) => {
                    tick = seconds_a_tick(quarter.as_int());
                    tempo.get_or_insert(60e6 / f64::from(quarter.as_int()));
                    continue;
                }
                _ => continue,
            };
            let mut bytes = [0; 3];
            // Every message has three bytes at most.
            let _ = LiveEvent::Midi { channel, message }.write_std(&mut bytes[..]);
            let Some(event) = KeyEvent::from_midi(bytes) else { continue };
            match event {
                KeyEvent::Key(key, 0.0) => {
                    held.remove(&(key, track, channel.as_int()));
                    if held.range((key, 0, 0)..(key + 1, 0, 0)).next().is_some() {
                        continue;
                    }
                }
                KeyEvent::Key(key, _) => drop(held.insert((key, track, channel.as_int()))),
                KeyEvent::ReleaseAll => held.clear(),
                _ => {}
            }
            events.push((seconds, event));
        }
        let sounds =
            |event: &KeyEvent| matches!(event, KeyEvent::Key(_, velocity) if *velocity > 0.0);
        if !events.iter().any(|(_, event)| sounds(event)) {
            return Err(BadMidi::NoNotes);
        }
        Ok(Self { events, tempo })
    }

    /// Key events, with seconds from the start, in order.
    pub fn events(&self) -> &[(f64, KeyEvent)] {
        &self.events
    }

    /// Its first tempo in beats a minute, if it sets one.
    pub fn tempo(&self) -> Option<f64> {
        self.tempo
    }

    /// Its notes, as a score of what a sound plays. Keys that no tone has are left out, and so is the pedal.
    pub fn score(&self) -> Score {
        let last = self.events.last().map_or(0.0, |(seconds, _)| *seconds);
        let mut held = BTreeMap::new();
        let mut notes = Vec::new();
        for (seconds, event) in &self.events {
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
        Score::new(notes.into_iter().filter_map(note))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of format 0 with 480 ticks a quarter note and one track of `events`.
    fn file(events: &[u8]) -> Vec<u8> {
        let mut bytes = b"MThd\0\0\0\x06\0\0\0\x01\x01\xe0MTrk".to_vec();
        bytes.extend((events.len() as u32 + 4).to_be_bytes());
        bytes.extend([events, b"\0\xff\x2f\0"].concat());
        bytes
    }

    #[test]
    fn notes_have_the_times_of_their_ticks_at_the_tempo() {
        // A quarter of A4 at 120 beats a minute, then one of E5 at 60.
        let events = b"\0\x90\x45\x7f\x83\x60\x80\x45\0\0\xff\x51\x03\x0f\x42\x40\0\x90\x4c\x40\x83\x60\x80\x4c\0";
        let file = MidiFile::parse(&file(events)).unwrap();
        assert_eq!(file.tempo(), Some(60.0));
        let times: Vec<f64> = file.events().iter().map(|(seconds, _)| *seconds).collect();
        assert_eq!(times, [0.0, 0.5, 0.5, 1.5]);
        let expected = "tone-filter-score 1\n0 0.5 69 127\n0.5 1.5 76 64\n";
        assert_eq!(file.score(), expected.parse().unwrap());
    }

    #[test]
    fn what_cannot_be_played_is_refused_with_a_reason() {
        assert_eq!(MidiFile::parse(&file(b"")), Err(BadMidi::NoNotes));
        for bytes in [&b"RIFF"[..], b"", &file(b"")[..20]] {
            let error = MidiFile::parse(bytes).unwrap_err();
            assert!(matches!(error, BadMidi::NotMidi(_)) || error == BadMidi::NoNotes, "{error}");
        }
        let mut sequential = file(b"\0\x90\x45\x7f");
        sequential[9] = 2;
        let error = MidiFile::parse(&sequential).unwrap_err();
        assert!(error.to_string().contains("its tracks are songs of their own"), "{error}");
    }
}
