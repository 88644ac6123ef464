use super::TestEditor;
use crate::{
    editor::{DEFAULT_SIZE, controls::is_switch},
    params::Control,
    session::is_same,
};
use egui::{Key, Modifiers, vec2};
use nice_plug::params::Param;
use tone_filter_dsp::{CHOICES, Controls, Group, Map, PitchClass, Settings, Targets, Voice, spec};

/// Vector from the middle of a slider to its track.
const TRACK: egui::Vec2 = vec2(0.0, 5.0);

#[test]
fn the_pointer_moves_one_slider_as_one_gesture() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let from = editor.place("Mix") + TRACK;
    editor.drag(from, vec2(40.0, 0.0));
    assert_eq!(editor.log(), ["begin", "set", "set", "end"]);
    let settings = editor.settings();
    // Mix takes a quarter of the width between margins of 16 points.
    let width = (1000.0 - 2.0 * 16.0) / 4.0;
    let expected = 50.0 + 100.0 * 40.0 / width;
    assert!((settings.mix - expected).abs() < 0.01, "{} is not {expected}", settings.mix);
    assert_eq!(Settings { mix: 50.0, ..settings }, Settings::default());
    editor.drag(from, vec2(5000.0, 0.0));
    assert_eq!(editor.settings().mix, 100.0);

    editor.log();
    editor.click(from);
    editor.click_again(from);
    assert_eq!(editor.settings(), Settings::default(), "a double-click resets");
    assert_eq!(editor.log(), ["begin", "set", "end"]);

    editor.frames(1);
    for (modifiers, expected) in
        [(Modifiers::NONE, 53.0), (Modifiers::SHIFT, 53.3), (Modifiers::COMMAND, 53.6)]
    {
        editor.hold(modifiers);
        editor.wheel(3.0, modifiers);
        let settings = editor.settings();
        assert!((settings.mix - expected).abs() < 1e-3, "{}", settings.mix);
        assert_eq!(Settings { mix: 50.0, ..settings }, Settings::default());
        assert_eq!(editor.log(), ["begin", "set", "end"]);
    }
}

#[test]
fn values_are_typed_in_with_and_without_units() {
    let mut editor = TestEditor::with_more(DEFAULT_SIZE);
    let mut expected = Settings::default();
    // Field, typed text, the key that ends it, and the new value, if there is one.
    for (field, typed, key, id, value) in [
        ("Tuning: 440 Hz", "432", "<Enter>", "tuning", Some(432.0)),
        ("Tuning: 432 Hz", "0.44 khz", "<Enter>", "tuning", Some(440.0)),
        ("Release: 20 ms", "0.25 s", "<Enter>", "release", Some(250.0)),
        ("Mix: 50 %", "75 %", "<Enter>", "mix", Some(75.0)),
        ("Output: 0 dB", "99", "<Enter>", "output", Some(12.0)),
        ("Output: 12 dB", "loud", "<Enter>", "output", None),
        ("Output: 12 dB", "-3", "<Escape>", "output", None),
    ] {
        editor.run(&format!("{field} | ~{typed} | {key}"));
        value.iter().for_each(|value| spec(id).unwrap().set(&mut expected, *value));
        // The rounding of a host's normalised f32 is allowed for.
        assert!(is_same(&editor.settings(), &expected), "{typed}: {:?}", editor.settings());
        let gesture: &[&str] = if value.is_some() { &["begin", "set", "end"] } else { &[] };
        assert_eq!(editor.log(), gesture, "{typed}");
    }
}

#[test]
fn switches_set_their_setting() {
    let mut editor = TestEditor::with_more(DEFAULT_SIZE);
    let mut expected = Controls::default();
    let switches = CHOICES.iter().filter(|choice| {
        choice.entries.len() == 2
            && choice.group != Group::Header
            && !Group::Scale.ids().contains(&choice.id)
    });
    for choice in switches {
        for entry in [1 - choice.default(), choice.default()] {
            let pair = format!("{}: {}", choice.name, choice.entries[entry].1);
            let name = if is_switch(choice) { choice.name } else { &pair };
            choice.set(&mut expected, entry);
            editor.click(editor.place(name));
            assert_eq!(editor.log(), ["begin", "set", "end"], "{name}");
            assert_eq!(editor.params().controls(), expected);
            if !is_switch(choice) {
                editor.click(editor.place(name));
                assert!(editor.log().is_empty(), "{name} is already chosen");
            }
        }
    }
    for (on, word) in [(true, "Bypassed"), (false, "Bypass")] {
        editor.run("Bypass");
        assert_eq!(editor.log(), ["begin", "set", "end"]);
        assert_eq!(editor.params().controls().routing.bypass, on);
        editor.text(word);
    }
}

#[test]
fn an_unedited_text_keeps_the_exact_value() {
    let mut editor = TestEditor::with_more(DEFAULT_SIZE);
    editor.edit(|edits| {
        let Some(Control::Number(_, param)) = edits.params.control("threshold") else { panic!() };
        edits.set_once("threshold", param.preview_normalized(-36.9897));
    });
    editor.log();
    editor.frame(vec![]);
    editor.focus("Threshold");
    editor.key(Key::Enter);
    assert_eq!(editor.focused().as_deref(), Some("Threshold to type"));
    editor.text("-37 dB");
    // A text that is not edited keeps all digits of the value.
    let before = editor.settings();
    editor.key(Key::Enter);
    assert_eq!(editor.settings(), before);
    assert!(editor.log().is_empty());
    editor.run("Threshold: -37 dB | ~-20.125 | <Enter>");
    assert!((editor.settings().threshold + 20.125).abs() < 1e-4);
    editor.text("-20.1 dB");
}

fn colour(editor: &TestEditor, wanted: &str) -> egui::Color32 {
    let texts = editor.shapes().filter_map(|(shape, _)| match shape {
        egui::Shape::Text(text) if text.galley.text() == wanted => {
            Some(text.override_text_color.unwrap_or(text.fallback_color))
        }
        _ => None,
    });
    texts.last().unwrap()
}

#[test]
fn notes_that_are_their_own_targets_are_not_faint() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let plain = colour(&editor, "B");
    let mut set = |voice, targets: Targets| {
        editor.edit(|edits| {
            edits.change("test", |settings| {
                (settings.voice, settings.map, settings.targets) = (voice, Map::Custom, targets);
            });
        });
        editor.frame(vec![]);
        ["B", "C# > E"].map(|name| {
            let shown = editor.texts().iter().any(|(text, _)| text == name);
            shown.then(|| colour(&editor, name))
        })
    };
    let drawn = Targets::IDENTITY.with(4, PitchClass::new(7));
    assert_eq!(set(Voice::Square, Targets::IDENTITY), [Some(plain), None]);
    let [own, moved] = set(Voice::Square, drawn);
    assert!(own == Some(plain) && moved.is_some() && moved != own);
    let [own, faint] = set(Voice::Soft, drawn);
    assert!(own == Some(plain) && faint.is_some() && faint != moved, "Soft moves no note");
}

#[test]
fn a_control_without_effect_is_fainter_and_explained() {
    let mut editor = TestEditor::with_more(DEFAULT_SIZE);
    let controls = ["Sensitivity", "Lookahead", "Ring"];
    let before = controls.map(|name| colour(&editor, name));
    editor.edit(|edits| edits.set_once("focus", 0.0));
    editor.frame(vec![]);
    let after = controls.map(|name| colour(&editor, name));
    assert!(before[0] != after[0] && before[1] != after[1] && before[2] == after[2]);
    for (control, words) in [
        ("Root: A", "No effect: the scale Chromatic has all notes, whatever its root."),
        ("Sensitivity", "No effect: Focus is at 0 %."),
        ("Lookahead", "No effect: it only delays the sound while Focus is at 0 %."),
    ] {
        editor.hover(editor.place(control));
        let texts = editor.texts();
        let shown = texts.iter().any(|(text, _)| text.replace('\n', " ").contains(words));
        assert!(shown, "{control}: {texts:?}");
    }
}

#[test]
fn every_control_is_large_enough_to_hit() {
    for mut editor in [TestEditor::new(DEFAULT_SIZE), TestEditor::with_more(DEFAULT_SIZE)] {
        editor.make_steps();
        for (name, area) in editor.areas() {
            // Corners that resize a window are this small on all systems.
            let enough = area.width().min(area.height()) >= 23.9;
            assert!(enough || name == "Size of the window", "{name}: {}", area.size());
        }
    }
}
