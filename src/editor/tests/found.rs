//! Tests of the detected key, tuning and tempo of the music.

use super::TestEditor;
use crate::editor::{DEFAULT_SIZE, MIN_SIZE};
use std::f64::consts::TAU;
use tone_filter_dsp::{PitchClass, Scale, Settings, Stereo, ToneFilter};
use tone_filter_testkit::signals::sine;

/// Returns a filter that has processed four chords in C major, `cents` sharp.
fn listened(settings: &Settings, cents: f64) -> ToneFilter {
    let mut filter = ToneFilter::new(48_000.0, settings).unwrap();
    filter.find_key_and_tuning(true);
    for chord in [[48, 60, 64, 67], [53, 60, 65, 69], [55, 59, 62, 67], [48, 60, 64, 67]] {
        let hertz = |note| 440.0 * ((f64::from(note - 69) + cents / 100.0) / 12.0).exp2();
        let tones = chord.map(|note| sine(hertz(note), 0.1, 1.5, 48_000.0));
        let mut sound: Vec<f32> =
            (0..72_000).map(|t| tones.iter().map(|own| own[t]).sum()).collect();
        filter.process(&mut [&mut sound]);
    }
    filter
}

#[test]
fn a_click_sets_the_detected_key_or_tuning() {
    let before = Settings { scale: Scale::Auto, auto_tuning: true, ..Settings::default() };
    let filter = listened(&before, 10.0);
    let key = filter.found_key().unwrap();
    assert_eq!((key.root, key.scale), (PitchClass::new(3), Scale::Major));
    let hertz = filter.found_tuning().unwrap();
    assert!((1200.0 * (hertz / 440.0).log2() - 10.0).abs() < 2.0, "{hertz}");

    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.edit(|edits| edits.change("preset", |settings| *settings = before));
    editor.display_filter(&filter);
    let in_c = Settings { root: key.root, scale: key.scale, ..before };
    editor.click(editor.place(&key.to_string()));
    assert_eq!(editor.settings(), in_c);
    editor.click(editor.place(&format!("A4 = {hertz:.1} Hz")));
    let tuning = editor.settings().tuning;
    assert!((f64::from(tuning) - hertz).abs() <= 0.051, "{tuning}");
    assert_eq!(editor.settings(), Settings { tuning, auto_tuning: false, ..in_c });
    for expected in [in_c, before] {
        editor.run("Undo");
        assert_eq!(editor.settings(), expected);
    }
}

#[test]
fn a_click_halves_or_doubles_the_detected_tempo() {
    let mut filter = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
    filter.find_tempo(true);
    // Two notes a second for 10 s.
    let note = |t: u32| {
        let since = f64::from(t % 24_000) / 48_000.0;
        (0.3 * (-8.0 * since).exp() * (TAU * 440.0 * since).sin()) as f32
    };
    let mut sound: Vec<f32> = (0..480_000).map(note).collect();
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.display_filter(&filter);
    assert!(!editor.shows(" BPM"));
    filter.process(&mut [&mut sound.clone()]);
    let tempo = filter.found_tempo().unwrap();
    for factor in [1.0, 0.5, 1.0] {
        filter.process(&mut [&mut sound]);
        let certainty = filter.tempo_certainty();
        // Ten and more seconds of the same tempo: 1 - exp(-10 / 8).
        assert!((0.6..1.0).contains(&certainty), "{certainty}");
        let now = filter.found_tempo().unwrap() / factor / tempo;
        assert!((now - 1.0).abs() < 0.02, "{now}");
        editor.display_filter(&filter);
        editor.run(&format!("{:.0} BPM, {:.0} % sure", tempo * factor, 100.0 * certainty));
        filter.expect_tempo(Some(editor.params().tempo.load().into()));
    }
}

#[test]
fn left_and_right_that_cancel_are_shown() {
    let filter = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    // Earlier sounds still count, so each sound is far louder than the last.
    let mut level = 1e-9;
    let mut shown = |right: f32, stereo| {
        editor.edit(|edits| edits.change("stereo", |settings| settings.stereo = stereo));
        level *= 100.0;
        let (mut left, mut right) = ([level; 64], [level * right; 64]);
        editor.meters.measure(&mut [&mut left, &mut right], |_| ());
        editor.display_filter(&filter);
        editor.shows("Left and right cancel")
    };
    // With a right channel of -0.8 and -0.85 times the left, the mean's power is -19 and -22 dB.
    for (right, cancel) in [(1.0, false), (-0.8, false), (-0.85, true), (-1.0, true)] {
        assert_eq!(shown(right, Stereo::Place), cancel, "{right}");
        assert!(!shown(right, Stereo::Stereo), "{right}");
    }
}

#[test]
fn detected_values_are_shown_where_there_is_room() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let labels = |editor: &TestEditor| {
        let names = editor.controls().into_iter();
        names.filter(|name| name.starts_with("A4 =") || name.ends_with(" %")).count()
    };
    editor.display_filter(&ToneFilter::new(48_000.0, &Settings::default()).unwrap());
    let without = labels(&editor);
    let filter = listened(&Settings::default(), 0.0);
    for (size, shown) in [(DEFAULT_SIZE, 2), ([1600.0, 1000.0], 2), (MIN_SIZE, 0)] {
        editor.resize(size);
        editor.display_filter(&filter);
        assert_eq!(labels(&editor) - without, shown, "{size:?}");
        let texts = editor.texts();
        for (text, area) in texts.iter().filter(|(text, _)| text.starts_with("A4 =")) {
            let covered = texts.iter().filter(|(_, other)| other.intersects(*area));
            assert_eq!(covered.count(), 1, "{size:?} {text}: {texts:?}");
            let controls = editor.areas();
            let covered = controls.iter().filter(|(_, other)| other.intersects(*area));
            let covered: Vec<_> = covered.map(|(name, _)| name).collect();
            assert_eq!(covered, [text], "{size:?}");
        }
    }
}
