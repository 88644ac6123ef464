//! One file through the filter.

use super::{
    Error, Output,
    wav::{Depth, Format, Reader, Writer},
};
use crate::dsp::{Settings, ToneFilter};
use std::{path::Path, time::Instant};

/// Samples of all channels together that are held in memory.
const BLOCK: usize = 1 << 16;

/// How to render.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The sound.
    pub settings: Settings,
    /// The output's depth; the input's if there is none.
    pub depth: Option<Depth>,
    /// Overwrite an output that exists.
    pub force: bool,
}

/// What was done.
#[derive(Debug, Clone, Copy)]
pub struct Report {
    /// What the output's samples have in common.
    pub format: Format,
    /// Samples a channel.
    pub frames: u64,
    /// Seconds it took, reading and writing included.
    pub wall_seconds: f64,
    /// Samples beyond full scale that had to be cut to it.
    pub clipped: u64,
    /// The greatest magnitude before that, 1 at full scale.
    pub peak: f32,
}

impl Report {
    /// Duration of the sound.
    pub fn audio_seconds(&self) -> f64 {
        self.frames as f64 / f64::from(self.format.rate)
    }

    /// Seconds of sound a second.
    pub fn times_real_time(&self) -> f64 {
        self.audio_seconds() / self.wall_seconds
    }

    /// Samples of all channels a second, in millions.
    pub fn mega_samples_per_second(&self) -> f64 {
        let samples = self.frames as f64 * f64::from(self.format.channels);
        samples / self.wall_seconds / 1e6
    }
}

/// Renders the WAV file `input` to `output`, which has as many samples and starts with the same one.
///
/// Takes the same memory for any length. The output appears when it is complete.
///
/// # Errors
/// As [`enum@Error`] tells; then there is no output, and one that was there is untouched.
pub fn render(input: &Path, output: &Path, options: &Options) -> Result<Report, Error> {
    let start = Instant::now();
    let mut reader = Reader::open(input)?;
    let (source, frames) = (reader.format(), reader.frames());
    let mut filter = ToneFilter::new(f64::from(source.rate), &options.settings)
        .map_err(|error| Error::Filter { path: input.into(), source: error })?;
    let format = Format { depth: options.depth.unwrap_or(source.depth), ..source };
    let output = Output::create(output, input, options.force)?;
    let mut writer = Writer::new(&output, format, frames, source.depth)?;

    let mut channels = vec![Vec::new(); usize::from(source.channels)];
    let block = (BLOCK / channels.len()).max(1);
    loop {
        reader.read(&mut channels, block)?;
        if channels[0].is_empty() {
            break;
        }
        filter.process(&mut channels.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>());
        writer.write(&channels)?;
    }
    let written = writer.finish()?;
    output.commit()?;
    Ok(Report {
        format,
        frames,
        wall_seconds: start.elapsed().as_secs_f64(),
        clipped: written.clipped,
        peak: written.peak,
    })
}
