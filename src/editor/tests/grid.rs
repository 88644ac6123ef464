//! The cells, the keyboard under them and the scale.

use super::Desk;
use crate::{
    dsp::{BandMask, PitchClass, PitchClasses, Scale, Settings},
    editor::DEFAULT_SIZE,
};
use egui::Modifiers;

#[test]
fn a_click_mutes_a_band_and_alt_click_leaves_it_alone() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    desk.click(desk.place("Band D5"));
    assert_eq!(desk.settings().bands, BandMask::ALL.with(17, false));
    assert_eq!(desk.log(), ["begin", "set", "end"], "the host must know of something to save");
    desk.click(desk.place("Band D5"));
    assert_eq!(desk.settings(), Settings::default());

    desk.hold(Modifiers::ALT);
    for (note, expected) in [
        ("Band D#6", BandMask::NONE.with(30, true)),
        ("Band E6", BandMask::NONE.with(31, true)),
        ("Band E6", BandMask::ALL),
    ] {
        desk.click(desk.place(note));
        assert_eq!(desk.settings().bands, expected, "{note}");
    }
}

#[test]
fn a_drag_paints_and_a_right_click_brings_all_back() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    let drag = |desk: &mut Desk, from: &str, to: &str| {
        let [from, to] = [from, to].map(|note| desk.place(note));
        desk.drag(from, to - from);
    };
    drag(&mut desk, "Band A#4", "Band D#5");
    let painted = (13..=18).fold(BandMask::ALL, |mask, tone| mask.with(tone, false));
    assert_eq!(desk.settings().bands, painted);
    drag(&mut desk, "Band C5", "Band C7");
    let more = painted.with(15, true);
    assert_eq!(desk.settings().bands, more, "what it begins with is what it paints");

    desk.secondary_click(desk.place("Band B3"));
    assert_eq!(desk.settings(), Settings::default());
    for expected in [more, painted, BandMask::ALL] {
        desk.click(desk.place("Undo"));
        assert_eq!(desk.settings(), Settings { bands: expected, ..Settings::default() });
    }
}

#[test]
fn the_keyboard_makes_a_scale_of_ones_own() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    desk.click(desk.place("Note C# in the scale"));
    let expected = Settings {
        scale: Scale::Custom,
        custom: PitchClasses::ALL.with(4, false),
        ..Settings::default()
    };
    assert_eq!(desk.settings(), expected);
    desk.click(desk.place("Undo"));
    assert_eq!(desk.settings(), Settings::default());
}

#[test]
fn a_scale_is_picked_from_a_list() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    for (list, picked) in [("Scale: Chromatic", "Whole tone"), ("Root: A", "D#")] {
        desk.click(desk.place(list));
        desk.click(desk.last_text(picked).center());
        assert_eq!(desk.log(), ["begin", "set", "end"], "{picked}");
    }
    let expected =
        Settings { scale: Scale::WholeTone, root: PitchClass::new(6), ..Settings::default() };
    assert_eq!(desk.settings(), expected);
}
