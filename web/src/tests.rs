//! What JavaScript sees, without JavaScript.

use super::{picture::CLOSED, *};
use serde_json::Value;
use std::f64::consts::TAU;
use tone_filter_dsp::{CHOICES, Controls, SPECS, notes};

const RATE: f64 = 48_000.0;

/// The records of these notes; the first one is that of E1, the MIDI note 28.
const A3: usize = 57 - 28;
const A4: usize = 69 - 28;

fn web() -> Box<Web> {
    tone_filter_new(RATE).unwrap()
}

fn write(web: &mut Web, text: &str) {
    tone_filter_write(web, text.len());
    web.text.copy_from_slice(text.as_bytes());
}

fn set(web: &mut Web, json: &str) {
    write(web, json);
    assert_eq!(tone_filter_set_json(web), 0);
}

fn read(web: &Web, length: usize) -> &str {
    assert_eq!(web.text.len(), length);
    std::str::from_utf8(&web.text).unwrap()
}

/// Plays a sine of `hertz` for a second; passes each quantum's input and output on.
fn play(web: &mut Web, hertz: f64, mut each: impl FnMut(&Quantum, &Quantum)) {
    for start in (0..RATE as usize).step_by(QUANTUM) {
        let sine = |t: usize| (0.5 * (TAU * hertz * (start + t) as f64 / RATE).sin()) as f32;
        web.input = [std::array::from_fn(sine); 2];
        tone_filter_process(web);
        each(&web.input, &web.output);
    }
}

#[test]
fn a_sample_rate_out_of_range_is_refused() {
    assert!(tone_filter_new(0.0).is_none() && tone_filter_new(f64::NAN).is_none());
}

#[test]
fn quanta_are_what_the_filter_makes_of_them() {
    let mut filter = ToneFilter::new(RATE, &Settings::default()).unwrap();
    play(&mut web(), 440.0, |input, output| {
        let mut expected = *input;
        filter.process(&mut expected.each_mut().map(|channel| &mut channel[..]));
        assert_eq!(*output, expected);
    });
}

#[test]
fn settings_come_back_as_json() {
    let mut expected = Controls::default();
    SPECS.iter().for_each(|spec| spec.set(&mut expected.settings, spec.min));
    CHOICES.iter().for_each(|choice| choice.set(&mut expected, 1));
    let mut web = web();
    set(&mut web, &settings::to_json(&expected));
    assert_eq!(*web.filter.controls(), expected);
    let length = tone_filter_json(&mut web);
    assert_eq!(settings::from_json(read(&web, length)).unwrap(), expected);
}

#[test]
fn settings_that_json_lacks_are_those_of_the_reference() {
    let mut web = web();
    write(&mut web, r#"{"mix":20}"#);
    assert_eq!(tone_filter_set_json(&mut web), 0);
    assert_eq!(*web.filter.settings(), Settings { mix: 20.0, ..Settings::REFERENCE });
}

#[test]
fn what_is_invalid_changes_nothing_and_is_named() {
    let mut web = web();
    for (json, reason) in [
        ("", "EOF"),
        (r#"{"mixx":1}"#, r#""mixx" is unknown; use mix, "#),
        (r#"{"mix":101}"#, "mix = 101 is out of range; use 0 to 100 %"),
    ] {
        write(&mut web, json);
        let length = tone_filter_set_json(&mut web);
        assert!(read(&web, length).contains(reason), "{json}");
    }
    assert_eq!(*web.filter.settings(), Settings::default());
}

#[test]
fn the_table_has_all_settings_and_presets() {
    let mut web = web();
    let length = tone_filter_table(&mut web);
    let table: Value = serde_json::from_str(read(&web, length)).unwrap();
    let ids = |list: &str| -> Vec<String> {
        let rows = table[list].as_array().unwrap().iter();
        rows.map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("numbers"), SPECS.each_ref().map(|spec| spec.id));
    assert_eq!(ids("choices"), CHOICES.each_ref().map(|choice| choice.id));
    assert_eq!(ids("presets"), tone_filter_presets::ids().collect::<Vec<_>>());
    assert_eq!(table["choices"][0]["entries"][1][0], "stereo");
}

#[test]
fn the_picture_shows_the_note_that_sounds() {
    let mut web = web();
    set(&mut web, r#"{"focus":100,"ring":0.2,"release":20}"#);
    play(&mut web, 440.0, |_, _| ());
    web.picture.take(&web.filter);
    let state = |record: usize| web.picture.0[record][2];
    assert!(state(A4) >= 1.0);
    assert!((A3..notes::TONES).all(|record| record == A4 || state(record) == 0.0));
    let [power, level, _, wave @ ..] = &web.picture.0[A4];
    // The ceiling is a tenth of the power, and so a twentieth of the square's peak. The mean of what is below it:
    let ceiling = 0.05f64;
    let angle = ceiling.sqrt().asin();
    let below = angle / 2.0 - (2.0 * angle).sin() / 4.0 + ceiling * (TAU / 4.0 - angle);
    let mean = below / (TAU / 4.0);
    let near =
        |value: f32, expected: f64| (f64::from(value) - 10.0 * expected.log10()).abs() < 0.01;
    assert!(near(*power, 0.25 * mean) && near(*level, 2.0 * mean), "{power} {level}");
    // Three periods that end at a zero crossing, with a peak of 1.
    let crossings = wave.windows(2).filter(|pair| (pair[0] < 0.0) != (pair[1] < 0.0)).count();
    assert!((5..=7).contains(&crossings), "{crossings}");
    assert!(wave.iter().all(|y| y.abs() <= 1.0) && wave.iter().any(|y| y.abs() == 1.0));
}

#[test]
fn keys_close_all_bands_but_theirs() {
    let mut web = web();
    set(&mut web, r#"{"keys":"hold","range":"whole"}"#);
    tone_filter_key(&mut web, 69, 1.0);
    web.picture.take(&web.filter);
    let open = |web: &Web| web.picture.0.map(|record| record[2] != CLOSED);
    assert!(open(&web)[A4] && open(&web).iter().filter(|open| **open).count() == 1);
    tone_filter_release_keys(&mut web);
    web.picture.take(&web.filter);
    assert!(!open(&web).contains(&true));
}

#[test]
fn latency_and_tail_are_those_of_the_settings() {
    let mut web = web();
    assert_eq!(tone_filter_latency(&web), 0);
    set(&mut web, r#"{"lookahead":true}"#);
    let settings = Settings { lookahead: true, ..Settings::REFERENCE };
    assert_eq!(tone_filter_latency(&web), ToneFilter::lookahead(RATE));
    assert_eq!(tone_filter_tail(&web), ToneFilter::tail(&settings));
}

#[test]
fn a_reset_filter_is_a_new_one() {
    let mut web = web();
    let mut first = Vec::new();
    play(&mut web, 440.0, |_, output| first.push(*output));
    tone_filter_reset(&mut web);
    let mut second = Vec::new();
    play(&mut web, 440.0, |_, output| second.push(*output));
    assert_eq!(first, second);
}

#[test]
fn a_score_decides_until_it_is_taken_away() {
    let (mut web, mut filter) = (web(), ToneFilter::new(RATE, &Settings::default()).unwrap());
    let text = "tone-filter-score 1\n0.1 0.6 69\n0.3 0.9 76";
    write(&mut web, text);
    assert_eq!(tone_filter_set_score(&mut web), 0);
    tone_filter_seek(&mut web, 0.2);
    filter.set_score(Some(Arc::new(text.parse().unwrap())));
    filter.seek(0.2);
    for with_score in [true, false] {
        let mut heard = 0.0;
        play(&mut web, 440.0, |input, output| {
            let mut expected = *input;
            filter.process(&mut expected.each_mut().map(|channel| &mut channel[..]));
            assert_eq!(*output, expected);
            heard += (output[0][0] - input[0][0]).abs();
        });
        assert!(heard > 0.0);
        assert_eq!(web.filter.score().is_some(), with_score);
        write(&mut web, "");
        assert_eq!(tone_filter_set_score(&mut web), 0);
        filter.set_score(None);
    }
    write(&mut web, text);
    tone_filter_set_score(&mut web);
    write(&mut web, "tone-filter-score 1\n1 0 69");
    let length = tone_filter_set_score(&mut web);
    assert!(read(&web, length).starts_with("line 2: ends at 0"), "{}", read(&web, length));
    assert!(web.filter.score().is_some(), "nothing has changed");
}
