//! Favourites: the presets that the user has marked, in a file of the user's folder.

use super::{Error, Folder, LARGEST, user::write};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// Name of the file, a JSON array of names. The name lacks the extension of presets, so that the file does not count as a
/// preset.
const FILE: &str = "favourites";

impl Folder {
    /// Returns the names of the favourites; none if the file does not exist.
    ///
    /// # Errors
    /// If the file cannot be read or is not a list of names.
    pub fn favourites(&self) -> Result<BTreeSet<String>, Error> {
        let path = self.favourites_path();
        if !path.exists() {
            return Ok(BTreeSet::new());
        }
        read(&path).map_err(|source| Error::Read { path, source })
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
        self.location().join(FILE)
    }
}

fn read(path: &Path) -> io::Result<BTreeSet<String>> {
    // Checked first, as opening a pipe would block.
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return Err(io::Error::other("it is no list of names"));
    }
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn favourites_are_kept_and_are_no_preset_and_a_damaged_file_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path().join("not/yet/there"));
        assert!(folder.favourites().unwrap().is_empty());
        let names = BTreeSet::from(["Lead \"Only\"".to_owned(), "Älter".to_owned()]);
        folder.set_favourites(&names).unwrap();
        assert_eq!(folder.favourites().unwrap(), names);
        assert!(folder.names().is_empty());
        let path = folder.location().join(FILE);
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
