//! Tests with real songs: notes are detected at any level, and the output is as loud as the song.
//!
//! `cargo xtask songs` prints all figures; these tests check limits.

mod score;

use std::{path::PathBuf, sync::LazyLock};
use tone_filter_presets as presets;
use tone_filter_testkit::{
    Signal,
    songs::{
        Accuracy, KEYS, Loudness, Note, RATE, Song, Tool, accuracy, drums, latencies, loudness,
        peak, scale, songs, starts,
    },
    sweep, wav,
};

/// Minimum F1 score of frames with lookahead, as a mean over all songs.
const FRAMES: f64 = 0.79;
/// Minimum F1 score of frames without lookahead, as a mean over all songs.
const FRAMES_WITHOUT: f64 = 0.73;
/// Minimum F1 score of notes with lookahead, as a mean over all songs.
const ONSETS: f64 = 0.75;

/// Maximum change of the F1 score of frames at another level of the input.
const SAME: f64 = 0.01;

/// Maximum detection delay in seconds of notes from A3 up, without lookahead: median and 90th percentile. `Listener::delay` is
/// not included; with it, these are 0.040 and 0.085.
const LATE: [f64; 2] = [0.034, 0.079];
const A3: u8 = 57;

/// Maximum loss of F1 score from the dry to the wet sound, of frames and of notes. The aim is 0.05 and 0.07.
const LOST: [f64; 2] = [0.08, 0.10];

/// Maximum change of the loudness in LU.
const LOUDER: f64 = 1.5;
/// Maximum change of the loudness range in LU, checked where at least half of the mix is dry. In wetter mixes, and in Lead Only
/// at any mix, only the notes set the range, and they pause while the music goes on.
const WIDER: f64 = 3.0;

static SONGS: LazyLock<Vec<Song>> = LazyLock::new(|| songs().unwrap());

fn tool() -> Tool {
    Tool::new(assert_cmd::cargo::cargo_bin!("tone-filter")).unwrap()
}

/// Returns the first `seconds` of a song, amplified by `gain_db`.
fn part(song: &Song, seconds: f64, gain_db: f32) -> Signal {
    let mut signal = wav::read(&song.wav).unwrap().0;
    signal.iter_mut().for_each(|channel| channel.truncate((seconds * f64::from(RATE)) as usize));
    scale(&mut signal, gain(gain_db));
    signal
}

fn gain(db: f32) -> f32 {
    10f32.powf(db / 20.0)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

fn mean_of(all: &[Accuracy], part: fn(&Accuracy) -> f64) -> f64 {
    mean(all.iter().map(part))
}

#[test]
fn the_notes_that_are_played_are_found() {
    let tool = tool();
    let accuracies = |flags: &[&str]| -> Vec<(Accuracy, Vec<f64>)> {
        let judge = |song: &Song| {
            let found = tool.notes(&song.wav, flags).unwrap();
            let high: Vec<_> = song.notes.iter().filter(|note| note.key >= A3).copied().collect();
            (accuracy(&found, &song.notes, 60.0), latencies(&found, &high))
        };
        SONGS.iter().map(judge).collect()
    };
    let (with, _): (Vec<_>, Vec<_>) = accuracies(&[]).into_iter().unzip();
    let (without, late): (Vec<_>, Vec<_>) = accuracies(&["--lookahead=off"]).into_iter().unzip();
    let mut late = late.concat();
    late.sort_by(f64::total_cmp);
    let late = [late.len() / 2, late.len() * 9 / 10].map(|at| late[at]);
    let [frames, frames_without] = [&with, &without].map(|all| mean_of(all, |own| own.frames));
    let onsets = mean_of(&with, |own| own.onsets);
    println!(
        "frames {frames:.3}, {frames_without:.3} without lookahead, notes {onsets:.3}, {late:.3?} s late"
    );
    assert!(frames >= FRAMES, "frame F1 {frames:.3}");
    assert!(frames_without >= FRAMES_WITHOUT, "frame F1 without lookahead {frames_without:.3}");
    assert!(onsets >= ONSETS, "note F1 {onsets:.3}");
    assert!(late[0] < LATE[0] && late[1] < LATE[1], "{late:.3?} s late");
}

/// Returns the number of note-ons in `notes`, and of those within 100 ms of an earlier note-on of the same key.
fn beginnings(notes: &[Note]) -> [usize; 2] {
    let (mut count, mut again) = (0, 0);
    for key in KEYS {
        let starts = starts(notes, key, f64::INFINITY);
        count += starts.len();
        again += starts.windows(2).filter(|pair| pair[1] - pair[0] < 0.1).count();
    }
    [count, again]
}

#[test]
fn live_notes_are_not_broken_into_pieces() {
    let tool = tool();
    let (mut found, mut played) = ([0; 2], [0; 2]);
    for song in SONGS.iter() {
        let live = tool.notes(&song.wav, &["--live", "--lookahead=off"]).unwrap();
        for (sum, notes) in [(&mut found, &live), (&mut played, &song.notes)] {
            sum.iter_mut().zip(beginnings(notes)).for_each(|(sum, own)| *sum += own);
        }
    }
    let [notes, again] = [0, 1].map(|at| found[at] as f64 / played[at] as f64);
    println!("{found:?} beginnings and repeated ones live, {played:?} in the score");
    assert!(notes <= 1.1 && again <= 1.15, "{notes:.2} and {again:.2} times the score's");
}

#[test]
fn quiet_songs_are_heard_like_loud_ones() {
    let tool = tool();
    // The songs peak at -12 dB full scale.
    let cases = SONGS[..3].iter().flat_map(|song| [-28.0, -48.0].map(|db| (song, db)));
    for (song, db) in sweep::tenth(cases) {
        let [loud, quiet] = [0.0, db].map(|db: f32| {
            let wav = tool.put("quiet.wav", &part(song, 20.0, db)).unwrap();
            accuracy(&tool.notes(&wav, &[]).unwrap(), &song.notes, 20.0).frames
        });
        assert!((quiet - loud).abs() <= SAME, "{}: {quiet:.3}, not {loud:.3}", song.name);
    }
}

#[test]
fn what_reaches_the_ear_are_the_notes_that_were_heard() {
    let tool = tool();
    for db in sweep::tenth([0.0, -28.0]) {
        let accuracies = SONGS.iter().step_by(3).map(|song| {
            let dry = tool.put("dry.wav", &part(song, 20.0, db)).unwrap();
            let (wet, _) = tool.render(&dry, &["--mix", "100"]).unwrap();
            [dry, wet].map(|wav| accuracy(&tool.notes(&wav, &[]).unwrap(), &song.notes, 20.0))
        });
        let (dry, wet): (Vec<_>, Vec<_>) = accuracies.map(|[dry, wet]| (dry, wet)).unzip();
        let lost = |part| mean_of(&dry, part) - mean_of(&wet, part);
        let lost = [lost(|own| own.frames), lost(|own| own.onsets)];
        println!("at {db} dB, {lost:.3?} are lost");
        assert!(lost[0] <= LOST[0] && lost[1] <= LOST[1], "at {db} dB, {lost:.3?} are lost");
    }
}

/// Returns the mean number of notes that sound together.
fn notes_at_once(notes: &[Note], seconds: f64) -> f64 {
    notes.iter().map(|note| note.end.min(seconds) - note.start).sum::<f64>() / seconds
}

#[test]
fn noise_drums_and_silence_are_no_notes() {
    let tool = tool();
    let mut state = 1u32;
    let noise = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        0.25 * (f64::from(state) / f64::from(u32::MAX) * 2.0 - 1.0) as f32
    });
    let noise = vec![noise.take(20 * RATE as usize).collect()];
    let silence = vec![vec![0.0; 20 * RATE as usize]];
    let sounds: [(&str, PathBuf); 3] = [
        ("noise", tool.put("noise.wav", &noise).unwrap()),
        ("silence", tool.put("silence.wav", &silence).unwrap()),
        ("drums", drums().unwrap()),
    ];
    for (name, wav) in sounds {
        let seconds = wav::read(&wav).unwrap().0[0].len() as f64 / f64::from(RATE);
        let count = notes_at_once(&tool.notes(&wav, &[]).unwrap(), seconds);
        println!("{name}: {count:.2} bands");
        assert!(count < if name == "silence" { 1e-9 } else { 1.0 }, "{name}: {count} bands");
    }
}

/// Returns the sum of squares of each second from 6 s on. One song begins with 3.5 s of drums, whose pauses count as silence when
/// the song is at -60 dB.
fn powers(signal: &Signal) -> Vec<f64> {
    let second = |at: usize| {
        let samples = signal.iter().flat_map(|channel| &channel[at..at + RATE as usize]);
        samples.map(|sample| f64::from(*sample).powi(2)).sum::<f64>()
    };
    (6 * RATE as usize..signal[0].len() - RATE as usize)
        .step_by(RATE as usize)
        .map(second)
        .collect()
}

#[test]
fn the_output_is_louder_and_softer_with_the_input() {
    let tool = tool();
    let cases = SONGS.iter().step_by(4).flat_map(|song| [-20.0, -40.0, -60.0].map(|db| (song, db)));
    for (song, db) in sweep::tenth(cases) {
        let [loud, quiet] = [0.0, db].map(|db: f32| {
            let wav = tool.put("scaled.wav", &part(song, 15.0, db)).unwrap();
            powers(&tool.render(&wav, &[]).unwrap().1)
        });
        for (second, (quiet, loud)) in quiet.iter().zip(&loud).enumerate() {
            let change = 10.0 * (quiet / loud).log10() - f64::from(db);
            let (name, second) = (&song.name, second + 6);
            assert!(change.abs() < 0.5, "{name}, {db} dB: {change:.2} dB at {second}");
        }
    }
}

#[test]
fn every_preset_is_as_loud_as_the_song_at_any_mix() {
    let (tool, mut wrong) = (tool(), Vec::new());
    let presets: Vec<_> = presets::ids().filter(|id| *id != "reference").collect();
    // Each preset with two mixes, a dry one and a wet one.
    let songs = SONGS.iter().step_by(6).zip([["25", "100"], ["75", "50"]]);
    let cases = songs.flat_map(|(song, mixes)| {
        let presets = presets.iter().zip(mixes.into_iter().cycle());
        presets.map(move |(id, mix)| (song, id, mix)).collect::<Vec<_>>()
    });
    for (song, id, mix) in sweep::tenth(cases) {
        let dry = part(song, 20.0, 0.0);
        let wav = tool.put("dry.wav", &dry).unwrap();
        let before = loudness(&dry).unwrap();
        let (_, wet) = tool.render(&wav, &["--preset", id, "--mix", mix]).unwrap();
        let Loudness { integrated, range } = loudness(&wet).unwrap();
        let (change, wider) = (integrated - before.integrated, range - before.range);
        let ranges = ["25", "50"].contains(&mix) && *id != "lead-only";
        if change.abs() > LOUDER || ranges && wider.abs() > WIDER || peak(&wet) >= 1.0 {
            let name = &song.name;
            wrong.push(format!("{name}, {id}, {mix} %: {change:+.1} LU, range {wider:+.1} LU"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn songs_near_full_scale_stay_below_it() {
    let tool = tool();
    let songs = SONGS.iter().step_by(4).zip(["50", "100", "100"]).map(|(song, mix)| {
        let mut loud = part(song, 8.0, 0.0);
        let factor = gain(-0.2) / peak(&loud);
        scale(&mut loud, factor);
        (&song.name, tool.put(&format!("{}.wav", song.name), &loud).unwrap(), mix)
    });
    let songs: Vec<_> = songs.collect();
    // Each preset with one song, in turn.
    let presets = presets::ids().filter(|id| *id != "reference");
    for (id, (name, wav, mix)) in sweep::tenth(presets.zip(songs.iter().cycle())) {
        let (_, wet) = tool.render(wav, &["--preset", id, "--mix", mix]).unwrap();
        assert!(peak(&wet) < 1.0, "{name}, {id} at {mix} %: {}", peak(&wet));
    }
}

#[test]
fn every_song_has_notes_that_the_filter_has() {
    for song in SONGS.iter() {
        assert!(song.notes.len() > 50, "{}: {}", song.name, song.notes.len());
        assert!(song.notes.iter().all(|note| KEYS.contains(&note.key)));
    }
}
