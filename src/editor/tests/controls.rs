//! Sliders, switches and text fields.

use super::TestEditor;
use crate::{editor::DEFAULT_SIZE, params::NOTES};
use egui::{Event, Key, MouseWheelUnit, TouchPhase, vec2};
use tone_filter_dsp::{BandMask, CHOICES, Controls, Settings};

/// From the middle of a slider to its track.
const TRACK: egui::Vec2 = vec2(0.0, 5.0);

#[test]
fn a_drag_is_one_gesture_and_moves_one_setting() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let from = editor.place("Mix") + TRACK;
    editor.drag(from, vec2(40.0, 0.0));
    assert_eq!(editor.log(), ["begin", "set", "set", "end"]);
    let settings = editor.settings();
    assert_eq!(settings.bands, BandMask::ALL);
    // Columns with gaps of 18 between margins of 16: seven, and one of 0.85 times the width.
    let width = (1000.0 - 2.0 * 16.0 + 18.0) / 7.85 - 18.0;
    let expected = 50.0 + 100.0 * 40.0 / width;
    assert!((settings.mix - expected).abs() < 0.01, "{} is not {expected}", settings.mix);
    assert_eq!(Settings { mix: 50.0, ..settings }, Settings::default());

    editor.drag(from, vec2(5000.0, 0.0));
    assert_eq!(editor.settings().mix, 100.0);
}

#[test]
fn a_double_click_resets() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let place = editor.place("Transpose") + TRACK;
    editor.drag(place, vec2(-60.0, 0.0));
    assert!(editor.settings().transpose < -10.0);
    editor.log();
    editor.click(place);
    editor.click_again(place);
    assert_eq!(editor.settings(), Settings::default());
    assert_eq!(editor.log(), ["begin", "set", "end"]);
}

#[test]
fn values_are_typed_in_with_and_without_units() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let mut enter = |shown: &str, typed: &str, key: Key| {
        editor.click(editor.place(shown));
        editor.frame(vec![Event::Text(typed.to_owned())]);
        editor.key(key);
        (editor.settings(), editor.log())
    };
    let (settings, log) = enter("Tuning: 440.00 Hz", "432", Key::Enter);
    assert_eq!(settings, Settings { tuning: 432.0, ..Settings::default() });
    assert_eq!(log, ["begin", "set", "end"]);
    assert_eq!(enter("Tuning: 432.00 Hz", "0.44 khz", Key::Enter).0.tuning, 440.0);
    let release = enter("Release: 20.0 ms", "0.25 s", Key::Enter).0.release;
    // Within the rounding of a host's normalised f32.
    assert!((release - 250.0).abs() <= 1e-6 * 250.0, "{release}");
    assert_eq!(enter("Mix: 50.0 %", "75 %", Key::Enter).0.mix, 75.0);
    assert_eq!(enter("Output: 0.00 dB", "99", Key::Enter).0.output, 12.0);
    for (typed, key) in [("loud", Key::Enter), ("-3", Key::Escape)] {
        let (settings, log) = enter("Output: 12.00 dB", typed, key);
        assert_eq!(settings.output, 12.0, "{typed}");
        assert!(log.is_empty(), "{typed}: {log:?}");
    }
}

#[test]
fn switches_set_their_setting() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let mut expected = Controls::default();
    let switches = CHOICES
        .iter()
        .filter(|choice| choice.entries.len() == 2 && !NOTES.ids.contains(&choice.id));
    for choice in switches {
        for entry in [1 - choice.default(), choice.default()] {
            let name = format!("{}: {}", choice.name, choice.entries[entry].1);
            choice.set(&mut expected, entry);
            editor.click(editor.place(&name));
            assert_eq!(editor.log(), ["begin", "set", "end"], "{name}");
            assert_eq!(editor.params().controls(), expected);
            editor.click(editor.place(&name));
            assert!(editor.log().is_empty(), "{name} is already chosen");
        }
    }
}

#[test]
fn a_control_without_effect_is_fainter_and_its_tip_says_why() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let colour = |editor: &TestEditor, wanted: &str| {
        let mut texts = editor.output().shapes.iter().filter_map(|clipped| match &clipped.shape {
            egui::Shape::Text(text) if text.galley.text() == wanted => {
                Some(text.override_text_color.unwrap_or(text.fallback_color))
            }
            _ => None,
        });
        texts.next_back().unwrap()
    };
    let controls = ["Sensitivity", "Lookahead", "Ring"];
    let before = controls.map(|name| colour(&editor, name));
    editor.edit(|edits| edits.set_once("focus", 0.0));
    editor.frame(vec![]);
    let after = controls.map(|name| colour(&editor, name));
    assert!(before[0] != after[0] && before[1] != after[1] && before[2] == after[2]);
    for (control, words) in [
        ("Sensitivity", "No effect while Focus is at 0 %."),
        ("Lookahead: On", "Only a delay while Focus is at 0 %."),
        ("Floor", "With Auto level, it is relative to a level of -14 dB full scale."),
    ] {
        editor.frame(vec![Event::PointerMoved(editor.place(control))]);
        (0..60).for_each(|_| editor.frame(vec![]));
        let texts = editor.texts();
        let shown = texts.iter().any(|(text, _)| text.replace('\n', " ").contains(words));
        assert!(shown, "{control}: {texts:?}");
    }
}

#[test]
fn the_wheel_moves_the_slider_under_the_pointer() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.frame(vec![Event::PointerMoved(editor.place("Mix"))]);
    editor.frame(vec![]);
    let wheel = Event::MouseWheel {
        unit: MouseWheelUnit::Line,
        delta: vec2(0.0, 3.0),
        phase: TouchPhase::Move,
        modifiers: egui::Modifiers::NONE,
        source: egui::MouseWheelSource::Unknown,
    };
    editor.frame(vec![wheel]);
    let settings = editor.settings();
    assert!((settings.mix - 53.0).abs() < 1e-3, "{}", settings.mix);
    assert_eq!(Settings { mix: 50.0, ..settings }, Settings::default());
    assert_eq!(editor.log(), ["begin", "set", "end"]);
}
