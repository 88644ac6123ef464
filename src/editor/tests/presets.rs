//! Tests of the preset bar, the list of presets, the menu of files, and files dropped on the window.

use super::TestEditor;
use crate::{
    editor::{DEFAULT_SIZE, MIN_SIZE, file_dialog::Purpose, notice::SECONDS},
    params::Keep,
    session::{PresetList, is_same, read_preset},
};
use egui::{DroppedFile, HoveredFile, Key};
use nice_plug::params::Params;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tone_filter_dsp::{BandMask, Controls, PitchClass, PitchClasses, Scale, Settings};
use tone_filter_presets::{Folder, Preset, ids};

const FILE: &str = "Save and load presets: File";
const SEARCH: &str = "Search presets";
/// End of the message about a score in which a note ends at 0.
const UNREAD: &str = "ends at 0, which is not after its start";

fn choose(editor: &mut TestEditor, purpose: Purpose, path: &Path) {
    editor.panel().bar.files.dialog.expect(purpose).send(path.to_owned()).unwrap();
    editor.frames(2);
}

/// Returns the name of the preset that the bar shows.
fn shown(editor: &TestEditor) -> String {
    let names = editor.controls();
    let preset = names.iter().find_map(|name| name.strip_prefix("Preset: "));
    preset.expect("the bar names the preset").to_owned()
}

/// Creates an editor in a window of `size`. Its folder of user presets is an empty one inside a temporary folder.
fn open_folder(size: [f32; 2]) -> (TestEditor, Folder, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let folder = Folder::new(home.path().join("presets"));
    let mut editor = TestEditor::new(size);
    editor.edit(|edits| edits.state.presets = PresetList::new(Some(folder.clone())));
    (editor, folder, home)
}

fn preset(name: &str, mix: f32) -> Preset {
    Preset::new(name, Settings { mix, ..Settings::default() })
}

fn factory() -> Vec<Preset> {
    ids().map(|id| Preset::factory(id).unwrap()).collect()
}

fn load(editor: &mut TestEditor, name: &str) {
    editor.edit(|edits| edits.load(name));
    editor.frame(vec![]);
}

/// Opens the list and types `text`.
fn search(editor: &mut TestEditor, text: &str) {
    editor.run(&format!("Preset: {}", shown(editor)));
    assert_eq!(editor.focused().as_deref(), Some(SEARCH), "the field has the focus at once");
    if !text.is_empty() {
        editor.run(&format!("~{text}"));
    }
}

fn listed<'a>(editor: &TestEditor, names: &[&'a str]) -> Vec<&'a str> {
    names.iter().copied().filter(|name| editor.offers(name)).collect()
}

#[test]
fn every_factory_preset_loads_with_exactly_its_settings() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    assert_eq!(shown(&editor), "Tone Filter", "without the mark of a change");
    let written = factory();
    let forth = written[1..].iter().chain(&written[..1]).map(|preset| ("Next preset", preset));
    let back = ("Previous preset", &written[written.len() - 1]);
    for (button, preset) in forth.chain([back]) {
        editor.run(button);
        assert_eq!(shown(&editor), preset.name, "without the mark of a change");
        assert!(is_same(&editor.settings(), &preset.settings), "{:?}", editor.settings());
    }
}

#[test]
fn modulation_neither_marks_the_preset_as_changed_nor_is_copied() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    for (id, param, _) in editor.params().param_map() {
        // SAFETY: the editor owns the parameter.
        unsafe { param._internal_modulate_value(if id == "focus" { -0.3 } else { 0.3 }) };
    }
    editor.frame(vec![]);
    assert_ne!(editor.settings(), Settings::default());
    assert_eq!(shown(&editor), "Tone Filter", "without the mark of a change");
    let before = editor.edit(|edits| edits.sound());
    editor.run("Copy A to B | Second sound: B");
    let after = editor.edit(|edits| edits.sound());
    assert_eq!([after.controls, before.controls], [Controls::default(); 2]);
}

#[test]
fn a_sound_is_saved_found_again_exported_imported_and_deleted() {
    let (mut editor, folder, home) = open_folder(DEFAULT_SIZE);
    editor.run("Band C5");
    editor.edit(|edits| {
        for id in ["mix", "ring", "stereo", "root", "scale"] {
            edits.set_once(id, 0.9);
        }
    });
    let (sound, path) = (editor.settings(), home.path().join("out.json"));
    // Typing replaces the old name.
    editor.run(&format!("{FILE} | Save as ... | ~Mine | <Enter>"));
    choose(&mut editor, Purpose::Export, &path);
    for (script, name) in [
        // The user's presets come after the factory's.
        ("Next preset", "Tone Filter"),
        // Saving a preset and loading another are two steps.
        ("Undo", "Mine"),
        ("Next preset", "Tone Filter"),
        (&format!("Preset: Tone Filter | {SEARCH} := mine | Mine | <Escape>"), "Mine"),
        (&format!("{FILE} | New"), "Tone Filter"),
    ] {
        editor.run(script);
        assert_eq!(shown(&editor), name, "{script}");
        assert_eq!(is_same(&editor.settings(), &sound), name == "Mine", "{script}");
    }
    choose(&mut editor, Purpose::Import, &path);
    assert!(shown(&editor) == "Mine" && is_same(&editor.settings(), &sound));
    assert_eq!(folder.load("Mine").unwrap(), Some(Preset::new("Mine", sound).into()));
    assert_eq!(Preset::read(&path).unwrap(), Preset::new("Mine", sound).into());
    // The dialog has not asked about `out.json` if the name was typed without the extension.
    editor.edit(|edits| edits.set_once("mix", 0.1));
    choose(&mut editor, Purpose::Export, &path.with_extension(""));
    assert!(editor.shows("out.json exists; choose another name"), "{:?}", editor.texts());
    assert_eq!(Preset::read(&path).unwrap(), Preset::new("Mine", sound).into());
    choose(&mut editor, Purpose::Export, &path.with_file_name("new"));
    assert!(path.with_file_name("new.json").exists());
    editor.run(&format!("{FILE} | Delete ... | Delete"));
    assert!(folder.names().is_empty());
}

#[test]
fn nothing_is_replaced_or_deleted_without_a_question() {
    let (mut editor, folder, home) = open_folder(DEFAULT_SIZE);
    let mut old = preset("Mine", 12.0);
    (old.description, old.tags) = ("For me.".into(), vec!["soft".into()]);
    folder.save(&old).unwrap();
    editor.edit(|edits| edits.set_once("mix", 0.75));
    let save_as = format!("{FILE} | Save as ... | Save the sound as := Mine");
    let delete = format!("{FILE} | Delete ...");
    // Steps, the mix of the preset Mine afterwards, and the button of the question that is then open.
    for (script, mine, question) in [
        (&*save_as, 12.0, Some("Replace")),
        // Enter confirms only a question whose answer destroys nothing.
        ("<Enter>", 12.0, Some("Replace")),
        ("Cancel", 12.0, None),
        (&save_as, 12.0, Some("Replace")),
        ("<Escape>", 12.0, None),
        (&save_as, 12.0, Some("Replace")),
        ("Replace", 75.0, None),
        (&delete, 75.0, Some("Delete")),
        ("<Escape>", 75.0, None),
        (&delete, 75.0, Some("Delete")),
    ] {
        editor.run(script);
        let saved = folder.load("Mine").unwrap().unwrap().preset;
        assert_eq!((saved.description, saved.tags), (old.description.clone(), old.tags.clone()));
        assert_eq!(saved.settings.mix, mine, "{script}");
        for button in ["Replace", "Delete"] {
            assert_eq!(editor.offers(button), question == Some(button), "{script}: {button}");
        }
    }
    assert_eq!(editor.focused().as_deref(), Some("Cancel"), "the harmless answer has the focus");
    // The user's own preset is saved without a question.
    editor.run("<Escape>");
    editor.edit(|edits| edits.set_once("mix", 0.5));
    editor.run(&format!("{FILE} | Save"));
    assert_eq!(folder.load("Mine").unwrap().unwrap().preset.settings.mix, 50.0);
    // The window asks before a preset of the same name from elsewhere replaces it.
    let elsewhere = home.path().join("elsewhere.json");
    preset("Mine", 33.0).write(&elsewhere).unwrap();
    choose(&mut editor, Purpose::Import, &elsewhere);
    editor.run(&format!("{FILE} | Save"));
    assert!(editor.offers("Replace"));
    assert_eq!(folder.load("Mine").unwrap().unwrap().preset.settings.mix, 50.0);
    editor.run("<Escape>");
    editor.run(&delete);
    editor.focus("Delete");
    editor.run("<Enter>");
    assert!(folder.names().is_empty());
    // A factory preset is neither overwritten nor deleted.
    for entry in ["New", "Save", "Delete ..."] {
        editor.run(&format!("{FILE} | {entry}"));
        assert!(!editor.offers("Cancel") && folder.names().is_empty(), "{entry}");
    }
}

#[test]
fn every_entry_of_the_menu_is_in_the_smallest_window() {
    let (mut editor, folder, home) = open_folder(MIN_SIZE);
    let path = home.path().join("theme.tfs");
    fs::write(&path, "tone-filter-score 1\n0 1 69\n").unwrap();
    choose(&mut editor, Purpose::Score, &path);
    editor.run(FILE);
    for entry in ["New", "Delete ...", "Load score ...", "Remove score theme"] {
        assert!(editor.window().contains_rect(editor.node(entry).rect()), "{entry}");
    }
    editor.run("Open preset ...");
    assert_eq!(editor.focused().as_deref(), Some(SEARCH));
    assert!(folder.names().is_empty());
}

#[test]
fn a_notice_is_shown_for_four_seconds() {
    let (mut editor, folder, home) = open_folder(MIN_SIZE);
    editor.edit(|edits| edits.save("Mine"));
    editor.frame(vec![]);
    let saved = editor.time;
    editor.wait(SECONDS - 0.2);
    assert!(editor.shows("Saved as Mine"), "after {} s", editor.time - saved);
    assert!(editor.window().contains_rect(editor.text("Saved as Mine")));
    assert!(editor.repaint_delay() < Duration::from_secs(1), "it must disappear by itself");
    editor.wait(0.3);
    assert!(!editor.shows("Saved as Mine"));
    assert_eq!(editor.repaint_delay(), Duration::MAX);

    // An error is also shown without a menu.
    fs::write(home.path().join("presets/Zero.json"), "{").unwrap();
    assert_eq!(folder.names(), ["Mine", "Zero"]);
    editor.run("Preset: Mine | <Escape> | Next preset");
    assert_eq!(shown(&editor), "Mine");
    assert!(editor.shows("Zero.json: not a preset"));
}

#[test]
fn every_way_to_load_a_preset_names_unknown_settings_and_is_undone() {
    let (mut editor, _folder, home) = open_folder(DEFAULT_SIZE);
    editor.edit(|edits| edits.set_once("bypass", 1.0));
    let newer = r#"{"version":9,"name":"Newer","settings":{"mix":12,"portamento":1}}"#;
    let (path, folder) = (home.path().join("newer.json"), home.path().join("presets"));
    fs::create_dir(&folder).unwrap();
    for path in [&path, &folder.join("Own.json")] {
        fs::write(path, newer).unwrap();
    }
    // Ways to load it: by the menu File, by the host, and from the list. In the list, it has the name of its file.
    for (way, name) in [(0, "Newer"), (1, "Newer"), (2, "Own")] {
        let notice = format!("{name}: of a newer version of the program; left out: \"portamento\"");
        editor.wait(SECONDS + 0.2);
        assert!(!editor.shows(&notice));
        match way {
            0 => choose(&mut editor, Purpose::Import, &path),
            1 => editor.session().load(read_preset(&path).unwrap()),
            _ => editor.edit(|edits| edits.load("Own")),
        }
        editor.frame(vec![]);
        assert!(editor.shows(&notice), "{:?}", editor.texts());
        assert_eq!((&*shown(&editor), editor.settings().mix), (name, 12.0));
        assert!(editor.params().controls().routing.bypass, "a preset keeps the bypass");
        editor.run("Undo");
        assert_eq!(&*shown(&editor), "Tone Filter");
        assert!(is_same(&editor.settings(), &Settings::default()), "{:?}", editor.settings());
    }
}

#[test]
fn the_score_of_a_state_is_named_and_removed() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let load = |editor: &mut TestEditor, text: &str, notice: &str| {
        let saved = serde_json::json!({ "name": "Own", "text": text });
        let fields = [("score".to_owned(), saved.to_string())];
        editor.params().deserialize_fields(&fields.into());
        editor.frames(2);
        assert!(editor.shows(notice), "{notice}: {:?}", editor.texts());
    };
    let score = "tone-filter-score 1\n0 1 69\n1 0 69";
    let left_out = format!("The score Own is loaded without line 3: {UNREAD}");
    load(&mut editor, score, &left_out);
    editor.run(&format!("{FILE} | Remove score Own"));
    assert_eq!(editor.params().score.name(), None);
    load(&mut editor, score, &left_out);
    load(&mut editor, "no score", "The score Own cannot be read: line 1: ");
    assert_eq!(editor.params().score.name(), None, "an invalid score counts as missing");
    editor.run(FILE);
    assert!(!editor.offers("Remove score Own"));
}

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

#[test]
fn dropped_presets_and_scores_are_taken_and_other_files_named() {
    let (mut editor, _folder, home) = open_folder(DEFAULT_SIZE);
    let settings = Settings { mix: 12.0, ..Settings::default() };
    let json = home.path().join("My preset.json");
    Preset::new("Mine", settings).write(&json).unwrap();
    // A quarter note A4 at 120 beats per minute, with 480 ticks per quarter.
    let midi = "MThd\0\0\0\x06\0\0\0\x01\x01\u{e0}MTrk\0\0\0\x0d\0\u{90}\x45\x7f\u{83}\x60\u{80}\x45\0\0\u{ff}\x2f\0";
    let midi: Vec<u8> = midi.chars().map(|char| char as u8).collect();
    let score = b"tone-filter-score 1\n0 1 69\n";
    let bad_note = format!("bad.tfs cannot be read: line 2: {UNREAD}");
    let left_out = format!(
        "part decides which notes are played while the song plays; left out: line 3: {UNREAD}"
    );
    let not_midi = "song.mid cannot be read: not a MIDI file to play";
    let other = "song.mp3 is neither a preset (.json) nor a score (.tfs, .mid)";
    // Dropped files, the score's name afterwards, and the text of the notice.
    for (files, score, notice) in [
        (&[("song.mp3", b"MThd".to_vec())][..], None, other),
        (&[("bad.json", b"{".to_vec())], None, "bad.json: "),
        (&[("bad.tfs", b"tone-filter-score 1\n0 0 69\n".to_vec())], None, &bad_note),
        (
            &[("My preset.json", fs::read(&json).unwrap()), ("theme.TFS", score.to_vec())],
            Some("theme"),
            "theme decides",
        ),
        (&[("song.mid", midi)], Some("song"), "song decides"),
        // The current score stays.
        (&[("song.mid", b"MThd".to_vec())], Some("song"), not_midi),
        (&[("none.tfs", b"no score".to_vec())], Some("song"), "none.tfs cannot be read: line 1"),
        (&[("part.tfs", [&score[..], b"1 0 69\n"].concat())], Some("part"), &left_out),
    ] {
        let dropped = files.iter().map(|(name, bytes)| {
            let path = home.path().join(name);
            fs::write(&path, bytes).unwrap();
            Arc::new(File(path)) as _
        });
        editor.input().dropped_files = dropped.collect();
        editor.frames(2);
        assert_eq!(editor.params().score.name().as_deref(), score, "{notice}");
        assert!(editor.shows(notice), "{notice}: {:?}", editor.texts());
        let expected = if score.is_some() { settings } else { Settings::default() };
        assert!(is_same(&editor.settings(), &expected), "{notice}");
    }
    assert_eq!(shown(&editor), "Mine");
    // The preset was loaded once, as the only undo step.
    editor.run("Undo");
    assert!(is_same(&editor.settings(), &Settings::default()));
    assert!(!editor.edit(|edits| edits.state.history.can_undo()));
}

#[test]
fn a_drag_of_files_shows_which_ones_are_taken() {
    for size in [MIN_SIZE, DEFAULT_SIZE, [3840.0, 2160.0]] {
        let mut editor = TestEditor::new(size);
        let hint = "Drop a preset (.json) or a score (.tfs, .mid)";
        assert!(!editor.shows(hint));
        editor.input().hovered_files = vec![HoveredFile::default()];
        editor.frame(vec![]);
        assert!(editor.window().contains_rect(editor.text(hint)), "{size:?}");
        editor.input().hovered_files.clear();
        editor.frame(vec![]);
        assert!(!editor.shows(hint));
    }
}

#[test]
fn a_search_finds_names_tags_and_descriptions_in_any_case() {
    let (mut editor, folder, _home) = open_folder(DEFAULT_SIZE);
    let mut presets = factory();
    for (name, description) in [("First", "For the boss"), ("Second", "For the credits")] {
        let mut own = preset(name, 50.0);
        own.description = description.to_owned();
        folder.save(&own).unwrap();
        presets.push(own);
    }
    let names: Vec<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
    let contains = |text: &str, word: &str| text.to_lowercase().contains(&word.to_lowercase());
    search(&mut editor, "");
    for word in ["ORGAN", "game", "Chip", "squa", "music", "BOSS"] {
        editor.run(&format!("{SEARCH} := {word}"));
        let has = |preset: &&Preset| {
            let Preset { name, description, tags, .. } = preset;
            [name, description].into_iter().chain(tags).any(|text| contains(text, word))
        };
        let expected: Vec<&str> = presets.iter().filter(has).map(|own| own.name.as_str()).collect();
        assert!(!expected.is_empty() && expected.len() < names.len(), "{word}: {expected:?}");
        assert_eq!(listed(&editor, &names), expected, "{word}");
    }
    editor.text("For the boss");
    // All words must match, in any order.
    editor.run(&format!("{SEARCH} := boy game"));
    assert_eq!(listed(&editor, &names), ["Game Boy"]);
    editor.run("~zzz");
    assert!(listed(&editor, &names).is_empty());
    editor.text("No preset is found");
    // If nothing is found, nothing is loaded.
    editor.run("<Enter>");
    assert_eq!(editor.settings(), Settings::default());
}

#[test]
fn arrow_keys_enter_and_escape_operate_the_list() {
    let mut editor = TestEditor::new(MIN_SIZE);
    let found = editor.edit(|edits| edits.state.presets.search(""));
    let names = found.into_iter().flat_map(|(_, entries)| entries).map(|entry| entry.name);
    let presets: Vec<_> = names.map(|name| Preset::find(&name).unwrap().preset).collect();
    // The first preset of the list.
    load(&mut editor, "Bass Octave");
    search(&mut editor, "");
    // Past the end, the last preset stays marked and is scrolled into view.
    for _ in 0..presets.len() + 3 {
        editor.key(Key::ArrowDown);
        assert_eq!(editor.focused().as_deref(), Some(SEARCH), "one can type on");
    }
    let last = presets.last().unwrap();
    assert!(editor.window().contains_rect(editor.node(&last.name).rect()));
    editor.text(&last.name);
    editor.run("<ArrowUp> | <Enter>");
    let chosen = &presets[presets.len() - 2];
    assert_eq!(shown(&editor), chosen.name);
    assert!(is_same(&editor.settings(), &chosen.settings));
    assert!(!editor.offers(SEARCH), "the list has closed");

    // The list opens at the loaded preset, and the keyboard focus stays in the bar.
    assert_eq!(editor.focused(), Some(format!("Preset: {}", chosen.name)));
    editor.run("<Enter>");
    assert_eq!(editor.focused().as_deref(), Some(SEARCH));
    assert!(editor.window().contains_rect(editor.node(&chosen.name).rect()));
    editor.run("<ArrowDown> | <Escape>");
    assert!(!editor.offers(SEARCH), "the list has closed");

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
fn the_browser_covers_neither_mix_nor_bands_with_room() {
    for (size, has_room) in [(MIN_SIZE, false), (DEFAULT_SIZE, true), ([1600.0, 1000.0], true)] {
        let mut editor = TestEditor::new(size);
        load(&mut editor, "Game Boy");
        let mix = editor.node("Mix").rect();
        search(&mut editor, "");
        let field = editor.node(SEARCH).rect();
        assert!(mix.bottom() < field.top(), "{size:?}");
        assert_eq!(editor.offers("Band A4"), has_room, "{size:?}");
        if has_room {
            assert!(editor.node("Octave 1").rect().left() > field.right(), "{size:?}");
        }
        // The list opens at the preset of the current sound.
        let current = editor.node("Game Boy").rect();
        assert!(editor.window().contains_rect(current), "{size:?}: {current}");
        // The bands are shown once the list is closed.
        editor.run("Preset: Game Boy");
        assert!(editor.offers("Band A4"), "{size:?}");
    }
}

/// Returns settings whose scale and tuning differ from the default.
fn retuned() -> Settings {
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
fn kept_settings_stay_in_every_way_to_load_a_preset() {
    let (mut editor, folder, _home) = open_folder(DEFAULT_SIZE);
    let mine = Settings { mix: 12.0, tuning: 450.0, scale: Scale::Blues, ..Settings::default() };
    folder.save(&Preset::new("Mine", mine)).unwrap();
    editor.edit(|edits| edits.use_preset("Own".to_owned(), &retuned()));
    editor.frame(vec![]);
    let before = editor.settings();
    search(&mut editor, "");
    editor.run("Keep scale | Keep tuning | <Escape>");
    assert_eq!(editor.params().keep.load(), Keep { scale: true, tuning: true });
    assert_eq!(editor.settings(), before, "a switch changes no sound");
    // Loads presets from the list by a click and by the keyboard, and by the buttons beside the name.
    for (words, script, name) in [
        (Some("bass"), "Bass Octave | <Escape>", "Bass Octave"),
        (None, "Next preset", "Pentatonic"),
        (Some("mine"), "<Enter>", "Mine"),
    ] {
        words.into_iter().for_each(|words| search(&mut editor, words));
        editor.run(script);
        assert_eq!(shown(&editor), name, "without the mark of a change");
        let preset = folder.load(name).unwrap().or_else(|| Preset::find(name).ok());
        let Settings { root, scale, custom, tuning, transpose, .. } = retuned();
        let preset = preset.unwrap().preset.settings;
        let expected = Settings { root, scale, custom, tuning, transpose, ..preset };
        assert!(is_same(&editor.settings(), &expected), "{name}: {:?}", editor.settings());
    }
    // Undo and A/B restore the kept settings, too.
    editor.run("Undo | Undo | Undo");
    assert!(is_same(&editor.settings(), &before), "{:?}", editor.settings());
    editor.run("Second sound: B");
    editor.edit(|edits| edits.set_once("tuning", 0.3));
    editor.edit(|edits| edits.set_once("scale", 0.0));
    editor.run("First sound: A");
    assert!(is_same(&editor.settings(), &before), "{:?}", editor.settings());
}

#[test]
fn presets_are_listed_by_their_first_tag() {
    let (mut editor, folder, _home) = open_folder([1000.0, 1000.0]);
    folder.save(&preset("Mine", 50.0)).unwrap();
    let mut tagged = Preset::new("Tagged", retuned());
    tagged.tags = vec!["bass".to_owned()];
    folder.save(&tagged).unwrap();
    search(&mut editor, "");
    let order: Vec<f32> =
        ["Bass Octave", "Tagged", "Organ", "Mine"].map(|name| editor.place(name).y).to_vec();
    assert!(order.is_sorted(), "{order:?}");
    let missing: Vec<_> =
        factory().into_iter().map(|own| own.name).filter(|name| !editor.offers(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    // With a category selected, only its presets are listed.
    editor.run("Category: Your own");
    assert_eq!(listed(&editor, &["Mine", "Tagged", "Organ"]), ["Mine"]);
    editor.run("Category: Bass");
    assert_eq!(listed(&editor, &["Mine", "Tagged", "Organ"]), ["Tagged"]);
}

#[test]
fn favourites_come_first_and_are_kept_in_a_file() {
    let (mut editor, folder, _home) = open_folder(DEFAULT_SIZE);
    load(&mut editor, "Bass Octave");
    search(&mut editor, "");
    let comes_first = |editor: &TestEditor| {
        let [crystal, bass] = ["Crystal", "Bass Octave"].map(|name| editor.node(name).rect().top());
        crystal < bass
    };
    let favourites = || folder.favourites().unwrap().into_iter().collect::<Vec<_>>();
    assert!(!comes_first(&editor));
    editor.run("Favourite: Crystal");
    assert!(comes_first(&editor));
    editor.text("Favourites");
    assert_eq!(favourites(), ["Crystal"]);
    assert_eq!(shown(&editor), "Bass Octave", "nothing is loaded");

    // Marks another favourite by the keyboard, and reads the marks in another instance.
    editor.focus("Favourite: Bass Octave");
    editor.run("<Enter>");
    let presets = PresetList::new(Some(folder.clone()));
    assert!(presets.is_favourite("Bass Octave") && presets.is_favourite("Crystal"));
    editor.run("Favourite: Crystal");
    assert_eq!(favourites(), ["Bass Octave"]);
    // Those that another window has marked meanwhile stay.
    PresetList::new(Some(folder.clone())).toggle_favourite("Organ");
    editor.run("Favourite: Crystal");
    assert_eq!(favourites(), ["Bass Octave", "Crystal", "Organ"]);

    // A damaged file is ignored, and a notice says so.
    fs::write(folder.location().join("favourites"), "{").unwrap();
    editor.edit(|edits| edits.state.presets = PresetList::new(Some(folder)));
    editor.frames(2);
    assert!(editor.shows("favourites: cannot"), "{:?}", editor.texts());
}

#[test]
fn escape_restores_the_exact_sound_before_an_audition() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    // Few of these values are exact in a host's range of 0 to 1. The undone step can be redone.
    editor.edit(|edits| edits.use_preset("Own".to_owned(), &retuned()));
    editor.edit(|edits| {
        for (index, id) in crate::params::ids().enumerate().filter(|(_, id)| *id != "bypass") {
            edits.set_once(id, 0.031 * (index as f32 + 1.37) % 1.0);
        }
        edits.undo();
    });
    editor.frame(vec![]);
    let state = |editor: &mut TestEditor| {
        let sound = editor.edit(|edits| edits.sound());
        let history = editor.edit(|e| (e.state.history.can_undo(), e.state.history.can_redo()));
        (sound, history, shown(editor))
    };
    let before = state(&mut editor);
    assert_eq!(before.1, (true, true));
    search(&mut editor, "organ");
    editor.run("<ArrowDown> | <Backspace> | <Backspace> | <Backspace> | <Backspace>");
    for _ in 0..5 {
        let last = editor.settings();
        editor.key(Key::ArrowDown);
        assert!(!is_same(&editor.settings(), &last), "it is heard at once");
    }
    assert_ne!(shown(&editor), before.2);
    editor.key(Key::Escape);
    assert_eq!(state(&mut editor), before);
    editor.edit(|edits| edits.redo());
    assert_ne!(state(&mut editor), before, "what was undone can still be redone");
}

#[test]
fn a_kept_audition_is_one_undo_step() {
    for way in 0..4 {
        let mut editor = TestEditor::new(DEFAULT_SIZE);
        let before = editor.settings();
        search(&mut editor, "");
        editor.run("<ArrowUp> | <ArrowUp> | <ArrowUp>");
        let tried = editor.settings();
        assert!(!is_same(&tried, &before));
        match way {
            0 => editor.key(Key::Enter),
            1 => editor.run("Subtle Edge"),
            2 => editor.run(&format!("Preset: {}", shown(&editor))),
            // The window closes.
            _ => editor.edit(|edits| edits.end_open_gesture()),
        }
        let edge = Preset::find("subtle-edge").unwrap().preset.settings;
        let expected = if way == 1 { edge } else { tried };
        assert!(is_same(&editor.settings(), &expected), "{way}");
        editor.edit(|edits| edits.undo());
        assert!(is_same(&editor.settings(), &before), "{way}");
        assert!(!editor.edit(|edits| edits.state.history.can_undo()), "{way}: one step");
        editor.edit(|edits| edits.redo());
        assert!(is_same(&editor.settings(), &expected), "{way}");
    }
}

#[test]
fn a_random_sound_leaves_kept_settings_and_the_list_open() {
    let mut editor = TestEditor::new(DEFAULT_SIZE);
    let before = editor.settings();
    editor.edit(|edits| edits.set_keep(Keep { scale: true, tuning: false }));
    search(&mut editor, "");
    for label in ["Randomise slightly", "Randomise fully"] {
        editor.run(label);
        let random = editor.settings();
        assert!(!is_same(&random, &before), "{label}");
        let Settings { root, scale, map, .. } = before;
        assert_eq!((random.root, random.scale, random.map), (root, scale, map));
        assert!(editor.offers(SEARCH), "for another one");
        editor.edit(|edits| edits.undo());
        assert!(is_same(&editor.settings(), &before));
    }
}
