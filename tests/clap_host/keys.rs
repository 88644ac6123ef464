//! Tests that the plugin's output is the library's, with keys that a host plays and with the tempo of its song.

use super::{MAX_BLOCK, RATE, random_blocks};
use tone_filter_dsp::{KeyEvent, Keys, NoteValue, Settings, ToneFilter};
use tone_filter_testkit::{
    clap::{Midi, transport_at},
    plugin::{Signal, assert_same, instance, music, set, settings},
};

/// Returns the library's output for stereo `input`. At each of the `frames`, calls `play` with its index.
fn by_library(
    settings: &Settings,
    input: &Signal,
    frames: &[usize],
    mut play: impl FnMut(&mut ToneFilter, usize),
) -> Signal {
    let mut filter = ToneFilter::new(RATE, settings).unwrap();
    let mut output = input.clone();
    let mut start = 0;
    let ends = frames.iter().copied().chain([input[0].len()]);
    for (index, end) in ends.enumerate() {
        let [left, right] = &mut output[..] else { panic!("not stereo") };
        filter.process(&mut [&mut left[start..end], &mut right[start..end]]);
        if index < frames.len() {
            play(&mut filter, index);
        }
        start = end;
    }
    output
}

#[test]
fn keys_reach_the_filter_at_their_sample() {
    let mut instance = instance();
    let sound = Settings { mix: 100.0, ..Settings::REFERENCE };
    for keys in [Keys::Hold, Keys::HoldAny, Keys::Add] {
        set(&mut instance, &Settings { keys, bands: sound.bands.with(5, false), ..sound });
        let actual = settings(&mut instance);
        assert_eq!(actual.keys, keys);
        let input = music(1.0, RATE);
        // A4 and D5 on, pressure on A4, pitch wheel, pedal, A4 off, wheel back, all notes off.
        let messages = [
            (1000, [0x90, 69, 100]),
            (2000, [0x90, 74, 127]),
            (9000, [0xA0, 69, 64]),
            (12_345, [0xE0, 0, 96]),
            (20_000, [0xB0, 64, 127]),
            (20_001, [0x80, 69, 0]),
            (30_000, [0xE0, 0, 64]),
            (35_000, [0xB0, 123, 0]),
        ];
        let frames = messages.map(|(frame, _)| frame);
        let expected =
            by_library(&actual, &input, &frames, |filter, index| match index {
                0 => filter.play(KeyEvent::Key(69, 100.0 / 127.0)),
                1 => filter.play(KeyEvent::Key(74, 1.0)),
                2 => filter.play(KeyEvent::Gain(69, (64.0f32 / 127.0).powi(2))),
                3 => filter
                    .play(KeyEvent::Bend(2.0 * (2.0 * (f32::from(96u16 << 7) / 16_383.0) - 1.0))),
                4 => filter.play(KeyEvent::Sustain(true)),
                5 => filter.play(KeyEvent::Key(69, 0.0)),
                6 => filter
                    .play(KeyEvent::Bend(2.0 * (2.0 * (f32::from(64u16 << 7) / 16_383.0) - 1.0))),
                _ => filter.play(KeyEvent::ReleaseAll),
            });
        instance.select(2).unwrap();
        let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
        processor.notes = messages.map(|(frame, message)| Midi { frame, message }).to_vec();
        let mut signal = input;
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
    let input = music(0.5, RATE);
    for tempo in [None, Some(90.0), Some(180.0)] {
        let expected = by_library(
            &tempo.map_or(actual, |tempo| actual.at_tempo(tempo)),
            &input,
            &[],
            |_, _| {},
        );
        instance.select(2).unwrap();
        let mut processor = instance.activate(RATE, MAX_BLOCK).unwrap();
        processor.surroundings.transport = tempo.map(transport_at);
        // The first buffers tell the tempo, and the settings move to their new values.
        let mut first: Signal = vec![vec![0.0; 4800]; 2];
        processor.run(&mut first, true, &mut random_blocks(5), &[]).unwrap();
        processor.reset();
        let mut signal = input.clone();
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
