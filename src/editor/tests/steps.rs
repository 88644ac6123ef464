//! Undo and redo, A and B: every setting comes back.

use super::Desk;
use crate::{
    dsp::{BandMask, PitchClasses, Settings},
    editor::{DEFAULT_SIZE, preset_list::is_same},
    params,
};

/// One edit of every setting there is, by its id, each far from where it starts.
fn edit_all(desk: &mut Desk) -> Vec<(&'static str, Settings)> {
    let ids = params::ids().chain(["bands", "custom"]);
    let edit = |id| {
        desk.with_edits(|edits| match id {
            "bands" => edits.set_bands(BandMask::ALL.with(5, false).with(40, false)),
            "custom" => edits.set_custom(PitchClasses::ALL.with(2, false)),
            _ => {
                let start = edits.params.control(id).unwrap().normalized(&Settings::default());
                edits.set_once(id, if start > 0.5 { 0.2 } else { 0.8 });
            }
        });
        (id, desk.settings())
    };
    ids.map(edit).collect()
}

/// Two sounds are the same, but for what a host's 0..1 in f32 loses.
fn assert_same(actual: &Settings, expected: &Settings, what: &str) {
    assert!(
        is_same(actual, expected) && actual.bypass == expected.bypass,
        "{what}: {actual:?} is not {expected:?}"
    );
}

/// The ids of what is different in two sounds.
fn differences(one: &Settings, other: &Settings) -> Vec<String> {
    let [one, other] =
        [one, other].map(|settings| serde_json::to_value(settings).expect("settings are JSON"));
    let keys = one.as_object().expect("settings are an object").keys();
    keys.filter(|key| one[key.as_str()] != other[key.as_str()]).cloned().collect()
}

#[test]
fn undo_and_redo_bring_back_every_setting() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    let edits = edit_all(&mut desk);
    let all: Vec<_> = edits.iter().map(|(id, _)| (*id).to_owned()).collect();
    let mut different = differences(&Settings::default(), &edits[edits.len() - 1].1);
    different.sort_by_key(|id| all.iter().position(|own| own == id));
    assert_eq!(different, all, "there is a setting that is not edited here");

    desk.frame(vec![]);
    let before = |index: usize| index.checked_sub(1).map_or(Settings::default(), |i| edits[i].1);
    for (index, (id, _)) in edits.iter().enumerate().rev() {
        desk.click(desk.place("Undo"));
        assert_same(&desk.settings(), &before(index), &format!("undo of {id}"));
    }
    for (id, after) in &edits {
        desk.click(desk.place("Redo"));
        assert_same(&desk.settings(), after, &format!("redo of {id}"));
    }
}

#[test]
fn a_and_b_keep_every_setting_apart() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    desk.click(desk.place("Second sound: B"));
    assert_eq!(desk.settings(), Settings::default(), "the second sound begins as a copy");
    edit_all(&mut desk);
    let second = desk.settings();
    for _ in 0..2 {
        desk.click(desk.place("First sound: A"));
        assert_same(&desk.settings(), &Settings::default(), "A");
        desk.click(desk.place("Second sound: B"));
        assert_same(&desk.settings(), &second, "B");
    }
    // To B and back is a step like any other.
    desk.click(desk.place("Undo"));
    assert_same(&desk.settings(), &Settings::default(), "undo of B");
    desk.click(desk.place("Redo"));
    assert_same(&desk.settings(), &second, "redo of B");

    desk.click(desk.place("Copy to the other sound: Copy to A"));
    desk.click(desk.place("First sound: A"));
    assert_same(&desk.settings(), &second, "A is now a copy");
}

#[test]
fn a_window_that_closes_lets_go_of_what_is_held() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    let before = desk.settings();
    desk.with_edits(|edits| {
        edits.begin("mix");
        edits.set("mix", 0.9);
    });
    assert_eq!(desk.log(), ["begin", "set"]);
    desk.with_edits(|edits| edits.end_open_gesture());
    assert_eq!(desk.log(), ["end"]);
    desk.with_edits(|edits| {
        edits.begin_stroke();
        edits.paint(BandMask::NONE);
        edits.end_open_gesture();
        edits.end_open_gesture();
        edits.undo();
    });
    assert_eq!(desk.settings(), Settings { mix: 90.0, ..before });
    desk.with_edits(|edits| edits.undo());
    assert_eq!(desk.settings(), before);
}

#[test]
fn a_copy_to_the_other_sound_is_undone_and_redone() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    let other = |desk: &mut Desk| desk.panel().session.lock().unwrap().other.clone();
    desk.with_edits(|edits| {
        edits.copy_to_other();
        edits.set_once("mix", 0.9);
    });
    let first = other(&mut desk);
    desk.with_edits(|edits| edits.copy_to_other());
    let second = other(&mut desk);
    assert_ne!(first, second);
    desk.with_edits(|edits| edits.undo());
    assert_eq!(other(&mut desk), first);
    assert_eq!(desk.settings().mix, 90.0);
    desk.with_edits(|edits| edits.redo());
    assert_eq!(other(&mut desk), second);
}
