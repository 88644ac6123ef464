mod access;
mod contrast;
mod controls;
mod found;
mod grid;
mod harness;
mod host;
mod presets;
mod roll;
mod steps;
mod window;

use super::{DEFAULT_SIZE, MIN_SIZE, band_grid::BandGrid, theme};
use egui::{Color32, Shape};
use harness::TestEditor;
use tone_filter_dsp::{Band, BandState, Bands, Group, SPECS, Settings, Spec, notes};

/// Returns colour and kind of the marker in the cell of `tone`.
fn marker(editor: &TestEditor, tone: usize) -> Option<(Color32, BandState)> {
    let cell = editor.cell(tone);
    let shapes = editor.shapes().map(|(shape, _)| shape);
    let mut markers = shapes.filter(|shape| cell.contains_rect(shape.visual_bounding_rect()));
    markers.find_map(|shape| match shape {
        Shape::Circle(circle) if circle.fill == Color32::TRANSPARENT => {
            Some((circle.stroke.color, BandState::Inactive))
        }
        Shape::Circle(circle) => Some((circle.fill, BandState::Sounding)),
        Shape::Path(path) if path.closed => Some((path.fill, BandState::Saturated)),
        _ => None,
    })
}

/// Returns a band in `state`, at a tenth of the total power and at the frequency of `tone`.
fn band(tone: usize, state: BandState) -> Band {
    Band {
        power: 0.01,
        ratio: 0.1,
        state,
        angular_frequency: std::f32::consts::TAU * notes::frequency(tone, 440.0, 0.0) as f32,
        phasor: [0.1, 0.0],
        drive: 40.0,
        ..Band::default()
    }
}

#[test]
fn a_cell_shows_its_name_and_its_state_by_colour_and_by_shape() {
    for size in [MIN_SIZE, DEFAULT_SIZE, [1600.0, 1000.0]] {
        let mut editor = TestEditor::new(size);
        let states = [BandState::Inactive, BandState::Sounding, BandState::Saturated];
        let mut bands = Bands::default();
        for (index, state) in states.into_iter().enumerate() {
            bands.bands[15 * index] = band(15 * index, state);
        }
        editor.display(bands);
        let texts = editor.texts();
        for (index, state) in states.into_iter().enumerate() {
            let tone = 15 * index;
            assert_eq!(marker(&editor, tone), Some((*theme::state_colour(state), state)));
            let (cell, name) = (editor.cell(tone), notes::name(tone));
            let named = texts.iter().any(|(text, area)| text == name && cell.contains_rect(*area));
            assert!(named, "{name} at {size:?}: {texts:?}");
        }
        let others = (0..48).filter(|tone| tone % 15 != 0 || *tone > 30);
        for tone in others {
            assert!(marker(&editor, tone).is_none_or(|(colour, _)| colour == Color32::TRANSPARENT));
        }
    }
}

#[test]
fn motion_does_not_depend_on_the_frame_rate() {
    let mut bands = Bands::default();
    bands.bands[7] = band(7, BandState::Saturated);
    let (mut fast, mut slow) = (BandGrid::default(), BandGrid::default());
    for _ in 0..12 {
        fast.advance(&bands, 0.005);
    }
    slow.advance(&bands, 0.06);
    assert!(fast.distance(&slow) < 1e-5, "{}", fast.distance(&slow));
    assert!(fast.distance(&BandGrid::default()) > 0.5, "it did not move");
}

#[test]
fn every_control_is_legible_at_every_size_and_value() {
    let sizes = [
        MIN_SIZE,
        [480.0, 900.0],
        [700.0, 500.0],
        [1600.0, 300.0],
        DEFAULT_SIZE,
        [1600.0, 1000.0],
        [3840.0, 2160.0],
    ];
    for (size, open) in sizes.into_iter().flat_map(|size| [(size, false), (size, true)]) {
        let mut editor = TestEditor::new(size);
        editor.params().editor_more.store(open);
        let picks: [fn(&Spec) -> f32; 3] = [|spec| spec.min, |spec| spec.max, Spec::default];
        for pick in picks {
            let set = |settings: &mut Settings| {
                SPECS.iter().for_each(|spec| spec.set(settings, pick(spec)));
            };
            editor.edit(|edits| edits.change("test", set));
            // The gains with the longest text.
            let bands = &mut editor.panel().bands;
            (bands.gain, bands.makeup, bands.total_power) = (1e4, 15.8, 1e-6);
            editor.frame(vec![]);
            if size[0] >= 1000.0 {
                editor.text("Auto level: input +80.0 dB, effect +24.0 dB");
            }
            let settings = editor.settings();
            // In a small window, the last groups of More are scrolled into view.
            if open {
                editor.focus("Auto level");
            }
            let mut texts = editor.texts();
            if open {
                editor.focus("Sync to: Music");
                texts.extend(editor.texts());
            }
            let shows = |text: &str| texts.iter().any(|(shown, _)| shown == text);
            for spec in SPECS.iter().filter(|spec| open || Group::Main.ids().contains(&spec.id)) {
                let value = spec.format(spec.get(&settings));
                assert!(shows(spec.name) && shows(&value), "no {} {value} at {size:?}", spec.name);
            }
            for group in Group::MORE.iter().filter(|_| open) {
                assert!(shows(&group.name().to_uppercase()), "{group:?} at {size:?}");
            }
            let texts = editor.texts();
            let window = editor.window();
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
