//! Presets that the user saves, as files in a folder. Another file there names the favourites, which may also be factory presets.

use super::{
    Error, LARGEST, Loaded, Preset,
    file_name::{file_name, folded},
    ids,
};
use directories::ProjectDirs;
use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Component, Path, PathBuf},
    time::{Duration, SystemTime},
};

/// Prefix of the names of temporary files.
const PART: &str = ".tone-filter-";

/// Age after which a temporary file counts as abandoned.
const STALE: Duration = Duration::from_secs(3600);

/// Name of the file with the favourites, a JSON array of the presets' names. It has no extension, so it does not count as a
/// preset.
const FAVOURITES: &str = "favourites";

/// Folder of presets, one file each. It is created when a preset or the favourites are saved.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    /// Returns the user's folder in the system's configuration directory; `None` for a user without a home directory.
    pub fn of_user() -> Option<Self> {
        let folders = ProjectDirs::from("", "", "tone-filter")?;
        Some(Self(folders.config_dir().join("presets")))
    }

    /// Creates a `Folder` for `path`, without access to the disk.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the path of the folder, which need not exist.
    pub fn location(&self) -> &Path {
        &self.0
    }

    /// Returns the file names of all presets, without `.json`, sorted regardless of case.
    pub fn names(&self) -> Vec<String> {
        let files = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let paths = files.map(|file| file.path());
        let is_preset = |path: &PathBuf| path.extension().is_some_and(|e| e == "json");
        let presets = paths.filter(|path| is_preset(path) && path.is_file());
        let mut names: Vec<String> =
            presets.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
        names.sort_unstable_by_key(|name| name.to_lowercase());
        names
    }

    /// Returns the preset with the file name or the display name `name`, if there is one. Ignores case and accents unless a file
    /// has exactly this name. Blanks, dots, hyphens, underscores, and characters forbidden in file names, count as equal.
    ///
    /// # Errors
    /// If the file cannot be read or is not a valid preset.
    pub fn find(&self, name: &str) -> Result<Option<Loaded>, Error> {
        if let Some(loaded) = self.load(name)? {
            return Ok(Some(loaded));
        }
        let id = |name: &str| folded(&file_name(name)).replace([' ', '.', '_'], "-");
        let wanted = id(name);
        let mut files = self.names().into_iter();
        files
            .find(|file| {
                // Broken files have no display name.
                let shown = || self.load(file).ok().flatten().map(|loaded| id(&loaded.preset.name));
                id(file) == wanted || shown().is_some_and(|shown| shown == wanted)
            })
            .map_or(Ok(None), |file| self.load(&file))
    }

    /// Returns the preset with the file name `name`, without `.json`, if there is one.
    ///
    /// # Errors
    /// If the file cannot be read or is not a valid preset.
    pub fn load(&self, name: &str) -> Result<Option<Loaded>, Error> {
        // Opens only regular files: opening a pipe would block.
        let path = self.path(name).filter(|path| path.is_file());
        path.map(|path| Preset::read(&path)).transpose()
    }

    /// Saves `preset`, and replaces a preset with this name. Returns the name of the file without `.json`: characters that are
    /// forbidden in file names are replaced, and a long name is shortened.
    ///
    /// # Errors
    /// If the name is empty or belongs to a factory preset, or the file cannot be written. Then nothing changes.
    pub fn save(&self, preset: &Preset) -> Result<String, Error> {
        let name = file_name(&preset.name);
        let id = name.to_lowercase().replace(' ', "-");
        if name.is_empty() || ids().any(|known| known == id) {
            return Err(Error::Name { name: preset.name.clone() });
        }
        let path = self.0.join(name.clone() + ".json");
        self.sweep();
        fs::create_dir_all(&self.0)
            .and_then(|()| write(&path, &Preset { name: name.clone(), ..preset.clone() }.to_json()))
            .map_err(|source| Error::Write { path, source })?;
        Ok(name)
    }

    /// Returns the name of the preset that would be replaced if a preset called `name` were saved; `None` if there is none.
    pub fn replaced_by(&self, name: &str) -> Option<String> {
        // Checks the disk, because some systems ignore case.
        let name = file_name(name);
        fs::symlink_metadata(self.path(&name)?).is_ok().then_some(name)
    }

    /// Deletes the preset with the file name `name`, without `.json`.
    ///
    /// # Errors
    /// If there is no such preset, or its file cannot be deleted.
    pub fn delete(&self, name: &str) -> Result<(), Error> {
        let path = self.path(name).ok_or_else(|| Error::Name { name: name.into() })?;
        fs::remove_file(&path).map_err(|source| Error::Write { path, source })
    }

    /// Returns the names of the favourites; none if the file does not exist.
    ///
    /// # Errors
    /// If the file cannot be read or is not a list of names.
    pub fn favourites(&self) -> Result<BTreeSet<String>, Error> {
        let path = self.favourites_path();
        if !path.exists() {
            return Ok(BTreeSet::new());
        }
        read_names(&path).map_err(|source| Error::Read { path, source })
    }

    /// Replaces the favourites by the presets called `names`.
    ///
    /// # Errors
    /// If the file cannot be written. Then nothing changes.
    pub fn set_favourites(&self, names: &BTreeSet<String>) -> Result<(), Error> {
        let path = self.favourites_path();
        fs::create_dir_all(self.location())
            .and_then(|()| write(&path, &serde_json::to_string(names)?))
            .map_err(|source| Error::Write { path, source })
    }

    fn favourites_path(&self) -> PathBuf {
        self.location().join(FAVOURITES)
    }

    /// Deletes old temporary files of processes that were killed.
    fn sweep(&self) {
        let stale = |file: &fs::DirEntry| {
            let modified = file.metadata().and_then(|metadata| metadata.modified());
            let age = modified.ok().and_then(|then| SystemTime::now().duration_since(then).ok());
            age.is_some_and(|age| age > STALE)
        };
        let is_part = |file: &fs::DirEntry| {
            let has_prefix = file.file_name().to_string_lossy().starts_with(PART);
            has_prefix && file.path().extension().is_none()
        };
        for file in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            if is_part(&file) && stale(&file) {
                // A file that cannot be deleted does no harm.
                let _ = fs::remove_file(file.path());
            }
        }
    }

    /// Returns the path of the preset with the file name `name`, without `.json`; `None` if `name` is not a valid file name.
    fn path(&self, name: &str) -> Option<PathBuf> {
        let is_stream = cfg!(windows) && name.contains(':');
        let is_file = Path::new(name).components().eq([Component::Normal(name.as_ref())]);
        (is_file && !is_stream).then(|| self.0.join(format!("{name}.json")))
    }
}

fn read_names(path: &Path) -> io::Result<BTreeSet<String>> {
    // Checked first, as opening a pipe would block.
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Err(io::Error::other("it is no list of names"));
    }
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

/// Writes `text` to the file at `path` atomically: no reader ever sees an incomplete file.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let mut new = tempfile::Builder::new();
    #[cfg(unix)]
    new.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = new.prefix(PART).tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tone_filter_dsp::Settings;

    fn preset(name: &str, mix: f32) -> Preset {
        Preset::new(name, Settings { mix, ..Settings::default() })
    }

    #[test]
    fn presets_are_saved_listed_loaded_replaced_and_deleted() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path().join("not/yet/there"));
        assert!(folder.names().is_empty());
        assert_eq!(folder.load("Mine").unwrap(), None);

        for (name, mix) in [("zither", 1.0), ("Mine", 2.0), ("Mine", 3.0)] {
            assert_eq!(folder.replaced_by(name).as_deref(), (mix == 3.0).then_some("Mine"));
            assert_eq!(folder.save(&preset(name, mix)).unwrap(), name);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path| fs::metadata(path).unwrap().permissions().mode();
            fs::write(home.path().join("plain"), "").unwrap();
            assert_eq!(mode(folder.path("Mine").unwrap()), mode(home.path().join("plain")));
        }
        assert_eq!(folder.names(), ["Mine", "zither"]);
        assert_eq!(folder.replaced_by("new"), None);
        assert_eq!(folder.load("Mine").unwrap(), Some(preset("Mine", 3.0).into()));
        let (description, tags) = ("For me.".into(), vec!["soft".into()]);
        let described = Preset { description, tags, ..preset("Mine", 3.0) };
        folder.save(&described).unwrap();
        assert_eq!(folder.load("Mine").unwrap(), Some(described.into()));

        folder.delete("Mine").unwrap();
        assert_eq!(folder.names(), ["zither"]);
        assert!(matches!(folder.delete("Mine"), Err(Error::Write { .. })));
    }

    #[test]
    fn presets_are_found_by_file_and_by_name_in_any_spelling() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path());
        folder.save(&preset("Other Name", 1.0)).unwrap();
        preset("My Pad", 2.0).write(&home.path().join("own.json")).unwrap();
        folder.save(&preset("Lead v1.2", 3.0)).unwrap();
        folder.save(&preset("AC/DC 🎸", 4.0)).unwrap();
        // The name that a Mac gives to Älter, and characters that this program does not write.
        preset("A", 5.0).write(&home.path().join("A\u{308}lter .json")).unwrap();
        assert_eq!(folder.names(), ["AC_DC 🎸", "A\u{308}lter ", "Lead v1.2", "Other Name", "own"]);
        fs::write(home.path().join("broken.json"), "{").unwrap();
        for (wanted, mix) in [
            ("Other Name", 1.0),
            ("other-name", 1.0),
            ("own", 2.0),
            ("My Pad", 2.0),
            ("my-pad", 2.0),
            ("Lead v1.2", 3.0),
            ("lead V1_2", 3.0),
            ("AC/DC 🎸", 4.0),
            ("äLTER", 5.0),
            ("A\u{308}lter ", 5.0),
        ] {
            let found = folder.find(wanted).unwrap();
            assert_eq!(found.map(|found| found.preset.settings.mix), Some(mix), "{wanted}");
        }
        assert_eq!(folder.find("none").unwrap(), None);
        folder.find("broken").unwrap_err();
    }

    #[test]
    fn invalid_names_are_refused_and_invalid_presets_are_reported() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path());
        for name in ["", "  ", "Reference", "sound chip", "Extreme-8-bit"] {
            let error = folder.save(&preset(name, 1.0)).unwrap_err();
            assert!(matches!(error, Error::Name { .. }), "{name}: {error}");
        }
        assert!(folder.names().is_empty());

        fs::write(home.path().join("broken.json"), "{").unwrap();
        let error = folder.load("broken").unwrap_err().to_string();
        assert!(error.contains("broken.json: not a preset"), "{error}");

        fs::write(home.path().join("file"), "").unwrap();
        let folder = Folder::new(home.path().join("file"));
        assert!(matches!(folder.save(&preset("x", 1.0)), Err(Error::Write { .. })));
    }

    #[test]
    fn temporary_files_are_deleted_when_they_are_old() {
        let home = tempfile::tempdir().unwrap();
        let (old, new) = (home.path().join(".tone-filter-a1"), home.path().join(".tone-filter-b2"));
        fs::write(&new, "{").unwrap();
        let hours_ago = SystemTime::now() - Duration::from_secs(7200);
        fs::File::create(&old).unwrap().set_modified(hours_ago).unwrap();
        Folder::new(home.path()).save(&preset("mine", 1.0)).unwrap();
        assert!(!old.exists() && new.exists(), "the new one may still be in use");
    }

    #[test]
    fn only_regular_files_of_limited_size_are_read() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path());
        #[cfg(unix)]
        assert!(
            std::process::Command::new("mkfifo")
                .arg(home.path().join("pipe.json"))
                .status()
                .unwrap()
                .success()
        );
        fs::create_dir(home.path().join("folder.json")).unwrap();
        assert!(folder.names().is_empty());
        assert_eq!((folder.load("pipe").unwrap(), folder.load("folder").unwrap()), (None, None));
        // A preset with blanks in front: as large as allowed, and one byte larger.
        let json = preset("large", 1.0).to_json();
        for length in [LARGEST as usize, LARGEST as usize + 1] {
            let text = " ".repeat(length - json.len()) + &json;
            fs::write(home.path().join("large.json"), text).unwrap();
            let error = folder.load("large").map_err(|error| error.to_string()).err();
            let is_large = error.is_some_and(|error| error.contains("larger than 1 MB"));
            assert_eq!(is_large, length > LARGEST as usize, "{length} bytes");
        }
    }

    /// Runs the test in a process of its own, whose environment sets the home directory.
    #[cfg(unix)]
    #[test]
    fn a_user_s_preset_is_saved_in_the_home_directory_and_found() {
        const HOME: &str = "TONE_FILTER_TEST_HOME";
        if std::env::var_os(HOME).is_some() {
            Folder::of_user().expect("a home directory").save(&preset("Mine", 1.0)).unwrap();
            assert_eq!(Preset::find("mine").unwrap().preset, preset("Mine", 1.0));
            return;
        }
        let home = tempfile::tempdir().unwrap();
        let mut test = std::process::Command::new(std::env::current_exe().unwrap());
        test.arg("a_user_s_preset_is_saved").envs([HOME, "HOME"].map(|name| (name, home.path())));
        let output = test.env_remove("XDG_CONFIG_HOME").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert!(fs::read_dir(home.path()).unwrap().next().is_some(), "nothing was saved there");
    }

    #[test]
    fn a_link_in_the_folder_is_replaced_and_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path().join("presets"));
        folder.save(&preset("mine", 1.0)).unwrap();
        let outside = home.path().join("outside");
        fs::write(&outside, "of somebody else").unwrap();
        let link = home.path().join("presets/link.json");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        #[cfg(not(unix))]
        fs::hard_link(&outside, &link).unwrap();
        folder.save(&preset("link", 2.0)).unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "of somebody else");
        assert_eq!(folder.load("link").unwrap(), Some(preset("link", 2.0).into()));
    }

    #[test]
    fn favourites_are_kept_and_a_damaged_file_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path().join("not/yet/there"));
        assert!(folder.favourites().unwrap().is_empty());
        let names = BTreeSet::from(["Lead \"Only\"".to_owned(), "Älter".to_owned()]);
        folder.set_favourites(&names).unwrap();
        assert_eq!(folder.favourites().unwrap(), names);
        assert!(folder.names().is_empty());
        let path = folder.location().join(FAVOURITES);
        for damaged in ["", "{}", "[1]", "[\"half"] {
            fs::write(&path, damaged).unwrap();
            let error = folder.favourites().unwrap_err().to_string();
            assert!(error.contains("favourites: cannot be read"), "{error}");
        }
        // A list with blanks in front: as large as allowed, and one byte larger.
        for (length, is_read) in [(LARGEST as usize, true), (LARGEST as usize + 1, false)] {
            let list = r#"["Mine"]"#;
            fs::write(&path, " ".repeat(length - list.len()) + list).unwrap();
            assert_eq!(folder.favourites().is_ok(), is_read, "{length} bytes");
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(folder.favourites().is_err() && folder.set_favourites(&names).is_err());
    }
}
