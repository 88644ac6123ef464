//! Tests of colours: every text has contrast with its background by WCAG 2, and the states differ for all kinds of colour
//! vision.

use super::{TestEditor, band};
use crate::editor::{DEFAULT_SIZE, MIN_SIZE, theme};
use egui::{Color32, Key, Shape};
use std::collections::BTreeSet;
use tone_filter_dsp::{BandMask, BandState, Bands};

/// Minimum contrast of small text by WCAG 2.1: level AA, and level AAA in the theme of high contrast.
const LEAST: [f32; 2] = [4.5, 7.0];

/// Returns the texts of the last frame, each with its colour and the background colour at its centre.
fn colours(editor: &TestEditor) -> Vec<(String, Color32, Color32)> {
    let mut filled = Vec::new();
    let mut texts = Vec::new();
    for (shape, _) in editor.shapes() {
        match shape {
            Shape::Rect(rect) => filled.push((rect.rect, rect.fill)),
            Shape::Text(text) => {
                let centre = text.visual_bounding_rect().center();
                let under = filled.iter().filter(|(rect, _)| rect.contains(centre));
                let behind = under.fold(*theme::BACKGROUND, |under, (_, fill)| under.blend(*fill));
                let sections = text.galley.job.sections.iter().map(|section| section.format.color);
                for colour in sections {
                    let colour =
                        if colour == Color32::PLACEHOLDER { text.fallback_color } else { colour };
                    let colour = text.override_text_color.unwrap_or(colour);
                    let colour = behind.blend(colour.gamma_multiply(text.opacity_factor));
                    texts.push((text.galley.text().to_owned(), colour, behind));
                }
            }
            _ => {}
        }
    }
    texts
}

/// Checks that all texts have contrast, and that all controls have a name.
fn check(editor: &TestEditor, what: &str) {
    let names = editor.controls();
    assert!(names.iter().all(|name| !name.trim().is_empty()), "{what}: {names:?}");
    let texts = colours(editor);
    assert!(texts.len() > 30, "{what}: only {} texts", texts.len());
    let least = LEAST[usize::from(editor.params().editor_contrast.load())];
    let faint: BTreeSet<String> = texts
        .into_iter()
        .filter(|(text, colour, behind)| {
            !text.trim().is_empty() && theme::contrast(*colour, *behind) < least
        })
        .map(|(text, colour, behind)| {
            format!("{text}: {:.2}, {colour:?} on {behind:?}", theme::contrast(colour, behind))
        })
        .collect();
    assert!(faint.is_empty(), "{what}: {faint:#?}");
}

/// Creates an editor with bands in all states, some of them muted. `open` is whether More is open, `contrast` whether the theme of
/// high contrast is selected.
fn lit(size: [f32; 2], open: bool, contrast: bool) -> TestEditor {
    let mut editor = if open { TestEditor::with_more(size) } else { TestEditor::new(size) };
    editor.params().editor_contrast.store(contrast);
    let mut bands = Bands::default();
    let states = [BandState::Inactive, BandState::Sounding, BandState::Saturated];
    for tone in 0..36 {
        bands.bands[tone] = band(tone, states[tone % 3]);
    }
    (bands.gain, bands.makeup, bands.total_power) = (2.0, 1.5, 0.1);
    let muted = (24..48).fold(BandMask::ALL, |mask, tone| mask.with(tone, false));
    editor.edit(|edits| edits.set_bands(muted));
    editor.display(bands);
    editor
}

#[test]
fn every_text_is_legible_in_every_state_and_theme() {
    // The colours do not depend on the window's size, but the size decides which texts are shown.
    for (size, open, contrast) in [
        (MIN_SIZE, false, false),
        (MIN_SIZE, true, true),
        (DEFAULT_SIZE, false, true),
        (DEFAULT_SIZE, true, false),
        ([1600.0, 1000.0], true, true),
    ] {
        let mut editor = lit(size, open, contrast);
        check(&editor, "as it comes");
        editor.key(Key::R);
        check(&editor, "roll");
        editor.key(Key::R);
        // These settings make other controls idle: Sensitivity, Lookahead, Drive, Ring and Release; then Octave and the group
        // Chip.
        for (id, entry) in [("focus", 0.0), ("sync", 1.0), ("voice", 0.75), ("bypass", 1.0)] {
            editor.edit(|edits| edits.set_once(id, entry));
            editor.frame(vec![]);
            check(&editor, id);
        }
        // With this scale, only a few notes may sound; with these keys, no note, as no key is held.
        for (id, entry) in [("scale", 0.5), ("keys", 0.34)] {
            editor.edit(|edits| edits.set_once(id, entry));
            editor.wait(1.0);
            check(&editor, id);
        }
    }
}

#[test]
fn every_text_of_panels_menus_and_tooltips_is_legible() {
    for contrast in [false, true] {
        let mut editor = lit(DEFAULT_SIZE, true, contrast);
        for opener in [
            "Save and load presets: File",
            "Save and load presets: File | Save as ...",
            "Zoom: 100 %",
            "Scale: Chromatic",
            "Mix: 50 %",
            "Preset: Tone Filter *",
        ] {
            editor.run(opener);
            editor.wait(0.5);
            check(&editor, opener);
            editor.key(Key::Escape);
        }
        for hovered in ["Octave 4", "Band A4", "Mix", "More settings", "Bypass"] {
            let before = editor.texts().len();
            editor.hover(editor.place(hovered));
            assert!(editor.texts().len() > before, "{hovered} has no tooltip");
            check(&editor, hovered);
            editor.frame(vec![egui::Event::PointerMoved(egui::Pos2::ZERO)]);
            editor.wait(0.5);
        }
    }
}

/// Returns the lightness L* (0..100, CIE 1976) of `colour` for a colour vision, given as a matrix of linear RGB.
fn lightness(colour: Color32, vision: [[f32; 3]; 3]) -> f32 {
    let [r, g, b, _] = egui::Rgba::from(colour).to_array();
    let seen = vision.map(|[red, green, blue]| (red * r + green * g + blue * b).clamp(0.0, 1.0));
    let y = 0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2];
    116.0 * y.cbrt() - 16.0
}

#[test]
fn lightness_alone_tells_the_states_apart() {
    // Machado, Oliveira and Fernandes (2009): protanopia and deuteranopia.
    let visions = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ];
    for contrast in [false, true] {
        theme::select(&egui::Context::default(), contrast);
        for vision in visions {
            let [inactive, sounding, saturated] =
                [BandState::Inactive, BandState::Sounding, BandState::Saturated]
                    .map(|state| lightness(*theme::state_colour(state), vision));
            assert!(sounding - inactive >= 20.0, "{inactive} {sounding}, high: {contrast}");
            assert!(saturated - sounding >= 20.0, "{sounding} {saturated}, high: {contrast}");
        }
        // The marks of silent bands must be visible, too.
        let mark = theme::state_colour(BandState::Inactive);
        assert!(theme::contrast(mark, theme::SURFACE) >= 3.0);
    }
}
