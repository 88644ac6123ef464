//! Sound of notes that are not played, and of notes that begin anew.

use std::{f64::consts::TAU, sync::Arc};
use tone_filter_dsp::{
    BLOCK, BandMask, Score, ScoreNote, Settings, Stereo, ToneFilter,
    notes::{A4, to_listener},
};

const RATE: f64 = 48_000.0;

/// Returns settings for the band of A4 alone. The input must be so quiet that the clip is linear.
fn a4(focus: f32) -> Settings {
    Settings {
        focus,
        mix: 100.0,
        auto: false,
        drive: 1.0,
        floor: -90.0,
        tone: 20_000.0,
        stereo: Stereo::Mono,
        bands: BandMask::NONE.with(A4, true),
        ..Settings::default()
    }
}

/// Returns the output for a quiet second of A4, with a score that has the note from `start` (in seconds) on, or no note.
fn with_score(focus: f32, start: Option<f64>) -> Vec<f32> {
    let mut filter = ToneFilter::new(RATE, &a4(focus)).unwrap();
    let note = |start| ScoreNote { tone: A4, start, end: 9.0, velocity: 100, place: 0.0 };
    filter.set_score(Some(Arc::new(Score::new(start.map(note)))));
    filter.reset();
    let sine = |frame: usize| (3e-4 * (TAU * 440.0 * frame as f64 / RATE).sin()) as f32;
    let mut channel: Vec<f32> = (0..RATE as usize).map(sine).collect();
    filter.process(&mut [&mut channel]);
    channel
}

/// Returns the ratio of the RMS of two signals.
fn ratio(one: &[f32], other: &[f32]) -> f64 {
    let power = |signal: &[f32]| signal.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
    (power(one) / power(other)).sqrt()
}

#[test]
fn a_note_that_is_not_played_has_the_fourth_power_of_one_minus_focus() {
    let played = with_score(100.0, Some(0.0));
    let late = RATE as usize / 2..;
    for focus in [0.0, 25.0, 50.0, 75.0, 100.0] {
        let silent = ratio(&with_score(focus, None)[late.clone()], &played[late.clone()]);
        let expected = (1.0 - f64::from(focus) / 100.0).powi(4);
        assert!((silent - expected).abs() < 1e-6 + 1e-3 * expected, "{focus} %: {silent}");
    }
}

#[test]
fn a_weight_follows_a_decision_in_5_ms() {
    let (played, begins) = (with_score(100.0, Some(0.0)), with_score(100.0, Some(0.5)));
    // From the block in which the note begins, the weight rises in a straight line for 240 samples.
    let start = 24_000;
    assert_eq!(start % BLOCK, 0);
    assert!(begins[..start].iter().all(|y| y.abs() < 1e-9));
    for frame in (0..480).step_by(10) {
        let span = start + frame..start + frame + 110;
        // The weight is averaged over about a period of 109 samples, and so has the value of the middle.
        let weight = ratio(&begins[span.clone()], &played[span]);
        let expected = ((frame as f64 + 55.0) / 240.0).min(1.0);
        assert!((weight - expected).abs() < 0.08, "after {frame} samples: {weight}");
    }
    let whole = begins.iter().zip(&played).skip(start + 256);
    assert!(whole.fold(0f32, |most, (a, b)| most.max((a - b).abs())) < 1e-9);
}

#[test]
fn a_note_that_begins_anew_while_it_is_held_is_silent_for_20_ms() {
    let settings = Settings { drive: 40.0, ..a4(100.0) };
    let mut filter = ToneFilter::new(RATE, &settings).unwrap();
    let pluck = |frame: usize| {
        let seconds = (frame % 12_000) as f64 / RATE;
        let turn = TAU * 440.0 * seconds;
        let overtones: f64 = (1..5).map(|n| (f64::from(n) * turn).sin() / f64::from(n)).sum();
        (0.2 * (-seconds / 0.15).exp() * overtones) as f32
    };
    let mut channel: Vec<f32> = (0..144_000).map(pluck).collect();
    // After each block: whether the note is held, and whether it has just begun.
    let mut states = Vec::new();
    filter.process_with(&mut [&mut channel], |_, filter| {
        let (decisions, note) = (filter.decisions(), to_listener(A4));
        states.push((decisions.on[note], decisions.begun[note]));
    });
    let loudness: Vec<f32> = channel
        .chunks_exact(BLOCK)
        .map(|block| block.iter().fold(0f32, |peak, y| peak.max(y.abs())))
        .collect();
    let anew = |block: &usize| states[block - 1] == (true, false) && states[*block] == (true, true);
    let mut gaps = 0;
    for block in (1..states.len() - 30).filter(anew) {
        gaps += 1;
        // 15 blocks are 20 ms. The fade-out and the fade-in of 5 ms take four blocks each.
        let silent = |block: usize| loudness[block] < 1e-6;
        assert!((block + 1..block + 4).all(|block| !silent(block)), "{block}: {loudness:?}");
        assert!((block + 5..block + 16).all(silent), "{block}: {loudness:?}");
        assert!((block + 16..block + 30).all(|block| !silent(block)), "{block}: {loudness:?}");
    }
    assert!(gaps >= 5, "{gaps}");
}
