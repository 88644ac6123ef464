#![doc = include_str!("../README.md")]

mod tidy;

use midly::{Format, MetaMessage, Smf, Timing, TrackEventKind, live::LiveEvent};
use std::collections::BTreeMap;
use thiserror::Error;
use tone_filter_dsp::{
    KeyEvent, Score, ScoreNote,
    notes::{by_pitch, midi_note},
};

/// File extensions of MIDI files.
pub const EXTENSIONS: [&str; 3] = ["mid", "midi", "rmi"];
/// Channel of drums in General MIDI, counted from 0.
const DRUMS: u8 = 9;
/// Default tempo in microseconds per quarter note.
const QUARTER: u32 = 500_000;

/// Error of [`MidiFile::parse`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadMidi {
    /// The content is not a standard MIDI file. The text is the reason.
    #[error("not a MIDI file to play ({0}); give a standard MIDI file")]
    NotMidi(String),
    /// The file has no notes.
    #[error("holds no notes; give a MIDI file with notes")]
    NoNotes,
    /// All notes of the file are on the drum channel.
    #[error(
        "holds drums only; give a MIDI file with notes on other channels than 10, or keep that channel with --drums"
    )]
    OnlyDrums,
}

/// Treatment of channel 10, which has drums in General MIDI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Drums {
    /// Ignores the channel, as its keys select drums, not pitches.
    #[default]
    LeftOut,
    /// Plays the channel like any other.
    Kept,
}

/// Key events of a standard MIDI file, of all tracks and channels; for channel 10, see [`Drums`].
#[derive(Debug, Clone, PartialEq)]
pub struct MidiFile {
    events: Vec<(f64, KeyEvent)>,
    tempo: Option<f64>,
    left_out: Option<String>,
}

impl MidiFile {
    /// Parses a standard MIDI file, which may be wrapped in RIFF.
    ///
    /// The tracks of format 2 are played one after the other. A note without a note-off lasts to the end of its track.
    ///
    /// # Errors
    /// If `bytes` are not a MIDI file, or have no notes to play.
    pub fn parse(bytes: &[u8], drums: Drums) -> Result<Self, BadMidi> {
        let not_midi = |reason: &str| BadMidi::NotMidi(reason.to_owned());
        let tidy = tidy::tidy(bytes).ok_or_else(|| not_midi("it has no header"))?;
        let file = Smf::parse(&tidy.bytes).map_err(|error| not_midi(&error.to_string()))?;
        let seconds_a_tick = |quarter: u32| match file.header.timing {
            Timing::Metrical(ticks) => f64::from(quarter) / 1e6 / f64::from(ticks.as_int()),
            Timing::Timecode(fps, ticks) => 1.0 / f64::from(fps.as_f32()) / f64::from(ticks),
        };
        let mut tick = seconds_a_tick(QUARTER);
        if !tick.is_finite() {
            return Err(not_midi("its ticks have no length"));
        }

        let mut messages = Vec::new();
        let mut ticks = 0;
        for (number, track) in file.tracks.iter().enumerate() {
            if file.header.format != Format::Sequential {
                ticks = 0;
            }
            for event in track {
                ticks += u64::from(event.delta.as_int());
                messages.push((ticks, number, event.kind));
            }
        }
        messages.sort_by_key(|(ticks, ..)| *ticks);
        let (mut events, mut tempo) = (Vec::new(), None);
        let (mut now, mut seconds) = (0, 0.0);
        // Tick of the note-on of each held key, by channel, track and key.
        let mut held = BTreeMap::new();
        // Number of tracks and channels that hold each key. The key is released when the last of them ends it.
        let mut holders = [0u32; 128];
        let mut has_drums = false;
        for (ticks, track, kind) in messages {
            seconds += (ticks - now) as f64 * tick;
            now = ticks;
            let (channel, message) = match kind {
                TrackEventKind::Midi { channel, .. }
                    if channel == DRUMS && drums == Drums::LeftOut =>
                {
                    has_drums = true;
                    continue;
                }
                TrackEventKind::Midi { channel, message } => (channel, message),
                TrackEventKind::Meta(MetaMessage::EndOfTrack) => {
                    // A note that starts at the end of its track would have no length, so it stays held.
                    for channel in 0..16 {
                        let in_track = (channel, track, 0)..(channel, track + 1, 0);
                        let ended = held.extract_if(in_track, |_, start| *start < ticks);
                        release(ended, &mut holders, |event| events.push((seconds, event)));
                    }
                    continue;
                }
                TrackEventKind::Meta(MetaMessage::Tempo(quarter)) => {
                    tick = seconds_a_tick(quarter.as_int());
                    tempo.get_or_insert(60e6 / f64::from(quarter.as_int()));
                    continue;
                }
                _ => continue,
            };
            let mut bytes = [0; 3];
            // This cannot fail, because a message has at most three bytes.
            let _ = LiveEvent::Midi { channel, message }.write_std(&mut bytes[..]);
            let Some(event) = KeyEvent::from_midi(bytes) else { continue };
            match event {
                KeyEvent::Key(key, 0.0) => {
                    let start = held.remove(&(channel.as_int(), track, key));
                    let holders = &mut holders[usize::from(key)];
                    *holders -= u32::from(start.is_some());
                    if *holders > 0 {
                        continue;
                    }
                }
                KeyEvent::Key(key, _) => {
                    let before = held.insert((channel.as_int(), track, key), ticks);
                    holders[usize::from(key)] += u32::from(before.is_none());
                }
                KeyEvent::ReleaseAll => {
                    let of_channel = (channel.as_int(), 0, 0)..(channel.as_int() + 1, 0, 0);
                    let ended = held.extract_if(of_channel, |_, _| true);
                    release(ended, &mut holders, |event| events.push((seconds, event)));
                    // The keys of the other channels stay.
                    if !held.is_empty() {
                        continue;
                    }
                }
                _ => {}
            }
            events.push((seconds, event));
        }
        let sounds =
            |event: &KeyEvent| matches!(event, KeyEvent::Key(_, velocity) if *velocity > 0.0);
        if !events.iter().any(|(_, event)| sounds(event)) {
            return Err(if has_drums { BadMidi::OnlyDrums } else { BadMidi::NoNotes });
        }
        Ok(Self { events, tempo, left_out: tidy.left_out })
    }

    /// Returns a description of the first part of the file that was skipped as invalid; `None` if nothing was skipped.
    pub fn left_out(&self) -> Option<&str> {
        self.left_out.as_deref()
    }

    /// Returns the key events with their times in seconds from the start, sorted by time.
    pub fn events(&self) -> &[(f64, KeyEvent)] {
        &self.events
    }

    /// Returns the first tempo in beats per minute, if the file sets one.
    pub fn tempo(&self) -> Option<f64> {
        self.tempo
    }

    /// Converts the notes to a score. Ignores the sustain pedal, and keys for which the filter has no band.
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

/// Passes on the ends of the keys in `ended`, by channel, track and key, that nobody holds any more. `holders` counts who holds
/// each key.
fn release(
    ended: impl Iterator<Item = ((u8, usize, u8), u64)>,
    holders: &mut [u32; 128],
    mut pass_on: impl FnMut(KeyEvent),
) {
    for ((.., key), _) in ended {
        let holders = &mut holders[usize::from(key)];
        *holders -= 1;
        if *holders == 0 {
            pass_on(KeyEvent::Key(key, 0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file of format 0, with 480 ticks per quarter note and one track of `events`.
    fn file(events: &[u8]) -> Vec<u8> {
        let mut bytes = b"MThd\0\0\0\x06\0\0\0\x01\x01\xe0MTrk".to_vec();
        bytes.extend((events.len() as u32 + 4).to_be_bytes());
        bytes.extend([events, b"\0\xff\x2f\0"].concat());
        bytes
    }

    #[test]
    fn times_follow_the_tempo() {
        // A quarter note A4 at 120 beats per minute, then a quarter note E5 at 60.
        let events = b"\0\x90\x45\x7f\x83\x60\x80\x45\0\0\xff\x51\x03\x0f\x42\x40\0\x90\x4c\x40\x83\x60\x80\x4c\0";
        let file = MidiFile::parse(&file(events), Drums::LeftOut).unwrap();
        assert_eq!(file.tempo(), Some(60.0));
        let times: Vec<f64> = file.events().iter().map(|(seconds, _)| *seconds).collect();
        assert_eq!(times, [0.0, 0.5, 0.5, 1.5]);
        let expected = "tone-filter-score 1\n0 0.5 69 127\n0.5 1.5 76 64\n";
        assert_eq!(file.score(), expected.parse().unwrap());
    }

    fn score(bytes: &[u8]) -> Score {
        MidiFile::parse(bytes, Drums::LeftOut).unwrap().score()
    }

    #[test]
    fn invalid_files_and_files_without_notes_are_refused() {
        let refused = |bytes: &[u8]| MidiFile::parse(bytes, Drums::LeftOut).unwrap_err();
        assert_eq!(refused(&file(b"")), BadMidi::NoNotes);
        for bytes in [&b"RIFF"[..], b"", &file(b"")[..20]] {
            let error = refused(bytes);
            assert!(matches!(error, BadMidi::NotMidi(_)) || error == BadMidi::NoNotes, "{error}");
        }
    }

    #[test]
    fn drums_are_ignored_unless_they_are_kept() {
        let both = file(b"\0\x90\x45\x7f\0\x99\x26\x7f\x83\x60\x80\x45\0\0\x89\x26\0");
        assert_eq!(score(&both), "tone-filter-score 1\n0 0.5 69 127\n".parse().unwrap());
        let kept = MidiFile::parse(&both, Drums::Kept).unwrap().score();
        let expected = "tone-filter-score 1\n0 0.5 38 127\n0 0.5 69 127\n";
        assert_eq!(kept, expected.parse().unwrap());
        let drums = file(b"\0\x99\x26\x7f\x83\x60\x89\x26\0");
        assert_eq!(MidiFile::parse(&drums, Drums::LeftOut), Err(BadMidi::OnlyDrums));
    }

    #[test]
    fn a_channel_ends_its_own_notes() {
        // A4 and E5 on two channels; all notes of the first one end after half a second, E5 ends after a second.
        let two = file(b"\0\x90\x45\x7f\0\x91\x4c\x7f\x83\x60\xb0\x7b\0\x83\x60\x81\x4c\0");
        let expected = "tone-filter-score 1\n0 0.5 69 127\n0 1 76 127\n";
        assert_eq!(score(&two), expected.parse().unwrap());
    }

    #[test]
    fn a_note_without_an_end_lasts_to_the_end_of_its_track() {
        // A4 at the start, and a controller after one second.
        let open = file(b"\0\x90\x45\x64\x87\x40\xb0\x07\x64");
        assert_eq!(score(&open), "tone-filter-score 1\n0 1 69 100\n".parse().unwrap());
        let events = MidiFile::parse(&open, Drums::LeftOut).unwrap().events;
        assert_eq!(events.last(), Some(&(1.0, KeyEvent::Key(69, 0.0))));
    }

    #[test]
    fn many_tracks_with_held_keys_are_parsed_quickly() {
        // Each track has a note-on at its end, so the key stays held.
        let tracks = b"MTrk\0\0\0\x08\0\x90\x45\x40\0\xff\x2f\0".repeat(60_000);
        let held = [&b"MThd\0\0\0\x06\0\x01\xea\x60\x01\xe0"[..], &tracks].concat();
        assert_eq!(MidiFile::parse(&held, Drums::LeftOut).unwrap().events.len(), 60_000);
    }

    #[test]
    fn tracks_of_format_2_follow_each_other() {
        let track = b"\0\x90\x45\x7f\x83\x60\x80\x45\0";
        let mut sequential = file(track);
        sequential[9] = 2;
        sequential[11] = 2;
        let second = file(track)[14..].to_vec();
        sequential.extend(second);
        let expected = "tone-filter-score 1\n0 0.5 69 127\n0.5 1 69 127\n";
        assert_eq!(score(&sequential), expected.parse().unwrap());
    }

    #[test]
    fn the_first_skipped_part_is_described() {
        let broken = file(b"\0\x90\x45\x7f\x83\x60\x80\x45\0\0\x90\xff\x05");
        let read = MidiFile::parse(&broken, Drums::LeftOut).unwrap();
        assert_eq!(read.left_out(), Some("track 1 from its byte 9 on, which is no event"));
        assert_eq!(
            MidiFile::parse(&file(b"\0\x90\x45\x7f"), Drums::LeftOut).unwrap().left_out(),
            None
        );
    }
}
