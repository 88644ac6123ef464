//! Input files of a verb: named one by one, in folders, by patterns and in lists.

use super::Usage;
use clap::ValueHint;
use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};
use tone_filter_offline::{Fault, STDIO, batch::Inputs};

/// Flags that name the input files.
#[derive(Clone, clap::Args)]
pub struct InputFlags {
    /// Files to read: WAV, FLAC, AIFF, CAF, MP3, Ogg Vorbis, MP4 (AAC, ALAC); folders with all that is in them; patterns like
    /// *.wav; or - for standard input
    #[arg(value_name = "IN", value_hint = ValueHint::AnyPath, required_unless_present = "input_list")]
    inputs: Vec<PathBuf>,
    /// A text file with more inputs, one a line, or a playlist (M3U); - for standard input. Relative ones start from
    /// this folder, in a playlist from its own, and keep the folders that they name
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    input_list: Option<PathBuf>,
    /// Names in the list end in NUL, as `find -print0` and `git ls-files -z` write them
    #[arg(short = '0', long, requires = "input_list")]
    null: bool,
    /// Files to work on at once [default: one a core]
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    jobs: Option<u16>,
}

impl InputFlags {
    /// Returns all inputs, including those in the list.
    ///
    /// # Errors
    /// If the list cannot be read, is not text or is empty.
    pub fn read(&self) -> anyhow::Result<Inputs> {
        let (names, listed_in) = self.listed()?;
        let listed = names.len();
        let all = self.inputs.iter().cloned().chain(names).collect();
        Ok(Inputs { all, listed, listed_in, has_list: self.input_list.is_some() })
    }

    /// Returns the number of threads for `files` files: the value of the flag, or else one per core. It is at most one per
    /// file.
    pub fn workers(&self, files: usize) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, Into::into);
        self.jobs.map_or_else(cores, usize::from).min(files.max(1))
    }

    /// Reads the list. Returns its inputs, and the folder of a playlist, which is empty for other lists.
    fn listed(&self) -> anyhow::Result<(Vec<PathBuf>, PathBuf)> {
        let Some(list) = &self.input_list else { return Ok(Default::default()) };
        let mut bytes = Vec::new();
        let read = if list == Path::new(STDIO) {
            io::stdin().read_to_end(&mut bytes)
        } else {
            fs::File::open(list).and_then(|mut file| file.read_to_end(&mut bytes))
        };
        read.map_err(|error| Fault::Read(error).at(list))?;
        let bytes = in_utf8(bytes);
        if bytes.contains(&0) && !self.null {
            let line = format!(
                "{}: is not text; write one name a line, or add -0 if its names end in NUL",
                list.display()
            );
            return Err(Usage(line).into());
        }
        let names = bytes.split(|byte| *byte == if self.null { 0 } else { b'\n' });
        let names = names.map(|name| match name {
            [name @ .., b'\r'] if !self.null => name,
            name => name,
        });
        let is_playlist = !self.null && (bytes.starts_with(b"#EXTM3U") || is_m3u(list));
        let folder = list.parent().filter(|_| is_playlist).unwrap_or(Path::new(""));
        let is_input = |name: &&[u8]| !(name.is_empty() || is_playlist && name.starts_with(b"#"));
        let names = names.filter(is_input).map(|name| Some(folder.join(path_of(name)?)));
        match names.collect::<Option<Vec<PathBuf>>>() {
            None => Err(Usage(format!("{}: is not UTF-8; save it as such", list.display())).into()),
            Some(names) if names.is_empty() => Err(Fault::NoAudio.at(list).into()),
            Some(names) => Ok((names, folder.into())),
        }
    }
}

fn is_m3u(list: &Path) -> bool {
    let extension = list.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    extension == "m3u" || extension == "m3u8"
}

/// Removes the byte order mark of `text`. If it is one of UTF-16, which some editors write, converts the text to UTF-8. Returns
/// text without a mark unchanged.
fn in_utf8(text: Vec<u8>) -> Vec<u8> {
    let decode = |text: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = text.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        String::from_utf16_lossy(&units).into_bytes()
    };
    match &text[..] {
        [0xEF, 0xBB, 0xBF, text @ ..] => text.to_vec(),
        [0xFF, 0xFE, text @ ..] => decode(text, u16::from_le_bytes),
        [0xFE, 0xFF, text @ ..] => decode(text, u16::from_be_bytes),
        _ => text,
    }
}

/// Returns whether `path` can be read only once: standard input, a pipe or a device.
pub fn is_read_once(path: &Path) -> bool {
    let is_pipe = |metadata: fs::Metadata| !metadata.is_file() && !metadata.is_dir();
    path == Path::new(STDIO) || fs::metadata(path).is_ok_and(is_pipe)
}

/// Prints a note for each input that repeats an earlier one.
pub fn print_repeated(repeated: &[PathBuf]) {
    for input in repeated {
        message!("note: {}: named more than once, read once", input.display());
    }
}

fn jobs(text: &str) -> Result<u16, String> {
    let jobs = text.trim().parse().ok().filter(|jobs| (1..=1024).contains(jobs));
    jobs.ok_or_else(|| format!("jobs = {text:?} is out of range; use 1 to 1024"))
}

/// Converts a name in the list to a path. A name may have any bytes.
#[cfg(unix)]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    Some(OsStr::from_bytes(name).into())
}

/// Converts a name in the list to a path; `None` if it is not UTF-8.
#[cfg(not(unix))]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(name).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `bytes` as a list called `name`, in which names end in NUL if `null` is set. Returns the names, relative to the
    /// folder of a playlist, or the error.
    fn read(name: &str, null: bool, bytes: &[u8]) -> Result<Vec<PathBuf>, String> {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join(name);
        fs::write(&list, bytes).unwrap();
        let inputs =
            InputFlags { inputs: vec!["own.wav".into()], input_list: Some(list), null, jobs: None };
        let named = inputs.read().map_err(|error| error.to_string())?;
        assert_eq!((named.all.len(), &named.all[0]), (named.listed + 1, &"own.wav".into()));
        let names = named.all[1..].iter().map(|name| name.strip_prefix(&named.listed_in).unwrap());
        Ok(names.map(PathBuf::from).collect())
    }

    #[test]
    fn names_are_read_from_lists_of_all_kinds() {
        let utf16 = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff}a b.wav\r\n".encode_utf16().flat_map(bytes).collect()
        };
        let playlist = b"#EXTM3U\r\n#EXTINF:1,First\r\na.wav\r\n\r\nc/d.wav\r\n";
        for (name, null, bytes, expected) in [
            ("list", false, &b"\xEF\xBB\xBFa b.wav\r\n\n#1.wav\n"[..], &["a b.wav", "#1.wav"][..]),
            ("list", false, &utf16(u16::to_le_bytes), &["a b.wav"]),
            ("list", false, &utf16(u16::to_be_bytes), &["a b.wav"]),
            ("list", true, b"two\nlines.wav\0c/d.wav\0", &["two\nlines.wav", "c/d.wav"]),
            ("list.m3u8", false, playlist, &["a.wav", "c/d.wav"]),
            ("list.txt", false, playlist, &["a.wav", "c/d.wav"]),
            ("plain.M3U", false, b"#no mark at the start\na.wav\nc/d.wav\n", &["a.wav", "c/d.wav"]),
        ] {
            let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(read(name, null, bytes).unwrap(), expected, "{name}");
        }
        #[cfg(unix)]
        assert_eq!(
            read("list", false, b"caf\xE9.wav\n").unwrap(),
            [path_of(b"caf\xE9.wav").unwrap()]
        );
    }

    #[test]
    fn lists_without_names_are_refused() {
        let error = read("list", false, b"a.wav\0b.wav\0").unwrap_err();
        assert!(error.ends_with(
            "list: is not text; write one name a line, or add -0 if its names end in NUL"
        ));
        let error = read("list", false, b"\r\n\n").unwrap_err();
        assert!(error.contains("list: holds no audio files; "), "{error}");
    }
}
