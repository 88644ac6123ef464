//! Tests that undo, redo and A/B restore every setting.

use super::TestEditor;
use crate::{editor::DEFAULT_SIZE, params, session::is_same};
use nice_plug::prelude::Params;
use serde_json::Value;
use tone_filter_dsp::{BandMask, Controls, PitchClass, PitchClasses, Settings, Targets};
use tone_filter_presets::settings;

/// Edits every parameter, the bands and the custom scale once. Returns each id, with the controls after the edit.
fn edit_all(editor: &mut TestEditor) -> Vec<(&'static str, Controls)> {
    let ids = params::ids().chain(["bands", "custom", "targets"]);
    let edit = |id| {
        editor.edit(|edits| match id {
            "bands" => edits.set_bands(BandMask::ALL.with(5, false).with(40, false)),
            "custom" => edits.set_custom(PitchClasses::ALL.with(2, false)),
            "targets" => edits.set_targets(Targets::default().with(2, PitchClass::new(4))),
            _ => {
                let start = edits.params.control(id).unwrap().normalized(&Controls::default());
                edits.set_once(id, if start > 0.5 { 0.2 } else { 0.8 });
            }
        });
        (id, editor.params().controls())
    };
    ids.map(edit).collect()
}

/// Asserts that two sounds are equal, except for the rounding of a host's normalised f32 values.
fn assert_same(actual: &Controls, expected: &Controls, what: &str) {
    assert!(
        is_same(&actual.settings, &expected.settings) && actual.routing == expected.routing,
        "{what}: {actual:?} is not {expected:?}"
    );
}

fn differences(one: &Controls, other: &Controls) -> Vec<String> {
    let [one, other] = [one, other]
        .map(|controls| serde_json::from_str::<Value>(&settings::to_json(controls)).unwrap());
    let keys = one.as_object().expect("settings are an object").keys();
    keys.filter(|key| one[key.as_str()] != other[key.as_str()]).cloned().collect()
}

#[test]
fn undo_and_redo_bring_back_every_setting() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let edits = edit_all(&mut editor);
    let all: Vec<_> = edits.iter().map(|(id, _)| (*id).to_owned()).collect();
    let mut different = differences(&Controls::default(), &edits[edits.len() - 1].1);
    different.sort_by_key(|id| all.iter().position(|own| own == id));
    assert_eq!(different, all, "`edit_all` must edit every setting");

    editor.frame(vec![]);
    let before = |index: usize| index.checked_sub(1).map_or(Controls::default(), |i| edits[i].1);
    for (index, (id, _)) in edits.iter().enumerate().rev() {
        editor.run("Undo");
        assert_same(&editor.params().controls(), &before(index), &format!("undo of {id}"));
    }
    for (id, after) in &edits {
        editor.run("Redo");
        assert_same(&editor.params().controls(), after, &format!("redo of {id}"));
    }
}

#[test]
fn a_and_b_keep_every_setting_apart() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.run("Second sound: B");
    let first = editor.params().controls();
    assert_eq!(first, Controls::default(), "the second sound begins as a copy");
    edit_all(&mut editor);
    let second = editor.params().controls();
    // Switching between A and B is an undo step, too.
    for (step, expected) in [
        ("First sound: A", &first),
        ("Second sound: B", &second),
        ("First sound: A", &first),
        ("Second sound: B", &second),
        ("Undo", &first),
        ("Redo", &second),
        ("Copy B to A | Undo | First sound: A", &first),
        ("Second sound: B | Copy B to A | Undo | Redo | First sound: A", &second),
    ] {
        editor.run(step);
        assert_same(&editor.params().controls(), expected, step);
    }
    editor.run("Copy A to B");
    let other = editor.edit(|edits| edits.state.other.clone());
    assert_eq!(other.and_then(|sound| sound.other), None, "copies do not nest");
}

#[test]
fn a_loaded_state_has_no_steps_to_undo() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.edit(|edits| edits.set_once("mix", 0.9));
    assert!(editor.edit(|edits| edits.state.history.can_undo()));
    let params = editor.params();
    params.deserialize_fields(&params.serialize_fields());
    assert!(!editor.edit(|edits| edits.state.history.can_undo()));
}

#[test]
fn a_window_that_closes_ends_the_open_gesture() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let before = editor.params().controls();
    editor.edit(|edits| {
        edits.begin("mix");
        edits.set("mix", 0.9);
    });
    assert_eq!(editor.log(), ["begin", "set"]);
    editor.edit(|edits| edits.end_open_gesture());
    assert_eq!(editor.log(), ["end"]);
    editor.edit(|edits| {
        edits.begin_painting();
        edits.paint(BandMask::NONE);
        edits.end_open_gesture();
        edits.end_open_gesture();
        edits.undo();
    });
    let settings = Settings { mix: 90.0, ..before.settings };
    assert_eq!(editor.params().controls(), Controls { settings, ..before });
    editor.edit(|edits| edits.undo());
    assert_eq!(editor.params().controls(), before);
}
