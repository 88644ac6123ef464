//! The window: its size, and when it is painted anew.

use super::{Desk, band};
use crate::{
    dsp::{BandState, Bands, Settings, ToneFilter},
    editor::{DEFAULT_SIZE, MIN_SIZE, ToneFilterEditor},
    meters::meters,
    params::ToneFilterParams,
};
use egui::{Event, Key, Vec2, ViewportCommand, vec2};
use nice_plug::{editor::Editor, params::Params};
use nice_plug_egui::{NiceEguiApp, RepaintNotifier, baseview::WindowSize};
use std::{sync::Arc, time::Duration};

/// The sizes that the last frame asked for.
fn asked(desk: &Desk) -> Vec<Vec2> {
    let commands = desk.output().viewport_output.values().flat_map(|output| &output.commands);
    let size = |command: &ViewportCommand| match command {
        ViewportCommand::InnerSize(size) => Some(*size),
        _ => None,
    };
    commands.filter_map(size).collect()
}

#[test]
fn the_corner_resizes_the_window() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    for (by, expected) in
        [(vec2(100.0, 50.0), vec2(1100.0, 690.0)), (vec2(-990.0, -630.0), MIN_SIZE.into())]
    {
        let corner = desk.window().max - vec2(6.0, 6.0);
        desk.button(corner, true);
        desk.frame(vec![Event::PointerMoved(corner + 0.5 * by)]);
        desk.frame(vec![Event::PointerMoved(corner + by)]);
        assert_eq!(asked(&desk), [expected]);
        desk.button(corner + by, false);
        desk.frame(vec![]);
        assert_eq!((desk.window().size(), asked(&desk)), (expected, vec![]));
    }
    desk.focus("Size of the window");
    for (key, expected) in [
        (Key::ArrowUp, vec2(480.0, 300.0)),
        (Key::ArrowRight, vec2(500.0, 300.0)),
        (Key::ArrowDown, vec2(500.0, 320.0)),
        (Key::ArrowLeft, vec2(480.0, 320.0)),
    ] {
        desk.key(key);
        assert_eq!(desk.window().size(), expected, "{key:?}");
    }
}

#[test]
fn the_window_opens_at_the_size_it_was_left_at() {
    let params = Arc::new(ToneFilterParams::default());
    let (_input, connection) = meters();
    let editor = |params: &Arc<ToneFilterParams>| {
        ToneFilterEditor::new(params.clone(), connection.clone(), RepaintNotifier::new())
    };
    let opened = editor(&params);
    assert_eq!((opened.size().width, opened.size().height), (1000, 640));

    opened.app().resized(WindowSize::from_physical((1500, 900).into(), 1.5));
    assert_eq!(params.editor_size.load(), [1000.0, 600.0]);
    // Half as large again in physical pixels, where sizes are physical.
    let native = if cfg!(target_os = "macos") { (1000, 600) } else { (1500, 900) };
    assert_eq!((opened.size().width, opened.size().height), native);

    // At a zoom, egui-baseview tells of the panel's points, which are larger.
    for zoom in [0.75, 1.0, 1.5, 2.0] {
        params.editor_zoom.store(zoom);
        let physical = (1500, 900).into();
        opened.app().resized(WindowSize::from_physical(physical, 1.5 * f64::from(zoom)));
        assert_eq!(params.editor_size.load(), [1000.0, 600.0], "{zoom}");
        assert_eq!((opened.size().width, opened.size().height), native, "{zoom}");
    }

    let restored = Arc::new(ToneFilterParams::default());
    restored.deserialize_fields(&params.serialize_fields());
    assert_eq!((editor(&restored).size().width, editor(&restored).size().height), (1000, 600));
}

#[test]
fn the_bands_go_dark_when_the_host_stops() {
    let (mut input, connection) = meters();
    let params = Arc::new(ToneFilterParams::default());
    let mut app = ToneFilterEditor::new(params, connection, RepaintNotifier::new()).app();
    let mut filter = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
    filter.process(&mut [&mut [0.5; 4800]]);
    let heard = filter.bands();
    assert_ne!(heard, Bands::default());
    input.advance(1, || filter.snapshot());
    assert!(app.receive(10.0));
    assert_eq!(app.panel.bands, heard);
    assert!(app.receive(10.2));
    assert_eq!(app.panel.bands, heard);
    assert!(!app.receive(10.3));
    assert_eq!(app.panel.bands, Bands::default());
}

#[test]
fn nothing_is_painted_anew_while_nothing_moves() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    let frame = |desk: &mut Desk| {
        desk.frame(vec![]);
        desk.repaint_delay()
    };
    assert_eq!(frame(&mut desk), Duration::MAX, "an open window at rest");
    let mut bands = Bands::default();
    bands.bands[7] = band(7, BandState::Sounding);
    for bands in [bands, Bands::default()] {
        desk.panel().bands = bands;
        assert_eq!(frame(&mut desk), Duration::ZERO, "a level on its way");
        // The slowest to come to rest is a peak, held and then let fall: 0.8 s and 2 s.
        (0..150).for_each(|_| desk.frame(vec![]));
        assert_eq!(frame(&mut desk), Duration::MAX, "a level that has arrived");
    }
    // Whatever has the keyboard, and while the pointer rests.
    for name in ["Mix", "Band A4"] {
        desk.click(desk.place(name));
        (0..100).for_each(|_| desk.frame(vec![]));
        assert_eq!(frame(&mut desk), Duration::MAX, "{name}");
    }
}
