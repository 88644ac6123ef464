//! Copying, removing and packing of files and folders.

use crate::commands::run;
use anyhow::{Context, Result, ensure};
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// Removes a file or a folder, if it exists.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}

/// Copies a file or a folder to the path `to`, creating parent folders.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    fn all(from: &Path, to: &Path) -> io::Result<()> {
        if !from.is_dir() {
            return fs::copy(from, to).map(drop);
        }
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            all(&entry.path(), &to.join(entry.file_name()))?;
        }
        Ok(())
    }
    fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
    all(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// Copies a file or a folder into the folder `folder`. Returns the copy's path.
pub fn copy_into(from: &Path, folder: &Path) -> Result<PathBuf> {
    let to = folder.join(from.file_name().context("a file has a name")?);
    copy(from, &to)?;
    Ok(to)
}

/// Packs a file or a folder under its own name into the archive `out`.
pub fn tar(files: &Path, out: &Path) -> Result<()> {
    let (folder, name) = (files.parent().context("a folder")?, files.file_name().context("named")?);
    run(Command::new("tar").arg("-czf").arg(out).arg("-C").arg(folder).arg(name))
}

pub fn untar(archive: &Path, folder: &Path) -> Result<()> {
    // `-m` dates the files now. In crates, they are dated 2006, so cargo would take an earlier build for up to date.
    run(Command::new("tar").arg("-xmzf").arg(archive).arg("-C").arg(folder))
}

/// Returns the only file in `folder` with this extension. Another number of files is an error.
pub fn the_only(folder: &Path, extension: &str) -> Result<PathBuf> {
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut files = files.collect::<Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|end| end == extension));
    ensure!(files.len() == 1, "{} files end in .{extension} in {}", files.len(), folder.display());
    files.pop().context("one file")
}
