//! Tests of MIDI and of the host's transport.

use crate::host::{Event, Host, Output, STEREO, expected, filter, number, played, slices, tune};
use std::collections::BTreeSet;
use tone_filter_dsp::{Controls, KeyEvent, NoteValue, Routing, SentNotes, Settings};
use tone_filter_lv2::abi::uri;

fn message(at: usize, content: &[u8]) -> Event {
    (at, uri::MIDI, content.to_vec())
}

/// Returns a position event with this tempo and speed, at frame 0.
fn position(tempo: f32, speed: f32) -> Event {
    let mut content: Vec<u8> =
        [0, number(uri::POSITION)].iter().flat_map(|x| x.to_ne_bytes()).collect();
    for (key, value) in [(c"urn:other", 7.0), (uri::TEMPO, tempo), (uri::SPEED, speed)] {
        let head = [number(key), 0, 4, number(uri::FLOAT), value.to_bits(), 0];
        content.extend(head.iter().flat_map(|x| x.to_ne_bytes()));
    }
    (0, uri::OBJECT, content)
}

/// Plays the demo tune and `events` through the stereo plugin in blocks of `size` frames, and returns the plugin's output.
fn play(settings: &Settings, size: usize, events: &[Event]) -> Output {
    Host::new(STEREO, &(*settings).into()).play(&tune(22_016), &[], size, events)
}

#[test]
fn keys_are_played_and_passed_on() {
    let messages: [(usize, &[u8], KeyEvent); 8] = [
        (100, &[0x90, 69, 127], KeyEvent::Key(69, 1.0)),
        (3000, &[0x90, 57, 64], KeyEvent::Key(57, 64.0 / 127.0)),
        (4001, &[0xA5, 57, 127], KeyEvent::Pressure(57, 1.0)),
        (6000, &[0xB0, 64, 127], KeyEvent::Sustain(true)),
        (8000, &[0x80, 69, 3], KeyEvent::Key(69, 0.0)),
        (9000, &[0xE0, 0, 96], KeyEvent::Wheel(0.5)),
        (11_000, &[0x90, 57, 0], KeyEvent::Key(57, 0.0)),
        (17_000, &[0xB3, 123, 0], KeyEvent::ReleaseAll),
    ];
    let events = messages.map(|(at, content, _)| message(at, content));
    for lookahead in [false, true] {
        let settings = Settings { lookahead, ..played() };
        let mut filter = filter(&settings.into());
        let (latency, delay) = (filter.latency(), filter.bank_delay());
        let passed = messages.map(|(at, content, _)| (at + latency, content.to_vec()));
        let mut expected = tune(22_016);
        let keys = messages.map(|(at, _, event)| (at + delay, event));
        filter.process_events(&mut slices(&mut expected), &[], keys, |_, _| ());
        for size in [22_016, 512, 61] {
            let output = play(&settings, size, &events);
            assert!(output.signal == expected, "{size}");
            assert_eq!(output.messages, passed);
        }
    }
}

/// Returns the notes that the library detects in the demo tune, as messages with their frames.
fn found(controls: &Controls) -> Vec<(usize, Vec<u8>)> {
    let mut filter = filter(controls);
    let (mut notes, mut found) = (SentNotes::new(), Vec::new());
    filter.process_with(&mut slices(&mut tune(88_064)), |end, filter| {
        notes.push(filter, |event| event.midi(|message| found.push((end - 1, message.to_vec()))));
    });
    found
}

fn sending() -> Controls {
    let routing = Routing { midi_out: true, ..Routing::default() };
    Controls { routing, ..Controls::default() }
}

#[test]
fn detected_notes_are_sent() {
    for mpe in [false, true] {
        let mut controls = sending();
        controls.routing.mpe = mpe;
        let expected = found(&controls);
        assert!(expected.len() > 10, "{expected:?}");
        for size in [512, 1000] {
            let output = Host::new(STEREO, &controls).play(&tune(88_064), &[], size, &[]);
            assert_eq!(output.messages, expected, "{size}");
        }
    }
}

fn begun(output: &Output) -> usize {
    output.messages.iter().filter(|(_, message)| message[0] & 0xF0 == 0x90).count()
}

/// Returns status and key of each note-on in `output` that no note-off ends.
fn hanging(output: &Output) -> BTreeSet<(u8, u8)> {
    let mut sounding = BTreeSet::new();
    for (_, message) in &output.messages {
        match message[..] {
            [status @ 0x90..=0x9F, key, 1..=127] => _ = sounding.insert((status, key)),
            [status @ 0x80..=0x8F, key, _] => _ = sounding.remove(&(status + 0x10, key)),
            [status @ 0xB0..=0xBF, 123, _] => sounding.retain(|(on, _)| on + 0x20 != status),
            _ => {}
        }
    }
    sounding
}

#[test]
fn every_note_ends_in_a_small_buffer_and_after_activation() {
    let keys = |at: usize, status: u8, count: u8, velocity: u8| {
        (0..count).map(move |key| message(at, &[status, key, velocity]))
    };
    let all: Vec<Event> = keys(10, 0x90, 120, 100).chain(keys(20, 0x80, 120, 0)).collect();
    let ends = keys(20, 0x81, 128, 0).chain(keys(30, 0x80, 40, 0));
    let others: Vec<Event> = keys(10, 0x90, 40, 100).chain(ends).collect();
    let ends = keys(600, 0x81, 128, 0).chain(keys(700, 0x80, 119, 0));
    let ends = ends.chain([message(701, &[0xB0, 123, 0])]);
    let later: Vec<Event> = keys(10, 0x90, 120, 100).chain(ends).collect();
    let mut host = Host::new(STEREO, &Controls::default());
    host.room = 4096;
    for (events, expected) in [
        // Note-ons of all keys do not fit into the buffer.
        (all, 1..120),
        // Note-offs without a note-on take no space from the notes that sound.
        (others, 40..41),
        // Note-offs without a note-on in a later block leave space for the note-offs of all notes that fitted.
        (later, 61..120),
    ] {
        let output = host.play(&tune(1024), &[], 512, &events);
        let (begun, hanging) = (begun(&output), hanging(&output));
        assert!(expected.contains(&begun) && hanging.is_empty(), "{begun} {hanging:?}");
    }

    let mut host = Host::new(STEREO, &sending());
    let mut output = host.play(&tune(44_032), &[], 512, &[]);
    assert!(!hanging(&output).is_empty());
    host.activate();
    *host.value("midi_out") = 0.0;
    output.messages.extend(host.play(&tune(64), &[], 64, &[]).messages);
    assert!(hanging(&output).is_empty());
}

#[test]
fn the_tempo_is_followed_and_a_stop_releases_keys() {
    let sync = NoteValue::try_from("1/8".to_owned()).unwrap();
    let settings = Settings { sync, ..Settings::default() };
    let output = play(&settings, 512, &[position(90.0, 1.0)]);
    // An eighth note at 90 beats a minute is 1/3 s long.
    let plain = Settings { ring: 1.0 / 3.0, ..settings.at_tempo(90.0) };
    assert!(output.signal == expected(&plain.into(), &tune(22_016)));

    let key = message(0, &[0x90, 57, 127]);
    let (start, mut stop) = (position(120.0, 1.0), position(120.0, 0.0));
    stop.0 = 10_240;
    let stopped = play(&played(), 512, &[key.clone(), start.clone(), stop]);
    let mut expected = tune(22_016);
    let keys = [(0, KeyEvent::Key(57, 1.0)), (10_239, KeyEvent::ReleaseAll)];
    filter(&played().into()).process_events(&mut slices(&mut expected), &[], keys, |_, _| ());
    assert!(stopped.signal == expected);
    assert!(stopped.signal != play(&played(), 512, &[key, start]).signal);
}

#[test]
fn an_event_beyond_its_block_delays_no_other_event() {
    let mut host = Host::new(STEREO, &played().into());
    let mut sound = tune(512);
    let audio = [0, 1].map(|channel| sound[channel].as_mut_ptr());
    for (frame, at) in [(1_000_000, 511), (100, 100), (512, 511), (0, 0)] {
        let message = [0x90, 57, 100];
        host.write([(frame, uri::MIDI, &message[..])].into_iter());
        host.run(512, [audio; 3]);
        assert_eq!(host.sent(), [(at, message.to_vec())], "{frame}");
    }
}

#[test]
fn broken_events_have_no_effect() {
    let plain = play(&played(), 512, &[]);
    let broken = [
        (0, uri::MIDI, vec![]),
        (0, uri::MIDI, vec![0xF0; 2000]),
        (1, c"urn:other", vec![0x90, 57, 127]),
        (2, uri::OBJECT, vec![1, 2, 3]),
        (2, uri::OBJECT, position(120.0, 1.0).2[..30].to_vec()),
    ];
    assert!(play(&played(), 512, &broken) == plain);
}
