//! The list of presets: search, keyboard, and what is kept when a preset is loaded.

use super::{
    TestEditor,
    presets::{open_folder, shown},
};
use crate::session::is_same;
use crate::{
    editor::{DEFAULT_SIZE, MIN_SIZE},
    params::Keep,
};
use egui::{Event, Key};
use tone_filter_dsp::{BandMask, PitchClass, PitchClasses, Scale, Settings};
use tone_filter_presets::{Preset, ids};

const SEARCH: &str = "Search presets";

fn factory() -> Vec<Preset> {
    ids().map(|id| Preset::factory(id).unwrap()).collect()
}

/// Opens the list and types `text`.
fn search(editor: &mut TestEditor, text: &str) {
    let button = format!("Preset: {}", shown(editor));
    editor.click(editor.place(&button));
    assert_eq!(editor.focused().as_deref(), Some(SEARCH), "the field has the focus at once");
    // From the second frame on, it receives the arrow keys.
    editor.frame(vec![]);
    if !text.is_empty() {
        editor.frame(vec![Event::Text(text.to_owned())]);
        editor.frame(vec![]);
    }
}

/// Those of `names` that the list shows.
fn listed(editor: &TestEditor, names: &[&str]) -> Vec<String> {
    let controls: Vec<_> = editor.controls().into_iter().map(|(name, _)| name).collect();
    let names = names.iter().map(|name| (*name).to_owned());
    names.filter(|name| controls.contains(name)).collect()
}

#[test]
fn a_search_finds_names_tags_and_descriptions_in_any_case() {
    let presets = factory();
    let names: Vec<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
    let with = |found: &dyn Fn(&Preset) -> bool| -> Vec<String> {
        presets.iter().filter(|preset| found(preset)).map(|preset| preset.name.clone()).collect()
    };
    let contains = |text: &str, word: &str| text.to_lowercase().contains(&word.to_lowercase());
    for word in ["ORGAN", "game", "Chip", "squa", "music"] {
        let mut editor = TestEditor::new(DEFAULT_SIZE);
        search(&mut editor, word);
        let expected = with(&|preset| {
            contains(&preset.name, word)
                || contains(&preset.description, word)
                || preset.tags.iter().any(|tag| contains(tag, word))
        });
        assert!(!expected.is_empty() && expected.len() < names.len(), "{word}: {expected:?}");
        assert_eq!(listed(&editor, &names), expected, "{word}");
    }
    // All words count, in any order.
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    search(&mut editor, "boy game");
    assert_eq!(listed(&editor, &names), ["Game Boy"]);
    editor.frame(vec![Event::Text("zzz".to_owned())]);
    editor.frame(vec![]);
    assert!(listed(&editor, &names).is_empty());
    editor.text("No preset is found");
    // With nothing found, nothing is loaded.
    editor.key(Key::Enter);
    assert_eq!(editor.settings(), Settings::default());
}

#[test]
fn a_user_s_preset_is_found_by_its_description() {
    let (mut editor, folder, _home) = open_folder(DEFAULT_SIZE);
    for (name, description) in [("First", "For the boss"), ("Second", "For the credits")] {
        let mut preset = Preset::new(name, Settings::default());
        preset.description = description.to_owned();
        folder.save(&preset).unwrap();
    }
    search(&mut editor, "BOSS");
    assert_eq!(listed(&editor, &["First", "Second"]), ["First"]);
    editor.text("For the boss");
}

#[test]
fn arrow_keys_move_in_the_list_enter_loads_and_escape_closes() {
    let presets = factory();
    let mut editor = TestEditor::new(MIN_SIZE);
    search(&mut editor, "");
    // Past the end, it stays on the last one, which is scrolled into view.
    for _ in 0..presets.len() + 3 {
        editor.key(Key::ArrowDown);
        assert_eq!(editor.focused().as_deref(), Some(SEARCH), "one can type on");
    }
    let last = presets.last().unwrap();
    assert!(editor.window().contains_rect(editor.node(&last.name).rect()));
    editor.text(&last.name);
    editor.key(Key::ArrowUp);
    editor.key(Key::Enter);
    let chosen = &presets[presets.len() - 2];
    assert_eq!(shown(&editor), chosen.name);
    assert!(is_same(&editor.settings(), &chosen.settings));
    assert!(listed(&editor, &[SEARCH]).is_empty(), "the list has closed");

    // It opens at the preset that is loaded, and the keyboard stays in the bar.
    assert_eq!(editor.focused(), Some(format!("Preset: {}", chosen.name)));
    editor.key(Key::Enter);
    assert_eq!(editor.focused().as_deref(), Some(SEARCH));
    editor.frame(vec![]);
    assert!(editor.window().contains_rect(editor.node(&chosen.name).rect()));
    editor.key(Key::ArrowDown);
    editor.key(Key::Escape);
    assert_eq!(shown(&editor), chosen.name, "nothing is loaded");
    assert!(listed(&editor, &[SEARCH]).is_empty(), "the list has closed");

    // The best guess is the first that is found.
    search(&mut editor, "lead only");
    editor.key(Key::Enter);
    assert_eq!(shown(&editor), "Lead Only");
}

#[test]
fn the_list_is_as_long_again_when_a_search_is_over() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    search(&mut editor, "");
    let height = |editor: &TestEditor| editor.node("Thin Pulse").rect().bottom();
    let before = height(&editor);
    editor.frame(vec![Event::Text("thin".to_owned())]);
    (0..3).for_each(|_| editor.frame(vec![]));
    assert!(height(&editor) < before);
    (0..4).for_each(|_| editor.key(Key::Backspace));
    (0..3).for_each(|_| editor.frame(vec![]));
    assert_eq!(height(&editor), before);
    let last = editor.node("Octave Up").rect();
    assert!(
        editor.window().contains_rect(last)
            && editor.texts().iter().any(|(text, _)| text == "Octave Up")
    );
}

/// A sound with a scale and a tuning of its own.
fn own() -> Settings {
    Settings {
        root: PitchClass::new(5),
        scale: Scale::Custom,
        custom: PitchClasses::ALL.with(3, false),
        tuning: 432.0,
        transpose: 7.0,
        bands: BandMask::ALL.with(9, false),
        ..Settings::default()
    }
}

#[test]
fn what_is_kept_stays_whatever_way_a_preset_is_loaded() {
    for (scale, tuning) in [(false, false), (true, false), (false, true), (true, true)] {
        let (mut editor, folder, _home) = open_folder(DEFAULT_SIZE);
        let mine =
            Settings { mix: 12.0, tuning: 450.0, scale: Scale::Blues, ..Settings::default() };
        folder.save(&Preset::new("Mine", mine)).unwrap();
        editor.edit(|edits| edits.use_preset("Own".to_owned(), &own()));
        editor.frame(vec![]);
        let before = editor.settings();
        assert!(is_same(&before, &own()));

        search(&mut editor, "");
        for (on, label) in [(scale, "Keep scale"), (tuning, "Keep tuning")] {
            if on {
                editor.click(editor.place(label));
            }
        }
        assert_eq!(editor.params().keep.load(), Keep { scale, tuning });
        assert_eq!(editor.settings(), before, "a switch changes no sound");
        editor.key(Key::Escape);
        let expected = |preset: &Settings| {
            let mut expected = *preset;
            if scale {
                expected.root = own().root;
                (expected.scale, expected.custom) = (own().scale, own().custom);
            }
            if tuning {
                (expected.tuning, expected.transpose) = (432.0, 7.0);
            }
            expected
        };
        let bass = Preset::find("Bass Octave").unwrap().preset.settings;
        let pentatonic = Preset::find("Pentatonic").unwrap().preset.settings;
        // From the list, by a click and by the keyboard, and by the buttons.
        search(&mut editor, "bass");
        editor.click(editor.place("Bass Octave"));
        assert!(is_same(&editor.settings(), &expected(&bass)), "{:?}", editor.settings());
        assert_eq!(shown(&editor), "Bass Octave", "without the mark of a change");
        editor.click(editor.place("Next preset"));
        assert_eq!(shown(&editor), "Pentatonic");
        assert!(is_same(&editor.settings(), &expected(&pentatonic)), "{:?}", editor.settings());
        search(&mut editor, "mine");
        editor.key(Key::Enter);
        assert!(is_same(&editor.settings(), &expected(&mine)), "{:?}", editor.settings());

        // Undo and A/B do not keep anything.
        (0..3).for_each(|_| editor.click(editor.place("Undo")));
        assert!(is_same(&editor.settings(), &before), "{:?}", editor.settings());
        editor.click(editor.place("Second sound: B"));
        editor.edit(|edits| edits.set_once("tuning", 0.3));
        editor.edit(|edits| edits.set_once("scale", 0.0));
        editor.click(editor.place("First sound: A"));
        assert!(is_same(&editor.settings(), &before), "{:?}", editor.settings());
    }
}
