//! Tests of the host's notes.

use crate::plugin::notes::{Notes, TestQueue, moved};
use nice_plug::{
    midi::{Channel, Key, VoiceID},
    prelude::NoteEvent,
};
use tone_filter_dsp::{Keys, Listen, Routing, Settings, ToneFilter};

const FRAMES: usize = 640;

fn filter() -> ToneFilter {
    let (mix, focus, auto) = (100.0, 0.0, false);
    // The gate silences other bands, into which the tone leaks.
    let floor = Settings::REFERENCE.floor;
    let settings = Settings { keys: Keys::Hold, mix, focus, auto, floor, ..Settings::default() };
    ToneFilter::new(48_000.0, &settings).unwrap()
}

fn on(timing: u32, note: u8) -> NoteEvent<()> {
    let (voice_id, channel) = (VoiceID::Wildcard, Channel::Number(0));
    NoteEvent::NoteOn { timing, voice_id, channel, key: Key::Number(note), velocity: 1.0 }
}

fn controller(timing: u32, cc: u8, value: f32) -> NoteEvent<()> {
    NoteEvent::MidiCC { timing, channel: 0, cc, value }
}

/// Returns the output's peak for a tone of 440 Hz, 19 buffers after these events.
fn level(events: &[NoteEvent<()>]) -> f32 {
    let (mut filter, mut notes) = (filter(), Notes::new());
    let mut peak = 0.0;
    let mut queue = TestQueue::default();
    for block in 0..40 {
        let sample = |t: usize| 0.3 * (0.057_595_865 * (block * FRAMES + t) as f32).sin();
        let mut left: Vec<f32> = (0..FRAMES).map(sample).collect();
        let mut right = left.clone();
        if block == 20 {
            queue.input = events.iter().cloned().collect();
        }
        let channels = &mut [&mut left[..], &mut right];
        notes.process(&mut filter, channels, &[], &mut queue);
        assert_eq!(left, right);
        let own = left.iter().fold(0f32, |peak, x| peak.max(x.abs()));
        assert!(block >= 20 || own < 1e-6, "nothing sounds before a key is pressed");
        peak = own;
    }
    assert_eq!(queue.output, events, "they go back to the host");
    peak
}

#[test]
fn events_reach_the_keys() {
    let off = |timing, key| {
        let (voice_id, channel) = (VoiceID::Wildcard, Channel::Wildcard);
        NoteEvent::NoteOff { timing, voice_id, channel, key, velocity: 0.0 }
    };
    let played = level(&[on(100, 69)]);
    assert!(played > 0.05, "{played}");
    assert!(level(&[]) < 1e-6);
    assert!(level(&[on(0, 75)]) < 0.1 * played, "another note");
    assert!(level(&[on(0, 69), off(300, Key::Number(69))]) < 1e-6);
    assert!(level(&[on(0, 69), off(300, Key::Wildcard)]) < 1e-6);
    let sustained = [controller(0, 64, 1.0), on(1, 69), off(300, Key::Number(69))];
    assert_eq!(level(&sustained), level(&[on(1, 69)]));
    for all_off in [120, 123] {
        assert!(level(&[on(0, 69), controller(1, all_off, 0.0)]) < 1e-6);
    }
    let (voice_id, channel, key) = (VoiceID::Wildcard, Channel::Number(0), Key::Number(69));
    let quiet = NoteEvent::PolyPressure { timing: 9, voice_id, channel, key, pressure: 0.5 };
    let quiet = level(&[on(0, 69), quiet]);
    assert!(quiet < 0.5 * played && quiet > 0.05 * played, "{quiet} {played}");
}

#[test]
fn an_event_counts_from_the_block_of_64_samples_in_which_it_comes_to_the_next() {
    let run = |timing: u32, size: usize| {
        let (mut filter, mut notes) = (filter(), Notes::new());
        let mut output = Vec::new();
        for start in (0..1920).step_by(size) {
            let sample = |t: usize| 0.3 * (0.057_595_865 * (start + t) as f32).sin();
            let mut block: Vec<f32> = (0..size).map(sample).collect();
            let own = timing as usize;
            let mut queue = TestQueue::default();
            if (start..start + size).contains(&own) {
                queue.input.push_back(on((own - start) as u32, 69));
            }
            notes.process(&mut filter, &mut [&mut block], &[], &mut queue);
            output.extend(block);
        }
        output
    };
    assert!(run(700, 1920)[..704].iter().all(|x| x.abs() < 1e-6));
    assert_eq!(run(700, 1920), run(641, 1920));
    assert_ne!(run(700, 1920), run(705, 1920));
    for size in [1, 64, 96, 960] {
        assert_eq!(run(700, 1920), run(700, size), "{size}");
    }
}

#[test]
fn keys_are_as_late_as_the_sound_is() {
    let mut filter = filter();
    let settings = Settings { lookahead: true, ..*filter.settings() };
    filter.set_settings(&settings).unwrap();
    filter.reset();
    let late = filter.latency();
    assert!(late > 2000);
    let mut notes = Notes::new();
    let sample = |t: usize| 0.3 * (0.057_595_865 * t as f32).sin();
    let mut signal: Vec<f32> = (0..48_000).map(sample).collect();
    let mut queue = TestQueue::default();
    queue.input.push_back(on(10_000, 69));
    notes.process(&mut filter, &mut [&mut signal], &[], &mut queue);
    assert_eq!(queue.output, [on(10_000 + late as u32, 69)], "as late as the sound");
    let first = signal.iter().position(|x| x.abs() > 1e-6).unwrap();
    // The note starts at the next block of 64 samples.
    assert!((10_000 + late..10_000 + late + 128).contains(&first), "{first}");
}

#[test]
fn the_end_of_a_note_is_not_lost_when_events_are_cleared() {
    let mut filter = filter();
    filter.set_settings(&Settings { lookahead: true, ..*filter.settings() }).unwrap();
    filter.reset();
    let mut notes = Notes::new();
    let off = |timing| {
        let (voice_id, channel, key) = (VoiceID::Wildcard, Channel::Number(0), Key::Number(69));
        NoteEvent::NoteOff { timing, voice_id, channel, key, velocity: 0.0 }
    };
    let mut queue = TestQueue::default();
    // The second note has not begun.
    queue.input.extend([on(0, 69), off(3000), controller(3100, 64, 0.0), on(3200, 70)]);
    let mut play = |notes: &mut Notes, queue: &mut TestQueue| {
        notes.process(&mut filter, &mut [&mut [0.0; 4000]], &[], queue);
        std::mem::take(&mut queue.output)
    };
    assert_eq!(play(&mut notes, &mut queue).len(), 1);
    notes.clear();
    assert_eq!(play(&mut notes, &mut queue), [off(0), controller(0, 64, 0.0)]);
    assert_eq!(play(&mut notes, &mut queue), []);
}

#[test]
fn no_event_is_lost_or_overtaken_when_too_many_wait() {
    let mut filter = filter();
    filter.set_settings(&Settings { lookahead: true, ..*filter.settings() }).unwrap();
    filter.reset();
    let mut notes = Notes::new();
    let mut queue = TestQueue::default();
    let (voice_id, channel, key) = (VoiceID::Wildcard, Channel::Number(0), Key::Number(69));
    let off = NoteEvent::NoteOff { timing: 0, voice_id, channel, key, velocity: 0.0 };
    let events: Vec<_> = (0..30_000).flat_map(|_| [on(0, 69), off]).collect();
    queue.input.extend(&events);
    let sample = |t: usize| 0.3 * (0.057_595_865 * t as f32).sin();
    let mut signal: Vec<f32> = (0..24_000).map(sample).collect();
    for block in signal.chunks_mut(480) {
        notes.process(&mut filter, &mut [block], &[], &mut queue);
    }
    assert!(queue.output.iter().map(|event| moved(*event, 0)).eq(events), "in order");
    let end = signal[20_000..].iter().fold(0f32, |peak, x| peak.max(x.abs()));
    assert!(end < 1e-6, "the key is still down: {end}");
}

#[test]
fn a_sidechain_that_is_too_short_is_none() {
    let play = |sidechain: &[&mut [f32]]| {
        let mut filter = ToneFilter::new(48_000.0, &Settings::REFERENCE).unwrap();
        filter.set_routing(Routing { listen: Listen::Sidechain, ..Routing::default() });
        filter.reset();
        let mut signal: Vec<f32> = (0..FRAMES).map(|t| (0.1 * t as f32).sin()).collect();
        let mut notes = Notes::new();
        let channels = &mut [&mut signal[..]];
        notes.process(&mut filter, channels, sidechain, &mut TestQueue::default());
        signal
    };
    let (mut short, mut silence) = ([0.0; 64], [0.0; FRAMES]);
    assert_eq!(play(&[&mut short]), play(&[]));
    assert_ne!(play(&[&mut silence]), play(&[]));
}
