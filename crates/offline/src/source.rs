//! Readers of input files and pipes in all supported formats.

use crate::{
    STDIO,
    decoders::{
        self,
        tags::{self, peek},
    },
    error::Error,
    formats::extension,
    shared_file::SharedFile,
    wav::{self, Chunk, Content, Depth, Format},
};
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    ops::Range,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Open file, or stored content of a pipe. The path is opened only once, even if the content is read several times.
pub struct Input {
    path: PathBuf,
    file: SharedFile,
}

impl Input {
    /// Opens the file at `path`, or standard input if `path` is `-`. Stores the content of a pipe in an unnamed temporary file,
    /// because the header of the output needs its length.
    ///
    /// # Errors
    /// If the file is missing, is a folder, or cannot be read.
    pub fn new(path: &Path) -> Result<Self, Error> {
        let unreadable = |source| Error::Read { path: path.into(), source };
        let file = if path == Path::new(STDIO) {
            spool(path, io::stdin().lock())?
        } else {
            // Checks for a folder before opening it, because Windows cannot open folders.
            if fs::metadata(path).map_err(unreadable)?.is_dir() {
                return Err(Error::Folder(path.into()));
            }
            let file = File::open(path).map_err(unreadable)?;
            let is_file = file.metadata().map_err(unreadable)?.is_file();
            if is_file { file } else { spool(path, file)? }
        };
        Ok(Self { path: path.into(), file: SharedFile::new(file) })
    }

    pub(crate) fn shared(&self) -> SharedFile {
        self.file.at(0)
    }

    /// Returns the path as given; `-` for standard input.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the time of the last modification.
    ///
    /// # Errors
    /// If the system does not know the time.
    pub fn modified(&self) -> Result<SystemTime, Error> {
        let modified = self.file.metadata().and_then(|metadata| metadata.modified());
        modified.map_err(|source| Error::Read { path: self.path.clone(), source })
    }
}

/// Stores the content of the pipe `path` in an unnamed temporary file. Refuses an unsupported format after its first bytes.
fn spool(path: &Path, mut from: impl Read) -> Result<File, Error> {
    let temporary = |source| Error::Temporary { path: path.into(), source };
    let unreadable = |source| Error::Read { path: path.into(), source };
    let mut head = Vec::new();
    from.by_ref().take(FIRST).read_to_end(&mut head).map_err(unreadable)?;
    // Tags and zeros may be longer than `head`. Then the format is not known yet.
    if !head.starts_with(b"ID3") && !head.starts_with(&[0]) {
        Kind::of(path, &head)?;
    }
    let mut file = tempfile::tempfile().map_err(temporary)?;
    file.write_all(&head).map_err(temporary)?;
    let mut bytes = vec![0; 1 << 16];
    // Not by `io::copy`: its errors do not tell failures of reading from failures of writing.
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(file),
            Ok(len) => file.write_all(&bytes[..len]).map_err(temporary)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(unreadable(source)),
        }
    }
}

/// Number of bytes after which the format of a pipe is checked, before the rest is read.
const FIRST: u64 = 64;

/// Maximum number of bytes from which the format is detected. MP3 may need many: several frames in a row identify it, and other
/// bytes may precede them.
const HEAD: u64 = 1 << 14;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
/// Reader that a file needs.
enum Kind {
    Wav,
    Coded(decoders::Kind),
}

impl Kind {
    /// Detects the format of the file `path` from `head`, its first bytes after tags.
    fn of(path: &Path, head: &[u8]) -> Result<Self, Error> {
        use decoders::Kind::{Aiff, Flac, Mpeg, Other};
        let coding = |coding: &str| Error::Coding { path: path.into(), coding: coding.into() };
        let not_audio = |reason: &str| Error::NotAudio { path: path.into(), reason: reason.into() };
        // The first page of an Ogg file identifies its content.
        let first_page = |name: &str| {
            let head = &head[..head.len().min(64)];
            head.starts_with(b"OggS") && head.windows(8).any(|bytes| bytes == name.as_bytes())
        };
        Ok(match head {
            _ if first_page("OpusHead") => return Err(coding("Opus")),
            _ if first_page("Speex   ") => return Err(coding("Speex")),
            [b'R', b'I', b'F', b'F' | b'X', ..]
            | [b'R', b'F', b'6', b'4', ..]
            | [b'B', b'W', b'6', b'4', ..] => Self::Wav,
            [b'f', b'L', b'a', b'C', ..] => Self::Coded(Flac),
            [b'F', b'O', b'R', b'M', ..] => Self::Coded(Aiff),
            [b'O', b'g', b'g', b'S', ..]
            | [b'c', b'a', b'f', b'f', ..]
            | [_, _, _, _, b'f', b't', b'y', b'p', ..] => Self::Coded(Other),
            // Frames of AAC look like MPEG audio with an invalid layer.
            [0xFF, second, ..] if second & 0xF6 == 0xF0 => return Err(coding("AAC stream (ADTS)")),
            [0xFF, 0xE0..=0xFF, ..] => Self::Coded(Mpeg),
            [] => return Err(not_audio("it is empty")),
            _ if nanomp3::detect(head) || extension(path).as_deref() == Some("mp3") => {
                Self::Coded(Mpeg)
            }
            _ => return Err(not_audio("its first bytes are of no known format")),
        })
    }
}

/// Reader of the samples of a file in any supported format.
pub enum Source {
    /// WAV, with its chunks.
    Wav(wav::Reader),
    /// All other formats, and WAV in other codings than PCM.
    Coded(Box<decoders::Reader>),
}

impl Source {
    /// Opens `input`: detects its format and reads its header.
    ///
    /// # Errors
    /// See [`enum@Error`].
    pub fn open(input: &Input) -> Result<Self, Error> {
        let path = input.path();
        let unreadable = |source| Error::Read { path: path.into(), source };
        let start = tags::skip(&input.file, 0).map_err(unreadable)?;
        let head = peek(&input.file, start, HEAD).map_err(unreadable)?;
        let file = input.file.at(0);
        let coded = match Kind::of(path, &head)? {
            Kind::Wav => match Content::open(path, file)? {
                Content::Pcm(reader) => return Ok(Self::Wav(reader)),
                Content::Coded(samples) => {
                    decoders::Reader::open_coded_samples(path, input.file.at(0), samples)
                }
            },
            Kind::Coded(kind) => decoders::Reader::open(path, file, kind, start),
        };
        Ok(Self::Coded(Box::new(coded?)))
    }

    /// Returns channels, sample rate, number format and speaker layout of the samples.
    pub fn format(&self) -> Format {
        match self {
            Self::Wav(reader) => reader.format,
            Self::Coded(reader) => reader.about().format,
        }
    }

    /// Returns the number of frames in the file; `None` if the header does not state it.
    pub fn frames(&self) -> Option<u64> {
        match self {
            Self::Wav(reader) => Some(reader.frames),
            Self::Coded(reader) => reader.about().frames,
        }
    }

    /// Returns the default depth of an output: the input's, but 32 bits for floats of 64 bits, which are never written.
    pub fn natural_depth(&self) -> Depth {
        match self {
            Self::Coded(reader) => reader.about().natural_depth,
            Self::Wav(reader) if reader.format.depth == Depth::Float64 => Depth::Float32,
            Self::Wav(reader) => reader.format.depth,
        }
    }

    /// Returns the frames of the file's own loop, if it has one.
    pub(crate) fn looped(&mut self) -> Result<Option<Range<u64>>, Error> {
        match self {
            Self::Wav(reader) => reader.looped(),
            Self::Coded(_) => Ok(None),
        }
    }

    /// Moves to `frame` of `input`. A [`Source::Coded`] always moves to its start: it has no loop of its own, so `frame` is 0.
    pub(crate) fn seek(&mut self, input: &Input, frame: u64) -> Result<(), Error> {
        match self {
            Self::Wav(reader) => reader.seek(frame),
            Self::Coded(_) => *self = Self::open(input)?,
        }
        Ok(())
    }

    /// Returns a message about samples that are ignored; `None` if there are none.
    pub fn ignored(&self) -> Option<&'static str> {
        let is_cut = matches!(self, Self::Wav(reader) if reader.is_cut);
        is_cut.then_some("part of a frame behind the last one is ignored")
    }

    /// Returns the chunks to copy: those before the samples, and those after them. A [`Source::Coded`] has none.
    pub(crate) fn chunks(&self) -> (&[Chunk], &[Chunk]) {
        match self {
            Self::Wav(reader) => reader.chunks(),
            Self::Coded(_) => (&[], &[]),
        }
    }

    /// Copies the content of `chunk`, one of [`Source::chunks`], to `to`.
    pub(crate) fn copy_chunk(&mut self, chunk: Chunk, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Wav(reader) => reader.copy_chunk(chunk, to),
            Self::Coded(_) => Ok(()),
        }
    }

    /// Replaces the content of `channels` by the next samples, at most `frames` for each channel; full scale is 1. At the end of
    /// the file, all channels become empty. Replaces samples that are not finite by 0, and returns their number.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&mut self, channels: &mut [Vec<f32>], frames: usize) -> Result<u64, Error> {
        match self {
            Self::Wav(reader) => reader.read(channels, frames)?,
            Self::Coded(reader) => reader.read(channels, frames)?,
        }
        Ok(channels.iter_mut().map(|channel| silence_not_finite(channel)).sum())
    }
}

/// Replaces the `samples` that are not finite by 0, and returns their number.
fn silence_not_finite(samples: &mut [f32]) -> u64 {
    // Counts in a loop without branches, which is vectorised. A second loop is rarely needed.
    let count = samples.iter().map(|sample| u64::from(!sample.is_finite())).sum();
    if count > 0 {
        samples.iter_mut().filter(|sample| !sample.is_finite()).for_each(|sample| *sample = 0.0);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Pipe whose reads return these results in turn.
    struct Pipe(VecDeque<Result<&'static [u8], io::ErrorKind>>);

    impl Read for Pipe {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let Some(next) = self.0.pop_front() else { return Ok(0) };
            let (now, later) = next?.split_at(to.len().min(next?.len()));
            to[..now.len()].copy_from_slice(now);
            if !later.is_empty() {
                self.0.push_front(Ok(later));
            }
            Ok(now.len())
        }
    }

    #[test]
    fn a_pipe_goes_on_after_an_interruption_and_fails_after_a_fault() {
        let head: &[u8] = b"RIFF\0\0\0\0WAVEfmt ................................................";
        let spooled = |kind: io::ErrorKind| {
            let reads = [Ok(head), Ok(&[7; 1000][..]), Err(kind), Ok(&[8; 500][..])];
            spool(Path::new(STDIO), Pipe(reads.into()))
        };
        let file = spooled(io::ErrorKind::Interrupted).unwrap();
        assert_eq!(file.metadata().unwrap().len(), head.len() as u64 + 1500);
        let fault = spooled(io::ErrorKind::Other).unwrap_err();
        assert!(matches!(fault, Error::Read { .. }), "{fault}");
    }
}
