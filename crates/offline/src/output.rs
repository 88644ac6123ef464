//! Output files that appear under their final name only when they are complete.

use super::{Error, STDIO};
use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io::{self, Seek},
    iter::successors,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};
use tempfile::NamedTempFile;

/// Prefix of temporary file names.
const PREFIX: &str = ".tone-filter-";
/// Suffix of temporary file names.
const SUFFIX: &str = ".part";

/// Temporary files that exist now and must be removed after an interruption.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Folders in which [`sweep`] has removed old temporary files.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Output file. It has a temporary name beside the target until [`Output::commit`], and is removed if it is dropped before.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    /// Final file: `path`, or the target of the links at `path`.
    target: PathBuf,
    file: Destination,
    force: bool,
}

#[derive(Debug)]
enum Destination {
    Named(NamedTempFile),
    /// Temporary file, which is copied to standard output when it is complete.
    Stdout(File),
}

impl Output {
    /// Creates the temporary file of an output that will be called `path`; `-` is standard output. Creates a missing folder.
    ///
    /// # Errors
    /// If `path` is a folder or not a regular file; if it is `input`, under any name; if it exists and `force` is not set; if its
    /// folder cannot be created or written to.
    pub fn create(path: &Path, input: &Path, force: bool) -> Result<Self, Error> {
        // The error's own text has the temporary name, which no user knows.
        let unwritable = |error: io::Error| Error::writing(path, error.kind().into());
        if path == Path::new(STDIO) {
            let file = Destination::Stdout(tempfile::tempfile().map_err(unwritable)?);
            return Ok(Self { path: path.into(), target: path.into(), file, force });
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
        let next = |link: &PathBuf| Some(link.with_file_name(fs::read_link(link).ok()?));
        // Follows at most 40 links, like Linux.
        let target = successors(Some(path.to_path_buf()), next).take(40).last();
        let target = target.expect("the path itself is one");
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder).map_err(unwritable)?;
        if locked(&SWEPT).insert(folder.into()) {
            sweep(folder);
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        let mut unfinished = locked(&UNFINISHED);
        let file = builder.make_in(folder, create_locked).map_err(unwritable)?;
        unfinished.insert(file.path().into());
        Ok(Self { path: path.into(), target, file: Destination::Named(file), force })
    }

    /// Returns the temporary file, to write to.
    pub fn file(&self) -> &File {
        match &self.file {
            Destination::Named(file) => file.as_file(),
            Destination::Stdout(file) => file,
        }
    }

    /// Returns the final path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the modification time of the file to `time`.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn set_modified(&self, time: SystemTime) -> Result<(), Error> {
        let path = &self.path;
        self.file().set_modified(time).map_err(|source| Error::Write { path: path.clone(), source })
    }

    /// Gives the complete file its final name, after all of it is on the disk: even a power cut leaves no incomplete file under
    /// that name. On standard output, it is not an error if the reader, such as `head`, stops before the end.
    ///
    /// # Errors
    /// If the system refuses, or if a file with that name has appeared meanwhile and `force` is not set.
    pub fn commit(self) -> Result<(), Error> {
        let Self { path, target, file, force } = self;
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
        #[cfg(unix)]
        keep_owner_and_mode(file.as_file(), &target).map_err(write)?;
        file.as_file().sync_all().map_err(write)?;
        let temporary = file.path().to_path_buf();
        let persisted = if force { file.persist(&target) } else { file.persist_noclobber(&target) };
        locked(&UNFINISHED).remove(&temporary);
        match persisted {
            Ok(_) => Ok(()),
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(Error::Exists(path))
            }
            Err(failed) => Err(write(failed.error)),
        }
    }
}

/// Gives `file` the mode of the file at `target`, if there is one, and its owner and group as far as the system permits.
#[cfg(unix)]
fn keep_owner_and_mode(file: &File, target: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let Ok(old) = fs::metadata(target) else { return Ok(()) };
    // Only root may change the owner; members of a group may set that group.
    if fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        drop(fchown(file, None, Some(old.gid())));
    }
    file.set_permissions(old.permissions())
}

/// Creates a temporary file and keeps it locked while it is open, so that other runs see that it is in use.
fn create_locked(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    // Another run's `sweep` may hold the lock by now, or have removed the file. Other errors of the lock do not matter: without
    // locks, `sweep` removes nothing.
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !path.exists() {
        // The caller then tries another name.
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    Ok(file)
}

/// Removes temporary files that earlier runs left in `folder`; current ones are locked. Ignores errors, which do not affect the
/// new output.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_ours = name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes());
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let file = File::options().write(true).open(entry.path());
            if file.is_ok_and(|file| file.try_lock().is_ok()) {
                drop(fs::remove_file(entry.path()));
            }
        }
    }
}

/// Installs a handler for interruptions by the user or the system (Ctrl-C, SIGTERM, SIGHUP). The handler removes the temporary
/// files, calls `report`, and ends the program with exit code 130.
///
/// # Errors
/// If the system refuses, or another handler is already installed.
pub fn clean_up_on_interrupt(report: impl Fn() + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || {
        // The lock is held until the exit: no thread creates another file.
        let unfinished = locked(&UNFINISHED);
        for path in unfinished.iter() {
            // The file may have been completed and renamed by now.
            drop(fs::remove_file(path));
        }
        report();
        std::process::exit(130);
    })
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
