//! Files that appear when they are complete, or not at all.

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

/// Prefix and suffix of temporary names.
const PREFIX: &str = ".tone-filter-";
const SUFFIX: &str = ".part";

/// The temporary files that exist now, for whoever has to clean up after an interruption.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The folders that have been swept.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A file on its way: it has a temporary name beside the target until [`Output::commit`], and is
/// removed if that never comes.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    /// Target of the links at `path`, if there are any.
    target: PathBuf,
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
    /// Starts a file that will be called `path`; `-` is standard output. Creates a missing folder.
    ///
    /// # Errors
    /// When `path` is `input`, under any name; when it exists and `force` is not set; when it is not a
    /// regular file; when its folder cannot be created or written to.
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
        // Linux follows as many links.
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

    /// Makes it look as old as `time`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_modified(&self, time: SystemTime) -> Result<(), Error> {
        let path = &self.path;
        self.file().set_modified(time).map_err(|source| Error::Write { path: path.clone(), source })
    }

    /// Gives the complete file its name, once all of it is on the disk: not even a power cut leaves half
    /// a file under a final name. A reader of standard output, such as `head`, may stop before the end.
    ///
    /// # Errors
    /// When the system refuses, or when a file of that name has appeared meanwhile.
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
    // Only root gives files away; a group is given by its members.
    if fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        drop(fchown(file, None, Some(old.gid())));
    }
    file.set_permissions(old.permissions())
}

/// Creates a temporary file, and holds its lock as long as it is open: so that others see that it is in use.
fn create_locked(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    // Another run may have removed the file before it was locked. Without locks, no run removes files.
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !path.exists() {
        // The caller then tries another name.
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    Ok(file)
}

/// Removes what runs that have ended left in `folder`. Errors are ignored: they concern no other file.
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

/// Removes the temporary files and ends the program with exit code 130 when the user or the system
/// interrupts it (Ctrl-C, SIGTERM, SIGHUP), after `report`.
///
/// # Errors
/// When the system refuses, or somebody else handles interruptions already.
pub fn clean_up_on_interrupt(report: impl Fn() + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || {
        // Whoever holds the lock on the way out starts no new file.
        let unfinished = locked(&UNFINISHED);
        for path in unfinished.iter() {
            // The file may be complete, and renamed, by now.
            drop(fs::remove_file(path));
        }
        report();
        std::process::exit(130);
    })
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
