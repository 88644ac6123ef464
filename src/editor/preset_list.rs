//! The presets that the editor offers: the factory presets and the user's.

use crate::{
    dsp::{SPECS, Settings},
    presets::{Error, Folder, Preset, ids},
};
use std::path::PathBuf;

/// The factory and user presets, and the state of the preset menu.
#[derive(Default)]
pub struct PresetList {
    /// The folder of the user's presets; `None` for a user without a home directory.
    folder: Option<Folder>,
    factory: Vec<Preset>,
    /// The names of the user's presets.
    user: Vec<String>,
    /// The preset that [`PresetList::is_changed`] compared with last: its name, and its settings if it exists.
    compared: Option<(String, Option<Settings>)>,
    /// The text of the field for a name to save under.
    pub name: String,
    /// The text of the field for a file to import or export.
    pub path: String,
    /// The result of the last action.
    pub message: String,
}

impl PresetList {
    /// The factory presets and those in `folder`.
    pub fn new(folder: Option<Folder>) -> Self {
        let factory = ids().filter_map(Preset::factory).collect();
        let mut presets = Self { folder, factory, ..Self::default() };
        presets.refresh();
        presets
    }

    /// Reads the folder again, for presets that other windows and programs have saved.
    pub fn refresh(&mut self) {
        self.user = self.folder.as_ref().map(Folder::names).unwrap_or_default();
        self.compared = None;
    }

    /// The names of the factory presets.
    pub fn factory(&self) -> impl Iterator<Item = &str> {
        self.factory.iter().map(|preset| preset.name.as_str())
    }

    /// What the factory preset called `name` is for; empty for other presets.
    pub fn description(&self, name: &str) -> &str {
        let found = self.factory.iter().find(|preset| preset.name == name);
        found.map_or("", |preset| &preset.description)
    }

    /// The names of the user's presets.
    pub fn user(&self) -> &[String] {
        &self.user
    }

    /// The name of the preset `steps` after the one called `name`. After the last one comes the first.
    pub fn neighbour(&self, name: &str, steps: isize) -> Option<String> {
        let names: Vec<&str> = self.factory().chain(self.user.iter().map(String::as_str)).collect();
        let count = names.len() as isize;
        let found = names.iter().position(|listed| *listed == name);
        let now = found.map_or(-steps.min(0), |index| index as isize);
        names.get((now + steps).rem_euclid(count.max(1)) as usize).map(|name| (*name).to_owned())
    }

    /// The preset called `name`; an error is shown in `message`.
    pub fn load(&mut self, name: &str) -> Option<Preset> {
        let found = self.find(name);
        self.report(found).flatten()
    }

    fn find(&self, name: &str) -> Result<Option<Preset>, Error> {
        if let Some(preset) = self.factory.iter().find(|preset| preset.name == name) {
            return Ok(Some(preset.clone()));
        }
        self.folder.as_ref().map_or(Ok(None), |folder| folder.load(name))
    }

    /// Whether `settings` differ from those of the preset called `name`, apart from the bypass.
    pub fn is_changed(&mut self, name: &str, settings: &Settings) -> bool {
        if self.compared.as_ref().is_none_or(|(compared, _)| compared != name) {
            // This is called in every frame: it reads a preset from disk once only, and leaves `message` alone.
            let found = self.find(name).ok().flatten().map(|preset| preset.settings);
            self.compared = Some((name.to_owned(), found));
        }
        let preset = self.compared.as_ref().and_then(|(_, preset)| preset.as_ref());
        preset.is_none_or(|preset| !is_same(preset, settings))
    }

    /// Saves `settings` under [`PresetList::name`] and returns the name of the preset, in which characters that a
    /// file name cannot have are replaced.
    pub fn save(&mut self, settings: Settings) -> Option<String> {
        let folder = self.folder.as_ref()?;
        let preset = Preset::new(&self.name, Settings { bypass: false, ..settings });
        let saved = folder.save(&preset);
        let saved = self.report(saved)?;
        self.refresh();
        self.message = format!("Saved as {saved}");
        Some(saved)
    }

    /// Deletes the user's preset called `name`.
    pub fn delete(&mut self, name: &str) {
        let Some(folder) = &self.folder else { return };
        let deleted = folder.delete(name);
        if self.report(deleted).is_some() {
            self.refresh();
            self.message = format!("Deleted {name}");
        }
    }

    /// Reads the preset in the file at [`PresetList::path`].
    pub fn import(&mut self) -> Option<Preset> {
        let read = Preset::read(&PathBuf::from(self.path.trim()));
        let preset = self.report(read)?;
        self.message = format!("Imported {}", preset.name);
        self.remember(&preset);
        Some(preset)
    }

    /// Takes note of a preset that was loaded from elsewhere, for [`PresetList::is_changed`].
    pub fn remember(&mut self, preset: &Preset) {
        self.compared = Some((preset.name.clone(), Some(preset.settings)));
    }

    /// Writes `settings` as the preset called `name` to the file at [`PresetList::path`].
    pub fn export(&mut self, name: &str, settings: Settings) {
        let written = Preset::new(name, settings).write(&PathBuf::from(self.path.trim()));
        if self.report(written).is_some() {
            self.message = format!("Exported to {}", self.path.trim());
        }
    }

    /// Replaces `message` by the error, if there is one, and returns the value otherwise.
    fn report<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        self.message.clear();
        result.map_err(|error| self.message = error.to_string()).ok()
    }
}

/// Whether two sounds are the same, bypass aside, within the rounding of a host's normalised f32 values.
pub fn is_same(one: &Settings, other: &Settings) -> bool {
    let near = |spec: &crate::dsp::Spec| {
        let (one, other) = (spec.get(one), spec.get(other));
        (one - other).abs() <= 2e-6 * one.abs().max(1.0)
    };
    // Everything but the numbers must be equal.
    let mut rest = Settings { bypass: one.bypass, ..*other };
    SPECS.iter().for_each(|spec| spec.set(&mut rest, spec.get(one)));
    SPECS.iter().all(near) && rest == *one
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn after_the_last_preset_comes_the_first() {
        let presets = PresetList::new(None);
        let names: Vec<_> = presets.factory().collect();
        assert!(names.len() >= 10);
        for (index, name) in names.iter().enumerate() {
            let next = names[(index + 1) % names.len()];
            assert_eq!(presets.neighbour(name, 1).as_deref(), Some(next));
            assert_eq!(presets.neighbour(next, -1).as_deref(), Some(*name));
        }
        assert!(presets.neighbour("no such", 1).is_some());
    }

    #[test]
    fn a_change_is_noticed_and_a_host_s_rounding_is_not() {
        let mut presets = PresetList::new(None);
        let settings = Settings::REFERENCE;
        assert!(!presets.is_changed("Reference", &settings));
        let rounded = Settings { drive: 39.999_992, bypass: true, ..settings };
        assert!(!presets.is_changed("Reference", &rounded));
        assert!(presets.is_changed("Reference", &Settings { drive: 39.99, ..settings }));
        let muted = Settings { bands: settings.bands.with(3, false), ..settings };
        assert!(presets.is_changed("Reference", &muted));
        assert!(presets.is_changed("Subtle Edge", &settings));
        assert!(presets.is_changed("missing", &settings));
    }

    #[test]
    fn the_user_s_presets_are_saved_imported_exported_and_deleted() {
        let home = tempfile::tempdir().unwrap();
        let mut presets = PresetList::new(Some(Folder::new(home.path().join("presets"))));
        let settings = Settings { drive: 7.0, ..Settings::default() };
        presets.name = " Mine/own ".to_owned();
        assert_eq!(presets.save(settings).as_deref(), Some("Mine_own"));
        assert_eq!(presets.user(), ["Mine_own"]);
        assert_eq!(presets.load("Mine_own").unwrap().settings, settings);

        presets.path = home.path().join("out.json").to_str().unwrap().to_owned();
        presets.export("Out", settings);
        assert_eq!(presets.import().unwrap(), Preset::new("Out", settings));
        presets.delete("Mine_own");
        assert!(presets.user().is_empty() && presets.load("Mine_own").is_none());

        // Compared in every frame from now on: no file is read, and the message stays.
        presets.export("Out", settings);
        assert!(presets.import().is_some());
        fs::write(home.path().join("presets").join("Out.json"), "no preset").unwrap();
        for _ in 0..2 {
            assert!(!presets.is_changed("Out", &settings));
            assert_eq!(presets.message, "Imported Out");
        }
        presets.refresh();
        assert!(presets.is_changed("Out", &settings));
        fs::write(home.path().join("presets").join("Out.json"), "{").unwrap();
        assert!(presets.is_changed("Out", &settings) && presets.message == "Imported Out");

        presets.name = "Reference".to_owned();
        assert!(presets.save(settings).is_none() && presets.message.contains("no name"));
        presets.path = home.path().join("missing.json").to_str().unwrap().to_owned();
        assert!(presets.import().is_none() && presets.message.contains("cannot be read"));
    }
}
