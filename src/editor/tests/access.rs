//! Every control has a name and can be worked without a mouse.

use super::Desk;
use crate::{
    dsp::{CHOICES, SPECS},
    editor::DEFAULT_SIZE,
    params::SCALE,
};
use egui::{Event, Key};
use std::collections::BTreeSet;

/// All that a key can change: the settings, the sound to compare with, and what is to be seen and read.
fn seen(desk: &mut Desk) -> impl PartialEq + use<> {
    let other = desk.panel().session.lock().unwrap().other.clone();
    let names: Vec<_> = desk.controls().into_iter().map(|(name, _)| name).collect();
    (desk.settings(), other, desk.texts(), names)
}

/// A desk at which both Undo and Redo have something to do.
fn desk() -> Desk {
    let mut desk = Desk::new(DEFAULT_SIZE);
    edit(&mut desk);
    desk
}

/// Makes sure that both Undo and Redo have something to do.
fn edit(desk: &mut Desk) {
    desk.with_edits(|edits| {
        edits.set_once("mix", 0.6);
        edits.set_once("mix", 0.7);
        edits.undo();
    });
    desk.frame(vec![]);
}

#[test]
fn every_control_is_named_and_reached_by_the_tab_key() {
    let mut desk = desk();
    let all: Vec<String> = desk.controls().into_iter().map(|(name, _)| name).collect();
    let names: BTreeSet<String> = all.iter().cloned().collect();
    assert!(names.iter().all(|name| !name.trim().is_empty()), "{names:?}");
    assert_eq!(names.len(), all.len(), "two controls of one name: {all:?}");
    // Cells, keys, two lists, sliders and their values, four switches.
    assert!(names.len() > 48 + 12 + 2 + 2 * SPECS.len() + 2 * 4, "{names:?}");

    let mut reached = BTreeSet::new();
    for _ in 0..=all.len() {
        desk.key(Key::Tab);
        reached.extend(desk.focused());
    }
    let missed: Vec<_> = names.difference(&reached).collect();
    assert!(missed.is_empty(), "the tab key never comes to {missed:?}");
}

#[test]
fn what_opens_is_named_too() {
    for opener in
        ["Mix: 60.0 %", "Save and load presets: File", "Preset: Tone Filter *", "Zoom: 100 %"]
    {
        let mut desk = desk();
        let before = desk.controls().len();
        desk.click(desk.place(opener));
        let names: Vec<_> = desk.controls().into_iter().map(|(name, _)| name).collect();
        assert!(names.iter().all(|name| !name.trim().is_empty()), "{opener}: {names:?}");
        let opened = names.iter().any(|name| name == "Mix to type") || names.len() > before + 3;
        assert!(opened, "{opener}: {names:?}");
    }
}

#[test]
fn every_control_is_worked_by_the_keyboard_alone() {
    let mut desk = desk();
    let count = desk.controls().len();
    for index in 0..count {
        assert_eq!(desk.controls().len(), count, "a control has come or gone");
        let (name, _) = desk.controls().swap_remove(index);
        // A choice that is made already stays as it is.
        let settings = desk.settings();
        let buttons = CHOICES.iter().filter(|choice| !SCALE.ids.contains(&choice.id));
        let mut made = buttons
            .map(|choice| format!("{}: {}", choice.name, choice.entries[choice.get(&settings)].1));
        if name == "First sound: A" || made.any(|made| made == name) {
            continue;
        }
        desk.focus(&name);
        let before = seen(&mut desk);
        let moves = name == "Size of the window" || SPECS.iter().any(|spec| spec.name == name);
        desk.key(if moves { Key::ArrowLeft } else { Key::Enter });
        assert!(seen(&mut desk) != before, "{name} does nothing");
        // Closes what it has opened.
        desk.key(Key::Escape);
        edit(&mut desk);
    }
}

#[test]
fn space_is_the_host_s_but_in_a_text() {
    let mut desk = desk();
    let before = desk.settings();
    for (name, _) in desk.controls() {
        desk.focus(&name);
        desk.key(Key::Space);
    }
    assert_eq!(desk.settings(), before);

    desk.click(desk.place("Tone: 4865 Hz"));
    let space = Event::Key {
        key: Key::Space,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: egui::Modifiers::NONE,
    };
    for event in
        [Event::Text("7".into()), space, Event::Text(" ".into()), Event::Text("kHz".into())]
    {
        desk.frame(vec![event]);
    }
    desk.key(Key::Enter);
    assert!((desk.settings().tone - 7000.0).abs() < 0.01, "{}", desk.settings().tone);
}
