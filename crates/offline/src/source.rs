//! Readers of input files and pipes in all supported formats.

use crate::{
    STDIO,
    decoders::{
        self,
        Kind::{self, Aiff, Flac, Mpeg, Other},
        tags::{self, peek},
    },
    error::{Error, Fault},
    formats::extension,
    shared_file::SharedFile,
    wav::{self, Content, Depth, Format},
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
    /// Path as given; `-` for standard input.
    pub path: PathBuf,
    pub(crate) file: SharedFile,
}

impl Input {
    /// Opens the file at `path`, or standard input if `path` is `-`. Stores the content of a pipe in an unnamed temporary file,
    /// because the content is read at any position, and more than once.
    ///
    /// # Errors
    /// If the file is missing, is a folder, or cannot be read; if a pipe has an unsupported format, or cannot be
    /// stored.
    pub fn new(path: &Path) -> Result<Self, Error> {
        let open = || {
            if path == Path::new(STDIO) {
                return spool(path, io::stdin().lock());
            }
            // Checks for a folder before opening it, because Windows cannot open folders.
            if fs::metadata(path)?.is_dir() {
                return Err(Fault::Folder);
            }
            let file = File::open(path)?;
            if file.metadata()?.is_file() { Ok(file) } else { spool(path, file) }
        };
        let file = open().map_err(|fault| fault.at(path))?;
        Ok(Self { path: path.into(), file: SharedFile::new(file) })
    }

    /// Returns the time of the last modification.
    ///
    /// # Errors
    /// If the system does not know the time.
    pub fn modified(&self) -> Result<SystemTime, Error> {
        let modified = self.file.metadata().and_then(|metadata| metadata.modified());
        modified.map_err(|error| Fault::Read(error).at(&self.path))
    }

    /// Whether the first bytes tell that the coding is not supported. Far cheaper than [`Source::open`].
    pub(crate) fn has_unsupported_coding(&self) -> bool {
        matches!(self.detect(), Err(Fault::Coding(_)))
    }

    /// Returns the decoder for the format, `None` for WAV, and the position after tags, where the format begins.
    fn detect(&self) -> Result<(Option<Kind>, u64), Fault> {
        let start = tags::skip(&self.file, 0)?;
        Ok((kind(&self.path, &peek(&self.file, start, HEAD)?)?, start))
    }
}

/// Stores the content of the pipe `path` in an unnamed temporary file. Refuses an unsupported format after its first bytes.
fn spool(path: &Path, mut from: impl Read) -> Result<File, Fault> {
    let mut head = Vec::new();
    from.by_ref().take(FIRST).read_to_end(&mut head)?;
    // Tags and zeros may be longer than `head`. Then the format is not known yet.
    if !head.starts_with(b"ID3") && !head.starts_with(&[0]) {
        kind(path, &head)?;
    }
    let mut file = tempfile::tempfile().map_err(Fault::Temporary)?;
    file.write_all(&head).map_err(Fault::Temporary)?;
    let mut bytes = vec![0; 1 << 16];
    // Not by `io::copy`: its errors do not tell failures of reading from failures of writing.
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return Ok(file),
            Ok(len) => file.write_all(&bytes[..len]).map_err(Fault::Temporary)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Fault::Read(error)),
        }
    }
}

/// Number of bytes after which the format of a pipe is checked, before the rest is read.
const FIRST: u64 = 64;

/// Maximum number of bytes from which the format is detected. MP3 may need many: several frames in a row identify it, and other
/// bytes may precede them.
const HEAD: u64 = 1 << 14;

/// Detects the format of the file called `path` from `head`, its first bytes after tags. Returns `None` for WAV.
fn kind(path: &Path, head: &[u8]) -> Result<Option<Kind>, Fault> {
    let coding = |coding: &str| Err(Fault::Coding(coding.into()));
    // The first page of an Ogg file identifies its content.
    let first_page = |name: &str| {
        let head = &head[..head.len().min(64)];
        head.starts_with(b"OggS") && head.windows(8).any(|bytes| bytes == name.as_bytes())
    };
    Ok(match head {
        _ if first_page("OpusHead") => return coding("Opus"),
        _ if first_page("Speex   ") => return coding("Speex"),
        [b'R', b'I', b'F', b'F' | b'X', ..]
        | [b'R', b'F', b'6', b'4', ..]
        | [b'B', b'W', b'6', b'4', ..] => None,
        [b'f', b'L', b'a', b'C', ..] => Some(Flac),
        [b'F', b'O', b'R', b'M', ..] => Some(Aiff),
        [b'O', b'g', b'g', b'S', ..]
        | [b'c', b'a', b'f', b'f', ..]
        | [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some(Other),
        // Frames of AAC look like MPEG audio with an invalid layer.
        [0xFF, second, ..] if second & 0xF6 == 0xF0 => return coding("AAC stream (ADTS)"),
        [0xFF, 0xE0..=0xFF, ..] => Some(Mpeg),
        [] => return Err(Fault::NotAudio("it is empty")),
        _ if nanomp3::detect(head) || extension(path).as_deref() == Some("mp3") => Some(Mpeg),
        _ => return Err(Fault::NotAudio("its first bytes are of no known format")),
    })
}

/// Reader of the samples of a file in any supported format.
pub struct Source {
    path: PathBuf,
    reader: Reader,
}

enum Reader {
    /// WAV, with its chunks.
    Wav(Box<wav::Reader>),
    /// All other formats, and WAV in other codings than PCM.
    Coded(decoders::Reader),
}

impl Reader {
    fn open(input: &Input) -> Result<Self, Fault> {
        let Input { path, file } = input;
        let decoder = match input.detect()? {
            (None, _) => match Content::open(file)? {
                Content::Pcm(reader) => return Ok(Self::Wav(Box::new(reader))),
                Content::Coded(samples) => decoders::open_coded_samples(path, file, samples)?,
            },
            (Some(kind), start) => decoders::open(path, file, kind, start)?,
        };
        Ok(Self::Coded(decoders::Reader::new(decoder)?))
    }
}

impl Source {
    /// Opens `input`: detects its format and reads its header.
    ///
    /// # Errors
    /// See [`Fault`].
    pub fn open(input: &Input) -> Result<Self, Error> {
        let reader = Reader::open(input).map_err(|fault| fault.at(&input.path))?;
        Ok(Self { path: input.path.clone(), reader })
    }

    /// Returns channels, sample rate, number format and speaker layout of the samples.
    pub fn format(&self) -> Format {
        match &self.reader {
            Reader::Wav(reader) => reader.format,
            Reader::Coded(reader) => reader.about().format,
        }
    }

    /// Returns the number of frames in the file; `None` if the header does not state it.
    pub fn frames(&self) -> Option<u64> {
        match &self.reader {
            Reader::Wav(reader) => Some(reader.frames),
            Reader::Coded(reader) => reader.about().frames,
        }
    }

    /// Returns the default depth of an output: normally the input's. It is 16 bits for codings without a depth, and 32 bits for
    /// floats of 64 bits, which are never written.
    pub fn natural_depth(&self) -> Depth {
        match &self.reader {
            Reader::Coded(reader) => reader.about().natural_depth,
            Reader::Wav(reader) if reader.format.depth == Depth::Float64 => Depth::Float32,
            Reader::Wav(reader) => reader.format.depth,
        }
    }

    /// Returns the frames of the file's own loop, if it has one.
    pub(crate) fn looped(&mut self) -> Result<Option<Range<u64>>, Error> {
        let Reader::Wav(reader) = &mut self.reader else { return Ok(None) };
        reader.looped().map_err(|error| Fault::Read(error).at(&self.path))
    }

    /// Moves to `frame` of `input`. In formats other than WAV, `frame` must be 0: only WAV has a loop of its own.
    pub(crate) fn seek(&mut self, input: &Input, frame: u64) -> Result<(), Error> {
        match &mut self.reader {
            Reader::Wav(reader) => reader.seek(frame),
            Reader::Coded(_) => *self = Self::open(input)?,
        }
        Ok(())
    }

    /// Returns a message about samples that are ignored; `None` if there are none.
    pub fn ignored(&self) -> Option<&'static str> {
        let is_cut = matches!(&self.reader, Reader::Wav(reader) if reader.is_cut);
        is_cut.then_some("part of a frame behind the last one is ignored")
    }

    /// Returns the reader of a WAV file of PCM, which has chunks; `None` for other files.
    pub(crate) fn wav(&mut self) -> Option<&mut wav::Reader> {
        match &mut self.reader {
            Reader::Wav(reader) => Some(&mut **reader),
            Reader::Coded(_) => None,
        }
    }

    /// Replaces the content of `channels` by the next samples, at most `frames` for each channel; full scale is 1. At the end of
    /// the file, all channels become empty. Replaces samples that are not finite by 0, and returns their number.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&mut self, channels: &mut [Vec<f32>], frames: usize) -> Result<u64, Error> {
        let read = match &mut self.reader {
            Reader::Wav(reader) => reader.read(channels, frames).map_err(Fault::Read),
            Reader::Coded(reader) => reader.read(channels, frames),
        };
        read.map_err(|fault| fault.at(&self.path))?;
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

    /// Reader whose first read fails.
    struct Failing(Option<io::ErrorKind>);

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.0.take().map_or(Ok(0), |kind| Err(kind.into()))
        }
    }

    #[test]
    fn a_pipe_goes_on_after_an_interruption_and_fails_after_a_fault() {
        let head: &[u8] = b"RIFF\0\0\0\0WAVEfmt ................................................";
        let spooled = |kind: io::ErrorKind| {
            let pipe = head.chain(&[7; 1000][..]).chain(Failing(Some(kind))).chain(&[8; 500][..]);
            spool(Path::new(STDIO), pipe)
        };
        let file = spooled(io::ErrorKind::Interrupted).unwrap();
        assert_eq!(file.metadata().unwrap().len(), head.len() as u64 + 1500);
        let fault = spooled(io::ErrorKind::Other).unwrap_err();
        assert!(matches!(fault, Fault::Read(_)), "{fault}");
    }
}
