//! List of the factory presets and the user's presets: search, favourites, loading and saving.

use crate::params::Keep;
use plugin_guard::PresetInfo;
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
};
use tone_filter_dsp::{SPECS, Settings, Spec};
use tone_filter_presets::{Error, Folder, Loaded, Preset, folded, ids};

pub fn info(Preset { name, description, tags, .. }: Preset) -> PresetInfo {
    PresetInfo { name, description, tags }
}

/// Returns the title of the preset's group in the list: its first tag, capitalised; `None` without a tag.
fn category(preset: &PresetInfo) -> Option<String> {
    let mut tag = preset.tags.first()?.chars();
    Some(tag.next()?.to_uppercase().chain(tag).collect())
}

/// Whether each word of `search` occurs in the name, the description or a tag, in small or capital letters.
fn matches(PresetInfo { name, description, tags }: &PresetInfo, search: &str) -> bool {
    let text = folded(&format!("{name} {description} {}", tags.join(" ")));
    folded(search).split_whitespace().all(|word| text.contains(word))
}

/// List of the factory presets and the user's presets, with the user's favourites.
#[derive(Default)]
pub struct PresetList {
    /// Folder of the user's presets; `None` for a user without a home directory.
    folder: Option<Folder>,
    factory: Vec<Preset>,
    /// The factory presets, then the user's.
    pub entries: Vec<PresetInfo>,
    favourites: BTreeSet<String>,
    /// Names of presets that were last loaded from the list or saved in it, and not from a file elsewhere.
    listed: BTreeSet<String>,
    /// Name and settings of the preset that was last loaded or compared by [`PresetList::is_changed`]; without settings if it is
    /// missing.
    compared: Option<(String, Option<Settings>)>,
    /// Message about the last action; empty once the window has taken it.
    pub message: String,
}

impl PresetList {
    pub fn new(folder: Option<Folder>) -> Self {
        let factory: Vec<_> = ids().filter_map(Preset::factory).collect();
        let entries = factory.iter().cloned().map(info).collect();
        let mut presets = Self { folder, entries, factory, ..Self::default() };
        presets.refresh();
        presets
    }

    /// Reads the folder again, as other windows and programs may have saved presets.
    pub fn refresh(&mut self) {
        self.compared = None;
        self.entries.truncate(self.factory.len());
        let Some(folder) = &self.folder else { return };
        match folder.favourites() {
            Ok(favourites) => self.favourites = favourites,
            Err(error) => self.message = error.to_string(),
        }
        self.entries.extend(folder.names().into_iter().map(|name| {
            // An invalid preset is listed as well: loading it reports the error.
            let loaded = folder.load(&name).ok().flatten();
            let loaded = loaded.map(|loaded| info(loaded.preset)).unwrap_or_default();
            PresetInfo { name, ..loaded }
        }));
    }

    /// Returns the presets that `search` finds, in groups with titles: the favourites, a group for each category, and presets
    /// without a category. A favourite is in the first group only.
    pub fn search(&self, search: &str) -> Vec<(String, Vec<PresetInfo>)> {
        let mut groups: BTreeMap<_, Vec<PresetInfo>> = BTreeMap::new();
        for entry in self.entries.iter().filter(|entry| matches(entry, search)) {
            let group = match category(entry) {
                _ if self.is_favourite(&entry.name) => (0, "Favourites".to_owned()),
                Some(category) => (1, category),
                None => (2, "Your own".to_owned()),
            };
            groups.entry(group).or_default().push(entry.clone());
        }
        groups.into_iter().map(|((_, title), entries)| (title, entries)).collect()
    }

    pub fn is_favourite(&self, name: &str) -> bool {
        self.favourites.contains(name)
    }

    /// Adds the preset called `name` to the favourites or removes it, and saves them. Shows an error in `message`.
    pub fn toggle_favourite(&mut self, name: &str) {
        let Some(folder) = &self.folder else {
            "There is no home directory to keep favourites in".clone_into(&mut self.message);
            return;
        };
        // Other windows may have changed them.
        let toggled = folder.favourites().and_then(|mut favourites| {
            if !favourites.remove(name) {
                favourites.insert(name.to_owned());
            }
            folder.set_favourites(&favourites).map(|()| favourites)
        });
        if let Some(favourites) = self.report(toggled) {
            self.favourites = favourites;
        }
    }

    /// Whether saving as `name` replaces no preset that the user has not loaded or saved before.
    pub fn is_listed(&self, name: &str) -> bool {
        self.listed.contains(name)
    }

    pub fn is_user_preset(&self, name: &str) -> bool {
        self.entries[self.factory.len()..].iter().any(|entry| entry.name == name)
    }

    /// Returns the preset `steps` places after `name`; the list wraps around. An unknown `name` counts as the first preset.
    pub fn neighbour(&self, name: &str, steps: isize) -> Option<String> {
        let count = self.entries.len() as isize;
        let now = self.entries.iter().position(|entry| entry.name == name).unwrap_or(0) as isize;
        let next = self.entries.get((now + steps).rem_euclid(count.max(1)) as usize);
        next.map(|entry| entry.name.clone())
    }

    /// Returns the preset called `name`. Shows an error or a warning in `message`.
    pub fn load(&mut self, name: &str) -> Option<Preset> {
        let found = self.find(name);
        let loaded = self.report(found).flatten()?;
        let preset = self.accept(name, loaded);
        self.listed.insert(name.to_owned());
        Some(preset)
    }

    fn find(&self, name: &str) -> Result<Option<Loaded>, Error> {
        if let Some(preset) = self.factory.iter().find(|preset| preset.name == name) {
            return Ok(Some(preset.clone().into()));
        }
        self.folder.as_ref().map_or(Ok(None), |folder| folder.load(name))
    }

    /// Whether the preset called `name` differs from `settings`, apart from those that `keep` keeps; true if it is missing.
    pub fn is_changed(&mut self, name: &str, settings: &Settings, keep: Keep) -> bool {
        if self.compared.as_ref().is_none_or(|(compared, _)| compared != name) {
            // Called in every frame, so it reads a preset from disk only once, and does not report an error in `message`.
            let found = self.find(name).ok().flatten().map(|loaded| loaded.preset.settings);
            self.compared = Some((name.to_owned(), found));
        }
        let preset = self.compared.as_ref().and_then(|(_, preset)| preset.as_ref());
        preset.is_none_or(|preset| !is_same(&loaded(preset, settings, keep), settings))
    }

    /// Returns the name of the user's preset that saving as `name` would replace.
    pub fn replaced_by(&self, name: &str) -> Option<String> {
        self.folder.as_ref()?.replaced_by(name)
    }

    /// Saves `settings` as the user's preset `name`. Returns the name after replacing characters that are invalid in file
    /// names; `None` after an error. Shows the result in `message`. Description and tags of a replaced preset stay.
    pub fn save(&mut self, name: &str, settings: Settings) -> Option<String> {
        let Some(folder) = &self.folder else {
            "There is no home directory to save presets in".clone_into(&mut self.message);
            return None;
        };
        let old = folder.replaced_by(name).and_then(|name| folder.load(&name).ok().flatten());
        let preset = described(name, settings, old);
        let saved = folder.save(&preset);
        let saved = self.report(saved)?;
        self.refresh();
        self.listed.insert(saved.clone());
        self.message = format!("Saved as {saved}");
        Some(saved)
    }

    /// Deletes the user's preset called `name`. Shows the result in `message`.
    pub fn delete(&mut self, name: &str) {
        let Some(folder) = &self.folder else { return };
        let deleted = folder.delete(name);
        if self.report(deleted).is_some() {
            self.refresh();
            self.message = format!("Deleted {name}");
        }
    }

    /// Returns the preset in the file at `path`; `None` after an error. Shows the result in `message`.
    pub fn import(&mut self, path: &Path) -> Option<Preset> {
        let read = Preset::read(path);
        let loaded = self.report(read)?;
        let name = loaded.preset.name.clone();
        self.message = format!("Imported {name}");
        Some(self.accept(&name, loaded))
    }

    /// Remembers a preset from a file for [`PresetList::is_changed`], and returns it. Shows its warning in `message`.
    pub fn accept(&mut self, name: &str, Loaded { preset, warning }: Loaded) -> Preset {
        self.compared = Some((name.to_owned(), Some(preset.settings)));
        self.listed.remove(name);
        if let Some(warning) = warning {
            self.message = format!("{name}: {warning}");
        }
        preset
    }

    /// Writes `settings` as the preset called `name`, with its description and tags, to the file at `path`. Shows the result in
    /// `message`.
    pub fn export(&mut self, name: &str, settings: Settings, path: &Path) {
        let preset = described(name, settings, self.find(name).ok().flatten());
        let written = preset.write(path);
        if self.report(written).is_some() {
            self.message = format!("Exported to {}", path.display());
        }
    }

    /// Returns the value of `result`; `None` after an error. Sets `message` to the error, or clears it.
    fn report<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        self.message.clear();
        result.map_err(|error| self.message = error.to_string()).ok()
    }
}

/// Returns the preset called `name`, with the description and tags of `old`.
fn described(name: &str, settings: Settings, old: Option<Loaded>) -> Preset {
    let mut preset = Preset::new(name, settings);
    if let Some(Loaded { preset: old, .. }) = old {
        (preset.description, preset.tags) = (old.description, old.tags);
    }
    preset
}

/// Returns the settings of `preset`, with the settings that `keep` keeps taken from `now`.
pub fn loaded(preset: &Settings, now: &Settings, keep: Keep) -> Settings {
    let mut settings = *preset;
    if keep.scale {
        (settings.root, settings.scale, settings.custom) = (now.root, now.scale, now.custom);
        (settings.map, settings.targets) = (now.map, now.targets);
    }
    if keep.tuning {
        (settings.tuning, settings.transpose) = (now.tuning, now.transpose);
        settings.auto_tuning = now.auto_tuning;
    }
    settings
}

/// Returns the preset in the file at `path`. A preset in the user's folder is named after its file, as in the editor.
///
/// # Errors
/// If the file cannot be read, or the preset is invalid.
pub fn read_preset(path: &Path) -> Result<Loaded, Error> {
    if path.exists() && !path.is_file() {
        // Opening a pipe would block.
        let source = io::Error::other("it is not a file");
        return Err(Error::Read { path: path.into(), source });
    }
    let mut loaded = Preset::read(path)?;
    let folder = Folder::of_user();
    if folder.is_some_and(|folder| path.parent() == Some(folder.location()))
        && let Some(name) = path.file_stem().and_then(|stem| stem.to_str())
    {
        loaded.preset.name = name.to_owned();
    }
    Ok(loaded)
}

/// Whether two sounds are equal, within the rounding of a host's normalised `f32` values.
pub fn is_same(one: &Settings, other: &Settings) -> bool {
    let near = |spec: &Spec| {
        let (one, other) = (spec.get(one), spec.get(other));
        (one - other).abs() <= 2e-6 * one.abs().max(1.0)
    };
    // All settings but the numbers must be equal.
    let mut rest = *other;
    SPECS.iter().for_each(|spec| spec.set(&mut rest, spec.get(one)));
    SPECS.iter().all(near) && rest == *one
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tone_filter_dsp::{BandMask, CHOICES, Controls, PitchClass, PitchClasses, Targets};
    use tone_filter_presets::settings;

    #[test]
    fn rounding_by_the_host_is_not_a_change() {
        let mut presets = PresetList::new(None);
        let settings = Settings::REFERENCE;
        for (name, now, changed) in [
            ("Reference", settings, false),
            ("Reference", Settings { drive: 39.999_992, ..settings }, false),
            ("Reference", Settings { drive: 39.99, ..settings }, true),
            ("Reference", Settings { bands: settings.bands.with(3, false), ..settings }, true),
            ("Subtle Edge", settings, true),
            ("missing", settings, true),
        ] {
            assert_eq!(presets.is_changed(name, &now, Keep::default()), changed, "{name} {now:?}");
        }
    }

    #[test]
    fn the_comparison_of_every_frame_reads_no_file() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("presets");
        let mut presets = PresetList::new(Some(Folder::new(folder.clone())));
        let settings = Settings { drive: 7.0, ..Settings::default() };
        assert_eq!(presets.save(" Mine/own ", settings).as_deref(), Some("Mine_own"));
        let path = home.path().join("out.json");
        presets.export("Out", settings, &path);
        assert!(presets.import(&path).is_some());
        fs::write(folder.join("Out.json"), "no preset").unwrap();
        for _ in 0..2 {
            assert!(!presets.is_changed("Out", &settings, Keep::default()));
            assert_eq!(presets.message, "Imported Out");
        }
        presets.refresh();
        assert!(presets.is_changed("Out", &settings, Keep::default()));
        assert_eq!(presets.message, "Imported Out");
    }

    #[test]
    fn keeping_leaves_scale_or_tuning_unchanged() {
        // Two sounds that differ in every setting.
        let sound = |end: bool| {
            let mut controls = Controls::default();
            for choice in &CHOICES {
                choice.set(&mut controls, if end { choice.entries.len() - 1 } else { 0 });
            }
            let mut settings = controls.settings;
            let limit = |spec: &Spec| if end { spec.max } else { spec.min };
            SPECS.iter().for_each(|spec| spec.set(&mut settings, limit(spec)));
            settings.bands = BandMask::ALL.with(5, end);
            settings.custom = PitchClasses::ALL.with(5, end);
            settings.targets = Targets::IDENTITY.with(5, PitchClass::new(usize::from(end)));
            settings
        };
        let (preset, now) = (sound(true), sound(false));
        for (scale, tuning) in [(false, false), (true, false), (false, true), (true, true)] {
            let loaded = loaded(&preset, &now, Keep { scale, tuning });
            let [loaded, preset, now] = [loaded, preset, now].map(|settings| {
                settings::serialize(&settings, serde_json::value::Serializer).unwrap()
            });
            for (id, value) in loaded.as_object().unwrap() {
                let kept = match id.as_str() {
                    "root" | "scale" | "custom" | "map" | "targets" => scale,
                    "tuning" | "auto-tuning" | "transpose" => tuning,
                    _ => false,
                };
                assert_ne!(preset[id], now[id], "{id}");
                assert_eq!(value, if kept { &now[id] } else { &preset[id] }, "{id}");
            }
        }
    }
}
