//! Tests of the exchange between host and editor beyond parameters.

use super::TestEditor;
use crate::editor::{DEFAULT_SIZE, MIN_SIZE, theme};
use egui::{Color32, Event, Key, Modifiers, Pos2, Shape, vec2};
use plugin_guard::{
    Automation, Connection, HostLink, Mapping, Menu, MenuItem, Place, Request, Track,
};
use std::time::Duration;
use tone_filter_dsp::{BandMask, Settings};

/// Creates an editor, and the link to a host that accepts all requests except those for a size.
fn connected() -> (TestEditor, HostLink) {
    let editor = TestEditor::with_more(DEFAULT_SIZE);
    let host = editor.session().host.clone();
    let wake = Box::new(|_: &HostLink| ());
    host.connect(Some(Connection { wake, marks_dirty: true, has_menus: true }));
    (editor, host)
}

/// Returns the fill and stroke colours of the circles less than 9 points from `at`.
fn circles(editor: &TestEditor, at: Pos2) -> Vec<(Color32, Color32)> {
    let circles = editor.shapes().filter_map(|(shape, _)| match shape {
        Shape::Circle(circle) if (circle.center - at).length() < 9.0 => {
            Some((circle.fill, circle.stroke.color))
        }
        _ => None,
    });
    circles.collect()
}

#[test]
fn a_busy_host_is_asked_for_a_size_again() {
    let (mut editor, host) = connected();
    host.set_resizable(true);
    let corner = editor.window().max - vec2(6.0, 6.0);
    editor.button(corner, true);
    for by in [10.0, 100.0] {
        editor.frame(vec![Event::PointerMoved(corner + vec2(by, by))]);
    }
    let corner = corner + vec2(100.0, 100.0);
    let asked = Request::Resize([1100, 740]);
    // The last one is a size that was asked for earlier.
    for size in [DEFAULT_SIZE, [1010.0, 650.0]] {
        editor.resize(size);
        for _ in 0..3 {
            editor.frame(vec![]);
            assert_eq!(host.take_requests().last(), Some(&asked), "{size:?}");
            // Otherwise no frame would follow while the pointer rests.
            assert_eq!(editor.repaint_delay(), Duration::ZERO);
        }
        editor.button(corner, false);
    }
    // The host decides on a size of its own, or is not busy, but refuses.
    let rests = |editor: &mut TestEditor, host: &HostLink| {
        host.take_requests();
        editor.wait(1.0);
        assert_eq!((host.take_requests(), editor.repaint_delay()), (vec![], Duration::MAX));
    };
    editor.resize([900.0, 700.0]);
    rests(&mut editor, &host);
    editor.resize(DEFAULT_SIZE);
    editor.wait(3.0);
    rests(&mut editor, &host);
    // Dragged out and back before the host has answered.
    let corner = editor.window().max - vec2(6.0, 6.0);
    editor.button(corner, true);
    for by in [10.0, 100.0, 0.0] {
        editor.frame(vec![Event::PointerMoved(corner + vec2(by, by))]);
    }
    editor.button(corner, false);
    rests(&mut editor, &host);
}

#[test]
fn changes_besides_parameters_mark_the_state_as_dirty() {
    let (mut editor, host) = connected();
    let place = editor.place("Band D5");
    editor.click(place);
    editor.drag(place, vec2(80.0, 0.0));
    editor.secondary_click(place);
    editor.run("Undo");
    assert!(editor.log().is_empty(), "{:?}", editor.log());
    assert_eq!(host.take_requests(), vec![Request::MarkDirty; 4]);
    editor.run("Preset: Tone Filter *");
    assert_eq!(host.take_requests(), []);
    for label in ["Keep scale", "Keep tuning", "Keep scale"] {
        editor.run(label);
        assert_eq!(host.take_requests(), [Request::MarkDirty], "{label}");
    }
    assert!(editor.log().is_empty(), "{:?}", editor.log());
    editor.run("<Escape>");
    host.connect(None);
    editor.click(editor.place("Band D5"));
    assert_eq!(editor.log(), ["begin", "set", "end"], "other hosts get a gesture");
}

#[test]
fn a_control_shows_what_the_host_does_with_its_parameter() {
    for size in [DEFAULT_SIZE, MIN_SIZE] {
        let mut editor = TestEditor::with_more(size);
        let host = editor.session().host.clone();
        let mark = |editor: &TestEditor, name: &str| {
            circles(editor, editor.text(name).left_center() - vec2(4.0, 0.0))
        };
        for (id, name) in [("mix", "Mix"), ("focus", "Focus"), ("keys", "Keys"), ("root", "Root")] {
            assert!(mark(&editor, name).is_empty(), "{name}");
            host.indicate(id, |indication| {
                indication.mapping = Some(Mapping {
                    colour: Some([255, 0, 0]),
                    label: "K1".to_owned(),
                    description: "knob of a device".to_owned(),
                });
            });
            editor.frame(vec![]);
            let red = Color32::from_rgb(255, 0, 0);
            assert_eq!(mark(&editor, name), [(red, Color32::TRANSPARENT)], "{name}");
            host.indicate(id, |indication| {
                indication.automation = Some((Automation::Playing, Some([0, 255, 0])));
            });
            editor.frame(vec![]);
            let green = Color32::from_rgb(0, 255, 0);
            let both = [(red, Color32::TRANSPARENT), (Color32::TRANSPARENT, green)];
            assert_eq!(mark(&editor, name), both, "{name}");
            let expected = "Mapped to K1, knob of a device. The host plays its automation.";
            assert!(tooltip(&mut editor, name).ends_with(expected), "{name}");
            host.indicate(id, |indication| *indication = Default::default());
            editor.frame(vec![]);
            assert!(mark(&editor, name).is_empty(), "{name}");
        }
    }
}

fn tooltip(editor: &mut TestEditor, name: &str) -> String {
    let text = editor.text(name);
    // The tooltip of a list is at its field.
    let at = match name {
        "Root" => text.right_center() + vec2(20.0, 0.0),
        "Keys" => text.center() + vec2(5.0, 1.4 * text.height()),
        _ => text.center(),
    };
    editor.hover(at);
    let texts = editor.texts().into_iter().map(|(text, _)| text);
    let tip = texts.max_by_key(String::len).unwrap();
    editor.frame(vec![Event::PointerMoved(Pos2::ZERO)]);
    editor.wait(0.5);
    tip
}

fn menu(place: Place) -> Menu {
    let entry = |label: &str, enabled, checked, action| MenuItem::Entry {
        label: label.to_owned(),
        enabled,
        checked,
        action,
    };
    let items = vec![
        MenuItem::Title("Mix".to_owned()),
        entry("Learn", true, None, 7),
        MenuItem::Separator,
        entry("Follow", true, Some(true), 8),
        entry("Forbidden", false, None, 9),
        MenuItem::Submenu {
            label: "More".to_owned(),
            enabled: true,
            items: vec![entry("Inner", true, None, 10)],
        },
    ];
    Menu { place, items }
}

#[test]
fn a_secondary_click_asks_the_host_for_its_menu() {
    let (mut editor, host) = connected();
    let asked = |editor: &mut TestEditor, at: Pos2| {
        editor.secondary_click(at);
        match host.take_requests()[..] {
            [Request::Menu(place)] => {
                assert_eq!(Pos2::from(place.at), at);
                assert_eq!(place.at_pixel, [at.x, at.y].map(|length| length.round() as i32));
                place.id
            }
            ref other => panic!("{other:?}"),
        }
    };
    for (name, id) in [
        ("Mix", "mix"),
        ("Mix: 50 %", "mix"),
        ("Lookahead", "lookahead"),
        ("Bypass", "bypass"),
        ("Scale: Chromatic", "scale"),
        ("Keys: Off", "keys"),
    ] {
        let at = editor.place(name);
        assert_eq!(asked(&mut editor, at), id);
    }
    assert_eq!(editor.settings(), Settings::default());

    // The bands are not parameters, so the editor itself handles a secondary click on them.
    editor.run("Band D5");
    editor.secondary_click(editor.place("Band A5"));
    assert_eq!(editor.settings().bands, BandMask::ALL);
    assert_eq!(host.take_requests(), vec![Request::MarkDirty; 2]);

    editor.focus("Mix");
    editor.hold(Modifiers::SHIFT);
    editor.key(Key::F10);
    editor.hold(Modifiers::NONE);
    let requests = host.take_requests();
    assert!(matches!(requests[..], [Request::Menu(Place { id: "mix", .. })]), "{requests:?}");

    host.connect(None);
    editor.secondary_click(editor.place("Mix"));
    assert!(host.take_requests().is_empty(), "a host without menus is not asked");
    editor.key(Key::Escape);
}

#[test]
fn the_host_s_menu_is_shown_and_performed() {
    let (mut editor, host) = connected();
    let at = editor.place("Mix");
    let place = Place { id: "mix", at: at.into(), at_pixel: [0; 2], own: &[] };
    for (steps, action) in [
        ("Learn", Some(7)),
        ("Follow", Some(8)),
        ("Forbidden", None),
        ("More | Inner", Some(10)),
        ("<Escape>", None),
    ] {
        host.set_menu(Some(menu(place)));
        editor.frames(3);
        editor.run(steps);
        let performed = action.map(|action| Request::Perform { id: "mix", action });
        assert_eq!(host.take_requests(), performed.into_iter().collect::<Vec<_>>(), "{steps}");
        let closes = steps != "Forbidden";
        assert!(!closes || host.menu().is_none(), "{steps} closes it");
    }
}

#[test]
fn every_menu_resets_and_opens_the_field_of_a_value() {
    let mut editor = TestEditor::with_more(DEFAULT_SIZE);
    let host = editor.session().host.clone();
    let choose = |editor: &mut TestEditor, index: usize, entry: &str| {
        // First in the host's own menu, then in the window's menu.
        match index {
            0 => host.choose("mix", usize::from(entry == "Enter value")),
            _ => {
                editor.secondary_click(editor.place("Mix"));
                editor.frames(3);
                editor.click(editor.place(entry));
            }
        }
        editor.frames(3);
    };
    for kind in 0..2 {
        editor.edit(|edits| edits.set_once("mix", 0.125));
        choose(&mut editor, kind, "Reset");
        assert_eq!(editor.settings().mix, Settings::default().mix);
        choose(&mut editor, kind, "Enter value");
        assert_eq!(editor.focused().as_deref(), Some("Mix to type"));
        editor.frame(vec![Event::Text("25".to_owned())]);
        editor.key(Key::Enter);
        assert_eq!(editor.settings().mix, 25.0);
    }
    editor.secondary_click(editor.place("Bypass"));
    editor.frames(3);
    editor.text("Reset");
    assert!(editor.texts().iter().all(|(text, _)| text != "Enter value"), "it has no field");
}

#[test]
fn the_own_menu_learns_and_forgets_a_controller() {
    let mut editor = TestEditor::with_more(DEFAULT_SIZE);
    let choose = |editor: &mut TestEditor, entry: &str| {
        editor.secondary_click(editor.place("Mix"));
        editor.frames(3);
        editor.click(editor.place(entry));
        editor.frame(vec![]);
        assert_eq!(editor.session().host.menu(), None, "it closes");
    };
    let learning = |editor: &TestEditor| editor.params().controllers.is_learning("mix");
    choose(&mut editor, "Learn a MIDI controller");
    assert!(learning(&editor));
    editor.text("Move a knob or a fader of your MIDI controller");
    choose(&mut editor, "Stop learning");
    assert!(!learning(&editor));
    choose(&mut editor, "Learn a MIDI controller");
    editor.params().controllers.moved(74);
    editor.frame(vec![]);
    // The notice is longer than the tooltip.
    editor.wait(4.0);
    let tip = tooltip(&mut editor, "Mix");
    assert!(tip.ends_with("Mapped to controller 74."), "{tip}");
    choose(&mut editor, "Forget controller 74");
    assert_eq!(editor.params().controllers.of("mix"), None);
    assert!(!tooltip(&mut editor, "Mix").contains("Mapped"));
}

#[test]
fn the_header_shows_the_track() {
    for size in [DEFAULT_SIZE, [1600.0, 1000.0]] {
        let mut editor = TestEditor::new(size);
        let host = editor.session().host.clone();
        let names = |editor: &TestEditor| editor.controls().len();
        let before = names(&editor);
        for name in ["Lead", "A very long name of a track, far too long for the header"] {
            // Black on black would be invisible.
            host.set_track(Some(Track { name: name.to_owned(), colour: Some([0, 0, 0]) }));
            editor.frame(vec![]);
            let shown = editor.text(name);
            assert!(editor.node(&format!("Track: {name}")).rect().width() > 10.0);
            assert_eq!(names(&editor), before, "it is no control");
            for (other, place) in editor.texts() {
                let overlap = shown.intersect(place);
                assert!(other == name || !overlap.is_positive(), "{name} is on {other}");
            }
            let left = shown.left_center() - vec2(8.0, 0.0);
            let disc = circles(&editor, left)[0].0;
            assert!(theme::contrast(disc, theme::BACKGROUND) >= 3.0, "{disc:?}");
        }
        host.set_track(None);
        editor.frame(vec![]);
        assert!(editor.texts().iter().all(|(text, _)| !text.contains("track")));
    }
}
