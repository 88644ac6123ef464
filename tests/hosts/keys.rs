//! Tests of MIDI keys and a tempo from the host, with which the output must equal the library's. Also key names and pages of
//! controls.

use tone_filter_dsp::{KeyEvent, Keys, NoteValue, Settings, ToneFilter};
use tone_filter_hosts::{MAX_BLOCK, RATE, random_blocks};
use tone_filter_testkit::{
    clap::{Midi, transport_at},
    plugin::{Signal, assert_same, expected, instance, music, set, settings},
};

#[test]
fn keys_reach_the_filter_at_their_sample() {
    let mut instance = instance();
    let bend =
        |high: u8| KeyEvent::Bend(2.0 * (2.0 * (f32::from(u16::from(high) << 7) / 16_383.0) - 1.0));
    let messages = [
        (1000, [0x90, 69, 100], KeyEvent::Key(69, 100.0 / 127.0)),
        (2000, [0x90, 74, 127], KeyEvent::Key(74, 1.0)),
        (9000, [0xA0, 69, 64], KeyEvent::Gain(69, (64.0f32 / 127.0).powi(2))),
        (12_345, [0xE0, 0, 96], bend(96)),
        (20_000, [0xB0, 64, 127], KeyEvent::Sustain(true)),
        (20_001, [0x80, 69, 0], KeyEvent::Key(69, 0.0)),
        (30_000, [0xE0, 0, 64], bend(64)),
        (35_000, [0xB0, 123, 0], KeyEvent::ReleaseAll),
    ];
    let sound = Settings { mix: 100.0, ..Settings::REFERENCE };
    for keys in [Keys::Hold, Keys::HoldAny, Keys::Add] {
        set(&mut instance, &Settings { keys, bands: sound.bands.with(5, false), ..sound });
        let actual = settings(&mut instance);
        assert_eq!(actual.keys, keys);
        let mut expected = music(1.0, RATE);
        let mut signal = expected.clone();
        let mut parts: Vec<_> = expected.iter_mut().map(Vec::as_mut_slice).collect();
        let events = messages.map(|(frame, _, event)| (frame, event));
        let mut filter = ToneFilter::new(RATE, &actual).unwrap();
        filter.process_events(&mut parts, &[], events, |_, _| ());

        let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
        processor.notes = messages.map(|(frame, message, _)| Midi { frame, message }).to_vec();
        processor.run(&mut signal, true, &mut random_blocks(5), &[]).unwrap();
        instance.deactivate(processor);
        assert_same(&signal, &expected, &format!("{keys:?}"));
        assert!(signal[0].iter().any(|x| x.abs() > 0.01), "{keys:?} is silent");
    }
}

#[test]
fn ring_and_release_follow_the_song_s_tempo() {
    let mut instance = instance();
    let sync = NoteValue::new(NoteValue::ENTRIES.iter().position(|(id, _)| *id == "1/8").unwrap());
    set(&mut instance, &Settings { sync, ..Settings::REFERENCE });
    let actual = settings(&mut instance);
    for tempo in [None, Some(90.0), Some(180.0)] {
        let mut signal = music(0.5, RATE);
        let settings = tempo.map_or(actual, |tempo| actual.at_tempo(tempo));
        let expected = expected(&settings, RATE, &signal, &[]);
        let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
        processor.transport = tempo.map(transport_at);
        // The first buffers pass the tempo, and let the settings settle.
        let mut first: Signal = vec![vec![0.0; 4800]; 2];
        processor.run(&mut first, true, &mut random_blocks(5), &[]).unwrap();
        processor.reset();
        processor.run(&mut signal, true, &mut random_blocks(5), &[]).unwrap();
        instance.deactivate(processor);
        assert_same(&signal, &expected, &format!("{tempo:?}"));
    }
}

#[test]
fn keys_have_the_names_of_their_bands() {
    let mut instance = instance();
    let names = instance.note_names().unwrap();
    assert_eq!((names.len(), &names[0], &names[41]), (77, &(28, "E1".into()), &(69, "A4".into())));
    set(&mut instance, &Settings { transpose: 24.0, ..Settings::REFERENCE });
    let names = instance.note_names().unwrap();
    assert_eq!(names.len(), 47, "the highest band has no key");
    assert_eq!(names[0], (81, "A3".into()));
}

#[test]
fn every_parameter_is_on_a_page_of_controls() {
    let mut instance = instance();
    let pages = instance.pages().unwrap();
    let names: Vec<_> = pages.iter().map(|(name, _)| &**name).collect();
    let expected = ["Main", "Listening", "Notes", "Resonators", "Chip", "Play", "Pitch", "Output"];
    assert_eq!(names, expected);
    for parameter in instance.parameters().unwrap() {
        let found = pages.iter().any(|(_, ids)| ids.contains(&parameter.id));
        assert!(found, "{} is on no page", parameter.name);
    }
}
