//! The preset bar.

use super::Desk;
use crate::{
    dsp::Settings,
    editor::{
        DEFAULT_SIZE,
        preset_list::{PresetList, is_same},
    },
    presets::{Folder, Preset, ids},
};
use egui::{Event, Key, Modifiers};
use nice_plug::params::Params;

/// The name in the middle of the bar.
fn shown(desk: &Desk) -> String {
    let names = desk.controls().into_iter().map(|(name, _)| name);
    let mut presets = names.filter_map(|name| name.strip_prefix("Preset: ").map(str::to_owned));
    presets.next().expect("the bar names the preset")
}

/// Puts `text` into the field called `name`.
fn type_into(desk: &mut Desk, name: &str, text: &str) {
    desk.click(desk.place(name));
    desk.hold(Modifiers::COMMAND);
    desk.key(Key::A);
    desk.hold(Modifiers::NONE);
    desk.frame(vec![Event::Text(text.to_owned())]);
    desk.frame(vec![]);
}

#[test]
fn every_factory_preset_is_heard_as_it_is_written() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    assert_eq!(shown(&desk), "Tone Filter");
    let written: Vec<_> = ids().map(|id| Preset::factory(id).unwrap()).collect();
    for preset in written[1..].iter().chain(&written[..1]) {
        desk.click(desk.place("Next preset"));
        assert_eq!(shown(&desk), preset.name, "without the mark of a change");
        assert!(is_same(&desk.settings(), &preset.settings), "{:?}", desk.settings());
    }
    for preset in written.iter().rev() {
        desk.click(desk.place("Previous preset"));
        assert_eq!(shown(&desk), preset.name);
        assert!(is_same(&desk.settings(), &preset.settings), "{:?}", desk.settings());
    }
}

#[test]
fn a_preset_is_picked_from_the_list_and_a_change_is_marked() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    desk.click(desk.place("Preset: Tone Filter"));
    desk.click(desk.place("Lead Only"));
    assert_eq!(shown(&desk), "Lead Only");
    desk.click(desk.place("Band A5"));
    assert_eq!(shown(&desk), "Lead Only *");
    desk.click(desk.place("Undo"));
    assert_eq!(shown(&desk), "Lead Only");
    desk.click(desk.place("Undo"));
    assert_eq!(shown(&desk), "Tone Filter");
}

#[test]
fn a_host_s_modulation_changes_no_preset_and_is_not_taken_for_the_user_s() {
    let mut desk = Desk::new(DEFAULT_SIZE);
    for (id, param, _) in desk.params().param_map() {
        // SAFETY: the desk owns the parameter.
        unsafe { param._internal_modulate_value(if id == "focus" { -0.3 } else { 0.3 }) };
    }
    desk.frame(vec![]);
    assert_ne!(desk.settings(), Settings::default());
    assert_eq!(shown(&desk), "Tone Filter", "without the mark of a change");
    let before = desk.with_edits(|edits| edits.sound());
    desk.click(desk.place("Copy to the other sound: Copy to B"));
    desk.click(desk.place("Second sound: B"));
    let after = desk.with_edits(|edits| edits.sound());
    assert_eq!((after.settings, before.settings), (Settings::default(), Settings::default()));
}

#[test]
fn a_sound_is_saved_found_again_exported_imported_and_deleted() {
    let home = tempfile::tempdir().unwrap();
    let mut desk = Desk::new(DEFAULT_SIZE);
    let folder = Folder::new(home.path().join("presets"));
    desk.panel().session.lock().unwrap().presets = PresetList::new(Some(folder.clone()));
    desk.click(desk.place("Band C5"));
    desk.with_edits(|edits| {
        for id in ["mix", "ring", "stereo", "root", "scale"] {
            edits.set_once(id, 0.9);
        }
    });
    let sound = desk.settings();

    desk.click(desk.place("Save and load presets: File"));
    type_into(&mut desk, "Name", "Mine");
    desk.click(desk.place("Save as"));
    assert_eq!(folder.load("Mine").unwrap(), Some(Preset::new("Mine", sound)));
    let path = home.path().join("out.json").to_str().unwrap().to_owned();
    type_into(&mut desk, "File", &path);
    desk.click(desk.place("Export"));
    assert_eq!(Preset::read(path.as_ref()).unwrap(), Preset::new("Mine", sound));
    desk.key(Key::Escape);

    desk.click(desk.place("Next preset"));
    assert_eq!(shown(&desk), "Tone Filter", "the user's presets come after the factory's");
    desk.click(desk.place("Preset: Tone Filter"));
    desk.click(desk.place("Mine"));
    assert!(is_same(&desk.settings(), &sound), "{:?}", desk.settings());

    desk.click(desk.place("Next preset"));
    desk.click(desk.place("Save and load presets: File"));
    desk.click(desk.place("Import"));
    assert_eq!(shown(&desk), "Mine");
    assert!(is_same(&desk.settings(), &sound), "{:?}", desk.settings());
    desk.click(desk.place("Delete Mine"));
    assert!(folder.names().is_empty());
}
