//! Scores written from songs, and their detected tuning.

use super::{SONGS, part, tool};
use std::{fs, process::Command, sync::Arc};
use tone_filter_dsp::{
    BLOCK, Score, ScoreNote, Settings, ToneFilter,
    notes::{TONES, midi_note, to_listener},
};
use tone_filter_testkit::{
    songs::{Note, RATE, Song, accuracy},
    sweep,
};

/// Length of the part of each song, in seconds.
const SECONDS: f64 = 20.0;

/// Minimum F1 score of frames, between a song's score and the decisions of a filter that follows it.
const SAME: f64 = 0.98;

/// Maximum error of the tuning in cents after 10 s.
const CENTS: f64 = 5.0;

fn key(tone: usize) -> u8 {
    midi_note(tone, 0.0) as u8
}

/// Runs the command with `arguments`, which must succeed.
fn run(arguments: &[&str]) {
    let output =
        Command::new(assert_cmd::cargo::cargo_bin!("tone-filter")).args(arguments).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the notes that a filter decides on while it follows `score` and filters `song`.
fn decided(score: Score, song: &Song) -> Vec<Note> {
    let settings = Settings { lookahead: false, ..Settings::default() };
    let mut filter = ToneFilter::new(f64::from(RATE), &settings).unwrap();
    filter.set_score(Some(Arc::new(score)));
    let (mut begun, mut notes) = ([None; TONES], vec![]);
    let mut signal = part(song, SECONDS, 0.0);
    let mut channels: Vec<&mut [f32]> = signal.iter_mut().map(Vec::as_mut_slice).collect();
    filter.process_with(&mut channels, |samples, filter| {
        // The decisions apply to the block that has just ended.
        let now = samples.saturating_sub(BLOCK) as f64 / f64::from(RATE);
        for (tone, begun) in begun.iter_mut().enumerate() {
            match (*begun, filter.decisions().on[to_listener(tone)]) {
                (None, true) => *begun = Some(now),
                (Some(start), false) => {
                    notes.push(Note { key: key(tone), start, end: now });
                    *begun = None;
                }
                _ => {}
            }
        }
    });
    for (tone, start) in begun.into_iter().enumerate().filter_map(|(t, b)| Some((t, b?))) {
        notes.push(Note { key: key(tone), start, end: SECONDS });
    }
    notes
}

#[test]
fn a_filter_that_follows_the_score_of_a_song_decides_for_its_notes() {
    let tool = tool();
    let file = tool.path("song.tfs");
    for song in sweep::tenth(SONGS.iter()) {
        let wav = tool.put("song.wav", &part(song, SECONDS, 0.0)).unwrap();
        let [wav, file] = [&wav, &file].map(|path| path.to_str().unwrap());
        run(&["bands", wav, "--score", file, "--force", "--quiet"]);
        let own: Score = fs::read_to_string(file).unwrap().parse().unwrap();
        let note = |own: ScoreNote| Note { key: key(own.tone), start: own.start, end: own.end };
        let notes: Vec<Note> = own.notes().map(note).collect();
        assert!(notes.len() > 20, "{}: {} notes", song.name, notes.len());
        let found = accuracy(&decided(own, song), &notes, SECONDS);
        println!("{}: {found:.4?}", song.name);
        assert!(found.frames >= SAME, "{}: {found:?}", song.name);
    }
}

#[test]
fn the_tuning_of_a_song_is_found_in_ten_seconds() {
    let tool = tool();
    let [wav, json] = ["detuned.wav", "found.json"].map(|name| tool.path(name));
    let cases = SONGS.iter().flat_map(|song| [-40.0, 0.0, 20.0].map(|cents| (song, cents)));
    for (song, cents) in sweep::tenth(cases) {
        let signal = part(song, 10.5, 0.0);
        // The same samples at another rate give the song at another pitch.
        let rate = (f64::from(RATE) * f64::exp2(cents / 1200.0)).round() as u32;
        let due = 1200.0 * (f64::from(rate) / f64::from(RATE)).log2();
        let seconds = signal.iter().map(|channel| channel[..10 * rate as usize].to_vec());
        fs::write(&wav, crate::float_wav(rate, &seconds.collect::<Vec<_>>())).unwrap();
        let [wav, json] = [&wav, &json].map(|path| path.to_str().unwrap());
        run(&["bands", wav, "--json", json, "--force", "--quiet"]);
        let found: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
        let tuning = found["tuning"].as_f64();
        let tuning = tuning.unwrap_or_else(|| panic!("{}, {cents}: none", song.name));
        let error = (1200.0 * (tuning / 440.0).log2() - due).abs();
        assert!(error <= CENTS, "{}, {cents} cents: {error:.2} off", song.name);
    }
}
