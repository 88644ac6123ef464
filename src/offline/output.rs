//! Files that appear when they are complete, or not at all.

use super::{Error, STDIO};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Seek},
    path::{Path, PathBuf},
    sync::Mutex,
    time::SystemTime,
};
use tempfile::NamedTempFile;

/// What temporary names begin with.
const PREFIX: &str = ".tone-filter-";

/// The temporary files that exist now, for whoever has to clean up after an interruption.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A file on its way: it has a temporary name beside the target until [`Output::commit`], and is
/// removed if that never comes.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    file: Destination,
    force: bool,
}

#[derive(Debug)]
enum Destination {
    Named(NamedTempFile),
    /// Standard output, which gets the file when it is complete.
    Stdout(File),
}

impl Output {
    /// Starts a file that will be called `path`; `-` is standard output. Its folder is made if it is missing.
    ///
    /// # Errors
    /// When `path` is `input`, by whatever name; when it exists and `force` is not set; when it is not a
    /// regular file; when its folder cannot be made or written to.
    pub fn create(path: &Path, input: &Path, force: bool) -> Result<Self, Error> {
        // The error's own text tells the temporary name, which nobody knows.
        let unwritable = |error: io::Error| Error::writing(path, error.kind().into());
        if path == Path::new(STDIO) {
            let file = Destination::Stdout(tempfile::tempfile().map_err(unwritable)?);
            return Ok(Self { path: path.into(), file, force });
        }
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
        fs::create_dir_all(folder).map_err(unwritable)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(".part");
        #[cfg(unix)]
        {
            // As any program's output: what the user's umask leaves of this. tempfile's own is 0600.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut unfinished = unfinished();
        let file = builder.tempfile_in(folder).map_err(unwritable)?;
        unfinished.insert(file.path().into());
        Ok(Self { path: path.into(), file: Destination::Named(file), force })
    }

    /// Where to write.
    pub fn file(&self) -> &File {
        match &self.file {
            Destination::Named(file) => file.as_file(),
            Destination::Stdout(file) => file,
        }
    }

    /// The name it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it look as old as `time`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_modified(&self, time: SystemTime) -> Result<(), Error> {
        let path = &self.path;
        self.file().set_modified(time).map_err(|source| Error::Write { path: path.clone(), source })
    }

    /// Gives the complete file its name, once all of it is on the disk: not even a power cut leaves half
    /// a file under a final name. Whoever reads standard output may have enough before the end, like `head`.
    ///
    /// # Errors
    /// When the system refuses, or when a file of that name has appeared meanwhile.
    pub fn commit(self) -> Result<(), Error> {
        let Self { path, file, force } = self;
        let write = |source| Error::Write { path: path.clone(), source };
        let file = match file {
            Destination::Named(file) => file,
            Destination::Stdout(mut file) => {
                let mut print = || {
                    file.rewind()?;
                    io::copy(&mut file, &mut io::stdout().lock())
                };
                return match print() {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(write(error)),
                    _ => Ok(()),
                };
            }
        };
        file.as_file().sync_all().map_err(write)?;
        let temporary = file.path().to_path_buf();
        let persisted = if force { file.persist(&path) } else { file.persist_noclobber(&path) };
        unfinished().remove(&temporary);
        match persisted {
            Ok(_) => Ok(()),
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(Error::Exists(path))
            }
            Err(failed) => Err(write(failed.error)),
        }
    }
}

/// Removes the temporary files and ends the program with exit code 130 when the user or the system
/// interrupts it (Ctrl-C, SIGTERM, SIGHUP).
///
/// # Errors
/// When the system refuses, or somebody else handles interruptions already.
pub fn clean_up_on_interrupt() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        // Whoever holds the lock on the way out starts no new file.
        let unfinished = unfinished();
        for path in unfinished.iter() {
            // It may be complete, and renamed, by now.
            drop(fs::remove_file(path));
        }
        std::process::exit(130);
    })
}

fn unfinished() -> std::sync::MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
