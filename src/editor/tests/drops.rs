//! Tests of files that are dropped on the window.

use super::{TestEditor, presets::open_folder};
use crate::{
    editor::{DEFAULT_SIZE, MIN_SIZE},
    session::is_same,
};
use egui::{DroppedFile, HoveredFile};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};
use tone_filter_dsp::Settings;
use tone_filter_presets::Preset;

#[derive(Debug)]
struct File(PathBuf);

impl DroppedFile for File {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        unreachable!("the editor reads files as it does when they are imported")
    }
}

fn drop_files(editor: &mut TestEditor, files: &[&Path]) {
    let files = files.iter().map(|path| Arc::new(File(path.to_path_buf())) as _);
    editor.input().dropped_files = files.collect();
    editor.frame(vec![]);
    editor.frame(vec![]);
}

#[test]
fn a_preset_and_a_score_are_taken_at_once() {
    let (mut editor, _folder, home) = open_folder(DEFAULT_SIZE);
    let [preset, score] = ["My preset.json", "theme.TFS"].map(|name| home.path().join(name));
    let settings = Settings { mix: 12.0, ..Settings::default() };
    Preset::new("Mine", settings).write(&preset).unwrap();
    fs::write(&score, "tone-filter-score 1\n0 1 69\n").unwrap();
    drop_files(&mut editor, &[&preset, &score]);
    assert!(is_same(&editor.settings(), &settings));
    assert_eq!(editor.edit(|edits| edits.preset()), "Mine");
    assert_eq!(editor.params().score.name().as_deref(), Some("theme"));
    // The preset was loaded once, as one undo step.
    editor.edit(|edits| edits.undo());
    editor.frame(vec![]);
    assert!(is_same(&editor.settings(), &Settings::default()));
}

#[test]
fn a_midi_file_is_a_score() {
    let (mut editor, _folder, home) = open_folder(DEFAULT_SIZE);
    let path = home.path().join("song.mid");
    // A quarter note A4 at 120 beats per minute, with 480 ticks per quarter.
    let midi = b"MThd\0\0\0\x06\0\0\0\x01\x01\xe0MTrk\0\0\0\x0d\0\x90\x45\x7f\x83\x60\x80\x45\0\0\xff\x2f\0";
    fs::write(&path, midi).unwrap();
    drop_files(&mut editor, &[&path]);
    assert_eq!(editor.params().score.name().as_deref(), Some("song"));
    fs::write(&path, "MThd").unwrap();
    drop_files(&mut editor, &[&path]);
    let texts = editor.texts();
    let reason = "song.mid cannot be read: not a MIDI file to play";
    assert!(texts.iter().any(|(text, _)| text.contains(reason)), "{texts:?}");
    assert!(editor.params().score.name().is_some(), "what is there stays");
}

#[test]
fn what_is_neither_is_named_and_changes_nothing() {
    let (mut editor, _folder, home) = open_folder(DEFAULT_SIZE);
    let path = home.path().join("song.mp3");
    fs::write(&path, "MThd").unwrap();
    drop_files(&mut editor, &[&path]);
    editor.text("song.mp3 is neither a preset (.json) nor a score (.tfs, .mid)");
    let path = home.path().join("bad.json");
    fs::write(&path, "{").unwrap();
    drop_files(&mut editor, &[&path]);
    let texts = editor.texts();
    assert!(texts.iter().any(|(text, _)| text.contains("bad.json: ")), "{texts:?}");
    assert!(is_same(&editor.settings(), &Settings::default()));
    assert!(!editor.edit(|edits| edits.state.history.can_undo()));
}

#[test]
fn while_files_are_over_the_window_it_tells_which_ones_it_takes() {
    for size in [MIN_SIZE, DEFAULT_SIZE, [3840.0, 2160.0]] {
        let mut editor = TestEditor::new(size);
        let hint = "Drop a preset (.json) or a score (.tfs, .mid)";
        let is_shown = |editor: &TestEditor| editor.texts().iter().any(|(text, _)| text == hint);
        assert!(!is_shown(&editor));
        editor.input().hovered_files = vec![HoveredFile::default()];
        editor.frame(vec![]);
        assert!(editor.window().contains_rect(editor.text(hint)), "{size:?}");
        editor.input().hovered_files.clear();
        editor.frame(vec![]);
        assert!(!is_shown(&editor));
    }
}
