//! Tests of the functions that JavaScript calls, without JavaScript.

use super::*;
use tone_filter_testkit::{Automation, assert_same_bits, signals::sine};

const RATE: f64 = 48_000.0;

/// Index of the record of A3, the MIDI note 57. The first record is that of E1, the MIDI note 28.
const A3: usize = 57 - 28;
const A4: usize = 69 - 28;

fn web() -> Box<Web> {
    tone_filter_new(RATE).unwrap()
}

fn write(web: &mut Web, text: &str) {
    tone_filter_write(web, text.len());
    web.text.copy_from_slice(text.as_bytes());
}

/// Sets all settings by the functions and in the order of `worklet.js`.
fn set(web: &mut Web, controls: impl Into<Controls>) {
    let (controls, mut texts) = (controls.into(), 0);
    for (index, setting) in Setting::all().enumerate() {
        if matches!(setting, Setting::Text(_)) {
            write(web, &setting.text(&controls));
            assert!(tone_filter_set_text(web, texts));
            texts += 1;
        } else {
            tone_filter_set_value(web, index, setting.value(&controls));
        }
    }
    tone_filter_apply(web);
}

#[test]
fn automation_matches_the_library_bit_for_bit() {
    let automation = Automation::new(1, RATE);
    let mut web = web();
    let output = automation.play(QUANTUM, |new, block| {
        if let Some(new) = new {
            set(&mut web, *new);
        }
        web.samples
            .iter_mut()
            .zip(&block)
            .for_each(|(samples, block)| samples.copy_from_slice(block));
        tone_filter_process(&mut web, QUANTUM);
        web.samples.iter().zip(block).for_each(|(samples, block)| block.copy_from_slice(samples));
    });
    assert_same_bits(&output, &automation.expected());
}

#[test]
fn a_sample_rate_out_of_range_is_refused() {
    assert!(tone_filter_new(0.0).is_none() && tone_filter_new(f64::NAN).is_none());
}

#[test]
fn the_picture_shows_the_sounding_note() {
    let mut web = web();
    set(&mut web, Settings { focus: 100.0, ring: 0.2, release: 20.0, ..Settings::REFERENCE });
    for samples in sine(440.0, 0.5, 1.0, RATE).as_chunks().0 {
        web.samples = [*samples; 2];
        tone_filter_process(&mut web, QUANTUM);
    }
    tone_filter_picture(&mut web);
    let state = |record: usize| web.picture[record][2];
    assert!(state(A4) >= 1.0);
    assert!((A3..TONES).all(|record| record == A4 || state(record) == 0.0));
    let [power, level, _, wave @ ..] = &web.picture[A4];
    // A sine with a peak of 0.5 has a power of -9.03 dB. The ceiling clips the band 10 dB below it.
    assert!((power - level + 9.03).abs() < 0.01, "{power} {level}");
    assert!((-11.0..-10.0).contains(level), "{level}");
    // Three periods that end at a zero crossing, with a peak of 1.
    let crossings = wave.windows(2).filter(|pair| (pair[0] < 0.0) != (pair[1] < 0.0)).count();
    assert!((5..=7).contains(&crossings), "{crossings}");
    assert!(wave.iter().all(|y| y.abs() <= 1.0) && wave.iter().any(|y| y.abs() == 1.0));
}

#[test]
fn latency_and_tail_follow_the_settings() {
    let mut web = web();
    assert_eq!(tone_filter_latency(&web), 0);
    let settings = Settings { lookahead: true, ..Settings::REFERENCE };
    set(&mut web, settings);
    assert_eq!(tone_filter_latency(&web), ToneFilter::lookahead(RATE));
    assert_eq!(tone_filter_tail(&web), ToneFilter::tail(&settings));
}

#[test]
fn a_score_stays_until_it_is_removed() {
    let mut web = web();
    let score: Score = "tone-filter-score 1\n0.1 0.6 69\n0.3 0.9 76 80 -25".parse().unwrap();
    tone_filter_add_note(&mut web, 0.1, 0.6, 69, 64, 0.0);
    tone_filter_add_note(&mut web, 0.3, 0.9, 76, 80, -0.25);
    tone_filter_add_note(&mut web, 0.3, 0.9, 127, 80, 0.0);
    tone_filter_set_score(&mut web);
    assert_eq!(web.filter.score(), Some(&Arc::new(score)));
    tone_filter_seek(&mut web, 0.5);
    assert_eq!(web.filter.score_time(), 0.5);
    tone_filter_set_score(&mut web);
    assert!(web.filter.score().is_none());
}
