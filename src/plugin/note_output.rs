//! The notes that the filter hears, for the host: the setting `midi-out`.

use super::note_input::NoteQueue;
use nice_plug::{
    midi::{Channel, Key, VoiceID},
    prelude::NoteEvent,
};
use tone_filter_dsp::{
    ToneFilter,
    listener::notes::{Event, Notes},
    notes::{HEARD, TONES, midi_note},
};

/// Sends the start and the end of the notes that are heard.
#[derive(Debug)]
pub struct NoteOutput {
    notes: Notes,
    /// For each band, the key of the note on that was sent and has had no note off yet.
    keys: [Option<u8>; TONES],
    /// Whether these notes are to end with the next block.
    over: bool,
}

impl NoteOutput {
    /// Without notes.
    pub const fn new() -> Self {
        Self { notes: Notes::live(), keys: [None; TONES], over: false }
    }

    /// Lets all notes end with the next block: nothing can be sent before.
    pub fn clear(&mut self) {
        self.over = true;
    }

    /// Sends what has begun or ended in the filter's last block of 64 samples, at sample `timing` of the host's block.
    pub fn push(&mut self, filter: &ToneFilter, timing: u32, queue: &mut impl NoteQueue) {
        let settings = filter.settings();
        if self.over || !settings.midi_out || settings.bypass {
            self.end_all(timing, queue);
        }
        if !settings.midi_out || settings.bypass {
            return;
        }
        let (keys, shift) = (&mut self.keys, settings.pitch_shift());
        filter.report_notes(&mut self.notes, |Event { note, velocity, .. }| {
            let band = note - HEARD.start;
            match velocity {
                // A note beyond the MIDI keyboard has no key.
                Some(velocity) => {
                    let key = u8::try_from(midi_note(band, shift)).ok().filter(|key| *key < 128);
                    keys[band] = key;
                    if let Some(key) = key {
                        queue.send(on(timing, key, velocity));
                    }
                }
                None => {
                    if let Some(key) = keys[band].take() {
                        queue.send(off(timing, key));
                    }
                }
            }
        });
    }

    fn end_all(&mut self, timing: u32, queue: &mut impl NoteQueue) {
        for key in self.keys.iter_mut().filter_map(Option::take) {
            queue.send(off(timing, key));
        }
        (self.notes, self.over) = (Notes::live(), false);
    }
}

fn on(timing: u32, key: u8, velocity: u8) -> NoteEvent<()> {
    let (voice_id, channel, key) = (VoiceID::Wildcard, Channel::Number(0), Key::Number(key));
    NoteEvent::NoteOn { timing, voice_id, channel, key, velocity: f32::from(velocity) / 127.0 }
}

fn off(timing: u32, key: u8) -> NoteEvent<()> {
    let (voice_id, channel, key) = (VoiceID::Wildcard, Channel::Number(0), Key::Number(key));
    NoteEvent::NoteOff { timing, voice_id, channel, key, velocity: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{
        super::note_input::{NoteInput, TestQueue},
        *,
    };
    use tone_filter_dsp::{
        Settings,
        listener::{LOWEST_NOTE, notes::Notes},
    };

    const RATE: f64 = 44_100.0;

    /// Two chords with overtones, half a second each, then as much silence.
    fn music() -> Vec<f32> {
        let chords = [&[220.0, 277.18, 329.63][..], &[293.66, 369.99], &[]];
        let sample = |t: usize| -> f64 {
            let tone = |hertz: f64| std::f64::consts::TAU * hertz / RATE * t as f64;
            let note = |f: &f64| {
                (1..=6).map(|h| (tone(f * f64::from(h))).sin() / f64::from(h)).sum::<f64>()
            };
            0.05 * chords[t / 22_050].iter().map(note).sum::<f64>()
        };
        (0..3 * 22_050).map(|t| sample(t) as f32).collect()
    }

    /// What is sent for that music, as sample, key, and velocity, in blocks of `size`; at some samples, `change` is
    /// called with their number.
    fn sent(
        settings: &Settings,
        size: usize,
        mut change: impl FnMut(usize, &mut ToneFilter, &mut NoteOutput),
    ) -> Vec<(usize, u8, Option<f32>)> {
        let mut filter = ToneFilter::new(RATE, settings).unwrap();
        let (mut input, mut output) = (NoteInput::new(), NoteOutput::new());
        let mut sent = Vec::new();
        for (index, block) in music().chunks_mut(size).enumerate() {
            change(index * size, &mut filter, &mut output);
            let mut queue = TestQueue::default();
            input.process(&mut filter, &mut [block], &[], &mut output, &mut queue);
            sent.extend(queue.output.iter().map(|event| match *event {
                NoteEvent::NoteOn { timing, key: Key::Number(key), velocity, .. } => {
                    (index * size + timing as usize, key, Some(velocity))
                }
                NoteEvent::NoteOff { timing, key: Key::Number(key), .. } => {
                    (index * size + timing as usize, key, None)
                }
                ref other => panic!("{other:?}"),
            }));
        }
        sent
    }

    #[test]
    fn notes_are_sent_when_the_listener_has_decided() {
        for (focus, lookahead) in [(100.0, false), (0.0, true)] {
            let settings = Settings { midi_out: true, focus, lookahead, ..Settings::default() };
            let events = sent(&settings, 480, |_, _, _| ());
            // The same notes from the decisions, each at the end of its block of 64.
            let mut filter = ToneFilter::new(RATE, &settings).unwrap();
            let (mut notes, mut expected) = (Notes::live(), Vec::new());
            let mut signal = music();
            filter.process_with(&mut [&mut signal], |at, filter| {
                filter.report_notes(&mut notes, |event| {
                    let velocity = event.velocity.map(|velocity| f32::from(velocity) / 127.0);
                    expected.push((at - 1, (LOWEST_NOTE + event.note) as u8, velocity));
                });
            });
            assert_eq!(events, expected);
            for (key, at) in [(57, 0), (61, 0), (64, 0), (62, 22_050), (66, 22_050)] {
                let near = |event: &&(usize, u8, _)| event.0 > at && event.0 < at + 11_025;
                let found =
                    events.iter().filter(near).any(|event| event.1 == key && event.2.is_some());
                assert!(found, "{key} was not heard: {events:?}");
            }
            let held = events.iter().filter(|event| event.2.is_some()).count();
            assert_eq!(held * 2, events.len(), "every note ends");
            assert_eq!(sent(&settings, 37, |_, _, _| ()), events, "in short blocks");
        }
    }

    #[test]
    fn what_has_begun_ends_when_there_is_no_more_to_be_sent() {
        let settings = Settings { midi_out: true, ..Settings::default() };
        let ends = |change: &dyn Fn(&mut ToneFilter, &mut NoteOutput)| {
            sent(&settings, 441, |at, filter, output| {
                if at == 13_230 {
                    change(filter, output);
                }
            })
        };
        let off = Settings { midi_out: false, ..settings };
        let bypass = Settings { bypass: true, ..settings };
        for set in [off, bypass] {
            let events = ends(&|filter, _| filter.set_settings(&set).unwrap());
            let (before, after) = events.split_at(events.len() / 2);
            assert!(!before.is_empty() && before.len() == after.len());
            assert!(after.iter().all(|(at, _, on)| on.is_none() && *at < 13_230 + 128));
        }
        let events = ends(&|filter, output| {
            filter.reset();
            output.clear();
        });
        let mut held = std::collections::BTreeSet::new();
        for (at, key, on) in events {
            assert!(
                if on.is_some() { held.insert(key) } else { held.remove(&key) },
                "{key} at {at}"
            );
        }
        assert!(held.is_empty(), "{held:?} are still on");
    }

    #[test]
    fn nothing_is_sent_unless_it_is_switched_on() {
        assert_eq!(sent(&Settings::default(), 480, |_, _, _| ()), []);
    }
}
