//! Tests of the list of presets: search, keyboard, and the settings kept when a preset is loaded.

use super::{
    TestEditor,
    presets::{open_folder, shown},
};
use crate::{
    editor::{DEFAULT_SIZE, MIN_SIZE},
    params::Keep,
    session::is_same,
};
use egui::{Event, Key};
use tone_filter_dsp::{BandMask, PitchClass, PitchClasses, Scale, Settings};
use tone_filter_presets::{Preset, ids};

const SEARCH: &str = "Search presets";

fn factory() -> Vec<Preset> {
    ids().map(|id| Preset::factory(id).unwrap()).collect()
}

/// Returns all presets in the order of the list.
fn in_order(editor: &mut TestEditor) -> Vec<Preset> {
    let found = editor.edit(|edits| edits.state.presets.search(""));
    let names = found.into_iter().flat_map(|(_, entries)| entries).map(|entry| entry.name);
    names.map(|name| Preset::find(&name).unwrap().preset).collect()
}

/// Opens the list and types `text`.
fn search(editor: &mut TestEditor, text: &str) {
    let button = format!("Preset: {}", shown(editor));
    editor.click(editor.place(&button));
    assert_eq!(editor.focused().as_deref(), Some(SEARCH), "the field has the focus at once");
    // The field receives the arrow keys from the second frame on.
    editor.frame(vec![]);
    if !text.is_empty() {
        editor.frame(vec![Event::Text(text.to_owned())]);
        editor.frame(vec![]);
    }
}

/// Returns the `names` that the list shows.
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
    // All words must match, in any order.
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    search(&mut editor, "boy game");
    assert_eq!(listed(&editor, &names), ["Game Boy"]);
    editor.frame(vec![Event::Text("zzz".to_owned())]);
    editor.frame(vec![]);
    assert!(listed(&editor, &names).is_empty());
    editor.text("No preset is found");
    // If nothing is found, nothing is loaded.
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
    let mut editor = TestEditor::new(MIN_SIZE);
    let presets = in_order(&mut editor);
    // The first preset of the list.
    editor.edit(|edits| edits.load("Bass Octave"));
    editor.frame(vec![]);
    search(&mut editor, "");
    // Past the end, the last preset stays marked and is scrolled into view.
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

    // The list opens at the loaded preset, and the keyboard focus stays in the bar.
    assert_eq!(editor.focused(), Some(format!("Preset: {}", chosen.name)));
    editor.key(Key::Enter);
    assert_eq!(editor.focused().as_deref(), Some(SEARCH));
    editor.frame(vec![]);
    assert!(editor.window().contains_rect(editor.node(&chosen.name).rect()));
    editor.key(Key::ArrowDown);
    assert_eq!(shown(&editor), last.name, "the next one is tried out");
    editor.key(Key::Escape);
    assert_eq!(shown(&editor), chosen.name, "nothing is loaded");
    assert!(listed(&editor, &[SEARCH]).is_empty(), "the list has closed");

    // The best guess is the first preset with the words in its name, or else the first that is found.
    let word = "console";
    let first = presets.iter().find(|preset| preset.description.contains(word)).unwrap();
    for (words, guess) in [("lead only", "Lead Only"), ("game", "Game Boy"), (word, &first.name)] {
        search(&mut editor, words);
        editor.key(Key::Enter);
        assert_eq!(shown(&editor), guess);
    }
}

#[test]
fn the_list_is_as_long_again_when_a_search_is_over() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    // The list is not scrolled, as the loaded preset is its first.
    editor.edit(|edits| edits.load("Bass Octave"));
    editor.frame(vec![]);
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

/// Returns a sound with another scale and tuning than the default.
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
        // Loads from the list, by a click and by the keyboard, and by the buttons.
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

        // Undo and A/B restore the kept settings, too.
        (0..3).for_each(|_| editor.click(editor.place("Undo")));
        assert!(is_same(&editor.settings(), &before), "{:?}", editor.settings());
        editor.click(editor.place("Second sound: B"));
        editor.edit(|edits| edits.set_once("tuning", 0.3));
        editor.edit(|edits| edits.set_once("scale", 0.0));
        editor.click(editor.place("First sound: A"));
        assert!(is_same(&editor.settings(), &before), "{:?}", editor.settings());
    }
}

#[test]
fn presets_are_listed_by_their_first_tag_and_the_user_s_without_one_last() {
    let (mut editor, folder, _home) = open_folder([1000.0, 1000.0]);
    folder.save(&Preset::new("Mine", Settings::default())).unwrap();
    let mut tagged = Preset::new("Tagged", own());
    tagged.tags = vec!["bass".to_owned()];
    folder.save(&tagged).unwrap();
    search(&mut editor, "");
    let order: Vec<f32> = ["Bass", "Bass Octave", "Tagged", "Chords", "Organ", "Your own", "Mine"]
        .map(|text| editor.text(text).top())
        .to_vec();
    assert!(order.is_sorted(), "{order:?}");
    let mut all: Vec<String> = factory().into_iter().map(|preset| preset.name).collect();
    all.extend(["Mine".to_owned(), "Tagged".to_owned()]);
    for name in all {
        let texts = editor.texts();
        let rows = texts.iter().filter(|(text, at)| *text == name && at.left() < 500.0).count();
        assert!(rows >= 1, "{name}");
    }
}

#[test]
fn favourites_come_first_and_are_kept_in_a_file() {
    let (mut editor, folder, _home) = open_folder(DEFAULT_SIZE);
    editor.edit(|edits| edits.load("Bass Octave"));
    editor.frame(vec![]);
    search(&mut editor, "");
    let top = |editor: &TestEditor, name: &str| editor.node(name).rect().top();
    assert!(top(&editor, "Crystal") > top(&editor, "Bass Octave"));
    editor.click(editor.place("Favourite: Crystal"));
    assert!(top(&editor, "Crystal") < top(&editor, "Bass Octave"));
    editor.text("Favourites");
    assert_eq!(folder.favourites().unwrap().into_iter().collect::<Vec<_>>(), ["Crystal"]);
    assert_eq!(shown(&editor), "Bass Octave", "nothing is loaded");

    // Marks another favourite by the keyboard, and reads the marks in another instance.
    editor.focus("Favourite: Bass Octave");
    editor.key(Key::Enter);
    let presets = crate::session::PresetList::new(Some(folder.clone()));
    assert!(presets.is_favourite("Bass Octave") && presets.is_favourite("Crystal"));
    editor.click(editor.place("Favourite: Crystal"));
    assert_eq!(folder.favourites().unwrap().into_iter().collect::<Vec<_>>(), ["Bass Octave"]);

    // A damaged file is ignored, and a notice says so.
    std::fs::write(folder.location().join("favourites"), "{").unwrap();
    editor.edit(|edits| edits.state.presets = crate::session::PresetList::new(Some(folder)));
    editor.frame(vec![]);
    editor.frame(vec![]);
    let notice = editor.texts().into_iter().any(|(text, _)| text.contains("favourites: cannot"));
    assert!(notice, "{:?}", editor.texts());
}

#[test]
fn presets_are_tried_out_and_escape_brings_back_exactly_what_was() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    // Few of these values are exact in a host's range of 0 to 1. The undone step can be redone.
    editor.edit(|edits| edits.use_preset("Own".to_owned(), &own()));
    editor.edit(|edits| {
        for (index, id) in crate::params::ids().enumerate().filter(|(_, id)| *id != "bypass") {
            edits.set_once(id, 0.031 * (index as f32 + 1.37) % 1.0);
        }
        edits.undo();
    });
    editor.frame(vec![]);
    let name = shown(&editor);
    let state = |editor: &mut TestEditor| {
        let sound = editor.edit(|edits| edits.sound());
        let history = editor.edit(|e| (e.state.history.can_undo(), e.state.history.can_redo()));
        (sound, history, shown(editor))
    };
    let before = state(&mut editor);
    assert_eq!(before.1, (true, true));
    search(&mut editor, "organ");
    editor.key(Key::ArrowDown);
    (0..4).for_each(|_| editor.key(Key::Backspace));
    for _ in 0..5 {
        let last = editor.settings();
        editor.key(Key::ArrowDown);
        assert!(!is_same(&editor.settings(), &last), "it is heard at once");
    }
    assert_ne!(shown(&editor), name);
    editor.key(Key::Escape);
    assert_eq!(state(&mut editor), before);
    editor.edit(|edits| edits.redo());
    assert_ne!(state(&mut editor), before, "what was undone can still be redone");
}

#[test]
fn what_is_tried_out_and_kept_is_one_undo_step_whatever_keeps_it() {
    for way in 0..4 {
        let mut editor = TestEditor::new(DEFAULT_SIZE);
        let before = editor.settings();
        search(&mut editor, "");
        (0..3).for_each(|_| editor.key(Key::ArrowUp));
        let tried = editor.settings();
        assert!(!is_same(&tried, &before));
        let expected = match way {
            0 => {
                editor.key(Key::Enter);
                tried
            }
            1 => {
                editor.click(editor.place("Crystal"));
                Preset::find("crystal").unwrap().preset.settings
            }
            2 => {
                editor.click(egui::pos2(990.0, 470.0));
                tried
            }
            // The window closes.
            _ => {
                editor.edit(|edits| edits.end_open_gesture());
                tried
            }
        };
        assert!(is_same(&editor.settings(), &expected), "{way}");
        editor.edit(|edits| edits.undo());
        assert!(is_same(&editor.settings(), &before), "{way}");
        assert!(!editor.edit(|edits| edits.state.history.can_undo()), "{way}: one step");
        editor.edit(|edits| edits.redo());
        assert!(is_same(&editor.settings(), &expected), "{way}");
    }
}

#[test]
fn a_random_sound_is_one_undo_step_and_keeps_what_is_kept() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let before = editor.settings();
    editor.edit(|edits| edits.set_keep(Keep { scale: true, tuning: false }));
    search(&mut editor, "");
    for label in ["Randomise slightly", "Randomise fully"] {
        editor.click(editor.place(label));
        let random = editor.settings();
        assert!(!is_same(&random, &before), "{label}");
        assert_eq!((random.mix, random.output), (before.mix, before.output));
        assert_eq!(
            (random.root, random.scale, random.map),
            (before.root, before.scale, before.map)
        );
        assert_eq!(listed(&editor, &[SEARCH]).len(), 1, "the list stays open for another one");
        editor.edit(|edits| edits.undo());
        assert!(is_same(&editor.settings(), &before));
    }
}
