//! Tests of the window's size, and of when it is repainted.

use super::{TestEditor, band};
use crate::{
    editor::{DEFAULT_SIZE, MIN_SIZE, ToneFilterEditor},
    meters::meters,
    params::ToneFilterParams,
    session::Session,
};
use egui::{Event, Key, Vec2, ViewportCommand, vec2};
use nice_plug::{editor::Editor, params::Params};
use nice_plug_egui::{NiceEguiApp, RepaintNotifier, baseview::WindowSize};
use plugin_guard::HostLink;
use std::{sync::Arc, time::Duration};
use tone_filter_dsp::{BandState, Bands, Settings, ToneFilter};

/// Returns the window sizes that the last frame has requested.
fn asked(editor: &TestEditor) -> Vec<Vec2> {
    let commands = editor.output().viewport_output.values().flat_map(|output| &output.commands);
    let size = |command: &ViewportCommand| match command {
        ViewportCommand::InnerSize(size) => Some(*size),
        _ => None,
    };
    commands.filter_map(size).collect()
}

#[test]
fn the_corner_resizes_the_window() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    for (by, expected) in
        [(vec2(100.0, 50.0), vec2(1100.0, 690.0)), (vec2(-990.0, -630.0), MIN_SIZE.into())]
    {
        let corner = editor.window().max - vec2(6.0, 6.0);
        editor.button(corner, true);
        editor.frame(vec![Event::PointerMoved(corner + 0.5 * by)]);
        editor.frame(vec![Event::PointerMoved(corner + by)]);
        assert_eq!(asked(&editor), [expected]);
        editor.button(corner + by, false);
        editor.frame(vec![]);
        assert_eq!((editor.window().size(), asked(&editor)), (expected, vec![]));
    }
    editor.focus("Size of the window");
    for (key, expected) in [
        (Key::ArrowUp, vec2(480.0, 300.0)),
        (Key::ArrowRight, vec2(500.0, 300.0)),
        (Key::ArrowDown, vec2(500.0, 320.0)),
        (Key::ArrowLeft, vec2(480.0, 320.0)),
    ] {
        editor.key(key);
        assert_eq!(editor.window().size(), expected, "{key:?}");
    }
}

#[test]
fn a_window_opens_at_its_last_size() {
    let params = Arc::new(ToneFilterParams::default());
    let (_input, connection) = meters();
    let editor = |params: &Arc<ToneFilterParams>| {
        let session = Session::new(params.clone(), HostLink::default(), None);
        ToneFilterEditor::new(session, connection.clone(), RepaintNotifier::new())
    };
    let size = |editor: &ToneFilterEditor| (editor.size().width, editor.size().height);
    let opened = editor(&params);
    assert_eq!(size(&opened), (1000, 640));

    // Some systems measure windows in physical pixels.
    let native = if cfg!(target_os = "macos") { (1000, 600) } else { (1500, 900) };
    // With a zoom, egui-baseview reports the size in the panel's larger points.
    for zoom in [0.75, 1.0, 1.5, 2.0] {
        params.editor_zoom.store(zoom);
        let physical = (1500, 900).into();
        opened.app().resized(WindowSize::from_physical(physical, 1.5 * f64::from(zoom)));
        assert_eq!(params.editor_size.load().0, [1000.0, 600.0], "{zoom}");
        assert_eq!(size(&opened), native, "{zoom}");
    }

    let restored = Arc::new(ToneFilterParams::default());
    restored.deserialize_fields(&params.serialize_fields());
    assert_eq!(size(&editor(&restored)), (1000, 600));
}

#[test]
fn the_bands_go_dark_when_the_host_stops() {
    let (mut input, connection) = meters();
    let mut app =
        ToneFilterEditor::new(Session::default(), connection, RepaintNotifier::new()).app();
    let mut filter = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
    filter.process(&mut [&mut [0.5; 4800]]);
    let bands = filter.bands();
    assert_ne!(bands, Bands::default());
    input.advance(1, || filter.snapshot());
    assert!(app.receive(10.0));
    assert_eq!(app.panel.bands, bands);
    assert!(app.receive(10.2));
    assert_eq!(app.panel.bands, bands);
    assert!(!app.receive(10.3));
    assert_eq!(app.panel.bands, Bands::default());
}

#[test]
fn no_repaint_is_requested_while_nothing_moves() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let frame = |editor: &mut TestEditor| {
        editor.frame(vec![]);
        editor.repaint_delay()
    };
    assert_eq!(frame(&mut editor), Duration::MAX, "an open window at rest");
    let mut bands = Bands::default();
    bands.bands[7] = band(7, BandState::Sounding);
    for bands in [bands, Bands::default()] {
        editor.panel().bands = bands;
        assert_eq!(frame(&mut editor), Duration::ZERO, "a moving level");
        // The slowest animation is a peak's: held for 0.8 s, then falling for 2 s.
        editor.wait(3.0);
        assert_eq!(frame(&mut editor), Duration::MAX, "a level that has arrived");
    }
    // While the pointer rests, no repaint is requested, whichever control has the keyboard focus.
    for name in ["Mix", "Band A4"] {
        editor.click(editor.place(name));
        editor.wait(2.0);
        assert_eq!(frame(&mut editor), Duration::MAX, "{name}");
    }
}
