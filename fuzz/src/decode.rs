//! Fuzz target: any bytes as a sound file. If both our reader and ffmpeg read it without an error, the samples must be equal.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};
use tone_filter_offline::{Error, Input, Source};

/// Maximum difference of samples that count as equal: 1 LSB of 16 bits.
const STEP: f32 = 1.0 / 32_768.0;

/// Maximum power of the difference relative to the signal (-80 dB) at which files of lossy formats count as equal.
const LOSSY: f64 = 1e-8;

/// Number of samples, of all channels together, after which we stop reading.
const MOST: usize = 1 << 22;

/// Result of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// We or ffmpeg refuse the file, or it is ambiguous.
    Unknown,
    Same,
    /// The samples differ; the text describes how.
    Differs(String),
}

/// Compares our samples of a file with ffmpeg's.
pub fn compare(bytes: &[u8]) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in").with_extension(extension(bytes));
    fs::write(&path, bytes).unwrap();
    let Ok(ours) = read(&path) else { return Verdict::Unknown };
    if is_ambiguous(bytes) {
        return Verdict::Unknown;
    }
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "error", "-xerror", "-i"]).arg(&path);
    ffmpeg.args(["-map", "0:a:0", "-f", "f32le", "-"]).stdin(Stdio::null());
    let output = ffmpeg.output().unwrap_or_else(|error| {
        panic!("ffmpeg: {error}; this test needs ffmpeg: apt-get install ffmpeg")
    });
    if !output.status.success() || !output.stderr.is_empty() || output.stdout.is_empty() {
        return Verdict::Unknown;
    }
    let theirs = output.stdout.as_chunks().0.iter().copied().map(f32::from_le_bytes);
    let mut theirs: Vec<f32> = theirs.collect();
    // ffmpeg 7 decodes the padding of the last block, too, which the chunk `fact` leaves out.
    if is_adpcm(bytes) {
        theirs.truncate(ours.len());
    }
    let is_lossy = matches!(extension(bytes), "mp3" | "ogg" | "m4a");
    if ours.len() != theirs.len() {
        // ffmpeg 5.1 leaves out less of what an encoder has padded.
        if is_lossy {
            return Verdict::Unknown;
        }
        return Verdict::Differs(format!("{} samples, not {}", ours.len(), theirs.len()));
    }
    let pairs = || ours.iter().zip(&theirs);
    let is_equal = |(a, b): (&f32, &f32)| a == b || (a - b).abs() <= STEP || b.is_nan();
    let power = |sample: f32| f64::from(sample).powi(2);
    let difference: f64 = pairs().map(|(a, b)| power(a - b)).sum();
    let whole: f64 = theirs.iter().map(|sample| power(*sample)).sum();
    if pairs().all(is_equal) || is_lossy && difference <= LOSSY * whole {
        return Verdict::Same;
    }
    // MP3 has no checksum, and decoders differ in what they keep of a damaged frame.
    if extension(bytes) == "mp3" {
        return Verdict::Unknown;
    }
    let first = pairs().position(|pair| !is_equal(pair)).unwrap_or_default();
    let ratio = 10.0 * (difference / whole).log10();
    Verdict::Differs(format!("{ratio:.0} dB off, from sample {first} of {} on", ours.len()))
}

fn read(path: &Path) -> Result<Vec<f32>, Error> {
    let mut source = Source::open(&Input::new(path)?)?;
    let mut channels = vec![Vec::new(); usize::from(source.format().channels)];
    let mut samples = Vec::new();
    loop {
        source.read(&mut channels, 4096)?;
        for frame in 0..channels[0].len() {
            samples.extend(channels.iter().map(|channel| channel[frame]));
        }
        if channels[0].is_empty() || samples.len() > MOST {
            return Ok(samples);
        }
    }
}

/// Returns whether the file is ambiguous: a WAV or AIFF that seems to have two chunks of samples, or an AIFF-C without exactly
/// one chunk of the known version. Of a WAV, ffmpeg reads the last chunk.
fn is_ambiguous(bytes: &[u8]) -> bool {
    let count = |what: &[u8]| bytes.windows(what.len()).filter(|here| *here == what).count();
    match extension(bytes) {
        "wav" => count(b"data") > 1,
        "aiff" if count(b"AIFC") > 0 => count(b"FVER\0\0\0\x04\xA2\x80\x51\x40") != 1,
        "aiff" => count(b"SSND") > 1,
        _ => false,
    }
}

/// Returns whether the file seems to be a WAV with ADPCM of Microsoft (2) or IMA (0x11).
fn is_adpcm(bytes: &[u8]) -> bool {
    bytes.windows(10).any(|here| here.starts_with(b"fmt ") && matches!(here[8..], [2 | 0x11, 0]))
}

/// Returns the usual file extension for the magic number of `bytes`.
fn extension(bytes: &[u8]) -> &'static str {
    match bytes.get(..4).unwrap_or_default() {
        b"RIFF" | b"RF64" | b"BW64" => "wav",
        b"fLaC" => "flac",
        b"FORM" => "aiff",
        b"OggS" => "ogg",
        b"caff" => "caf",
        _ if bytes.get(4..8) == Some(b"ftyp") => "m4a",
        _ => "mp3",
    }
}
