//! Tests of the menu of files, its questions, and the notices of results.

use super::{
    TestEditor,
    presets::{open_folder, shown, type_into},
};
use crate::{
    editor::{
        DEFAULT_SIZE, MIN_SIZE,
        file_dialog::{FileDialog, Purpose},
        notice::SECONDS,
    },
    session::{is_same, read_preset},
};
use egui::{Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, TouchPhase, vec2};
use std::time::Duration;
use tone_filter_dsp::Settings;
use tone_filter_presets::{Folder, Preset};

const FILE: &str = "Save and load presets: File";

fn preset(name: &str, mix: f32) -> Preset {
    Preset::new(name, Settings { mix, ..Settings::default() })
}

/// Returns the mix of the preset called `name`; `None` if there is no such preset.
fn mix(folder: &Folder, name: &str) -> Option<f32> {
    folder.load(name).unwrap().map(|loaded| loaded.preset.settings.mix)
}

fn offers(editor: &TestEditor, label: &str) -> bool {
    editor.controls().iter().any(|(name, _)| name == label)
}

#[test]
fn a_preset_is_only_replaced_after_a_question() {
    let (mut editor, folder, _home) = open_folder(DEFAULT_SIZE);
    let mut old = preset("Mine", 12.0);
    (old.description, old.tags) = ("For me.".into(), vec!["soft".into()]);
    folder.save(&old).unwrap();
    editor.edit(|edits| edits.set_once("mix", 0.75));
    editor.click(editor.place(FILE));
    type_into(&mut editor, "Name", "Mine");
    editor.click(editor.place("Save as"));
    assert_eq!(mix(&folder, "Mine"), Some(12.0), "not without a yes");
    assert_eq!(editor.focused().as_deref(), Some("Cancel"), "the harmless answer has the focus");
    for cancel in [true, false] {
        match cancel {
            true => editor.click(editor.place("Cancel")),
            false => editor.key(Key::Escape),
        }
        assert_eq!(mix(&folder, "Mine"), Some(12.0));
        assert!(!offers(&editor, "Replace"), "the question is answered");
        editor.click(editor.place("Save as"));
    }
    editor.click(editor.place("Replace"));
    assert_eq!(mix(&folder, "Mine"), Some(75.0));
    let new = folder.load("Mine").unwrap().unwrap().preset;
    assert_eq!((new.description, new.tags), (old.description, old.tags));
    assert_eq!(shown(&editor), "Mine");
    assert!(offers(&editor, "Save as"), "the menu stays open");
}

#[test]
fn a_preset_is_only_deleted_after_a_question() {
    let (mut editor, folder, _home) = open_folder(DEFAULT_SIZE);
    folder.save(&preset("Mine", 12.0)).unwrap();
    editor.edit(|edits| edits.load("Mine"));
    editor.frame(vec![]);
    editor.click(editor.place(FILE));
    editor.click(editor.place("Delete Mine"));
    editor.key(Key::Escape);
    assert_eq!(folder.names(), ["Mine"]);
    // A menu that was closed and opened again does not show the old question.
    editor.click(editor.place("Delete Mine"));
    editor.click(editor.place("Band A6"));
    editor.click(editor.place(FILE));
    assert!(!offers(&editor, "Delete"));
    editor.click(editor.place("Delete Mine"));
    assert_eq!(folder.names(), ["Mine"]);
    editor.focus("Delete");
    editor.key(Key::Enter);
    assert!(folder.names().is_empty());
}

#[test]
fn a_file_is_only_replaced_after_a_question() {
    let (mut editor, _folder, home) = open_folder(DEFAULT_SIZE);
    let path = home.path().join("out.json");
    preset("Old", 12.0).write(&path).unwrap();
    editor.click(editor.place(FILE));
    type_into(&mut editor, "File", path.to_str().unwrap());
    editor.click(editor.place("Export"));
    assert_eq!(Preset::read(&path).unwrap().preset.name, "Old");
    editor.click(editor.place("Replace"));
    let exported = Preset::new("Tone Filter", Settings::default());
    assert_eq!(Preset::read(&path).unwrap(), exported.into());
}

#[test]
fn a_notice_is_shown_for_four_seconds() {
    let (mut editor, folder, home) = open_folder(MIN_SIZE);
    let is_shown =
        |editor: &TestEditor, text: &str| editor.texts().iter().any(|(shown, _)| shown == text);
    editor.click(editor.place(FILE));
    type_into(&mut editor, "Name", "Mine");
    editor.click(editor.place("Save as"));
    let saved = editor.time;
    // The notice does not depend on the menu.
    editor.key(Key::Escape);
    while editor.time - saved < SECONDS - 0.1 {
        assert!(is_shown(&editor, "Saved as Mine"), "after {} s", editor.time - saved);
        editor.frame(vec![]);
    }
    assert!(editor.window().contains_rect(editor.text("Saved as Mine")));
    assert!(editor.repaint_delay() < Duration::from_secs(1), "it must disappear by itself");
    (0..10).for_each(|_| editor.frame(vec![]));
    assert!(!is_shown(&editor, "Saved as Mine"));
    assert_eq!(editor.repaint_delay(), Duration::MAX);

    // An error is also shown without a menu.
    std::fs::write(home.path().join("presets/Zero.json"), "{").unwrap();
    assert_eq!(folder.names(), ["Mine", "Zero"]);
    editor.click(editor.place("Preset: Mine"));
    editor.key(Key::Escape);
    editor.click(editor.place("Next preset"));
    assert_eq!(shown(&editor), "Mine");
    assert!(editor.texts().iter().any(|(text, _)| text.contains("Zero.json: not a preset")));
}

#[test]
fn what_is_left_out_of_a_preset_of_a_newer_version_is_named_in_a_notice() {
    let (mut editor, _folder, home) = open_folder(DEFAULT_SIZE);
    let notice = |editor: &TestEditor, name: &str| {
        let start = format!("{name}: of a newer version of the program; left out: \"portamento\"");
        editor.texts().iter().any(|(text, _)| text.starts_with(&start))
    };
    let newer = r#"{"version":9,"name":"Newer","settings":{"mix":12,"portamento":1}}"#;
    let path = home.path().join("newer.json");
    std::fs::write(&path, newer).unwrap();
    editor.click(editor.place(FILE));
    type_into(&mut editor, "File", path.to_str().unwrap());
    editor.click(editor.place("Import"));
    assert!(notice(&editor, "Newer"), "{:?}", editor.texts());
    assert_eq!(editor.settings().mix, 12.0);
    let imported = editor.time;
    while editor.time - imported < SECONDS + 0.1 {
        editor.frame(vec![]);
    }
    assert!(!notice(&editor, "Newer"));
    // Now the host loads the file.
    editor.session().load(read_preset(&path).unwrap());
    editor.frame(vec![]);
    assert!(notice(&editor, "Newer"));

    let folder = home.path().join("presets");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("Own.json"), newer).unwrap();
    editor.edit(|edits| edits.load("Own"));
    editor.frame(vec![]);
    assert!(notice(&editor, "Own"), "by the name in the list");
}

#[test]
fn the_menu_scrolls_in_a_low_window() {
    const LOW: [f32; 2] = [480.0, 80.0];
    let (mut editor, ..) = open_folder(MIN_SIZE);
    editor.click(editor.place(FILE));
    let inside = editor.node(FILE).rect().center_bottom() + vec2(0.0, 20.0);
    // The editor asks for a larger window, which the host refuses here.
    let frame = |editor: &mut TestEditor, event| {
        editor.resize(LOW);
        editor.frame(vec![event]);
        editor.resize(LOW);
    };
    let bottom = |editor: &TestEditor| editor.node("Export").rect().bottom();
    frame(&mut editor, Event::PointerMoved(inside));
    assert!(bottom(&editor) > LOW[1], "there is nothing to scroll");
    let (unit, delta) = (MouseWheelUnit::Point, vec2(0.0, -500.0));
    let (phase, source) = (TouchPhase::Move, MouseWheelSource::Unknown);
    let modifiers = Modifiers::NONE;
    frame(&mut editor, Event::MouseWheel { unit, delta, phase, modifiers, source });
    (0..50).for_each(|_| frame(&mut editor, Event::PointerMoved(inside)));
    assert!(bottom(&editor) < LOW[1], "{}", bottom(&editor));
}

#[test]
fn a_score_is_imported_and_removed() {
    let (mut editor, _folder, home) = open_folder(DEFAULT_SIZE);
    let path = home.path().join("theme.tfs");
    let before = editor.settings();
    let import = |editor: &mut TestEditor, text: &str| {
        std::fs::write(&path, text).unwrap();
        editor.click(editor.place(FILE));
        type_into(editor, "File", path.to_str().unwrap());
        editor.click(editor.place("Import"));
        editor.frame(vec![]);
        let name = editor.params().score.name();
        editor.key(Key::Escape);
        name
    };
    assert_eq!(import(&mut editor, "tone-filter-score 1\n0 0 69\n"), None);
    editor.text(&format!(
        "{} cannot be read: line 2: ends at 0, which is not after its start",
        path.display()
    ));
    let score = "tone-filter-score 1\n0 1 69\n";
    assert_eq!(import(&mut editor, score).as_deref(), Some("theme"));
    editor.text("theme decides which notes are played while the song plays");
    assert!(import(&mut editor, "no score").is_some(), "what is there stays");
    assert!(import(&mut editor, &format!("{score}1 0 69\n")).is_some());
    let unread = "line 3: ends at 0, which is not after its start";
    editor.text(&format!(
        "theme decides which notes are played while the song plays; left out: {unread}"
    ));
    let saved = serde_json::json!({ "name": "Own", "text": format!("{score}1 0 69") });
    let fields = [("score".to_owned(), saved.to_string())];
    nice_plug::prelude::Params::deserialize_fields(editor.params(), &fields.into());
    editor.frame(vec![]);
    editor.text(&format!("The score Own is loaded without {unread}"));
    assert!(is_same(&editor.settings(), &before), "a score is no sound");
    editor.click(editor.place(FILE));
    editor.click(editor.place("Remove score"));
    assert_eq!(editor.params().score.name(), None);
    editor.frame(vec![]);
    assert!(!offers(&editor, "Remove score"));
}

#[test]
fn what_the_dialog_has_chosen_is_read_or_written_once() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("Chosen.json");
    let mut dialog = FileDialog::default();
    for purpose in [Purpose::Export, Purpose::Import] {
        // Opening the second dialog closes the first.
        let closed = dialog.expect(purpose);
        let chosen = dialog.expect(purpose);
        assert!(closed.send(path.clone()).is_err());
        assert_eq!(dialog.chosen(), None, "it is open");
        chosen.send(path.clone()).unwrap();
        assert_eq!(dialog.chosen(), Some((purpose, path.clone())));
        assert_eq!(dialog.chosen(), None);
        drop(dialog.expect(purpose));
        assert_eq!(dialog.chosen(), None, "the user has cancelled it");
    }
}
