//! Output files that appear under their final name only when they are complete.

use crate::{
    STDIO,
    error::{Error, Fault},
};
use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io::{self, Seek, Write},
    iter::successors,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};
use tempfile::{NamedTempFile, PersistError};

/// Prefix of temporary file names.
const PREFIX: &str = ".tone-filter-";
/// Suffix of temporary file names.
const SUFFIX: &str = ".part";

/// Temporary files that exist now. An interruption removes them.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Folders in which [`sweep`] has removed old temporary files.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Output file. Until [`Output::commit`], it is a temporary file: in the folder of the target, or unnamed if the output is a
/// pipe or device. If the `Output` is dropped before, the temporary file is removed.
#[derive(Debug)]
pub struct Output {
    /// Path as given; `-` for standard output.
    pub path: PathBuf,
    /// Path that the file gets at the end: `path`, or the target of the links at `path`.
    target: PathBuf,
    file: Destination,
    /// Whether an existing file may be overwritten.
    force: bool,
}

#[derive(Debug)]
enum Destination {
    Named(NamedTempFile),
    /// Temporary file, and the open pipe or device to which it is copied when it is complete; `None` stands for standard
    /// output.
    Stream(File, Option<File>),
}

impl Output {
    /// Creates the temporary file of an output that will be called `path`; `-` is standard output. Creates a missing folder.
    /// Opens a pipe, and waits for its reader.
    ///
    /// # Errors
    /// If `path` is a folder, a disk or a socket; if it is `input`, under any name; if it exists and `force` is not set; if its
    /// folder cannot be created or written to.
    pub fn create(path: &Path, input: &Path, force: bool) -> Result<Self, Error> {
        let unwritable = |error| Fault::Write(error).at(path);
        if is_stream(path) {
            let named = (path != Path::new(STDIO)).then(|| File::options().write(true).open(path));
            let stream = named.transpose().map_err(unwritable)?;
            let file = tempfile::tempfile().map_err(|error| Error::writing(path, error))?;
            let file = Destination::Stream(file, stream);
            return Ok(Self { path: path.into(), target: path.into(), file, force });
        }
        if let Ok(existing) = fs::metadata(path) {
            if existing.is_dir() {
                return Err(Fault::Folder.at(path));
            }
            if fs::canonicalize(path).ok() == fs::canonicalize(input).ok() {
                return Err(Fault::OverInput.at(path));
            }
            if !existing.is_file() {
                return Err(Fault::NotAFile.at(path));
            }
        }
        if !force && path.symlink_metadata().is_ok() {
            return Err(Fault::Exists.at(path));
        }
        let next = |link: &PathBuf| Some(link.with_file_name(fs::read_link(link).ok()?));
        // Follows at most 40 links in a row, as Linux does.
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
        // The builder's error names the temporary file, which no user knows, and lacks the system's message.
        let mut code = None;
        let create =
            |path: &Path| create_locked(path).inspect_err(|error| code = error.raw_os_error());
        let file = builder.make_in(folder, create).map_err(|error| {
            let kind = error.kind();
            unwritable(code.map_or_else(|| kind.into(), io::Error::from_raw_os_error))
        })?;
        unfinished.insert(file.path().into());
        Ok(Self { path: path.into(), target, file: Destination::Named(file), force })
    }

    /// Returns the temporary file, to write to.
    pub fn file(&self) -> &File {
        match &self.file {
            Destination::Named(file) => file.as_file(),
            Destination::Stream(file, _) => file,
        }
    }

    /// Sets the modification time of the file to `time`.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn set_modified(&self, time: SystemTime) -> Result<(), Error> {
        self.file().set_modified(time).map_err(|error| Fault::Write(error).at(&self.path))
    }

    /// Completes the output. A file is synced to the disk before it gets its final name, so even a power cut leaves no
    /// incomplete file under that name. For a pipe or device, the content is copied to it; a reader such as `head` may close
    /// the pipe early.
    ///
    /// # Errors
    /// If the system refuses, or if a file with that name has appeared meanwhile and `force` is not set.
    pub fn commit(self) -> Result<(), Error> {
        let Self { path, target, file, force } = self;
        let write = |error| Fault::Write(error).at(&path);
        let file = match file {
            Destination::Named(file) => file,
            Destination::Stream(mut file, stream) => {
                let print = || {
                    file.rewind()?;
                    let mut stdout = io::stdout().lock();
                    match stream {
                        Some(mut stream) => io::copy(&mut file, &mut stream)?,
                        None => io::copy(&mut file, &mut stdout)?,
                    };
                    stdout.flush()
                };
                return match print() {
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(write(error)),
                    _ => Ok(()),
                };
            }
        };
        #[cfg(unix)]
        keep_owner_and_mode(file.as_file(), &target);
        sync(file.as_file()).map_err(write)?;
        // While this lock is held, an interruption waits.
        let mut unfinished = locked(&UNFINISHED);
        unfinished.remove(file.path());
        match put_in_place(file, &target, force) {
            Ok(_) => Ok(()),
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(Fault::Exists.at(&path))
            }
            Err(failed) => Err(write(failed.error)),
        }
    }
}

impl Error {
    /// Creates the error of a failed write to `path`: [`Fault::Temporary`] for pipes and devices, whose content is stored
    /// first, otherwise [`Fault::Write`].
    pub fn writing(path: &Path, error: io::Error) -> Self {
        let fault = if is_stream(path) { Fault::Temporary } else { Fault::Write };
        fault(error).at(path)
    }
}

/// Returns whether `path` is standard output, a pipe or a character device such as `/dev/null`, where nothing is overwritten.
/// Block devices are disks, whose content would be overwritten.
pub(crate) fn is_stream(path: &Path) -> bool {
    #[cfg(unix)]
    let is_special = |metadata: fs::Metadata| {
        use std::os::unix::fs::FileTypeExt;
        metadata.file_type().is_fifo() || metadata.file_type().is_char_device()
    };
    #[cfg(not(unix))]
    let is_special = |_| false;
    path == Path::new(STDIO) || fs::metadata(path).is_ok_and(is_special)
}

/// Syncs `file` to the disk. Also succeeds on network file systems that cannot sync.
fn sync(file: &File) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    file.sync_all().or_else(|error| match error.kind() {
        InvalidInput | PermissionDenied | ReadOnlyFilesystem | Unsupported => Ok(()),
        _ => Err(error),
    })
}

/// Renames `file` to `target`. Without `force`, fails if `target` exists. Some file systems have neither hard links nor rename
/// flags. There, this function first creates an empty `target`, at which only one program can succeed, and then replaces it.
fn put_in_place(file: NamedTempFile, target: &Path, force: bool) -> Result<File, PersistError> {
    if force {
        return file.persist(target);
    }
    let refused = match file.persist_noclobber(target) {
        Err(refused) if refused.error.kind() != io::ErrorKind::AlreadyExists => refused,
        placed => return placed,
    };
    if let Err(error) = File::create_new(target) {
        return Err(PersistError { error, ..refused });
    }
    refused.file.persist(target).or_else(|refused| {
        // Some servers cannot rename over an existing file.
        drop(fs::remove_file(target));
        refused.file.persist(target)
    })
}

/// Gives `file` the mode, the owner and the group of the file at `target`, if there is one, as far as the system permits.
#[cfg(unix)]
fn keep_owner_and_mode(file: &File, target: &Path) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let Ok(old) = fs::metadata(target) else { return };
    // Only root may change the owner. A user may set the group to one of the groups that the user is in.
    if fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        drop(fchown(file, None, Some(old.gid())));
    }
    drop(file.set_permissions(old.permissions()));
}

/// Creates a temporary file and keeps it locked while it is open, so that other runs see that it is in use.
fn create_locked(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    // By now, another run's `sweep` may hold the lock, or have removed the file. Other errors do not matter: on systems without
    // locks, `sweep` removes nothing.
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !path.exists() {
        // The caller then tries another name.
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    Ok(file)
}

/// Removes temporary files that earlier runs have left in `folder`. Files of current runs are locked, and stay. Ignores errors,
/// which do not affect the new output.
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
/// files, calls `report`, and ends the program with exit code 130. Signals that the program was started to ignore, as by `nohup`,
/// stay ignored.
///
/// # Errors
/// If the system refuses, or another handler is already installed.
pub fn clean_up_on_interrupt(report: impl Fn() + Send + 'static) -> Result<(), ctrlc::Error> {
    #[cfg(unix)]
    let ignored = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].map(|signal| {
        // SAFETY: zeros are valid for all fields, and a null pointer leaves the action of the signal unchanged.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let read = libc::sigaction(signal, std::ptr::null(), &mut action) == 0;
            (signal, read && action.sa_sigaction == libc::SIG_IGN)
        }
    });
    ctrlc::set_handler(move || {
        // Holds the lock until the exit, so that no thread creates another file.
        let unfinished = locked(&UNFINISHED);
        for path in unfinished.iter() {
            // The file may have been completed and renamed by now.
            drop(fs::remove_file(path));
        }
        report();
        std::process::exit(130);
    })?;
    #[cfg(unix)]
    for (signal, _) in ignored.into_iter().filter(|(_, ignored)| *ignored) {
        // SAFETY: every program may ignore these signals.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    Ok(())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
