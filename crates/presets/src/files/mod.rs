//! Presets in files: at a path, or in the user's folder.

mod file_name;
mod user;

pub use file_name::{file_name, folded};
pub use user::Folder;

use super::{FormatError, Loaded, Preset, ids};
use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};
use thiserror::Error;

/// Maximum size in bytes of a file that is read; presets are far smaller.
const LARGEST: u64 = 1 << 20;

/// Reason why a preset cannot be loaded, saved or deleted, or the list of favourites read or written.
#[derive(Debug, Error)]
pub enum Error {
    /// Neither a factory preset nor a user preset has this name.
    #[error("no preset is called {name:?}; {}there are {}, or give a path like ./{name}.json", suggestion(name), ids().collect::<Vec<_>>().join(", "))]
    Unknown {
        /// Name as requested.
        name: String,
    },
    /// The file of a preset or of the favourites cannot be read.
    #[error("{}: cannot be read ({source}); check the name and the permissions", .path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Cause, as the system reports it.
        source: io::Error,
    },
    /// The file of a preset or of the favourites cannot be written, or a preset's file cannot be deleted.
    #[error("{}: cannot be changed ({source}); check the folder and its permissions", .path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// Cause, as the system reports it.
        source: io::Error,
    },
    /// A user preset cannot have this name.
    #[error("{name:?} is no name for a user preset; choose one that no factory preset has")]
    Name {
        /// Name as requested.
        name: String,
    },
    /// The preset's file is not a valid preset.
    #[error("{}: {source}", .path.display())]
    Format {
        /// Path of the preset's file.
        path: PathBuf,
        /// Fault in the content of the file.
        source: FormatError,
    },
}

/// Returns a hint with the id of the most similar factory preset; empty if none is similar.
fn suggestion(name: &str) -> String {
    let wanted = name.to_lowercase().replace(' ', "-");
    let likeness = |id: &str| strsim::jaro_winkler(&wanted, id);
    let nearest = ids().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let near = nearest.filter(|id| likeness(id) > 0.8);
    near.map_or_else(String::new, |id| format!("did you mean {id}? Else "))
}

impl Preset {
    /// Returns the preset called `name`. Tries, in this order: a factory preset with this id or name; an existing file at the
    /// path `name`, if `name` contains a path separator or ends in `.json`; a user preset with this name.
    ///
    /// # Errors
    /// If there is no such preset, or its file cannot be read or is invalid.
    pub fn find(name: &str) -> Result<Loaded, Error> {
        if let Some(preset) = Self::factory(&name.to_lowercase().replace(' ', "-")) {
            return Ok(preset.into());
        }
        let path = Path::new(name);
        let is_path =
            name.contains(std::path::is_separator) || path.extension().is_some_and(|e| e == "json");
        if is_path && path.exists() {
            return Self::read(path);
        }
        let of_user = Folder::of_user().map(|folder| folder.find(name)).transpose()?.flatten();
        match of_user {
            Some(of_user) => Ok(of_user),
            None if is_path => Self::read(path),
            None => Err(Error::Unknown { name: name.into() }),
        }
    }

    /// Reads the preset file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read or is not a valid preset.
    pub fn read(path: &Path) -> Result<Loaded, Error> {
        let mut json = String::new();
        File::open(path)
            .and_then(|file| file.take(LARGEST + 1).read_to_string(&mut json))
            .and_then(|bytes| match bytes as u64 > LARGEST {
                true => Err(io::Error::other("it is larger than 1 MB")),
                false => Ok(()),
            })
            .map_err(|source| Error::Read { path: path.into(), source })?;
        Self::from_json(&json).map_err(|source| Error::Format { path: path.into(), source })
    }

    /// Writes the preset to the file at `path`, and replaces an existing file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        user::write(path, &self.to_json())
            .map_err(|source| Error::Write { path: path.into(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factory_presets_are_found_by_id_and_by_name() {
        for id in ids() {
            let preset = Preset::factory(id).unwrap();
            for name in [id, &preset.name] {
                assert_eq!(Preset::find(name).unwrap().preset, preset);
            }
        }
    }

    #[test]
    fn a_misspelt_preset_is_suggested() {
        for (name, wanted) in [
            ("extrem-8-bit", "extreme-8-bit"),
            ("Sound Chp", "sound-chip"),
            ("gameboy", "game-boy"),
            ("referense", "reference"),
        ] {
            let error = Preset::find(name).unwrap_err().to_string();
            assert!(
                error.contains(&format!("; did you mean {wanted}? Else there are ")),
                "{error}"
            );
        }
        let error = Preset::find("bagpipe").unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }

    #[test]
    fn only_paths_are_looked_for_on_the_disk() {
        for name in ["", "..", "no-such", "presets"] {
            let error = Preset::find(name).unwrap_err();
            assert!(matches!(error, Error::Unknown { .. }), "{name}: {error}");
        }
        for path in ["./no-such", "no-such.json", "../no-such"] {
            let error = Preset::find(path).unwrap_err();
            assert!(matches!(&error, Error::Read { path: p, .. } if p == Path::new(path)));
        }
    }
}
