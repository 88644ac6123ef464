//! Files that appear when they are complete, or not at all.

use super::Error;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// A file on its way: it has a temporary name beside the target until [`Output::commit`], and is
/// removed if that never comes.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    file: NamedTempFile,
    force: bool,
}

impl Output {
    /// Starts a file that will be called `path`.
    ///
    /// # Errors
    /// When `path` is `input`, by whatever name; when it exists and `force` is not set; when it is not a
    /// regular file; when its folder cannot be written to.
    pub fn create(path: &Path, input: &Path, force: bool) -> Result<Self, Error> {
        if let Ok(existing) = fs::metadata(path) {
            if existing.is_dir() {
                return Err(Error::Folder(path.into()));
            }
            if fs::canonicalize(path).ok() == fs::canonicalize(input).ok() {
                return Err(Error::OverInput(path.into()));
            }
            if !existing.is_file() {
                return Err(Error::NotAFile(path.into()));
            }
        }
        if !force && path.symlink_metadata().is_ok() {
            return Err(Error::Exists(path.into()));
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            return Err(Error::NoFolder(path.into()));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".tone-filter-").suffix(".part");
        #[cfg(unix)]
        {
            // As any program's output: what the user's umask leaves of this. tempfile's own is 0600.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        match builder.tempfile_in(folder) {
            Ok(file) => Ok(Self { path: path.into(), file, force }),
            Err(error) => {
                // The error's own text tells the temporary name, which nobody knows.
                let source = error.kind().into();
                Err(Error::Write { path: path.into(), source })
            }
        }
    }

    /// Where to write.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// The name it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// When the system refuses, or when a file of that name has appeared meanwhile.
    pub fn commit(self) -> Result<(), Error> {
        let Self { path, file, force } = self;
        let persisted = if force { file.persist(&path) } else { file.persist_noclobber(&path) };
        match persisted {
            Ok(_) => Ok(()),
            Err(failed) if failed.error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(Error::Exists(path))
            }
            Err(failed) => Err(Error::Write { path, source: failed.error }),
        }
    }
}
