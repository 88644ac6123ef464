//! The presets that the editor offers: those of the factory and the user's own.

use crate::{
    dsp::{SPECS, Settings},
    presets::{Error, Folder, Preset, ids},
};
use std::path::PathBuf;

/// The presets, and what is being typed about them.
#[derive(Default)]
pub struct Library {
    /// `None` for a user without a home.
    folder: Option<Folder>,
    factory: Vec<Preset>,
    own: Vec<String>,
    /// The name of the preset that the sound was last held against, and its settings, if there is one.
    known: Option<(String, Option<Settings>)>,
    /// A name to save under.
    pub name: String,
    /// A file to read or write.
    pub path: String,
    /// What came of it.
    pub message: String,
}

impl Library {
    /// The factory presets and those in `folder`.
    pub fn new(folder: Option<Folder>) -> Self {
        let factory = ids().filter_map(Preset::factory).collect();
        let mut library = Self { folder, factory, ..Self::default() };
        library.refresh();
        library
    }

    /// Looks for what other windows and programs have saved.
    pub fn refresh(&mut self) {
        self.own = self.folder.as_ref().map(Folder::names).unwrap_or_default();
        self.known = None;
    }

    /// The names of the factory presets.
    pub fn factory(&self) -> impl Iterator<Item = &str> {
        self.factory.iter().map(|preset| preset.name.as_str())
    }

    /// The names of the user's presets.
    pub fn own(&self) -> &[String] {
        &self.own
    }

    /// The preset `steps` after the one called `name`, in a circle.
    pub fn neighbour(&self, name: &str, steps: isize) -> Option<String> {
        let names: Vec<&str> = self.factory().chain(self.own.iter().map(String::as_str)).collect();
        let count = names.len() as isize;
        let now = names.iter().position(|own| *own == name).map_or(-steps.min(0), |at| at as isize);
        names.get((now + steps).rem_euclid(count.max(1)) as usize).map(|name| (*name).to_owned())
    }

    /// The preset called `name`; if there is none, `message` says why.
    pub fn load(&mut self, name: &str) -> Option<Preset> {
        let found = self.find(name);
        self.told(found).flatten()
    }

    fn find(&self, name: &str) -> Result<Option<Preset>, Error> {
        if let Some(preset) = self.factory.iter().find(|preset| preset.name == name) {
            return Ok(Some(preset.clone()));
        }
        self.folder.as_ref().map_or(Ok(None), |folder| folder.load(name))
    }

    /// Whether `settings` are no longer those of the preset called `name`. Whether it is bypassed does
    /// not matter.
    pub fn is_changed(&mut self, name: &str, settings: &Settings) -> bool {
        if self.known.as_ref().is_none_or(|(known, _)| known != name) {
            // Asked in every frame, so the disk is looked at once a name, and what a user was told stays.
            let found = self.find(name).ok().flatten().map(|preset| preset.settings);
            self.known = Some((name.to_owned(), found));
        }
        let known = self.known.as_ref().and_then(|(_, known)| known.as_ref());
        known.is_none_or(|known| !is_same(known, settings))
    }

    /// Saves `settings` under [`Library::name`]; the name it got.
    pub fn save(&mut self, settings: Settings) -> Option<String> {
        let folder = self.folder.as_ref()?;
        let preset = Preset::new(&self.name, Settings { bypass: false, ..settings });
        let saved = folder.save(&preset);
        let saved = self.told(saved)?;
        self.refresh();
        self.message = format!("Saved as {saved}");
        Some(saved)
    }

    /// Deletes the user's preset called `name`.
    pub fn delete(&mut self, name: &str) {
        let Some(folder) = &self.folder else { return };
        let deleted = folder.delete(name);
        if self.told(deleted).is_some() {
            self.refresh();
            self.message = format!("Deleted {name}");
        }
    }

    /// Reads the file at [`Library::path`].
    pub fn import(&mut self) -> Option<Preset> {
        let read = Preset::read(&PathBuf::from(self.path.trim()));
        let preset = self.told(read)?;
        self.message = format!("Imported {}", preset.name);
        self.known = Some((preset.name.clone(), Some(preset.settings)));
        Some(preset)
    }

    /// Writes `settings` as the preset called `name` to the file at [`Library::path`].
    pub fn export(&mut self, name: &str, settings: Settings) {
        let written = Preset::new(name, settings).write(&PathBuf::from(self.path.trim()));
        if self.told(written).is_some() {
            self.message = format!("Exported to {}", self.path.trim());
        }
    }

    /// Tells of an error, and leaves nothing behind of an earlier message.
    fn told<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        self.message.clear();
        result.map_err(|error| self.message = error.to_string()).ok()
    }
}

/// Whether two sounds differ by no more than a host loses of a number.
pub fn is_same(one: &Settings, other: &Settings) -> bool {
    let near = |spec: &crate::dsp::Spec| {
        let (one, other) = (spec.get(one), spec.get(other));
        (one - other).abs() <= 2e-6 * one.abs().max(1.0)
    };
    let mut levelled = Settings { bypass: one.bypass, ..*other };
    SPECS.iter().for_each(|spec| spec.set(&mut levelled, spec.get(one)));
    SPECS.iter().all(near) && levelled == *one
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn neighbours_go_in_a_circle() {
        let library = Library::new(None);
        let names: Vec<_> = library.factory().collect();
        assert!(names.len() >= 10);
        for (index, name) in names.iter().enumerate() {
            let next = names[(index + 1) % names.len()];
            assert_eq!(library.neighbour(name, 1).as_deref(), Some(next));
            assert_eq!(library.neighbour(next, -1).as_deref(), Some(*name));
        }
        assert!(library.neighbour("no such", 1).is_some());
    }

    #[test]
    fn a_change_is_noticed_and_a_host_s_rounding_is_not() {
        let mut library = Library::new(None);
        let settings = Settings::REFERENCE;
        assert!(!library.is_changed("Reference", &settings));
        let rounded = Settings { drive: 39.999_992, bypass: true, ..settings };
        assert!(!library.is_changed("Reference", &rounded));
        assert!(library.is_changed("Reference", &Settings { drive: 39.99, ..settings }));
        let muted = Settings { bands: settings.bands.with(3, false), ..settings };
        assert!(library.is_changed("Reference", &muted));
        assert!(library.is_changed("Subtle Edge", &settings));
        assert!(library.is_changed("gone", &settings));
    }

    #[test]
    fn the_user_s_presets_are_saved_imported_exported_and_deleted() {
        let home = tempfile::tempdir().unwrap();
        let mut library = Library::new(Some(Folder::new(home.path().join("presets"))));
        let settings = Settings { drive: 7.0, ..Settings::default() };
        library.name = " Mine/own ".to_owned();
        assert_eq!(library.save(settings).as_deref(), Some("Mine_own"));
        assert_eq!(library.own(), ["Mine_own"]);
        assert_eq!(library.load("Mine_own").unwrap().settings, settings);

        library.path = home.path().join("out.json").to_str().unwrap().to_owned();
        library.export("Out", settings);
        assert_eq!(library.import().unwrap(), Preset::new("Out", settings));
        library.delete("Mine_own");
        assert!(library.own().is_empty() && library.load("Mine_own").is_none());

        // Shown in every frame from now on: nothing is read, and the words stay.
        library.export("Out", settings);
        assert!(library.import().is_some());
        fs::write(home.path().join("presets").join("Out.json"), "no preset").unwrap();
        for _ in 0..2 {
            assert!(!library.is_changed("Out", &settings));
            assert_eq!(library.message, "Imported Out");
        }
        library.refresh();
        assert!(library.is_changed("Out", &settings));
        fs::write(home.path().join("presets").join("Out.json"), "{").unwrap();
        assert!(library.is_changed("Out", &settings) && library.message == "Imported Out");

        library.name = "Reference".to_owned();
        assert!(library.save(settings).is_none() && library.message.contains("no name"));
        library.path = home.path().join("gone.json").to_str().unwrap().to_owned();
        assert!(library.import().is_none() && library.message.contains("cannot be read"));
    }
}
