//! Reader and writer of WAV files, as planar samples.

use crate::Signal;
use anyhow::{Context, Result};
use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
use std::path::Path;

/// Reads a file of 16-bit integers, scaled to -1..1, or of 32-bit floats. Returns the samples and the sample rate in Hz.
pub fn read(path: &Path) -> Result<(Signal, u32)> {
    let read = || -> hound::Result<_> {
        let mut file = WavReader::open(path)?;
        let spec = file.spec();
        let samples: hound::Result<Vec<f32>> = match spec.sample_format {
            SampleFormat::Float => file.samples().collect(),
            SampleFormat::Int => {
                file.samples::<i16>().map(|sample| Ok(f32::from(sample?) / 32_768.0)).collect()
            }
        };
        let (samples, count) = (samples?, usize::from(spec.channels));
        let channel = |first| samples.iter().skip(first).step_by(count).copied().collect();
        Ok(((0..count).map(channel).collect(), spec.sample_rate))
    };
    read().with_context(|| format!("cannot read {}", path.display()))
}

/// Writes a file of 32-bit floats.
pub fn write(path: &Path, signal: &Signal, sample_rate: u32) -> Result<()> {
    let spec = WavSpec {
        channels: signal.len() as u16,
        sample_rate,
        bits_per_sample: 32,
        sample_format: SampleFormat::Float,
    };
    let write = || -> hound::Result<()> {
        let mut file = WavWriter::create(path, spec)?;
        for frame in 0..signal[0].len() {
            signal.iter().try_for_each(|channel| file.write_sample(channel[frame]))?;
        }
        file.finalize()
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
