//! Undo, A and B, presets, the wheel and the arrows.

use super::{Desk, cell};
use crate::{
    dsp::{SPECS, Settings},
    editor::{DEFAULT_SIZE, library::Library},
};
use egui::{Event, Key, MouseWheelUnit, TouchPhase, vec2};

fn desk() -> Desk {
    let desk = Desk::new(DEFAULT_SIZE);
    desk.panel.session.lock().unwrap().library = Library::new(None);
    desk
}

#[test]
fn the_wheel_moves_what_is_under_it() {
    let mut desk = desk();
    desk.frame(vec![Event::PointerMoved(desk.text("Mix").center() + vec2(0.0, 16.0))]);
    desk.frame(vec![]);
    let wheel = Event::MouseWheel {
        unit: MouseWheelUnit::Line,
        delta: vec2(0.0, 3.0),
        phase: TouchPhase::Move,
        modifiers: egui::Modifiers::NONE,
        source: egui::MouseWheelSource::Unknown,
    };
    desk.frame(vec![wheel]);
    let settings = desk.params.settings();
    assert!((settings.mix - 53.0).abs() < 1e-3, "{}", settings.mix);
    assert_eq!(Settings { mix: 50.0, ..settings }, Settings::default());
    assert_eq!(desk.log(), ["begin", "set", "end"]);
}

#[test]
fn every_slider_is_reached_by_the_tab_key_and_space_is_the_host_s() {
    let mut desk = desk();
    for _ in 0..150 {
        desk.key(Key::Tab);
        desk.key(Key::PageUp);
        desk.key(Key::Space);
    }
    let settings = desk.params.settings();
    for spec in &SPECS {
        assert!(spec.get(&settings) > spec.default, "{} was not reached", spec.id);
    }
    // A button or a cell that took the space bar would have been pressed.
    let mut others = Settings::default();
    SPECS.iter().for_each(|spec| spec.set(&mut others, spec.get(&settings)));
    assert_eq!(settings, others);
}

#[test]
fn two_sounds_are_compared_and_steps_go_back_through_them() {
    let mut desk = desk();
    desk.click(cell(&desk, 5));
    let first = desk.params.settings();
    desk.click(desk.text("B").center());
    assert_eq!(desk.params.settings(), first, "the second sound begins as a copy");
    desk.time += 1.0;
    desk.click(cell(&desk, 6));
    let second = desk.params.settings();
    assert_ne!(second, first);
    desk.click(desk.text("Undo").center());
    assert_eq!(desk.params.settings(), first);
    desk.time += 1.0;
    desk.click(desk.text("Redo").center());
    assert_eq!(desk.params.settings(), second);
}

#[test]
fn presets_are_stepped_through_and_a_change_is_marked() {
    let mut desk = desk();
    desk.frame(vec![]);
    let name = desk.text("Reference");
    desk.click(cell(&desk, 5));
    desk.frame(vec![]);
    assert!(desk.text("Reference *").is_positive());
    desk.undo();
    desk.frame(vec![]);
    assert_eq!(desk.text("Reference"), name);
}
