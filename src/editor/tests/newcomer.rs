//! Tasks of a new user, with nothing but the window and the keyboard: find a sound like a Game Boy, make it softer, mute an
//! octave, find the tempo and double it, make the text larger, and see which notes are lit (`a_pure_note_lights_its_own_cell_only`).

use super::TestEditor;
use crate::{
    editor::{DEFAULT_SIZE, MIN_SIZE},
    meters::MeterUpdate,
    session::is_same,
};
use egui::{Key, Modifiers};
use tone_filter_dsp::{BandMask, BandRange, Settings, notes};
use tone_filter_presets::Preset;

/// Maximum number of key presses for all tasks. At a slow 1.5 s per press, they take less than two minutes.
const MOST_KEYS: usize = 75;

/// Presses Tab until the control called `name` has the focus. Returns the number of presses.
fn tab_to(editor: &mut TestEditor, name: &str) -> usize {
    for presses in 1..=MOST_KEYS {
        editor.key(Key::Tab);
        if editor.focused().is_some_and(|focused| focused == name) {
            return presses;
        }
    }
    panic!("Tab does not come to {name}, but to {:?}", editor.focused());
}

#[test]
fn the_tasks_of_a_newcomer_take_few_keys() {
    for size in [MIN_SIZE, DEFAULT_SIZE] {
        let mut editor = TestEditor::new(size);
        let mut keys = tab_to(&mut editor, "Preset: Tone Filter");
        editor.key(Key::Enter);
        let words = "game boy";
        editor.run(&format!("~{words} | <Enter>"));
        keys += words.len() + 2;
        let preset = Preset::factory("game-boy").unwrap().settings;
        assert!(is_same(&editor.settings(), &preset));

        // Ten steps of Tone make the sound softer.
        keys += tab_to(&mut editor, "Tone") + 10;
        (0..10).for_each(|_| editor.key(Key::ArrowLeft));
        let tone = editor.settings().tone;
        assert!(tone < 0.75 * preset.tone, "{tone}");

        keys += tab_to(&mut editor, "Octave 3") + 1;
        editor.key(Key::Enter);
        let above = BandRange::Whole.by_pitch().skip_while(|&tone| notes::name(tone) != "C3");
        let muted = above.take(12).fold(BandMask::ALL, |mask, tone| mask.with(tone, false));
        let bands = editor.settings().bands;
        assert_eq!(bands, muted);
        assert!(is_same(&editor.settings(), &Settings { tone, bands, ..preset }));
        assert!(keys <= MOST_KEYS, "{keys} keys at {size:?}");
    }
}

#[test]
fn the_tempo_and_larger_text_are_reached_by_the_keyboard() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let mut update = MeterUpdate::default();
    (update.bands.tempo, update.bands.tempo_certainty) = (Some(85.0), 0.9);
    editor.panel().detected_key.push(&update);
    editor.frame(vec![]);
    // Presses Tab backwards, as the line with the tempo is near the end.
    editor.hold(Modifiers::SHIFT);
    tab_to(&mut editor, "85 BPM 90 %");
    editor.hold(Modifiers::NONE);
    editor.run("<Enter>");
    assert_eq!(editor.params().tempo.load(), 170.0);
    tab_to(&mut editor, "Zoom: 100 %");
    editor.run("<Enter>");
    tab_to(&mut editor, "150 %");
    editor.run("<Enter>");
    assert_eq!(editor.params().editor_zoom.load(), 1.5);
}
