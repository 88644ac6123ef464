//! Formats of files that are read, and their extensions.

use std::path::Path;

/// File extensions of WAV.
pub const WAV_EXTENSIONS: &[&str] = &["wav", "wave", "bwf", "rf64"];

/// File extensions of MP4, of whose codings only some are read.
pub const MP4_EXTENSIONS: &[&str] = &["m4a", "mp4"];

/// Names and file extensions of all formats that are read.
const READABLE: [(&str, &[&str]); 7] = [
    ("WAV", WAV_EXTENSIONS),
    ("FLAC", &["flac"]),
    ("AIFF", &["aif", "aiff", "aifc"]),
    ("CAF", &["caf"]),
    ("MP3", &["mp3"]),
    ("Ogg Vorbis", &["ogg", "oga"]),
    ("MP4 (AAC, ALAC)", MP4_EXTENSIONS),
];

/// Returns the names of the formats that are read, as a list.
pub fn readable() -> String {
    READABLE.map(|(name, _)| name).join(", ")
}

/// Returns the file extensions that are looked for in folders.
pub fn extensions() -> impl Iterator<Item = &'static str> {
    READABLE.iter().flat_map(|(_, extensions)| *extensions).copied()
}

/// Returns the extension of `path` in small letters.
pub fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}
