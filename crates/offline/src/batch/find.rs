//! Search for inputs: files, folders, patterns.

use crate::{
    STDIO,
    error::{Error, Fault},
    formats::{MP4_EXTENSIONS, extension, extensions, readable},
    source::{Input, Source},
};
use glob::{MatchOptions, Pattern, glob_with};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use walkdir::{DirEntry, WalkDir};

/// Input file that was found by its name, by a pattern or in a folder.
#[derive(Debug)]
pub struct FoundFile {
    pub path: PathBuf,
    /// Path relative to the folder that the user named; for a named file only its name. `plan` replaces it for files of a list.
    pub below: PathBuf,
    /// Whether the user named the file or a pattern that matches it; false if it was found in a folder.
    pub named: bool,
}

/// Input that is not rendered, with the reason.
#[derive(Debug)]
pub struct LeftOut {
    /// Path of the file or link.
    pub input: PathBuf,
    /// Reason why it is not rendered.
    pub reason: Reason,
}

/// Reason why an input is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The file is the output of another input.
    #[error("the output of another input, from an earlier run")]
    Output,
    /// The file lies in a folder, and its audio format cannot be read.
    #[error("an unsupported format, such as Opus; give {}", readable())]
    Format,
    /// The input is a link to a folder that contains the link.
    #[error("a link to a folder that holds it")]
    Loop,
    /// The file's name begins with a dot.
    #[error("hidden by the dot at the start of its name; name it to read it")]
    Hidden,
}

impl Reason {
    /// All reasons. Reports list the inputs in this order of reasons.
    pub const ALL: [Self; 4] = [Self::Output, Self::Format, Self::Loop, Self::Hidden];
}

/// Returns the files that `input` stands for, sorted by name. `input` is a file, a folder or a pattern, because some shells do
/// not expand `*`. A folder stands for the audio files in it and its subfolders. In the part of the path that
/// exists, brackets and stars are literal.
///
/// In a folder, skips hidden folders and the outputs `outs`, which are canonical paths of folders and files. Also adds to
/// `left_out`: hidden audio files, files in unsupported formats, and links to a folder that contains the link.
///
/// # Errors
/// One error for each folder or link that cannot be read, one if no file matches a pattern, and one for a folder
/// without audio. A missing file is not an error here.
pub fn find(
    input: &Path,
    outs: &[PathBuf],
    left_out: &mut Vec<LeftOut>,
) -> Vec<Result<FoundFile, Error>> {
    let existing = input.ancestors().find(|path| path.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(Path::new(""));
    if input == Path::new(STDIO) || input == existing {
        return find_literal(input, outs, left_out);
    }
    let is_pattern = |text: &&str| text.contains(['*', '?', '[']);
    let missing = input.strip_prefix(existing).ok().and_then(Path::to_str).filter(is_pattern);
    let pattern = missing.zip(existing.to_str()).and_then(|(missing, existing)| {
        Path::new(&Pattern::escape(existing)).join(missing).into_os_string().into_string().ok()
    });
    // Patterns do not match hidden files. An invalid pattern counts as the name of a file.
    let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
    match pattern.and_then(|pattern| glob_with(&pattern, options).ok()) {
        Some(mut paths) => match paths.next() {
            Some(first) => std::iter::once(first)
                .chain(paths)
                .flat_map(|path| match path {
                    Ok(path) => find_literal(&path, outs, left_out),
                    Err(error) => {
                        let path = error.path().to_path_buf();
                        vec![Err(Fault::Read(error.into()).at(&path))]
                    }
                })
                .collect(),
            None => vec![Err(Fault::NoMatch.at(input))],
        },
        None => find_literal(input, outs, left_out),
    }
}

/// Works like [`find`] for an `input` that is a file or a folder.
fn find_literal(
    input: &Path,
    outs: &[PathBuf],
    left_out: &mut Vec<LeftOut>,
) -> Vec<Result<FoundFile, Error>> {
    if !fs::metadata(input).is_ok_and(|metadata| metadata.is_dir()) {
        let below = input.file_name().map_or_else(|| input.into(), PathBuf::from);
        return vec![Ok(FoundFile { path: input.into(), below, named: true })];
    }
    let starts_with = |path: &Path, start: &[u8]| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(start))
    };
    let is_out = |path: &Path| fs::canonicalize(path).is_ok_and(|path| outs.contains(&path));
    let is_readable = |path: &Path| is_audio(path) && has_readable_coding(path);
    let mut all = Vec::new();
    let walk = WalkDir::new(input).follow_links(true).sort_by_file_name().into_iter();
    let root = fs::canonicalize(input).unwrap_or_default();
    let leads_back = |entry: &DirEntry| {
        let is_link = entry.depth() > 0 && entry.path_is_symlink();
        is_link && fs::canonicalize(entry.path()).is_ok_and(|target| root.starts_with(target))
    };
    let mut wanted = walk.filter_entry(|entry| {
        let is_hidden_folder = entry.file_type().is_dir() && starts_with(entry.path(), b".");
        entry.depth() == 0 || !is_hidden_folder && !is_out(entry.path())
    });
    while let Some(entry) = wanted.next() {
        match entry {
            Ok(entry) if leads_back(&entry) => {
                wanted.skip_current_dir();
                left_out.push(LeftOut { input: entry.into_path(), reason: Reason::Loop });
            }
            Ok(entry) if entry.depth() > 0 && starts_with(entry.path(), b".") => {
                // macOS writes metadata into files with this prefix. They have no sound.
                let is_fork = starts_with(entry.path(), b"._");
                if entry.file_type().is_file() && !is_fork && is_readable(entry.path()) {
                    left_out.push(LeftOut { input: entry.into_path(), reason: Reason::Hidden });
                }
            }
            Ok(entry) if entry.file_type().is_file() && is_readable(entry.path()) => {
                let below = entry.path().strip_prefix(input).unwrap_or(entry.path()).into();
                all.push(Ok(FoundFile { path: entry.into_path(), below, named: false }));
            }
            Ok(entry) if entry.file_type().is_file() && is_unread(entry.path()) => {
                left_out.push(LeftOut { input: entry.into_path(), reason: Reason::Format });
            }
            Ok(_) => {}
            Err(error) if error.loop_ancestor().is_some() => {
                let input = error.path().unwrap_or(input).into();
                left_out.push(LeftOut { input, reason: Reason::Loop });
            }
            Err(error) => {
                let path = error.path().unwrap_or(input).to_path_buf();
                let error = error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into());
                all.push(Err(Fault::Read(error).at(&path)));
            }
        }
    }
    if all.is_empty() {
        all.push(Err(Fault::NoAudio.at(input)));
    }
    all
}

/// Returns whether `path` has the extension of a readable audio format.
pub fn is_audio(path: &Path) -> bool {
    extension(path).is_some_and(|extension| extensions().any(|known| known == extension))
}

/// Returns whether the coding of the audio file at `path` is supported. Only that of MP4 and Ogg is looked at, as only these may
/// have another one under the same extension. A faulty Ogg file counts as readable, so that an error reports it.
fn has_readable_coding(path: &Path) -> bool {
    let input = || Input::new(path);
    match extension(path).as_deref() {
        Some("ogg" | "oga") => !input().is_ok_and(|input| input.has_unsupported_coding()),
        Some(extension) if MP4_EXTENSIONS.contains(&extension) => {
            input().is_ok_and(|input| Source::open(&input).is_ok())
        }
        _ => true,
    }
}

/// Returns whether `path` has the extension of an audio format.
fn is_unread(path: &Path) -> bool {
    const UNREAD: [&str; 15] = [
        "aac", "ac3", "amr", "ape", "au", "mka", "mkv", "mp2", "ogv", "opus", "snd", "w64", "webm",
        "wma", "wv",
    ];
    is_audio(path) || extension(path).is_some_and(|extension| UNREAD.contains(&&*extension))
}
