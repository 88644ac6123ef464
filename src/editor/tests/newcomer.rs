//! Tasks of a new user, with nothing but the window and the keyboard: find a sound like a Game Boy, make it softer, mute an
//! octave, and see which notes are lit (`a_pure_note_lights_its_own_cell_only`).

use super::TestEditor;
use crate::{
    editor::{DEFAULT_SIZE, MIN_SIZE},
    session::is_same,
};
use egui::Key;
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

        // Rows begin with A, but octave numbers change at C: nine of the notes from A2 to G#3 are numbered 3.
        keys += tab_to(&mut editor, "Octave A2 to G#3") + 1;
        editor.key(Key::Enter);
        let above = BandRange::Whole.by_pitch().skip_while(|&tone| notes::name(tone) != "A2");
        let muted = above.take(12).fold(BandMask::ALL, |mask, tone| mask.with(tone, false));
        let bands = editor.settings().bands;
        assert_eq!(bands, muted);
        assert!(is_same(&editor.settings(), &Settings { tone, bands, ..preset }));
        assert!(keys <= MOST_KEYS, "{keys} keys at {size:?}");
    }
}
