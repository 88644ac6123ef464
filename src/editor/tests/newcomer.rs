//! Tasks of a new user, with nothing but the window and the keyboard: find a sound like a Game Boy, make it softer, mute an
//! octave, and see which notes are lit.

use super::{TestEditor, marker};
use crate::{
    editor::{DEFAULT_SIZE, MIN_SIZE},
    session::is_same,
};
use egui::{Event, Key};
use tone_filter_dsp::{BandMask, BandState, Settings, ToneFilter, notes};
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
fn four_tasks_take_few_keys() {
    for size in [MIN_SIZE, DEFAULT_SIZE] {
        let mut editor = TestEditor::new(size);
        let mut keys = tab_to(&mut editor, "Preset: Tone Filter");
        editor.key(Key::Enter);
        let words = "game boy";
        editor.frame(vec![Event::Text(words.to_owned())]);
        editor.frame(vec![]);
        editor.key(Key::Enter);
        keys += words.len() + 2;
        let preset = Preset::factory("game-boy").unwrap().settings;
        assert!(is_same(&editor.settings(), &preset));

        // Ten steps of Tone make the sound softer.
        keys += tab_to(&mut editor, "Tone") + 10;
        (0..10).for_each(|_| editor.key(Key::ArrowLeft));
        let tone = editor.settings().tone;
        assert!(tone < 0.75 * preset.tone, "{tone}");

        // Rows begin with A, but octave numbers change at C: nine of the notes from A2 to G#3 are numbered 3.
        let octave = "Octave A2 to G#3";
        keys += tab_to(&mut editor, octave) + 1;
        editor.key(Key::Enter);
        let named = notes_between("A2", "G#3");
        let muted = named.iter().fold(BandMask::ALL, |mask, &tone| mask.with(tone, false));
        let bands = editor.settings().bands;
        assert_eq!(bands, muted);
        assert!(is_same(&editor.settings(), &Settings { tone, bands, ..preset }));
        assert!(keys <= MOST_KEYS, "{keys} keys at {size:?}");
    }
}

/// Returns the bands from note `low` to note `high`.
fn notes_between(low: &str, high: &str) -> Vec<usize> {
    let [low, high] = [low, high].map(|wanted| {
        let mut tones = 0..notes::TONES;
        notes::semitone(tones.find(|&tone| notes::name(tone) == wanted).unwrap())
    });
    (0..notes::TONES).filter(|&tone| (low..=high).contains(&notes::semitone(tone))).collect()
}

#[test]
fn the_lit_cell_has_the_name_of_the_note() {
    let mut filter = ToneFilter::new(48_000.0, &Settings::REFERENCE).unwrap();
    let turn = std::f64::consts::TAU * notes::frequency(19, 440.0, 0.0) / 48_000.0;
    let mut signal: Vec<f32> =
        (0..96_000).map(|frame| (0.3 * (turn * f64::from(frame)).sin()) as f32).collect();
    filter.process(&mut [&mut signal]);
    for size in [MIN_SIZE, DEFAULT_SIZE, [3840.0, 2160.0]] {
        let mut editor = TestEditor::new(size);
        editor.display(filter.bands());
        let lit = |tone: &usize| {
            marker(&editor, *tone).is_some_and(|(_, state)| state != BandState::Inactive)
        };
        let lit: Vec<usize> = (0..notes::TONES).filter(lit).collect();
        assert_eq!(lit, [19]);
        let cell = editor.cell(lit[0]);
        let texts = editor.texts();
        let inside =
            |text: &str| texts.iter().any(|(own, area)| own == text && cell.contains_rect(*area));
        assert!(inside("E5"), "{texts:?}");
    }
}
