//! Inputs of all readable formats.

use super::{
    Error, coded,
    shared_file::SharedFile,
    wav::{self, Chunk, Depth, Format},
};
use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The name that stands for standard input or output.
pub const STDIO: &str = "-";

/// An open file, or what came through a pipe. However often it is read, its path is opened once.
pub struct Input {
    path: PathBuf,
    file: SharedFile,
}

impl Input {
    /// Opens the file at `path`, or standard input if that is `-`. Bytes from a pipe are stored in an
    /// unnamed temporary file: only a known length gives a correct header.
    ///
    /// # Errors
    /// When the file is missing or cannot be read.
    pub fn new(path: &Path) -> Result<Self, Error> {
        let unreadable = |source| Error::Read { path: path.into(), source };
        let file = if path == Path::new(STDIO) {
            spool(path, io::stdin().lock())?
        } else {
            // Windows opens no folders.
            if fs::metadata(path).map_err(unreadable)?.is_dir() {
                return Err(Error::Folder(path.into()));
            }
            let file = File::open(path).map_err(unreadable)?;
            let is_file = file.metadata().map_err(unreadable)?.is_file();
            if is_file { file } else { spool(path, file)? }
        };
        Ok(Self { path: path.into(), file: SharedFile::new(file) })
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// When it was last changed.
    ///
    /// # Errors
    /// When the system does not know it.
    pub fn modified(&self) -> Result<SystemTime, Error> {
        let modified = self.file.metadata().and_then(|metadata| metadata.modified());
        modified.map_err(|source| Error::Read { path: self.path.clone(), source })
    }
}

/// Stores the bytes from the pipe called `path` in a file without a name. An unreadable format is refused as soon as
/// the first bytes are there.
fn spool(path: &Path, mut from: impl Read) -> Result<File, Error> {
    let temporary = |source| Error::Temporary { path: path.into(), source };
    let unreadable = |source| Error::Read { path: path.into(), source };
    let mut head = Vec::new();
    from.by_ref().take(HEAD).read_to_end(&mut head).map_err(unreadable)?;
    Kind::of(path, &head)?;
    let mut file = tempfile::tempfile().map_err(temporary)?;
    file.write_all(&head).map_err(temporary)?;
    let mut bytes = vec![0; 1 << 16];
    // Not `io::copy`, which does not distinguish failures of reading and writing.
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(file),
            Ok(len) => file.write_all(&bytes[..len]).map_err(temporary)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(unreadable(source)),
        }
    }
}

/// Bytes that identify a file's format.
const HEAD: u64 = 64;

/// Reader of a file.
enum Kind {
    Wav,
    Coded,
}

impl Kind {
    /// Returns the reader for the file `path`, which begins with `head`.
    fn of(path: &Path, head: &[u8]) -> Result<Self, Error> {
        // The first page of an Ogg file identifies its content.
        let codings = [("OpusHead", "Opus"), ("Speex   ", "Speex")];
        let coding = codings.iter().find(|(name, _)| {
            head.starts_with(b"OggS") && head.windows(8).any(|bytes| bytes == name.as_bytes())
        });
        if let Some((_, coding)) = coding {
            return Err(Error::Coding { path: path.into(), coding: (*coding).into() });
        }
        let not_audio = |reason: &str| Error::NotAudio { path: path.into(), reason: reason.into() };
        match head {
            // MP3 begins with a tag, or with the eleven bits of a frame.
            [b'f', b'L', b'a', b'C', ..]
            | [b'F', b'O', b'R', b'M', ..]
            | [b'O', b'g', b'g', b'S', ..]
            | [b'I', b'D', b'3', _, ..]
            | [b'c', b'a', b'f', b'f', ..]
            | [_, _, _, _, b'f', b't', b'y', b'p', ..]
            | [0xFF, 0xE0..=0xFF, ..] => Ok(Self::Coded),
            [b'R', b'I', b'F', b'F', ..]
            | [b'R', b'F', b'6', b'4', ..]
            | [b'B', b'W', b'6', b'4', ..] => Ok(Self::Wav),
            [] => Err(not_audio("it is empty")),
            _ => Err(not_audio("its first bytes are of no known format")),
        }
    }
}

/// A file being read: WAV by [`wav`], others by `symphonia`.
pub enum Source {
    /// WAV, with its chunks.
    Wav(wav::Reader),
    /// Other formats, and WAV of other codings than PCM.
    Coded(Box<coded::Reader>),
}

impl Source {
    /// Opens `input`.
    ///
    /// # Errors
    /// See [`enum@Error`].
    pub fn open(input: &Input) -> Result<Self, Error> {
        let path = input.path();
        let unreadable = |source| Error::Read { path: path.into(), source };
        let file = || input.file.at(0);
        let mut head = Vec::new();
        file().take(HEAD).read_to_end(&mut head).map_err(unreadable)?;
        Ok(match Kind::of(path, &head)? {
            Kind::Wav => match wav::Reader::open(path, file()) {
                // A coding such as mu-law.
                Err(refused @ Error::Coding { .. }) => {
                    Self::Coded(Box::new(coded::Reader::open(path, file()).map_err(|_| refused)?))
                }
                read => Self::Wav(read?),
            },
            Kind::Coded => Self::Coded(Box::new(coded::Reader::open(path, file())?)),
        })
    }

    /// Returns the format of the samples.
    pub fn format(&self) -> Format {
        match self {
            Self::Wav(reader) => reader.format(),
            Self::Coded(reader) => reader.format(),
        }
    }

    /// Samples a channel in the whole file, if its header has it.
    pub fn frames(&self) -> Option<u64> {
        match self {
            Self::Wav(reader) => Some(reader.frames()),
            Self::Coded(reader) => reader.frames(),
        }
    }

    /// Returns the default depth of an output: the input's, as far as outputs support it.
    pub fn natural_depth(&self) -> Depth {
        match self {
            Self::Coded(reader) => reader.natural_depth(),
            Self::Wav(reader) if reader.format().depth == Depth::Float64 => Depth::Float32,
            Self::Wav(reader) => reader.format().depth,
        }
    }

    /// Returns the chunks to copy, before and after the samples.
    pub fn chunks(&self) -> (&[Chunk], &[Chunk]) {
        match self {
            Self::Wav(reader) => reader.chunks(),
            Self::Coded(_) => (&[], &[]),
        }
    }

    /// Copies the content of one of [`Source::chunks`].
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn copy_chunk(&mut self, chunk: Chunk, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Wav(reader) => reader.copy_chunk(chunk, to),
            Self::Coded(_) => Ok(()),
        }
    }

    /// Replaces the content of `channels` by the next samples, at most `frames` for each channel; full scale
    /// is 1. At the end of the file, they are empty. Samples that are not finite become 0; returns their number.
    ///
    /// # Errors
    /// When reading the file fails.
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
    // A loop without branches, which becomes vector code, as there are hardly ever any.
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

    /// Results of the reads of a pipe.
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
