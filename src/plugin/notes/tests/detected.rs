//! Tests of the detected notes.

use crate::plugin::notes::{Notes, TestQueue};
use nice_plug::{
    midi::{Channel, Key, MidiResult},
    prelude::{NoteEvent, PluginApi},
};
use tone_filter_dsp::{Listen, Routing, Settings, ToneFilter};
use tone_filter_testkit::{
    mpe::Mpe,
    signals::{bent, vibrato},
};

const RATE: f64 = 44_100.0;

/// Returns two chords with overtones, half a second each, then half a second of silence.
fn music() -> Vec<f32> {
    let chords = [&[220.0, 277.18, 329.63][..], &[293.66, 369.99], &[]];
    let sample = |t: usize| -> f64 {
        let tone = |hertz: f64| std::f64::consts::TAU * hertz / RATE * t as f64;
        let note =
            |f: &f64| (1..=6).map(|h| (tone(f * f64::from(h))).sin() / f64::from(h)).sum::<f64>();
        0.05 * chords[t / 22_050].iter().map(note).sum::<f64>()
    };
    (0..3 * 22_050).map(|t| sample(t) as f32).collect()
}

const SENDS: Routing = Routing { bypass: false, listen: Listen::Main, midi_out: true, mpe: false };

fn filter(settings: &Settings, routing: Routing) -> ToneFilter {
    let mut filter = ToneFilter::new(RATE, settings).unwrap();
    filter.set_routing(routing);
    filter.detect_notes(routing.midi_out);
    filter.reset();
    filter
}

/// Returns the notes sent for [`music`], in buffers of `size` samples: sample, key, and velocity (`None` for a note-off). Calls
/// `change` before each buffer, with the number of its first sample.
fn sent(
    settings: &Settings,
    routing: Routing,
    size: usize,
    mut change: impl FnMut(usize, &mut ToneFilter, &mut Notes),
) -> Vec<(usize, u8, Option<f32>)> {
    let mut filter = filter(settings, routing);
    let mut notes = Notes::new();
    let mut sent = Vec::new();
    for (index, block) in music().chunks_mut(size).enumerate() {
        change(index * size, &mut filter, &mut notes);
        let mut queue = TestQueue::default();
        notes.process(&mut filter, &mut [block], &[], &mut queue);
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

/// Notes of [`music`]: key, first sample, and end.
const SCORE: [(u8, usize, usize); 5] =
    [(57, 0, 22_050), (61, 0, 22_050), (64, 0, 22_050), (62, 22_050, 44_100), (66, 22_050, 44_100)];

#[test]
fn the_notes_of_a_score_are_sent() {
    for (focus, lookahead) in [(100.0, false), (0.0, true)] {
        let settings = Settings { focus, lookahead, ..Settings::default() };
        let events = sent(&settings, SENDS, 480, |_, _, _| ());
        assert_eq!(events.len(), 2 * SCORE.len(), "{events:?}");
        let latency = filter(&settings, SENDS).latency();
        for (key, start, end) in SCORE {
            let own: Vec<_> = events.iter().filter(|event| event.1 == key).collect();
            let &[&(on, _, Some(velocity)), &(off, _, None)] = &own[..] else {
                panic!("{key}: {own:?}");
            };
            assert!(velocity > 0.0 && velocity <= 1.0, "{key}: {velocity}");
            // A decision may be early by up to the latency (with lookahead), and late by 200 ms (8820 samples).
            for (at, truth) in [(on, start), (off, end)] {
                let times = truth..truth + latency + 8820;
                assert!(times.contains(&at), "{key}: {at}, not in {times:?}");
            }
        }
        assert_eq!(sent(&settings, SENDS, 37, |_, _, _| ()), events, "in short blocks");
    }
}

#[test]
fn what_has_begun_ends_when_there_is_no_more_to_be_sent() {
    let ends = |change: &dyn Fn(&mut ToneFilter, &mut Notes)| {
        sent(&Settings::default(), SENDS, 441, |at, filter, notes| {
            if at == 13_230 {
                change(filter, notes);
            }
        })
    };
    let off = Routing { midi_out: false, ..SENDS };
    let bypass = Routing { bypass: true, ..SENDS };
    for routing in [off, bypass] {
        let events = ends(&|filter, _| filter.set_routing(routing));
        let (before, after) = events.split_at(events.len() / 2);
        assert!(!before.is_empty() && before.len() == after.len());
        assert!(after.iter().all(|(at, _, on)| on.is_none() && *at < 13_230 + 128));
    }
    let events = ends(&|filter, notes| {
        filter.reset();
        notes.end_detected();
    });
    let mut held = std::collections::BTreeSet::new();
    for (at, key, on) in events {
        assert!(if on.is_some() { held.insert(key) } else { held.remove(&key) }, "{key} at {at}");
    }
    assert!(held.is_empty(), "{held:?} are still on");
}

#[test]
fn nothing_is_sent_unless_it_is_switched_on() {
    assert_eq!(sent(&Settings::default(), Routing::default(), 480, |_, _, _| ()), []);
}

/// Returns the events sent for a tone with a vibrato, with MPE, and then without: sample and event.
fn sent_as_mpe(api: PluginApi) -> Vec<(usize, NoteEvent<()>)> {
    let routing = Routing { mpe: true, ..SENDS };
    let mut filter = filter(&Settings::default(), routing);
    let (mut notes, mut sent) = (Notes::new(), Vec::new());
    for (index, block) in bent(6, 1.6, RATE, vibrato(69.0)).chunks_mut(480).enumerate() {
        if index == 140 {
            filter.set_routing(SENDS);
        }
        let mut queue = TestQueue { api, ..TestQueue::default() };
        notes.process(&mut filter, &mut [block], &[], &mut queue);
        sent.extend(queue.output.into_iter().map(|event| {
            assert!(event.timing() < 480);
            (480 * index + event.timing() as usize, event)
        }));
    }
    assert!(sent.is_sorted_by_key(|(at, _)| *at));
    sent
}

/// Returns the greatest error in cents of pitches against the vibrato from 0.5 s on, 47 ms after it.
fn error(pitches: &[(usize, f64)]) -> f64 {
    let late = pitches.iter().map(|(at, pitch)| (*at as f64 / RATE, pitch));
    let late: Vec<_> = late.filter(|(time, _)| *time > 0.5).collect();
    assert!(late.len() > 50, "{late:?}");
    let off = |(time, pitch): (f64, &f64)| 100.0 * (pitch - vibrato(69.0)(time - 0.047)).abs();
    late.into_iter().map(off).fold(0.0, f64::max)
}

#[test]
fn vst3_and_midi_get_mpe() {
    for api in [PluginApi::Vst3, PluginApi::Standalone] {
        let (mut mpe, mut pitches, mut plain) = (Mpe::default(), Vec::new(), 0);
        for (at, event) in sent_as_mpe(api) {
            let Some(MidiResult::Basic(message)) = event.as_midi() else { panic!("{event:?}") };
            if at > 140 * 480 && !mpe.is_zone() {
                assert!(matches!(message[0], 0x80 | 0x90), "{event:?}");
                plain += 1;
                continue;
            }
            mpe.read(message);
            pitches.extend(mpe.sounding().map(|(.., pitch)| (at, pitch)));
        }
        assert!(plain > 0, "plain notes follow");
        assert!(error(&pitches) <= 8.0, "{}", error(&pitches));
    }
}

#[test]
fn clap_gets_tunings_of_its_notes() {
    let (mut sounding, mut pitches) = (Vec::new(), Vec::new());
    for (at, event) in sent_as_mpe(PluginApi::Clap) {
        match event {
            NoteEvent::NoteOn { channel, key: Key::Number(key), .. } => {
                assert_eq!(channel != Channel::Number(0), at < 140 * 480);
                assert!(!sounding.contains(&(channel, key)));
                sounding.push((channel, key));
            }
            NoteEvent::NoteOff { channel, key: Key::Number(key), .. } => {
                let own = sounding.iter().position(|own| *own == (channel, key));
                sounding.remove(own.expect("a note that sounds"));
            }
            NoteEvent::PolyTuning { channel, key: Key::Number(key), tuning, .. } => {
                assert!(sounding.contains(&(channel, key)), "{key} at {at}");
                pitches.push((at, f64::from(key) + f64::from(tuning)));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(error(&pitches) <= 8.0, "{}", error(&pitches));
}
