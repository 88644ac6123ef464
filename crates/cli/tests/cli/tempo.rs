//! Tempo, beats, bars, key and tuning of a file, and MIDI files with a tempo map.

use crate::{
    Folder, float_wav,
    notes::{Written, written},
};
use std::f64::consts::TAU;

const RATE: u32 = 44_100;

/// Length of a beat in seconds, at 100 beats per minute.
const BEAT: f64 = 0.6;

/// Ticks per beat in the MIDI files.
const TICKS: u32 = 480;

/// Returns a WAV file with `bars` bars of a waltz after 0.25 s of silence. Each bar has one harmony: a bass note, two chords,
/// and a melody in eighths.
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

/// Returns the distance of `tick` from the nearest multiple of `step`.
fn off_grid(tick: u32, step: u32) -> u32 {
    (tick % step).min(step - tick % step)
}

#[test]
fn a_waltz_opens_on_its_bars() {
    let folder = Folder::with(&waltz(8));
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
    let found = (0..24).filter(|n| near(0.25 + BEAT * f64::from(*n), &beats)).count();
    assert!(found >= 23, "{found} of 24: {beats:?}");
    let bars = (0..8).filter(|n| near(0.25 + 3.0 * BEAT * f64::from(*n), &downbeats)).count();
    assert!(bars >= 7, "{bars} of 8: {downbeats:?}");

    let midi = written(&folder, "out.mid");
    // The 0.25 s of silence are either a bar of one beat, or, if beats were detected in them, part of a bar.
    let last = midi.meters.last().map(|meter| (meter.1, meter.2));
    assert!(last == Some((3, 2)) && midi.meters.len() <= 3, "{:?}", midi.meters);
    assert_eq!(midi.keys, [(0, 0, false)], "C major");
    let last = midi.tempi.last().unwrap().1;
    assert!((f64::from(last) / (BEAT * 1e6) - 1.0).abs() < 0.02, "{:?}", midi.tempi);
    // Notes are within 40 ms (32 ticks) of an eighth.
    let on = midi.starts.iter().filter(|tick| off_grid(**tick, TICKS / 2) <= 32).count();
    assert!(on * 10 >= midi.starts.len() * 9, "{on} of {:?}", midi.starts);
}

#[test]
fn notes_move_to_the_grid_only_if_asked() {
    let folder = Folder::with(&waltz(3));
    folder.run("bands in.wav --midi free.mid");
    folder.run("bands in.wav --midi grid.mid --quantize 1/8");
    let [free, grid] = ["free.mid", "grid.mid"].map(|name| written(&folder, name));
    assert_eq!((&free.tempi, &free.meters), (&grid.tempi, &grid.meters));
    folder.run("bands in.wav --midi set.mid --tempo 120");
    let set = written(&folder, "set.mid");
    assert_eq!((set.tempi, set.meters, set.keys), (vec![(0, 500_000)], vec![], vec![]));
    let off = |smf: &Written| smf.starts.iter().map(|tick| off_grid(*tick, TICKS / 2)).sum::<u32>();
    assert!(off(&free) > 0, "recorded notes are not on the grid");
    assert_eq!(off(&grid), 0);
}

/// Returns a WAV file with the chords I, IV, V, I of C major, 15 cents sharp, 1 s each.
fn cadence() -> Vec<u8> {
    let chords = [[48, 60, 64, 67], [53, 60, 65, 69], [55, 59, 62, 67], [48, 60, 64, 67]];
    let sample = |t: u32| {
        let second = f64::from(t) / f64::from(RATE);
        let tone = |note: i32| {
            let hertz = 440.0 * ((f64::from(note - 69) + 0.15) / 12.0).exp2();
            (TAU * hertz * second).sin()
        };
        (0.1 * chords[second as usize].map(tone).iter().sum::<f64>()) as f32
    };
    float_wav(RATE, &[(0..4 * RATE).map(sample).collect()])
}

#[test]
fn bands_has_key_and_tuning_of_the_whole_file() {
    let folder = Folder::with(&cadence());
    // `--transpose` does not change the key, which is the key of the input. With `--tuning 466.16`, the note A is a semitone
    // higher.
    for (flags, root, a4) in [
        ("", "C", 440.0),
        ("--transpose 2 --scale auto", "C", 440.0),
        ("--auto-tuning", "C", 440.0),
        ("--tuning 466.16", "B", 466.16),
    ] {
        let said = folder.run(&format!("bands in.wav --json out.json --force {flags}"));
        let json = folder.json("out.json");
        let key = &json["key"];
        assert_eq!((&key["root"], &key["scale"]), (&root.into(), &"major".into()), "{flags}");
        assert!(key["certainty"].as_f64().unwrap() > 0.5, "{flags}: {key}");
        let cents = 1200.0 * (json["tuning"].as_f64().unwrap() / a4).log2();
        assert!((cents - 15.0).abs() < 2.0, "{flags}: {cents}");
        assert!(said.contains(&format!(" s, {root} major ")) && said.contains(", A4 = "), "{said}");
    }
}
