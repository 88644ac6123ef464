//! Tests that every control has a name and can be operated by the keyboard, and tests of screen readers.

use super::TestEditor;
use crate::{
    editor::{DEFAULT_SIZE, MIN_SIZE, controls::is_switch},
    session::is_same,
};
use egui::{
    Event, Key, Modifiers,
    accesskit::{Action, ActionData, ActionRequest},
};
use egui_kittest::kittest::NodeT;
use std::{collections::BTreeSet, fs};
use tone_filter_dsp::{
    BandMask, BandRange, BandState, Bands, CHOICES, Choice, Group, SPECS, Settings, ToneFilter,
    notes, notes::TONES,
};
use tone_filter_presets::Preset;
use tone_filter_testkit::signals::noisy_chord;

/// Returns the names of all controls. Bands and keys are alike, so only those of the note A are among them.
fn controls(editor: &TestEditor) -> Vec<String> {
    let alike = |name: &str| {
        let note = name.strip_prefix("Band ").or_else(|| name.strip_prefix("Note "));
        note.is_some_and(|note| !note.starts_with('A') || note.starts_with("A#"))
    };
    editor.controls().into_iter().filter(|name| !alike(name)).collect()
}

/// Returns all displayed texts, names and settings, which a key press may change.
fn seen(editor: &mut TestEditor) -> impl PartialEq + use<> {
    let other = editor.edit(|edits| edits.state.other.clone());
    (editor.settings(), other, editor.texts(), editor.controls())
}

fn editor() -> TestEditor {
    let mut editor = TestEditor::with_more(DEFAULT_SIZE);
    editor.make_steps();
    editor
}

#[test]
fn every_control_is_named_and_reached_by_the_tab_key() {
    let mut editor = editor();
    let all = editor.controls();
    let names: BTreeSet<String> = all.iter().cloned().collect();
    assert!(names.iter().all(|name| !name.trim().is_empty()), "{names:?}");
    assert_eq!(names.len(), all.len(), "two controls of one name: {all:?}");
    // At least 77 cells, 7 octaves, 12 keys, the sliders and their values, and a control for each choice.
    assert!(names.len() > 77 + 7 + 12 + 2 * SPECS.len() + CHOICES.len(), "{names:?}");

    let mut reached = BTreeSet::new();
    for _ in 0..=all.len() {
        editor.key(Key::Tab);
        reached.extend(editor.focused());
    }
    let missed: Vec<_> = names.difference(&reached).collect();
    assert!(missed.is_empty(), "the Tab key does not reach {missed:?}");
}

#[test]
fn the_tab_key_follows_the_header_from_the_left() {
    for size in [MIN_SIZE, DEFAULT_SIZE, [1600.0, 1000.0]] {
        let mut editor = TestEditor::new(size);
        editor.make_steps();
        let areas = editor.areas();
        let mix = areas.iter().find(|(name, _)| name == "Mix: 60 %").unwrap().1;
        let header = areas.iter().filter(|(_, area)| area.bottom() < mix.top());
        let mut places: Vec<(f32, &String)> =
            header.map(|(name, area)| (area.left(), name)).collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(places.len() > 9, "{places:?}");
        for (_, name) in &places {
            editor.key(Key::Tab);
            assert_eq!(editor.focused().as_ref(), Some(*name), "{size:?}: {places:?}");
        }
    }
}

#[test]
fn every_control_is_operated_by_the_keyboard_alone() {
    let mut editor = editor();
    let count = controls(&editor).len();
    for index in 0..count {
        let mut names = controls(&editor);
        assert_eq!(names.len(), count, "a control has come or gone");
        let name = names.swap_remove(index);
        // Selecting an entry that is already selected changes nothing.
        let controls = editor.params().controls();
        let list = |choice: &&Choice| {
            is_switch(choice)
                || choice.id != "voice"
                    && (choice.entries.len() > 2 || Group::Scale.ids().contains(&choice.id))
        };
        let mut buttons = CHOICES.iter().filter(|choice| !list(choice));
        let selected =
            |choice: &Choice| [choice.name, choice.entries[choice.get(&controls)].1].join(": ");
        if name == "First sound: A" || buttons.any(|choice| selected(choice) == name) {
            continue;
        }
        editor.focus(&name);
        let before = seen(&mut editor);
        let spec = SPECS.iter().find(|spec| spec.name == name);
        let lowest = spec.is_some_and(|spec| spec.get(&controls.settings) == spec.min);
        let moves = name == "Size of the window" || spec.is_some();
        editor.key(match moves {
            true if lowest => Key::ArrowRight,
            true => Key::ArrowLeft,
            false => Key::Enter,
        });
        assert!(seen(&mut editor) != before, "{name} does nothing");
        // Closes a menu that the key has opened.
        editor.key(Key::Escape);
        editor.make_steps();
        // The key may have closed the groups of More.
        editor.params().editor_more.store(true);
        // The roll has no cells, and a preset with another range has other cells.
        editor.params().editor_roll.store(false);
        editor.edit(|edits| edits.set_once("range", 1.0));
        editor.frame(vec![]);
    }
}

#[test]
fn only_text_fields_use_the_space_bar() {
    let mut editor = editor();
    let before = editor.settings();
    for name in controls(&editor) {
        editor.focus(&name);
        editor.key(Key::Space);
    }
    assert_eq!(editor.settings(), before);

    editor.run("Tone: 4865 Hz | ~7 | <Space> | ~ kHz | <Enter>");
    assert!((editor.settings().tone - 7000.0).abs() < 0.01, "{}", editor.settings().tone);
}

/// Sends a screen reader's request for the control called `name`.
fn request(editor: &mut TestEditor, name: &str, action: Action, data: Option<ActionData>) {
    let (target_node, target_tree) = editor.node(name).accesskit_node().locate();
    let request = ActionRequest { action, target_tree, target_node, data };
    editor.frame(vec![Event::AccessKitActionRequest(request)]);
    editor.frame(vec![]);
}

#[test]
fn a_slider_is_moved_and_set_within_its_range() {
    let mut editor = TestEditor::with_more(DEFAULT_SIZE);
    for spec in &SPECS {
        for (wanted, due) in [
            (spec.min, spec.min),
            (spec.max, spec.max),
            (spec.max.abs() + 1.0, spec.max),
            (f32::NAN, spec.max),
            (0.5 * (spec.min + spec.max), 0.5 * (spec.min + spec.max)),
        ] {
            let data = ActionData::NumericValue(wanted.into());
            request(&mut editor, spec.name, Action::SetValue, Some(data));
            let set = spec.get(&editor.settings());
            // nice-plug keeps values as fractions of the range.
            let near = (set - due).abs() <= 1e-5 * (spec.max - spec.min);
            assert!(near, "{}: {set} instead of {due} for {wanted}", spec.name);
            let node = editor.node(spec.name);
            let node = node.accesskit_node();
            let shown = node.numeric_value().unwrap();
            assert!((shown - f64::from(set)).abs() <= 1e-6 * shown.abs().max(1.0), "{}", spec.name);
            let range = [node.min_numeric_value(), node.max_numeric_value()];
            assert_eq!(range, [spec.min, spec.max].map(|bound| Some(f64::from(bound))));
        }
        let middle = spec.get(&editor.settings());
        request(&mut editor, spec.name, Action::Increment, None);
        assert!(spec.get(&editor.settings()) > middle, "{}", spec.name);
        request(&mut editor, spec.name, Action::Decrement, None);
        request(&mut editor, spec.name, Action::Decrement, None);
        assert!(spec.get(&editor.settings()) < middle, "{}", spec.name);
    }
}

#[test]
fn the_sentences_of_the_bands_change_once_a_second() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let sentence = |editor: &TestEditor| {
        editor.node("Band A4").accesskit_node().data().description().map(str::to_owned)
    };
    assert_eq!(sentence(&editor).as_deref(), Some("Not played, silent"));
    let tone = (0..TONES).find(|&tone| notes::name(tone) == "A4").unwrap();
    let mut bands = Bands::default();
    // A quarter of the total power: 10 lg 0.25 = -6.02 dB.
    (bands.bands[tone].state, bands.bands[tone].ratio) = (BandState::Sounding, 0.25);
    editor.panel().bands = bands;
    let changed = editor.time;
    while sentence(&editor).as_deref() != Some("Sounding, -6 dB") {
        assert!(editor.time < changed + 1.1, "{:?}", sentence(&editor));
        editor.frame(vec![]);
    }
    let told = editor.time;
    editor.run("Band A4");
    assert!(editor.time > told + 1.0, "a click takes a second here");
    assert_eq!(sentence(&editor).as_deref(), Some("Muted by hand, -6 dB"));
}

#[test]
fn presets_and_notices_are_announced() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    assert_eq!(editor.announced(), ["Preset Tone Filter"]);
    editor.edit(|edits| edits.load("Reference"));
    editor.frame(vec![]);
    assert_eq!(editor.announced(), ["Preset Reference"]);
    editor.edit(|edits| edits.state.presets.message = "Saved".to_owned());
    editor.frames(3);
    let mut texts = editor.announced();
    texts.sort();
    assert_eq!(texts, ["Preset Reference", "Saved"]);
}

/// Maximum number of key presses for a task. At a slow 1.5 s per press, they take less than two minutes.
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("eight.mid");
    let menu = "<Enter> | <ArrowUp> | <Enter> | <Tab> | <Tab> | <Tab> | <Tab>";
    let save = format!("{menu} | ~{} | <Tab> | <Space>", path.display());
    let next = "<Enter> | <ArrowDown> | <Enter>";
    let preset = Preset::factory("game-boy").unwrap().settings;
    let above = BandRange::Whole.by_pitch().skip_while(|&tone| notes::name(tone) != "C3");
    let muted = above.take(12).fold(BandMask::ALL, |mask, tone| mask.with(tone, false));
    // With nothing but the window and the keyboard: the control that Tab reaches, and the keys from there.
    for (size, tempo, double) in
        [(MIN_SIZE, "Tempo, key, marks: ?", next), (DEFAULT_SIZE, TEMPO, "<Enter>")]
    {
        for (name, keys) in [
            (tempo, double),
            ("Preset: Tone Filter", "<Enter> | ~game boy | <Enter>"),
            ("Tone", &["<ArrowLeft>"; 10].join(" | ")),
            ("Save and load presets: File", &save),
            ("Octave 3", "<Enter>"),
            ("Zoom: 100 %", next),
        ] {
            let mut editor = with_tempo(size);
            editor.hear(&noisy_chord(if keys == save { 3.0 } else { 0.0 }, 48_000.0));
            // The tempo comes last, so it is reached backwards.
            editor.hold(if name == tempo { Modifiers::SHIFT } else { Modifiers::NONE });
            let steps = keys.split(" | ").map(|step| step.strip_prefix('~').map_or(1, str::len));
            let count = tab_to(&mut editor, name) + steps.sum::<usize>();
            editor.hold(Modifiers::NONE);
            editor.run(keys);
            editor.panel().capture.finish();
            editor.frames(3);
            let (settings, params) = (editor.settings(), editor.params());
            let done = match name {
                "Preset: Tone Filter" => is_same(&settings, &preset),
                "Tone" => settings.tone < 3650.0,
                "Save and load presets: File" => fs::remove_file(&path).is_ok(),
                "Octave 3" => settings.bands == muted,
                "Zoom: 100 %" => params.editor_zoom.load() == 1.25,
                _ => params.tempo.load() == 174.0,
            };
            assert!(done && count <= MOST_KEYS, "{name} at {size:?}: {done}, {count} keys");
        }
    }
}

const TEMPO: &str = "87 BPM, 85 % sure";

/// Creates an editor whose capture has heard a tempo.
fn with_tempo(size: [f32; 2]) -> TestEditor {
    let mut editor = TestEditor::new(size);
    editor.panel().capture.capture.heard().tempo = Some((87.0, 0.85));
    editor.display_filter(&ToneFilter::new(48_000.0, &Settings::default()).unwrap());
    editor
}

#[test]
fn screen_readers_and_keys_set_the_tempo_and_the_zoom() {
    let mut editor = with_tempo(DEFAULT_SIZE);
    for name in [TEMPO, "174 BPM, 85 % sure", TEMPO, "Zoom: 100 %", "150 %"] {
        request(&mut editor, name, Action::Click, None);
    }
    editor.frames(2);
    assert_eq!(editor.params().tempo.load(), 174.0);
    editor.hold(Modifiers::COMMAND);
    for (key, zoom) in [(Key::Plus, 175), (Key::Equals, 200), (Key::Plus, 200), (Key::Minus, 175)] {
        editor.key(key);
        editor.frames(2);
        editor.node(&format!("Zoom: {zoom} %"));
    }
}
