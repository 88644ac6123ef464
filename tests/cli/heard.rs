//! What `bands` tells: pictures, tables, notes.

use crate::{Folder, common, float_wav};
use midly::{MetaMessage, MidiMessage, Smf, Timing, TrackEventKind};
use serde_json::Value;
use std::fs;

/// A note of a MIDI file: key, velocity, start and end in seconds.
type Note = (u8, u8, f64, f64);

fn notes(folder: &Folder, name: &str) -> Vec<Note> {
    let bytes = fs::read(folder.path(name)).unwrap();
    let smf = Smf::parse(&bytes).unwrap();
    let Timing::Metrical(ticks) = smf.header.timing else { panic!("{:?}", smf.header) };
    let (mut now, mut tempo, mut sounding, mut notes) = (0.0, 0.5, Vec::new(), Vec::new());
    for event in &smf.tracks[0] {
        now += f64::from(event.delta.as_int()) * tempo / f64::from(ticks.as_int());
        match event.kind {
            TrackEventKind::Meta(MetaMessage::Tempo(us)) => tempo = f64::from(us.as_int()) / 1e6,
            TrackEventKind::Midi { message: MidiMessage::NoteOn { key, vel }, .. } => {
                sounding.push((key.as_int(), vel.as_int(), now));
            }
            TrackEventKind::Midi { message: MidiMessage::NoteOff { key, .. }, .. } => {
                let place = sounding.iter().position(|note| note.0 == key.as_int()).unwrap();
                let (key, velocity, start) = sounding.remove(place);
                notes.push((key, velocity, start, now));
            }
            _ => {}
        }
    }
    assert!(sounding.is_empty(), "every note ends: {sounding:?}");
    notes.sort_by(|a, b| a.2.total_cmp(&b.2));
    notes
}

const RATE: f64 = 44_100.0;

/// Plain tones one after the other: frequency, amplitude, seconds. Amplitude 0 is a rest.
fn melody(tones: &[(f64, f64, f64)]) -> Folder {
    let samples: Vec<f32> = tones
        .iter()
        .flat_map(|&(frequency, amplitude, seconds)| {
            common::sine(frequency, amplitude, seconds, RATE)
        })
        .collect();
    Folder::with(&float_wav(RATE as u32, &[samples]))
}

fn key_frequency(key: usize) -> f64 {
    440.0 * ((key as f64 - 69.0) / 12.0).exp2()
}

#[test]
fn a_scale_of_plain_tones_from_a3_to_g_sharp_7_is_written_down_note_for_note() {
    for amplitude in [0.5, 0.1] {
        for seconds in [0.5, 0.3] {
            let keys = 57..57 + 48;
            let tones: Vec<_> =
                keys.clone().map(|key| (key_frequency(key), amplitude, seconds)).collect();
            let folder = melody(&tones);
            folder.run("bands in.wav --midi out.mid");
            let heard = notes(&folder, "out.mid");
            let heard_keys: Vec<usize> = heard.iter().map(|note| usize::from(note.0)).collect();
            assert_eq!(heard_keys, keys.collect::<Vec<_>>(), "{amplitude}, {seconds} s: {heard:?}");
            for (index, (key, _, start, end)) in heard.into_iter().enumerate() {
                let onset = index as f64 * seconds;
                assert!((start - onset).abs() < 0.15, "{key} at {start}, not {onset}");
                assert!(end > onset + 0.8 * seconds, "{key} ends at {end}");
            }
        }
    }
}

#[test]
fn a_chord_is_all_its_notes_and_transposed_bands_write_what_sounds() {
    let chord = [57, 61, 64, 69];
    let mut sum = vec![0f32; 88_200];
    for key in chord {
        let tone = common::sine(key_frequency(key), 0.2, 2.0, RATE);
        sum.iter_mut().zip(tone).for_each(|(sum, tone)| *sum += tone);
    }
    let folder = Folder::with(&float_wav(RATE as u32, &[sum]));
    let only = |flags: &str| {
        folder.run(&format!("bands in.wav --midi out.mid --force {flags}"));
        notes(&folder, "out.mid").iter().map(|note| note.0).collect::<Vec<_>>()
    };
    assert_eq!(only("--scale custom --custom 000000010000"), [64], "E is all that may sound");
    for flags in ["", "--transpose -12", "--transpose -3"] {
        folder.run(&format!("bands in.wav --midi out.mid --force {flags}"));
        let mut keys: Vec<u8> = notes(&folder, "out.mid").iter().map(|note| note.0).collect();
        keys.sort_unstable();
        assert_eq!(keys, [57, 61, 64, 69], "{flags}");
    }
}

#[test]
fn notes_end_are_struck_again_and_have_the_velocity_of_their_level() {
    let a4 = 440.0;
    let folder = melody(&[(a4, 0.5, 1.0), (a4, 0.0, 1.5), (a4, 0.05, 1.0), (a4, 0.0, 1.0)]);
    folder.run("bands in.wav --midi out.mid --floor -70");
    let heard = notes(&folder, "out.mid");
    assert_eq!(heard.len(), 2, "{heard:?}");
    let [(_, loud, start, end), (_, soft, again, _)] = heard[..] else { unreachable!() };
    assert!(start < 0.15 && (1.0..2.0).contains(&end), "{heard:?}");
    assert!((again - 2.5).abs() < 0.15, "{heard:?}");
    // 20 dB of 57, on 126 steps.
    assert!((i32::from(loud) - i32::from(soft) - 44).abs() <= 3, "{heard:?}");
}

#[test]
fn short_notes_and_weak_ones_are_left_out_as_asked() {
    let folder = melody(&[(440.0, 0.5, 1.0), (660.0, 0.5, 0.2), (440.0, 0.5, 1.0)]);
    let count = |flags: &str| {
        folder.run(&format!("bands in.wav --midi out.mid --force {flags}"));
        notes(&folder, "out.mid").iter().filter(|note| note.0 == 76).count()
    };
    assert_eq!(count(""), 1);
    assert_eq!(count("--midi-shortest 1000"), 0);
    let silent = Folder::with(&crate::silence().bytes());
    silent.run("bands in.wav --midi out.mid");
    assert!(notes(&silent, "out.mid").is_empty());
}

#[test]
fn tables_hold_time_and_the_level_of_every_note() {
    let folder = melody(&[(440.0, 0.5, 2.0)]);
    folder.run("bands in.wav --csv out.csv --json out.json --hop 50ms");
    let csv = fs::read_to_string(folder.path("out.csv")).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    assert_eq!((head.len(), head[0], head[1], head[13], head[48]), (49, "time", "A3", "A4", "G#7"));
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.iter().map(|text| text.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 40);
    assert_eq!((rows[0][0], rows[39][0]), (0.05, 2.0));
    for (index, level) in rows[39][1..].iter().enumerate() {
        // The ceiling of a single tone is -10 dB of the whole.
        let expected = if index == 12 { -14.0..-9.0 } else { -120.0..-28.0 };
        assert!(expected.contains(level), "band {index}: {level}");
    }

    let json: Value = serde_json::from_slice(&fs::read(folder.path("out.json")).unwrap()).unwrap();
    assert_eq!(json["notes"].as_array().unwrap().len(), 48);
    let moments = json["moments"].as_array().unwrap();
    for (moment, row) in moments.iter().zip(&rows) {
        assert_eq!(moment["time"], row[0]);
        assert_eq!(moment["levels"].as_array().unwrap(), &row[1..]);
    }
    assert_eq!(moments.len(), rows.len());

    let output = folder.command("bands in.wav --csv - --hop 50").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), csv);
}

#[test]
fn nothing_asked_for_or_in_the_way_is_told_and_nothing_is_written() {
    let folder = melody(&[(440.0, 0.5, 0.1)]);
    assert_eq!(folder.command("bands in.wav").output().unwrap().status.code(), Some(2));
    folder.put("out.csv", b"old");
    let line = folder.fail("bands in.wav --csv out.csv --midi out.mid", 1);
    assert_eq!(line, "out.csv: already exists; choose another name, or overwrite it with --force");
    for (flag, range) in [
        ("--hop 0", "use 1 to 10000 ms"),
        ("--midi-threshold 0", "use -40 to -3 dB"),
        ("--midi-hysteresis=-1", "use 0 to 30 dB"),
        ("--midi-shortest long", "use 0 to 10000 ms"),
    ] {
        let line = folder.fail(&format!("bands in.wav --midi out.mid {flag}"), 2);
        assert!(line.ends_with(range), "{line}");
    }
}
