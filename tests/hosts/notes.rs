//! Tests of the notes that the plugin sends.

use tone_filter_dsp::Settings;
use tone_filter_hosts::{MAX_BLOCK, random_blocks};
use tone_filter_testkit::{
    clap::{Midi, Processor, Sent, transport_that},
    plugin::{demo, instance, set},
};

/// Plays the demo tune and the host's `notes`, in buffers of random lengths. Returns the notes that the plugin sends.
fn sent(sound: &Settings, notes: Vec<Midi>) -> Vec<Sent> {
    let mut instance = instance();
    set(&mut instance, sound);
    let mut processor = instance.activate(44_100.0, MAX_BLOCK).unwrap();
    (processor.notes, processor.sent) = (notes, Some(Vec::new()));
    let mut signal = demo();
    processor.run(&mut signal, true, &mut random_blocks(3), &[]).unwrap();
    let sent = processor.sent.take().unwrap();
    assert!(sent.is_sorted_by_key(|note| note.frame), "in the order of their times");
    sent
}

#[test]
fn notes_are_passed_on_with_the_latency() {
    let messages = [(5, [0x90, 60, 127]), (1000, [0x90, 64, 64]), (30_000, [0x80, 60, 0])];
    let notes = messages.map(|(frame, message)| Midi { frame, message });
    for (lookahead, latency) in [(false, 0), (true, 2048)] {
        let sound = Settings { lookahead, ..Settings::default() };
        let expected = [(5, 60, Some(1.0)), (1000, 64, Some(64.0 / 127.0)), (30_000, 60, None)];
        let actual = sent(&sound, notes.to_vec());
        assert_eq!(actual.len(), 3);
        for (note, (frame, key, velocity)) in actual.iter().zip(expected) {
            assert_eq!((note.frame, note.key), (frame + latency, key));
            let near =
                |sent: f64| velocity.is_some_and(|velocity: f64| (sent - velocity).abs() < 1e-6);
            assert!(note.velocity.map_or(velocity.is_none(), near), "{note:?}");
        }
    }
}

#[test]
fn stop_reset_and_activation_end_notes() {
    let sound = Settings { lookahead: true, ..Settings::default() };
    // After 4000 samples, the first note-on has been sent, its note-off is still delayed, and the second note has not begun.
    let messages = [(0, [0x90, 60, 127]), (3000, [0x80, 60, 0]), (3500, [0x90, 64, 127])];
    let stop = |processor: &mut Processor, plays: bool| {
        processor.transport = Some(transport_that(plays));
    };
    for what in ["stop", "reset", "activation"] {
        let mut instance = instance();
        set(&mut instance, &sound);
        let mut processor = instance.activate(44_100.0, MAX_BLOCK).unwrap();
        processor.notes = messages.map(|(frame, message)| Midi { frame, message }).to_vec();
        processor.sent = Some(Vec::new());
        stop(&mut processor, true);
        let mut blocks = random_blocks(3);
        processor.run(&mut [vec![0.0; 4000], vec![0.0; 4000]], true, &mut blocks, &[]).unwrap();
        let mut sent = processor.sent.take().unwrap();
        assert_eq!(sent.iter().map(|note| note.key).collect::<Vec<_>>(), [60], "{what}");
        match what {
            "stop" => stop(&mut processor, false),
            "reset" => processor.reset(),
            _ => {
                instance.deactivate(processor);
                processor = instance.activate(44_100.0, MAX_BLOCK).unwrap();
            }
        }
        (processor.notes, processor.sent) = (Vec::new(), Some(Vec::new()));
        processor.run(&mut [vec![0.0; 4000], vec![0.0; 4000]], true, &mut blocks, &[]).unwrap();
        sent = processor.sent.take().unwrap();
        assert_eq!(sent, [Sent { frame: 0, key: 60, velocity: None }], "{what}");
    }
}
