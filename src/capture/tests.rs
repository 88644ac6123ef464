use super::*;
use tempfile::tempdir;
use tone_filter_testkit::signals::{bent, sine};

const RATE: f64 = 48_000.0;

/// MIDI notes of a melody. Each lasts half a second.
const MELODY: [u8; 12] = [72, 76, 79, 84, 81, 79, 76, 74, 72, 79, 76, 72];

/// Returns the melody over a bass, on the left with more melody: six seconds.
fn song() -> [Vec<f32>; 2] {
    let at = |notes: &[u8], t: f64| f64::from(notes[((2.0 * t) as usize).min(notes.len() - 1)]);
    let melody = bent(6, 6.0, RATE, |t| at(&MELODY, t));
    let bass = bent(6, 6.0, RATE, |t| at(&[45, 45, 45, 45, 41, 41, 41, 41, 43, 43, 43, 43], t));
    // Each note of the melody fades, so that a repeated note begins audibly.
    let fade = |n: usize| 1.0 - 1.6 * ((n as f64 / RATE) % 0.5) as f32;
    [1.0, 0.6].map(|gain| {
        let both = melody.iter().zip(&bass).enumerate();
        both.map(|(n, (a, b))| gain * a * fade(n) + 0.5 * b).collect()
    })
}

fn push(input: &mut CaptureInput, [left, right]: [&[f32]; 2], settings: &Settings) -> f64 {
    let updates = left.chunks(800).zip(right.chunks(800));
    let push = |(left, right): (&[f32], &[f32])| {
        input.push([left.to_vec(), right.to_vec()], 0, RATE, false, settings)
    };
    updates.map(push).last().unwrap()
}

/// Saves a file. Returns its content and the message.
fn saved(input: &mut CaptureInput, format: Format, extent: Extent) -> (Vec<u8>, String) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("song");
    let (sender, message) = std::sync::mpsc::channel();
    let done = Box::new(move |message| sender.send(message).unwrap());
    let settings = Settings::default();
    input.write(Request { format, extent, path: path.clone(), settings, done });
    input.finish();
    (fs::read(path).unwrap_or_default(), message.recv().unwrap())
}

/// Passes `sound` through a filter with `settings` in one call. Returns the recorder with the detected notes.
fn recorded([mut left, mut right]: [Vec<f32>; 2], settings: Settings) -> TakeRecorder {
    let mut filter = ToneFilter::new(RATE, &settings).unwrap();
    filter.detect_notes(true);
    filter.reset();
    let mut recorder = TakeRecorder::default();
    filter.process_with(&mut [&mut left, &mut right], |_, filter| recorder.push(filter));
    recorder
}

#[test]
fn files_are_the_library_s() {
    let (capture, sound) = (Capture::default(), song());
    let [before, after] = [0..100_000, 100_000..sound[0].len()]
        .map(|part| sound.each_ref().map(|channel| &channel[part.clone()]));
    let mut input = capture.open();
    assert_eq!(push(&mut input, before, &Settings::default()), 100_000.0 / RATE);
    // The window closes and opens again.
    input.finish();
    drop(input);
    let mut input = capture.open();
    assert_eq!(push(&mut input, after, &Settings::default()), 6.0);
    for format in Format::ALL {
        let settings = format.settings(Settings::default());
        let take = recorded(sound.clone(), settings).take(6.0, true, &settings);
        let (expected, notes) = take.write(format, &settings, "song".into()).unwrap();
        let (file, message) = saved(&mut input, format, Extent::Everything);
        assert!(message.starts_with(&format!("{notes} notes saved: ")), "{message}");
        assert!(notes > 0 && file == expected, "{format:?}: {notes} notes");
    }
}

#[test]
fn the_melody_is_the_lead() {
    let mut input = Capture::default().open();
    // After half a second of silence, the displayed notes are complete.
    let sound = song().map(|channel| [channel, vec![0.0; 24_000]].concat());
    push(&mut input, sound.each_ref().map(Vec::as_slice), &Settings::default());
    input.finish();
    let heard = input.capture.heard();
    let key = |heard: &HeardNote| notes::midi_note(heard.note.tone, 0.0) as u8;
    let mut leads: Vec<u8> = heard.notes.iter().filter(|note| note.lead).map(key).collect();
    leads.dedup();
    assert_eq!(leads, MELODY, "{:?}", heard.notes);
    assert!(heard.notes.iter().any(|note| key(note) == 45 && !note.lead));
    let score = heard.score(1.0..2.0);
    assert!(score.starts_with("tone-filter-score 1") && score.contains(" 79"), "{score}");
}

#[test]
fn a_song_starts_with_the_host_or_after_silence() {
    // Each segment: whether the host plays, whether there is sound, and the duration in seconds. Then the expected start of the
    // song.
    for (segments, expected) in [
        (&[(false, true, 1.0)][..], 0.0),
        (&[(false, false, 2.5), (false, true, 1.0)], 2.5),
        (&[(false, true, 1.0), (false, false, 1.5), (false, true, 1.0)], 0.0),
        (&[(false, true, 1.0), (false, false, 2.5), (false, true, 0.5)], 3.5),
        (&[(false, true, 1.0), (true, false, 0.5), (true, true, 0.5)], 1.0),
        (&[(true, true, 1.0), (true, false, 2.5), (true, true, 0.5)], 0.0),
        (&[(true, true, 1.0), (false, true, 0.5), (true, true, 0.5)], 1.5),
    ] {
        let mut recording = Recording::default();
        for &(playing, sounds, seconds) in segments {
            let amplitude = if sounds { 0.2 } else { 0.0 };
            let samples = [(); 2].map(|()| sine(440.0, amplitude, seconds, RATE));
            let settings = Settings::default();
            let sound = Sound { samples, lost: 0, rate: RATE, playing, settings };
            recording.hear(sound, &Mutex::default());
        }
        assert_eq!(recording.started, expected, "{segments:?}");
    }
}

#[test]
fn lost_sound_takes_its_time() {
    let mut input = Capture::default().open();
    let settings = Settings::default();
    let both = |sound: Vec<f32>| [sound.clone(), sound];
    assert_eq!(input.push(both(vec![0.0; 24_000]), 0, RATE, false, &settings), 0.5);
    assert_eq!(input.push(both(sine(440.0, 0.2, 1.0, RATE)), 24_000, RATE, false, &settings), 2.0);
    input.finish();
    let notes = input.capture.heard().notes.clone();
    assert!((notes[0].note.start - 1.0).abs() < 0.05, "{notes:?}");
    // After a change of the sample rate, the capture starts again.
    assert_eq!(input.push(both(vec![0.0; 4410]), 0, 44_100.0, false, &settings), 0.1);
    input.finish();
    assert_eq!(*input.capture.heard(), Heard::default());
}
