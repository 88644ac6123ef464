//! Tests that the WCAG 2 contrast of every text with its background is at least 4.5, even in controls without effect.

use super::{TestEditor, band};
use crate::editor::{DEFAULT_SIZE, MIN_SIZE, theme};
use egui::{Color32, Key, Shape};
use std::collections::BTreeSet;
use tone_filter_dsp::{BandMask, BandState, Bands};

/// Minimum contrast of text by WCAG 2.1, level AA.
const LEAST: f32 = 4.5;

/// Returns the texts of the last frame, each with its colour and the colour behind its centre.
fn colours(editor: &TestEditor) -> Vec<(String, Color32, Color32)> {
    let mut filled = Vec::new();
    let mut texts = Vec::new();
    for shape in editor.output().shapes.iter().flat_map(|clipped| super::leaves(&clipped.shape)) {
        match shape {
            Shape::Rect(rect) => filled.push((rect.rect, rect.fill)),
            Shape::Text(text) => {
                let centre = text.visual_bounding_rect().center();
                let under = filled.iter().filter(|(rect, _)| rect.contains(centre));
                let behind = under.fold(theme::BACKGROUND, |under, (_, fill)| under.blend(*fill));
                let sections = text.galley.job.sections.iter().map(|section| section.format.color);
                for own in sections {
                    let own = if own == Color32::PLACEHOLDER { text.fallback_color } else { own };
                    let own = text.override_text_color.unwrap_or(own);
                    let own = behind.blend(own.gamma_multiply(text.opacity_factor));
                    texts.push((text.galley.text().to_owned(), own, behind));
                }
            }
            _ => {}
        }
    }
    texts
}

fn check(editor: &TestEditor, what: &str) {
    let texts = colours(editor);
    assert!(texts.len() > 30, "{what}: only {} texts", texts.len());
    let faint: BTreeSet<String> = texts
        .into_iter()
        .filter(|(text, own, behind)| {
            !text.trim().is_empty() && theme::contrast(*own, *behind) < LEAST
        })
        .map(|(text, own, behind)| {
            format!("{text}: {:.2}, {own:?} on {behind:?}", theme::contrast(own, behind))
        })
        .collect();
    assert!(faint.is_empty(), "{what}: {faint:#?}");
}

/// Creates an editor with bands in all states, some of them muted.
fn lit(size: [f32; 2], open: bool) -> TestEditor {
    let mut editor = if open { TestEditor::with_more(size) } else { TestEditor::new(size) };
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
fn every_text_is_legible_in_every_state() {
    let sizes = [MIN_SIZE, DEFAULT_SIZE, [1600.0, 1000.0], [3840.0, 2160.0]];
    for (size, open) in sizes.into_iter().flat_map(|size| [(size, false), (size, true)]) {
        let mut editor = lit(size, open);
        check(&editor, "as it comes");
        editor.key(Key::R);
        check(&editor, "roll");
        editor.key(Key::R);
        // These settings make controls idle: Sensitivity, Lookahead, Drive, Ring and Release; then Octave and the group Chip.
        for (id, entry) in [("focus", 0.0), ("sync", 1.0), ("voice", 0.75), ("bypass", 1.0)] {
            editor.edit(|edits| edits.set_once(id, entry));
            editor.frame(vec![]);
            check(&editor, id);
        }
        // Only the few notes of the scale may sound; then no note, as no key is held.
        for (id, entry) in [("scale", 0.5), ("keys", 0.34)] {
            editor.edit(|edits| edits.set_once(id, entry));
            editor.frames(50);
            check(&editor, id);
        }
    }
}

#[test]
fn every_text_of_menus_and_tooltips_is_legible() {
    for opener in [
        "Preset: Tone Filter *",
        "Save and load presets: File",
        "Zoom: 100 %",
        "Scale: Chromatic",
        "Mix: 50 %",
    ] {
        let mut editor = lit(DEFAULT_SIZE, true);
        editor.click(editor.place(opener));
        editor.frames(50);
        check(&editor, opener);
    }
    for hovered in ["Octave A3 to G#4", "Band A4", "Mix", "More settings", "Bypass"] {
        let mut editor = lit(DEFAULT_SIZE, true);
        let before = editor.texts().len();
        editor.frame(vec![egui::Event::PointerMoved(editor.place(hovered))]);
        editor.frames(60);
        assert!(editor.texts().len() > before, "{hovered} has no tooltip");
        check(&editor, hovered);
    }
}
