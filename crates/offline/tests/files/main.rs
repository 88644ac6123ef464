//! Reading, refusing and writing of files, compared with sox, ffmpeg, flac and mutagen; plans of batches, reasons of silence.

mod batch;
mod faults;
mod formats;
mod open_ends;
mod silence_reasons;
mod tags;
mod written;

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};
use tempfile::TempDir;
use tone_filter_dsp::Settings;
use tone_filter_offline::{
    Error, Input, Source,
    options::Options,
    render::{Report, render},
    wav::Format,
};
use tone_filter_testkit::signals;

/// Temporary folder. Names of files are relative to it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Creates a folder with `bytes` in the file `in.wav`.
    fn with(bytes: &[u8]) -> Self {
        let folder = Self::new();
        folder.put("in.wav", bytes);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and creates its folders.
    fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Returns the format and the interleaved samples of the file `name`.
    fn try_read(&self, name: &str) -> Result<(Format, Vec<f32>), Error> {
        let mut source = Source::open(&Input::new(&self.path(name))?)?;
        let mut channels = vec![Vec::new(); usize::from(source.format().channels)];
        let mut samples = Vec::new();
        loop {
            source.read(&mut channels, 4096)?;
            let frames = channels[0].len();
            if frames == 0 {
                let format = Format { depth: source.natural_depth(), ..source.format() };
                return Ok((format, samples));
            }
            samples.extend((0..frames).flat_map(|t| channels.iter().map(move |wave| wave[t])));
        }
    }

    fn read(&self, name: &str) -> Vec<f32> {
        self.try_read(name).unwrap().1
    }

    /// Returns the samples of the file `name` as ffmpeg reads them.
    fn read_by_ffmpeg(&self, name: &str) -> Vec<f32> {
        floats(&self.tool(&format!("ffmpeg -v error -i {name} -f f32le -")))
    }

    /// Returns the stored integers of the WAV file `name`, as hound reads them.
    fn integers(&self, name: &str) -> Vec<i32> {
        hound::WavReader::open(self.path(name)).unwrap().samples().map(Result::unwrap).collect()
    }

    fn spec(&self, name: &str) -> hound::WavSpec {
        hound::WavReader::open(self.path(name)).unwrap().spec()
    }

    fn try_render(&self, from: &str, to: &str, options: &Options) -> Result<Report, Error> {
        let options = Options { force: true, ..options.clone() };
        render(&self.path(from), &self.path(to), &options, |_| ())
    }

    fn render(&self, from: &str, to: &str, options: &Options) -> Report {
        self.try_render(from, to, options).unwrap()
    }

    /// Renders `name`, which must fail and create no file. Returns the message, with names instead of paths.
    fn error(&self, name: &str) -> String {
        let count = || fs::read_dir(self.path("")).unwrap().count();
        let before = count();
        let error = self.try_render(name, "refused.wav", &unmixed()).unwrap_err();
        assert_eq!(count(), before, "{error}: something was left behind");
        self.message(&error)
    }

    /// Returns the message of `error`, with names instead of paths.
    fn message(&self, error: &Error) -> String {
        let folder = self.path("").display().to_string();
        error.to_string().replace(&folder, "")
    }

    /// Runs `line` in the folder, which must succeed without messages, and returns its standard output.
    fn tool(&self, line: &str) -> Vec<u8> {
        let words: Vec<&str> = line.split(' ').collect();
        self.program(&words)
    }

    /// Like [`Folder::tool`], with separate words instead of a line. A word may contain spaces.
    fn program(&self, words: &[&str]) -> Vec<u8> {
        let name = words[0];
        let mut command = Command::new(name);
        command.args(&words[1..]).current_dir(self.path("")).stdin(Stdio::null());
        let output = command.output().unwrap_or_else(|error| {
            panic!("{name}: {error}; `cargo xtask test` installs sox, ffmpeg, flac and mutagen")
        });
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        // sox prints this for every extensible header with floats, also for ffmpeg's.
        const QUIRK: &str = "sox WARN wav: wave header missing extended part of fmt chunk";
        let complaint = said.lines().find(|said| !said.is_empty() && *said != QUIRK);
        assert_eq!(complaint, None, "{words:?}");
        output.stdout
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// Returns options that leave the samples as they are.
fn unmixed() -> Options {
    Options { settings: Settings { mix: 0.0, ..Settings::default() }, ..Options::default() }
}

/// WAV file with a format chunk and a data chunk, for variants that hound does not write.
#[derive(Debug, Clone)]
struct Wav {
    tag: u16,
    channels: u16,
    rate: u32,
    bits: u16,
    /// Content of the format chunk after its first 16 bytes.
    extension: Vec<u8>,
    /// Bytes between the format chunk and the data chunk.
    between: Vec<u8>,
    data: Vec<u8>,
}

/// Returns ten frames of 16-bit stereo silence at 44.1 kHz.
fn silence() -> Wav {
    Wav {
        tag: 1,
        channels: 2,
        rate: 44_100,
        bits: 16,
        extension: vec![],
        between: vec![],
        data: vec![0; 40],
    }
}

impl Wav {
    fn bytes(&self) -> Vec<u8> {
        let frame = u32::from(self.channels) * u32::from(self.bits / 8);
        let mut fmt = Vec::new();
        fmt.extend(self.tag.to_le_bytes());
        fmt.extend(self.channels.to_le_bytes());
        fmt.extend(self.rate.to_le_bytes());
        fmt.extend(self.rate.wrapping_mul(frame).to_le_bytes());
        fmt.extend((frame as u16).to_le_bytes());
        fmt.extend(self.bits.to_le_bytes());
        fmt.extend(&self.extension);
        let len = |bytes: &[u8]| (bytes.len() as u32).to_le_bytes();
        let head = [b"WAVEfmt ", &len(&fmt)[..], &fmt, &self.between].concat();
        let body = [&head[..], b"data", &len(&self.data), &self.data].concat();
        [b"RIFF", &len(&body)[..], &body].concat()
    }
}

fn extensible(valid_bits: u16, speakers: u32, tag: u16) -> Vec<u8> {
    let guid = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71];
    let [valid_bits, tag] = [valid_bits, tag].map(u16::to_le_bytes);
    [&[22, 0], &valid_bits[..], &speakers.to_le_bytes(), &tag, &guid].concat()
}

fn float_wav(rate: u32, channels: &[Vec<f32>]) -> Vec<u8> {
    let frames = 0..channels[0].len();
    let data = frames.flat_map(|t| channels.iter().flat_map(move |wave| wave[t].to_le_bytes()));
    let (data, channels) = (data.collect(), channels.len() as u16);
    Wav { tag: 3, channels, rate, bits: 32, data, ..silence() }.bytes()
}

/// Returns a folder with a WAV file of 16-bit integers in `in.wav`.
fn in_16_bits(channels: &[Vec<f32>]) -> Folder {
    let frames = 0..channels[0].len();
    let integer = |sample: f32| ((sample * 32_767.0) as i16).to_le_bytes();
    let data = frames.flat_map(|t| channels.iter().flat_map(move |wave| integer(wave[t])));
    let (data, channels) = (data.collect(), channels.len() as u16);
    Folder::with(&Wav { channels, data, ..silence() }.bytes())
}

/// Returns a folder with a chord of `frames` frames in `in.wav`, 16 bits, mono.
fn chord(frames: usize) -> Folder {
    in_16_bits(&[signals::noisy_chord(5.0, 44_100.0)[..frames].to_vec()])
}

/// Returns a folder with noise in `in.wav`, with 16 bits: all conversions by sox and ffmpeg keep such samples exactly.
fn noise(channels: usize, frames: usize) -> Folder {
    let mut noise = signals::noise(9);
    let mut channel = || (0..frames).map(|_| (0.9 * noise()) as f32).collect();
    in_16_bits(&(0..channels).map(|_| channel()).collect::<Vec<_>>())
}

/// Returns `bytes` with `new` written over the bytes from `at` on.
fn patched(mut bytes: Vec<u8>, at: usize, new: &[u8]) -> Vec<u8> {
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

fn position(bytes: &[u8], pattern: &[u8]) -> usize {
    bytes.windows(pattern.len()).position(|here| here == pattern).unwrap()
}

/// Returns a chunk with `id` and `content`, padded to an even length.
fn chunk(id: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut chunk = [&id[..], &(content.len() as u32).to_le_bytes(), content].concat();
    chunk.resize(chunk.len().next_multiple_of(2), 0);
    chunk
}

/// Returns id and content of each chunk of a WAV file. Not by hound, which does not know that chunks begin at even offsets.
fn chunks(mut bytes: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let len = |bytes: &[u8]| u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    assert_eq!(bytes.len(), 8 + len(bytes), "RIFF counts the whole file");
    bytes = &bytes[12..];
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let len = len(bytes);
        all.push((bytes[..4].try_into().unwrap(), bytes[8..8 + len].to_vec()));
        bytes = &bytes[8 + len.next_multiple_of(2)..];
    }
    all
}
