//! Writing, with everything that makes integers of samples.

use super::{Depth, Format};
use crate::offline::{Error, Output};
use std::{
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::PathBuf,
};

/// No header that `hound` writes is longer, in bytes.
const LONGEST_HEADER: u64 = 68;

/// A WAV file being written.
pub struct Writer {
    path: PathBuf,
    file: File,
    wav: hound::WavWriter<BufWriter<File>>,
    depth: Depth,
    dither: Option<Dither>,
    clipped: u64,
    peak: f32,
}

/// What [`Writer::finish`] tells of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Written {
    /// Samples beyond full scale that had to be cut to it; none in float files.
    pub clipped: u64,
    /// The greatest magnitude before that, 1 at full scale.
    pub peak: f32,
}

impl Writer {
    /// Begins a file of `frames` samples a channel, made from samples of the depth `source`. They are
    /// dithered if they have to shrink.
    ///
    /// # Errors
    /// When a WAV file cannot hold that much, or when nothing can be written.
    pub fn new(output: &Output, format: Format, frames: u64, source: Depth) -> Result<Self, Error> {
        let Format { channels, rate, depth } = format;
        let path = output.path().to_path_buf();
        let frame = u32::from(channels) * u32::from(depth.bits() / 8);
        if frame > u32::from(u16::MAX) || rate.checked_mul(frame).is_none() {
            return Err(Error::TooWide { path, channels, rate });
        }
        let bytes = LONGEST_HEADER + frames * u64::from(frame);
        if bytes > u64::from(u32::MAX) {
            return Err(Error::TooLong { path, bytes });
        }
        let spec = hound::WavSpec {
            channels,
            sample_rate: rate,
            bits_per_sample: depth.bits(),
            sample_format: depth.sample_format(),
        };
        let begin = || {
            let [ours, hounds] = [output.file().try_clone()?, output.file().try_clone()?];
            Ok((ours, hound::WavWriter::new(BufWriter::new(hounds), spec)?))
        };
        let (file, wav) = begin().map_err(|error| unwritable(&path, error))?;
        let dither = (depth.bits() < source.bits()).then(Dither::default);
        Ok(Self { path, file, wav, depth, dither, clipped: 0, peak: 0.0 })
    }

    /// Appends the samples of all `channels`, which are of one length.
    ///
    /// # Errors
    /// When the file cannot be written on.
    pub fn write(&mut self, channels: &[Vec<f32>]) -> Result<(), Error> {
        let frames = channels.first().map_or(0, Vec::len);
        for frame in 0..frames {
            for channel in channels {
                self.write_sample(channel[frame]).map_err(|error| unwritable(&self.path, error))?;
            }
        }
        Ok(())
    }

    fn write_sample(&mut self, sample: f32) -> hound::Result<()> {
        self.peak = self.peak.max(sample.abs());
        if self.depth == Depth::Float32 {
            return self.wav.write_sample(sample);
        }
        self.clipped += u64::from(sample.abs() > 1.0);
        let full_scale = self.depth.full_scale();
        let dither = self.dither.as_mut().map_or(0.0, Dither::next);
        let step = (f64::from(sample) * full_scale + dither).round();
        self.wav.write_sample(step.clamp(-full_scale, full_scale - 1.0) as i32)
    }

    /// Completes the header.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<Written, Error> {
        let Self { path, file, wav, clipped, peak, .. } = self;
        wav.finalize().and_then(|()| Ok(pad(file)?)).map_err(|error| unwritable(&path, error))?;
        Ok(Written { clipped, peak })
    }
}

/// Ends a chunk of odd length with the zero that RIFF asks for and `hound` forgets.
fn pad(mut file: File) -> io::Result<()> {
    let len = file.seek(SeekFrom::End(0))?;
    if len % 2 == 1 {
        file.write_all(&[0])?;
        file.seek(SeekFrom::Start(4))?;
        // The RIFF chunk starts after its own head of 8.
        file.write_all(&((len + 1 - 8) as u32).to_le_bytes())?;
    }
    Ok(())
}

fn unwritable(path: &std::path::Path, error: hound::Error) -> Error {
    let source = match error {
        hound::Error::IoError(source) => source,
        other => io::Error::other(other),
    };
    Error::Write { path: path.into(), source }
}

/// Triangular noise of two steps' width (TPDF): makes the rounding error independent of the signal,
/// hiss in place of distortion. The same for every run.
struct Dither(u64);

impl Default for Dither {
    fn default() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }
}

impl Dither {
    /// The next value, -1..1 steps.
    fn next(&mut self) -> f64 {
        self.uniform() - self.uniform()
    }

    /// xorshift64* (Vigna), 0..1.
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dither_is_triangular_without_bias_and_a_sixth_of_a_step_squared() {
        let mut dither = Dither::default();
        const COUNT: usize = 1_000_000;
        let values: Vec<f64> = (0..COUNT).map(|_| dither.next()).collect();
        let mean = values.iter().sum::<f64>() / COUNT as f64;
        let power = values.iter().map(|v| v * v).sum::<f64>() / COUNT as f64;
        // Standard errors are 4e-4 and 2e-4.
        assert!(mean.abs() < 2e-3, "{mean}");
        assert!((power - 1.0 / 6.0).abs() < 1e-3, "{power}");
        let inner = values.iter().filter(|v| v.abs() < 0.5).count() as f64 / COUNT as f64;
        assert!((inner - 0.75).abs() < 3e-3, "{inner}: three quarters of a triangle's area");
        let next_to = |lag| values.iter().zip(&values[lag..]).map(|(a, b)| a * b).sum::<f64>();
        assert!(next_to(1).abs() / (power * COUNT as f64) < 5e-3, "neighbours are independent");
    }
}
