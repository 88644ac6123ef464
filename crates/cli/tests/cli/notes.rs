//! Outputs of `bands`: tables and notes.

use crate::{Folder, batch, float_wav, signals};
use midly::{MetaMessage, MidiMessage, Smf, Timing, TrackEventKind};
use std::fs;

/// Note of a MIDI file: key, velocity, start and end in seconds.
type Note = (u8, u8, f64, f64);

/// Events of a MIDI file. The tuples begin with a tick, except for the notes.
#[derive(Debug, Default, PartialEq)]
pub struct Written {
    /// Notes, sorted by their starts.
    pub notes: Vec<Note>,
    /// Ticks at which notes begin.
    pub starts: Vec<u32>,
    /// Tempos in microseconds per quarter note.
    pub tempi: Vec<(u32, u32)>,
    /// Time signatures: numerator, and exponent of 2 of the denominator.
    pub meters: Vec<(u32, u8, u8)>,
    /// Key signatures: number of sharps (negative: flats), and whether the key is minor.
    pub keys: Vec<(u32, i8, bool)>,
}

/// Reads the first track of the MIDI file `name`. Each of its notes must end.
pub fn written(folder: &Folder, name: &str) -> Written {
    let bytes = folder.bytes(name);
    let smf = Smf::parse(&bytes).unwrap();
    let Timing::Metrical(ticks) = smf.header.timing else { panic!("{:?}", smf.header) };
    let (mut written, mut sounding) = (Written::default(), Vec::new());
    let (mut tick, mut now, mut tempo) = (0, 0.0, 0.5);
    for event in &smf.tracks[0] {
        tick += event.delta.as_int();
        now += f64::from(event.delta.as_int()) * tempo / f64::from(ticks.as_int());
        match event.kind {
            TrackEventKind::Meta(MetaMessage::Tempo(us)) => {
                tempo = f64::from(us.as_int()) / 1e6;
                written.tempi.push((tick, us.as_int()));
            }
            TrackEventKind::Meta(MetaMessage::TimeSignature(beats, unit, ..)) => {
                written.meters.push((tick, beats, unit));
            }
            TrackEventKind::Meta(MetaMessage::KeySignature(sharps, minor)) => {
                written.keys.push((tick, sharps, minor));
            }
            TrackEventKind::Midi { message: MidiMessage::NoteOn { key, vel }, .. } => {
                written.starts.push(tick);
                sounding.push((key.as_int(), vel.as_int(), now));
            }
            TrackEventKind::Midi { message: MidiMessage::NoteOff { key, .. }, .. } => {
                let index = sounding.iter().position(|note| note.0 == key.as_int()).unwrap();
                let (key, velocity, start) = sounding.remove(index);
                written.notes.push((key, velocity, start, now));
            }
            _ => {}
        }
    }
    assert!(sounding.is_empty(), "every note ends: {sounding:?}");
    written.notes.sort_by(|a, b| a.2.total_cmp(&b.2));
    written
}

const RATE: f64 = 44_100.0;

/// Returns a folder with a sequence of sines in `in.wav`. Each has a frequency in Hz, an amplitude (0 for a rest), and a
/// duration in seconds.
fn melody(tones: &[(f64, f64, f64)]) -> Folder {
    let tone = |(frequency, amplitude, seconds)| signals::sine(frequency, amplitude, seconds, RATE);
    let samples = tones.iter().copied().flat_map(tone).collect();
    Folder::with(&float_wav(RATE as u32, &[samples]))
}

/// Returns the MIDI note `key` with overtones, as instruments have them. Its fundamental has the given amplitude.
fn rich(key: usize, amplitude: f32, seconds: f64) -> Vec<f32> {
    let tone = signals::bent(6, seconds, RATE, |_| key as f64).into_iter();
    tone.map(|sample| sample * amplitude / 0.2).collect()
}

#[test]
fn a_chord_is_all_its_notes_and_transposed_bands_write_what_sounds() {
    let tones = [60, 64, 67].map(|key| rich(key, 0.1, 1.0));
    let sum = (0..tones[0].len()).map(|t| tones.iter().map(|tone| tone[t]).sum()).collect();
    let folder = Folder::with(&float_wav(RATE as u32, &[sum]));
    for (flags, expected) in [
        ("", &[60, 64, 67][..]),
        ("--transpose -7", &[60, 64, 67]),
        ("--scale custom --custom 000000010000", &[64]),
    ] {
        folder.run(&format!("bands in.wav --midi out.mid --force {flags}"));
        let mut keys: Vec<u8> =
            written(&folder, "out.mid").notes.iter().map(|note| note.0).collect();
        keys.sort_unstable();
        assert_eq!(keys, expected, "{flags}");
    }
}

#[test]
fn notes_end_are_struck_again_and_have_the_velocity_of_their_level() {
    let rest = vec![0.0; 44_100];
    let samples = [rich(69, 0.3, 1.0), rest.clone(), rich(69, 0.05, 1.0), rest].concat();
    let folder = Folder::with(&float_wav(RATE as u32, &[samples]));
    folder.run("bands in.wav --midi out.mid --auto=off");
    let mut heard = written(&folder, "out.mid").notes;
    heard.retain(|note| note.0 == 69);
    let [(_, loud, start, end), (_, soft, again, _)] = heard[..] else { panic!("{heard:?}") };
    assert!(start < 0.15 && (0.9..1.3).contains(&end), "{heard:?}");
    assert!((again - 2.0).abs() < 0.15, "{heard:?}");
    // The levels of the notes differ by 15.6 dB. The velocity has 126 steps for 57 dB, so the notes differ by 34 steps.
    assert!((i32::from(loud) - i32::from(soft) - 34).abs() <= 3, "{heard:?}");
}

#[test]
fn tables_hold_time_and_the_level_and_state_of_every_note() {
    let folder = melody(&[(440.0, 0.5, 2.0)]);
    folder.run("bands in.wav --csv out.csv --json out.json --hop 0.05s");
    let csv = fs::read_to_string(folder.path("out.csv")).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    assert_eq!((head.len(), head[0], head[1], head[42]), (79, "time", "E1", "A4"));
    assert_eq!(head[77..], ["G#7", "played"]);
    let rows: Vec<Vec<&str>> = lines.collect();
    assert_eq!(rows.len(), 40);
    assert_eq!((rows[0][0], rows[39][0]), ("0.050000", "2.000000"));
    let numbers =
        |row: &[&str]| -> Vec<f64> { row[..78].iter().map(|text| text.parse().unwrap()).collect() };
    for (index, level) in numbers(&rows[39])[1..].iter().enumerate() {
        // A single tone has a level of about -14 dB relative to the total power.
        let expected = if index == 41 { -18.0..-13.0 } else { -120.0..-12.0 };
        assert!(expected.contains(level), "band {index}: {level}");
    }
    // The last row is at the end of the file, where the note has ended.
    assert!(rows[5..39].iter().all(|row| row[78] == "A4"), "{csv}");

    let json = folder.json("out.json");
    assert_eq!(json["notes"].as_array().unwrap().len(), 77);
    let moments = json["moments"].as_array().unwrap();
    for (moment, row) in moments.iter().zip(&rows) {
        let numbers = numbers(row);
        assert_eq!(moment["time"], numbers[0]);
        assert_eq!(moment["levels"].as_array().unwrap(), &numbers[1..]);
        let played: Vec<&str> = row[78].split_whitespace().collect();
        assert_eq!(moment["played"].as_array().unwrap(), &played[..]);
    }
    assert_eq!(moments.len(), rows.len());
    let states = moments[38]["states"].as_array().unwrap();
    for (tone, state) in states.iter().enumerate() {
        assert_eq!(*state, if tone == 41 { "saturated" } else { "muted" }, "band {tone}");
    }

    let output = folder.command("bands in.wav --csv - --hop 50").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), csv);
}

#[test]
fn notes_are_named_by_what_sounds() {
    let folder = melody(&[(220.0, 0.0, 0.2), (220.0, 0.5, 1.0)]);
    let head = "time,A2,A#2,B2,C3,C#3,D3,D#3,E3,F3,F#3,G3,G#3,A3,";
    let output =
        folder.command("bands in.wav --csv - --range published --transpose -12").output().unwrap();
    let csv = String::from_utf8(output.stdout).unwrap();
    assert!(csv.starts_with(head), "{csv}");
    assert!(csv.lines().last().unwrap().ends_with(",A3"), "{csv}");
    let report = batch::json(&folder, "render in.wav -o out.wav --json --transpose -12", 0);
    assert_eq!(report["files"][0]["active_notes"], serde_json::json!(["A3"]));
}

#[test]
fn moments_are_about_the_time_that_they_name() {
    let folder = melody(&[(440.0, 0.0, 0.5), (440.0, 0.5, 0.7), (440.0, 0.0, 0.5)]);
    for (flags, late) in [("", 0.06), ("--lookahead=off", 0.12), ("--preset reference", 0.06)] {
        folder.run(&format!("bands in.wav --csv out.csv --midi out.mid --force {flags}"));
        let csv = fs::read_to_string(folder.path("out.csv")).unwrap();
        assert_eq!(csv.lines().count(), 171, "{flags}");
        let lit = csv.lines().filter(|line| line.ends_with(",A4"));
        let times: Vec<f64> =
            lit.map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
        let (first, last) = (times[0], times[times.len() - 1]);
        assert!((0.47..0.5 + late).contains(&first), "{flags}: {first}");
        let heard = written(&folder, "out.mid").notes;
        // A row is up to 10 ms later than a decision, and a decision is 5.8 ms later than the end of its frame.
        let near = |a: f64, b: f64| (a - b).abs() < 0.0158;
        assert!(near(heard[0].2, first) && near(heard[0].3, last), "{flags}: {heard:?}");
    }
}
