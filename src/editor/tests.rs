//! The window without a window: what it paints, and what the mouse and the keyboard do.

mod desk;
mod edits;

use super::{
    DEFAULT_SIZE, MIN_SIZE, ToneFilterEditor,
    band_grid::{BandGrid, cell_rect, gap},
    theme,
};
use crate::{
    dsp::{
        Band, BandMask, BandState, Bands, PitchClass, PitchClasses, SPECS, Scale, Settings, Spec,
        Stereo, ToneFilter, notes,
    },
    meters::meters,
    params::{GROUPS, ToneFilterParams},
};
use desk::{Desk, leaves};
use egui::{Color32, Event, Key, Modifiers, Pos2, Rect, Shape, ViewportCommand, pos2, vec2};
use nice_plug::{editor::Editor, params::Params};
use nice_plug_egui::{NiceEguiApp, RepaintNotifier, baseview::WindowSize};
use std::sync::Arc;

/// The colour and the kind of the marker in the cell of `tone`.
fn marker(desk: &Desk, tone: usize) -> Option<(Color32, BandState)> {
    let layout = super::Layout::new(Rect::from_min_size(Pos2::ZERO, desk.size));
    let cell = cell_rect(layout.grid, gap(layout.grid), tone);
    let shapes = desk.output.shapes.iter().flat_map(|clipped| leaves(&clipped.shape));
    let mut markers = shapes.filter(|shape| cell.contains_rect(shape.visual_bounding_rect()));
    markers.find_map(|shape| match shape {
        Shape::Circle(circle) if circle.fill == Color32::TRANSPARENT => {
            Some((circle.stroke.color, BandState::Muted))
        }
        Shape::Circle(circle) => Some((circle.fill, BandState::Sounding)),
        Shape::Path(path) if path.closed => Some((path.fill, BandState::Saturated)),
        _ => None,
    })
}

/// A band that is told to be in `state`, at a tenth of the total power.
fn band(tone: usize, state: BandState) -> Band {
    Band {
        power: 0.01,
        ratio: 0.1,
        state,
        angular_frequency: std::f32::consts::TAU * notes::frequency(tone, 440.0, 0.0) as f32,
        phasor: [0.1, 0.0],
        drive: 40.0,
    }
}

#[test]
fn a_cell_tells_its_state_by_colour_and_by_shape() {
    for size in [MIN_SIZE, DEFAULT_SIZE, [1600.0, 1000.0]] {
        let mut desk = Desk::new(size);
        let states = [BandState::Muted, BandState::Sounding, BandState::Saturated];
        for (index, state) in states.into_iter().enumerate() {
            desk.panel.bands.bands[15 * index] = band(15 * index, state);
        }
        for _ in 0..50 {
            desk.frame(vec![]);
        }
        assert_eq!(marker(&desk, 0), Some((theme::MUTED, BandState::Muted)));
        assert_eq!(marker(&desk, 15), Some((theme::SOUNDING, BandState::Sounding)));
        assert_eq!(marker(&desk, 30), Some((theme::SATURATED, BandState::Saturated)));
        let others = (0..48).filter(|tone| tone % 15 != 0 || *tone > 30);
        for tone in others {
            assert!(marker(&desk, tone).is_none_or(|(colour, _)| colour == Color32::TRANSPARENT));
        }
    }
}

#[test]
fn a_pure_note_lights_its_own_cell_only() {
    let mut filter = ToneFilter::new(48_000.0, &Settings::default()).unwrap();
    let turn = std::f64::consts::TAU * 440.0 / 48_000.0;
    let mut signal: Vec<f32> =
        (0..96_000).map(|frame| (0.3 * (turn * f64::from(frame)).sin()) as f32).collect();
    filter.process(&mut [&mut signal]);

    let mut desk = Desk::new(DEFAULT_SIZE);
    desk.panel.bands = filter.bands();
    for _ in 0..50 {
        desk.frame(vec![]);
    }
    assert_eq!(marker(&desk, notes::A4), Some((theme::SATURATED, BandState::Saturated)));
    for tone in (0..48).filter(|tone| *tone != notes::A4) {
        assert!(marker(&desk, tone).is_none_or(|(_, state)| state == BandState::Muted), "{tone}");
    }
}

#[test]
fn motion_does_not_depend_on_the_frame_rate_and_comes_to_rest() {
    let mut bands = Bands::default();
    bands.bands[7] = band(7, BandState::Saturated);
    let (mut fast, mut slow) = (BandGrid::default(), BandGrid::default());
    for _ in 0..12 {
        fast.advance(&bands, 0.005);
    }
    slow.advance(&bands, 0.06);
    assert!(fast.distance(&slow) < 1e-5, "{}", fast.distance(&slow));
    assert!(fast.distance(&BandGrid::default()) > 0.5, "it did not move");

    for bands in [bands, Bands::default()] {
        let frames = (0..200).take_while(|_| fast.advance(&bands, 0.02)).count();
        assert!((1..150).contains(&frames), "{frames} frames");
    }
    assert_eq!(fast.distance(&BandGrid::default()), 0.0);
}

#[test]
fn every_control_is_legible_at_every_size_and_value() {
    for size in [MIN_SIZE, [480.0, 900.0], [1600.0, 300.0], DEFAULT_SIZE, [1600.0, 1000.0]] {
        let mut desk = Desk::new(size);
        let picks: [fn(&Spec) -> f32; 3] = [|spec| spec.min, |spec| spec.max, |spec| spec.default];
        for pick in picks {
            for (index, (_, param, _)) in desk.params.param_map().into_iter().enumerate() {
                if let Some(spec) = SPECS.get(index) {
                    // SAFETY: the desk owns the parameter.
                    unsafe {
                        param._internal_set_normalized_value(param.preview_normalized(pick(spec)))
                    };
                }
            }
            desk.frame(vec![]);
            let settings = desk.params.settings();
            for spec in &SPECS {
                desk.text(spec.name);
                desk.text(&spec.format(spec.get(&settings)));
            }
            for group in &GROUPS {
                desk.text(&group.name.to_uppercase());
            }
            let texts = desk.texts();
            let window = Rect::from_min_size(Pos2::ZERO, desk.size);
            for (index, (text, rect)) in texts.iter().enumerate() {
                assert!(window.contains_rect(*rect), "{text} is outside at {size:?}");
                for (other, place) in &texts[..index] {
                    let overlap = rect.intersect(*place);
                    assert!(!overlap.is_positive(), "{text} is on {other} at {size:?}");
                }
            }
        }
    }
}

/// The middle of the cell of `tone`.
fn cell(desk: &Desk, tone: usize) -> Pos2 {
    let layout = super::Layout::new(Rect::from_min_size(Pos2::ZERO, desk.size));
    cell_rect(layout.grid, gap(layout.grid), tone).center()
}

#[test]
fn a_click_mutes_a_band_and_alt_click_leaves_it_alone() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    desk.click(cell(&desk, 17));
    assert_eq!(desk.params.settings().bands, BandMask::ALL.with(17, false));
    assert_eq!(desk.log(), ["begin", "set", "end"], "the host must know of something to save");
    desk.time += 1.0;
    desk.click(cell(&desk, 17));
    assert_eq!(desk.params.settings(), Settings::default());

    desk.hold(Modifiers::ALT);
    desk.time += 1.0;
    desk.click(cell(&desk, 30));
    assert_eq!(desk.params.settings().bands, BandMask::NONE.with(30, true));
    desk.time += 1.0;
    desk.click(cell(&desk, 31));
    assert_eq!(desk.params.settings().bands, BandMask::NONE.with(31, true));
    desk.time += 1.0;
    desk.click(cell(&desk, 31));
    assert_eq!(desk.params.settings().bands, BandMask::ALL);
}

#[test]
fn a_drag_paints_and_a_right_click_brings_all_back() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    let (from, to) = (cell(&desk, 13), cell(&desk, 18));
    desk.drag(from, to - from);
    let painted = (13..=18).fold(BandMask::ALL, |mask, tone| mask.with(tone, false));
    assert_eq!(desk.params.settings().bands, painted);
    desk.drag(cell(&desk, 15), cell(&desk, 39) - cell(&desk, 15));
    let painted = painted.with(15, true);
    assert_eq!(desk.params.settings().bands, painted, "what it begins with is what it paints");

    desk.secondary_click(cell(&desk, 2));
    assert_eq!(desk.params.settings(), Settings::default());
    desk.undo();
    assert_eq!(desk.params.settings().bands, painted);
    desk.undo();
    assert_eq!(desk.params.settings().bands, painted.with(15, false));
    desk.undo();
    assert_eq!(desk.params.settings(), Settings::default());
}

#[test]
fn the_keyboard_makes_a_scale_of_ones_own() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    let key = desk.text("C#").center();
    desk.click(key);
    let expected = Settings {
        scale: Scale::Custom,
        custom: PitchClasses::ALL.with(4, false),
        ..Settings::default()
    };
    assert_eq!(desk.params.settings(), expected);
    desk.undo();
    assert_eq!(desk.params.settings(), Settings::default());
}

#[test]
fn a_scale_is_picked_from_a_list() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    for (now, picked) in [("Chromatic", "Whole tone"), ("A", "D#")] {
        desk.click(desk.last_text(now).center());
        desk.frame(vec![]);
        desk.click(desk.last_text(picked).center());
        assert_eq!(desk.log(), ["begin", "set", "end"], "{picked}");
        desk.time += 1.0;
    }
    let expected =
        Settings { scale: Scale::WholeTone, root: PitchClass::new(6), ..Settings::default() };
    assert_eq!(desk.params.settings(), expected);
}

#[test]
fn a_drag_is_one_gesture_and_moves_one_setting() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    let below = vec2(0.0, 16.0);
    let from = desk.text("Mix").left_center() + below + vec2(30.0, 0.0);
    desk.drag(from, vec2(40.0, 0.0));
    assert_eq!(desk.log(), ["begin", "set", "set", "end"]);
    let settings = desk.params.settings();
    assert_eq!(settings.bands, BandMask::ALL);
    // Five columns with four gaps of 18 between margins of 16.
    let width = (1000.0 - 2.0 * 16.0 + 18.0) / 5.0 - 18.0;
    let expected = 50.0 + 100.0 * 40.0 / width;
    assert!((settings.mix - expected).abs() < 0.01, "{} is not {expected}", settings.mix);
    assert_eq!(Settings { mix: 50.0, ..settings }, Settings::default());

    desk.drag(from, vec2(5000.0, 0.0));
    assert_eq!(desk.params.settings().mix, 100.0);
}

#[test]
fn a_double_click_resets() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    let place = desk.text("Transpose").center() + vec2(0.0, 16.0);
    desk.drag(place, vec2(-60.0, 0.0));
    assert!(desk.params.settings().transpose < -10.0);
    desk.log();
    desk.frame(vec![]);
    desk.time += 1.0;
    desk.click(place);
    desk.click(place);
    assert_eq!(desk.params.settings(), Settings::default());
    assert_eq!(desk.log(), ["begin", "set", "end"]);
}

#[test]
fn values_are_typed_in() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    let mut enter = |shown: &str, typed: &str, key: Key| {
        desk.click(desk.text(shown).center());
        desk.frame(vec![Event::Text(typed.to_owned())]);
        desk.key(key);
        desk.time += 1.0;
        (desk.params.settings(), desk.log())
    };
    let (settings, log) = enter("440.00 Hz", "432", Key::Enter);
    assert_eq!(settings, Settings { tuning: 432.0, ..Settings::default() });
    assert_eq!(log, ["begin", "set", "end"]);
    assert_eq!(enter("432.00 Hz", "0.44 khz", Key::Enter).0.tuning, 440.0);
    assert_eq!(enter("0.00 dB", "99", Key::Enter).0.output, 12.0);
    for (typed, key) in [("loud", Key::Enter), ("-3", Key::Escape)] {
        let (settings, log) = enter("12.00 dB", typed, key);
        assert_eq!(settings.output, 12.0, "{typed}");
        assert!(log.is_empty(), "{typed}: {log:?}");
    }
}

#[test]
fn switches_switch() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    // The caption of the stereo switch reads like one of its buttons, and is painted first.
    let place = |desk: &Desk, text: &str| desk.last_text(text).center();
    for (text, stereo, bypass) in [
        ("Stereo", Stereo::Stereo, false),
        ("On", Stereo::Stereo, true),
        ("Mono", Stereo::Mono, true),
        ("Off", Stereo::Mono, false),
    ] {
        desk.click(place(&desk, text));
        assert_eq!(desk.log(), ["begin", "set", "end"], "{text}");
        assert_eq!(desk.params.settings(), Settings { stereo, bypass, ..Settings::default() });
        desk.click(place(&desk, text));
        assert!(desk.log().is_empty(), "{text} is already chosen");
    }
}

#[test]
fn the_corner_resizes_the_window() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    let corner = pos2(994.0, 634.0);
    for (by, expected) in
        [(vec2(100.0, 50.0), vec2(1100.0, 690.0)), (vec2(-990.0, -630.0), MIN_SIZE.into())]
    {
        desk.button(corner, true);
        desk.frame(vec![Event::PointerMoved(corner + 0.5 * by)]);
        desk.frame(vec![Event::PointerMoved(corner + by)]);
        let commands = desk.output.viewport_output.values().flat_map(|output| &output.commands);
        let sizes: Vec<_> = commands
            .filter_map(|command| match command {
                ViewportCommand::InnerSize(size) => Some(*size),
                _ => None,
            })
            .collect();
        assert_eq!(sizes, [expected]);
        desk.button(corner + by, false);
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

    let restored = Arc::new(ToneFilterParams::default());
    restored.deserialize_fields(&params.serialize_fields());
    assert_eq!((editor(&restored).size().width, editor(&restored).size().height), (1000, 600));
}

#[test]
fn the_bands_go_dark_when_the_host_stops() {
    let (mut input, connection) = meters();
    let params = Arc::new(ToneFilterParams::default());
    let mut app = ToneFilterEditor::new(params, connection, RepaintNotifier::new()).app();
    let mut heard = Bands::default();
    heard.bands[3] = band(3, BandState::Sounding);
    input.advance(1, || heard);
    assert!(app.listen(10.0));
    assert_eq!(app.panel.bands, heard);
    assert!(app.listen(10.2));
    assert_eq!(app.panel.bands, heard);
    assert!(!app.listen(10.3));
    assert_eq!(app.panel.bands, Bands::default());
}
