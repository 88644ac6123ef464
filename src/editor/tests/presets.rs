//! Tests of the preset bar.

use super::TestEditor;
use crate::{
    editor::DEFAULT_SIZE,
    session::{PresetList, is_same},
};
use egui::{Event, Key, Modifiers};
use nice_plug::params::Params;
use tone_filter_dsp::{Controls, Settings};
use tone_filter_presets::{Folder, Preset, ids};

/// Returns the name of the preset that the bar shows.
pub fn shown(editor: &TestEditor) -> String {
    let names = editor.controls().into_iter().map(|(name, _)| name);
    let mut presets = names.filter_map(|name| name.strip_prefix("Preset: ").map(str::to_owned));
    presets.next().expect("the bar names the preset")
}

/// Creates an editor in a window of `size`, with an empty folder for user presets inside a temporary one.
pub fn open_folder(size: [f32; 2]) -> (TestEditor, Folder, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let folder = Folder::new(home.path().join("presets"));
    let mut editor = TestEditor::new(size);
    editor.edit(|edits| edits.state.presets = PresetList::new(Some(folder.clone())));
    (editor, folder, home)
}

/// Types `text` into the field called `name`, in place of its content.
pub fn type_into(editor: &mut TestEditor, name: &str, text: &str) {
    editor.click(editor.place(name));
    editor.hold(Modifiers::COMMAND);
    editor.key(Key::A);
    editor.hold(Modifiers::NONE);
    editor.frame(vec![Event::Text(text.to_owned())]);
    editor.frame(vec![]);
}

#[test]
fn every_factory_preset_loads_with_exactly_its_settings() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    assert_eq!(shown(&editor), "Tone Filter");
    let written: Vec<_> = ids().map(|id| Preset::factory(id).unwrap()).collect();
    for preset in written[1..].iter().chain(&written[..1]) {
        editor.click(editor.place("Next preset"));
        assert_eq!(shown(&editor), preset.name, "without the mark of a change");
        assert!(is_same(&editor.settings(), &preset.settings), "{:?}", editor.settings());
    }
    for preset in written.iter().rev() {
        editor.click(editor.place("Previous preset"));
        assert_eq!(shown(&editor), preset.name);
        assert!(is_same(&editor.settings(), &preset.settings), "{:?}", editor.settings());
    }
}

#[test]
fn a_preset_is_picked_from_the_list_and_a_change_is_marked() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    editor.click(editor.place("Preset: Tone Filter"));
    // The list scrolls to the loaded preset.
    editor.frame(vec![]);
    editor.click(editor.place("Lead Only"));
    assert_eq!(shown(&editor), "Lead Only");
    editor.click(editor.place("Band A5"));
    assert_eq!(shown(&editor), "Lead Only *");
    editor.click(editor.place("Undo"));
    assert_eq!(shown(&editor), "Lead Only");
    editor.click(editor.place("Undo"));
    assert_eq!(shown(&editor), "Tone Filter");
}

#[test]
fn saving_a_preset_and_loading_another_are_two_steps() {
    let (mut editor, _folder, _home) = open_folder(DEFAULT_SIZE);
    editor.edit(|edits| {
        edits.save("Mine");
        edits.load("Chord Pad");
        edits.undo();
    });
    editor.frame(vec![]);
    assert_eq!(shown(&editor), "Mine");
}

#[test]
fn a_host_s_modulation_neither_marks_the_preset_as_changed_nor_is_copied() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    for (id, param, _) in editor.params().param_map() {
        // SAFETY: the editor owns the parameter.
        unsafe { param._internal_modulate_value(if id == "focus" { -0.3 } else { 0.3 }) };
    }
    editor.frame(vec![]);
    assert_ne!(editor.settings(), Settings::default());
    assert_eq!(shown(&editor), "Tone Filter", "without the mark of a change");
    let before = editor.edit(|edits| edits.sound());
    editor.click(editor.place("Copy to the other sound: Copy to B"));
    editor.click(editor.place("Second sound: B"));
    let after = editor.edit(|edits| edits.sound());
    assert_eq!([after.controls, before.controls], [Controls::default(); 2]);
}

#[test]
fn a_sound_is_saved_found_again_exported_imported_and_deleted() {
    let (mut editor, folder, home) = open_folder(DEFAULT_SIZE);
    editor.click(editor.place("Band C5"));
    editor.edit(|edits| {
        for id in ["mix", "ring", "stereo", "root", "scale"] {
            edits.set_once(id, 0.9);
        }
    });
    let sound = editor.settings();

    editor.click(editor.place("Save and load presets: File"));
    type_into(&mut editor, "Name", "Mine");
    editor.click(editor.place("Save as"));
    assert_eq!(folder.load("Mine").unwrap(), Some(Preset::new("Mine", sound).into()));
    let path = home.path().join("out.json").to_str().unwrap().to_owned();
    type_into(&mut editor, "File", &path);
    editor.click(editor.place("Export"));
    assert_eq!(Preset::read(path.as_ref()).unwrap(), Preset::new("Mine", sound).into());
    editor.key(Key::Escape);

    editor.click(editor.place("Next preset"));
    assert_eq!(shown(&editor), "Tone Filter", "the user's presets come after the factory's");
    editor.click(editor.place("Preset: Tone Filter"));
    type_into(&mut editor, "Search presets", "mine");
    editor.click(editor.place("Mine"));
    assert!(is_same(&editor.settings(), &sound), "{:?}", editor.settings());

    editor.click(editor.place("Next preset"));
    editor.click(editor.place("Save and load presets: File"));
    editor.click(editor.place("Import"));
    assert_eq!(shown(&editor), "Mine");
    assert!(is_same(&editor.settings(), &sound), "{:?}", editor.settings());
    editor.click(editor.place("Delete Mine"));
    editor.click(editor.place("Delete"));
    assert!(folder.names().is_empty());
}
