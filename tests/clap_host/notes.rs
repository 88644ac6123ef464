//! Notes that the plugin sends.

use super::{MAX_BLOCK, random_blocks};
use crate::hosting::{demo, instance, set};
use midly::{MidiMessage, Smf, TrackEventKind};
use std::{fs, process::Command};
use tone_filter::dsp::{Settings, ToneFilter};
use xtask::host::{Midi, Sent};

/// The plugin's notes for the demo tune, in blocks of random lengths.
fn sent(sound: &Settings, notes: Vec<Midi>) -> Vec<Sent> {
    let mut instance = instance();
    set(&mut instance, sound);
    instance.select(2).unwrap();
    let mut processor = instance.activate(44_100.0, MAX_BLOCK).unwrap();
    (processor.notes, processor.sent) = (notes, Some(Vec::new()));
    let mut signal = demo();
    processor.run(&mut signal, true, &mut random_blocks(3), &[]).unwrap();
    let sent = processor.sent.take().unwrap();
    instance.deactivate(processor);
    assert!(sent.is_sorted_by_key(|note| note.frame), "in the order of their times");
    sent
}

/// The notes in the file that `bands --midi --live` writes for the demo tune: the second, the key, whether it begins.
fn in_file(flags: &[&str]) -> Vec<(f64, u16, bool)> {
    let folder = tempfile::tempdir().unwrap();
    let midi = folder.path().join("out.mid");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tone-filter"));
    let song = xtask::root().join("assets/demo.wav");
    command.arg("bands").arg(song).arg("--midi").arg(&midi).args(["--live", "--quiet"]).args(flags);
    assert!(command.status().unwrap().success());
    let bytes = fs::read(midi).unwrap();
    let song = Smf::parse(&bytes).unwrap();
    let (mut ticks, mut notes) = (0, Vec::new());
    for event in &song.tracks[0] {
        ticks += event.delta.as_int();
        if let TrackEventKind::Midi { message, .. } = event.kind {
            // 960 ticks a second.
            let seconds = f64::from(ticks) / 960.0;
            match message {
                MidiMessage::NoteOn { key, .. } => {
                    notes.push((seconds, u16::from(key.as_int()), true));
                }
                MidiMessage::NoteOff { key, .. } => {
                    notes.push((seconds, u16::from(key.as_int()), false));
                }
                other => panic!("{other:?}"),
            }
        }
    }
    notes
}

#[test]
fn what_is_heard_leaves_as_the_notes_that_the_renderer_writes_down() {
    for (lookahead, flag) in [(false, "--lookahead=off"), (true, "--lookahead=on")] {
        let sound = Settings { midi_out: true, lookahead, ..Settings::default() };
        let live = sent(&sound, Vec::new());
        let latency = ToneFilter::new(44_100.0, &sound).unwrap().latency();
        let file = in_file(&[flag]);
        assert!(live.iter().filter(|note| note.velocity.is_some()).count() > 50, "{live:?}");
        // What is still held at the end of the file ends with it.
        let end = demo()[0].len() as f64 / 44_100.0;
        let file: Vec<_> = file.into_iter().filter(|(at, _, on)| *on || *at < end - 0.1).collect();
        let mut rest: Vec<_> = live
            .iter()
            .filter(|n| {
                n.velocity.is_some() || (n.frame as f64) < 44_100.0 * (end - 0.1) + latency as f64
            })
            .collect();
        assert_eq!(rest.len(), file.len());
        for (at, key, on) in file {
            // Within a block of 64 samples and a tick of the file.
            let same = |note: &&Sent| {
                let late = (note.frame as f64 - latency as f64) / 44_100.0 - at;
                note.key == key && note.velocity.is_some() == on && (-0.001..0.0025).contains(&late)
            };
            let found = rest.iter().position(same);
            rest.remove(found.unwrap_or_else(|| panic!("{key} at {at}: {on}, with {flag}")));
        }
    }
}

#[test]
fn notes_that_come_in_go_out_as_late_as_the_sound() {
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
                |own: f64| velocity.is_some_and(|velocity: f64| (own - velocity).abs() < 1e-6);
            assert!(note.velocity.map_or(velocity.is_none(), near), "{note:?}");
        }
    }
}
