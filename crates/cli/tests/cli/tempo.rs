//! Tempo, beats and bars of a file, and MIDI files with a tempo map of them.

use crate::{Folder, float_wav};
use midly::{MetaMessage, MidiMessage, Smf, TrackEventKind};
use std::f64::consts::TAU;

const RATE: u32 = 44_100;

/// Length of a beat in seconds, at 100 beats per minute.
const BEAT: f64 = 0.6;

/// Ticks per beat in the MIDI files.
const TICKS: u32 = 480;

/// Returns a waltz, after silence of 0.25 s: a bass note, two chords, and a melody in eighths. Each bar has a harmony of its own.
pub fn waltz(bars: u32) -> Vec<u8> {
    let roots = [0, 5, 7, 0];
    let sample = |t: u32| {
        let second = f64::from(t) / f64::from(RATE) - 0.25;
        if second < 0.0 {
            return 0.0;
        }
        let (beat, since) = ((second / BEAT) as usize, second % BEAT);
        let root = roots[beat / 3 % 4];
        let tone = |note: i32, since: f64| {
            let hertz = 440.0 * (f64::from(note - 69) / 12.0).exp2();
            let harmonic = |n: f64| (TAU * n * hertz * since).sin() / n;
            (1..=6).map(|n| harmonic(f64::from(n))).sum::<f64>() * (-4.0 * since).exp()
        };
        let accompaniment = if beat % 3 == 0 {
            2.0 * tone(36 + root, since)
        } else {
            [60, 64, 67].iter().map(|note| tone(note + root, since)).sum()
        };
        let melody = tone(79 + root, second % (BEAT / 2.0));
        (0.08 * (accompaniment + 0.5 * melody)) as f32
    };
    let samples = (f64::from(3 * bars) * BEAT * f64::from(RATE)) as u32 + RATE / 4;
    float_wav(RATE, &[(0..samples).map(sample).collect()])
}

/// Events of a MIDI file, each with its tick first.
#[derive(Debug, Default, PartialEq)]
struct Written {
    tempi: Vec<(u32, u32)>,
    meters: Vec<(u32, u8, u8)>,
    keys: Vec<(u32, i8, bool)>,
    starts: Vec<u32>,
}

fn written(folder: &Folder, name: &str) -> Written {
    let bytes = folder.bytes(name);
    let (mut now, mut written) = (0, Written::default());
    for event in &Smf::parse(&bytes).unwrap().tracks[0] {
        now += event.delta.as_int();
        match event.kind {
            TrackEventKind::Meta(MetaMessage::Tempo(quarter)) => {
                written.tempi.push((now, quarter.as_int()));
            }
            TrackEventKind::Meta(MetaMessage::TimeSignature(beats, unit, ..)) => {
                written.meters.push((now, beats, unit));
            }
            TrackEventKind::Meta(MetaMessage::KeySignature(sharps, minor)) => {
                written.keys.push((now, sharps, minor));
            }
            TrackEventKind::Midi { message: MidiMessage::NoteOn { .. }, .. } => {
                written.starts.push(now);
            }
            _ => {}
        }
    }
    written
}

/// Returns the distance of `tick` from the nearest multiple of `step`.
fn off_grid(tick: u32, step: u32) -> u32 {
    (tick % step).min(step - tick % step)
}

#[test]
fn a_waltz_opens_on_its_bars() {
    let folder = Folder::with(&waltz(12));
    let said = folder.run("bands in.wav --json out.json --midi out.mid --png out.png");
    assert!(said.contains(" BPM"), "{said}");
    let json = folder.json("out.json");
    let tempo = json["tempo"]["bpm"].as_f64().unwrap();
    assert!((tempo / 100.0 - 1.0).abs() < 0.02, "{tempo}");
    assert_eq!(json["tempo"]["meter"], 3);
    let certainty = json["tempo"]["certainty"].as_f64().unwrap();
    assert!((0.5..=1.0).contains(&certainty), "{certainty}");
    let times = |name: &str| -> Vec<f64> {
        json[name].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect()
    };
    let near = |expected: f64, all: &[f64]| all.iter().any(|time| (time - expected).abs() < 0.05);
    let (beats, downbeats) = (times("beats"), times("downbeats"));
    let found = (0..36).filter(|n| near(0.25 + BEAT * f64::from(*n), &beats)).count();
    assert!(found >= 35, "{found} of 36: {beats:?}");
    let bars = (0..12).filter(|n| near(0.25 + 3.0 * BEAT * f64::from(*n), &downbeats)).count();
    assert!(bars >= 11, "{bars} of 12: {downbeats:?}");

    let midi = written(&folder, "out.mid");
    // The 0.25 s of silence are a bar of one beat, or part of a bar if beats were detected there.
    assert!(
        midi.meters.last().is_some_and(|meter| (meter.1, meter.2) == (3, 2)),
        "{:?}",
        midi.meters
    );
    assert!(midi.meters.len() <= 3, "{:?}", midi.meters);
    assert_eq!(midi.keys, [(0, 0, false)], "C major");
    let last = midi.tempi.last().unwrap().1;
    assert!((f64::from(last) / (BEAT * 1e6) - 1.0).abs() < 0.02, "{:?}", midi.tempi);
    // Notes are within 40 ms (32 ticks) of an eighth.
    let on = midi.starts.iter().filter(|tick| off_grid(**tick, TICKS / 2) <= 32).count();
    assert!(on * 10 >= midi.starts.len() * 9, "{on} of {:?}", midi.starts);
}

#[test]
fn notes_move_to_the_grid_only_if_asked() {
    let folder = Folder::with(&waltz(5));
    folder.run("bands in.wav --midi free.mid");
    folder.run("bands in.wav --midi grid.mid --quantize 1/8");
    folder.run("bands in.wav --midi half.mid --quantize 1/8 --strength 50%");
    let [free, grid, half] =
        ["free.mid", "grid.mid", "half.mid"].map(|name| written(&folder, name));
    assert_eq!((&free.tempi, &free.meters), (&grid.tempi, &grid.meters));
    let off = |own: &Written| own.starts.iter().map(|tick| off_grid(*tick, TICKS / 2)).sum::<u32>();
    assert!(off(&free) > 0, "recorded notes are not on the grid");
    assert_eq!(off(&grid), 0);
    // Half of the distance, up to rounding.
    let expected = off(&free) / 2;
    assert!(off(&half).abs_diff(expected) <= free.starts.len() as u32, "{} {expected}", off(&half));
}

#[test]
fn a_given_tempo_has_no_bars() {
    let folder = Folder::with(&waltz(1));
    folder.run("bands in.wav --midi out.mid --tempo 120");
    let midi = written(&folder, "out.mid");
    assert_eq!((midi.tempi, midi.meters, midi.keys), (vec![(0, 500_000)], vec![], vec![]));
}

#[test]
fn wrong_steps_are_named() {
    let folder = Folder::with(&waltz(1));
    for (flags, part) in [
        ("--midi out.mid --quantize 1/3", "'1/3' is not a step"),
        ("--midi out.mid --quantize off", "'off' is not a step"),
        ("--midi out.mid --quantize 1/16 --strength 101", "strength"),
        ("--json out.json --quantize 1/16", "--midi"),
    ] {
        let output = folder.command(&format!("bands in.wav {flags}")).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags}: {said}");
        assert!(said.contains(part), "{flags}: {said}");
        assert!(!folder.path("out.mid").exists() && !folder.path("out.json").exists(), "{flags}");
    }
}
