//! One file through the filter.

use super::{
    Error, Input, Level, Output, Source,
    resample::Resampler,
    score::{Player, Score},
    wav::{Chunk, Depth, Format, Writer},
};
use crate::dsp::{BandMask, BandState, Settings, ToneFilter, kernel::Kernel};
use ebur128::{EbuR128, Mode};
use std::{io, path::Path, sync::mpsc, thread, time::Instant};

/// Frames that go from the reader to the filter and on to the writer at a time: enough to be worth a system
/// call and a word between threads.
const BLOCK: usize = 16_384;

/// Blocks on their way to the writer: none of the two waits for the other's hiccups.
const WAITING: usize = 4;

/// Frames from which on writing has a thread of its own: short files come in numbers, and fill all cores alone.
const LONG: u64 = 1 << 21;

/// Frames between two looks at the bands, and the shortest piece of a tail.
const MOMENT: usize = 2048;

/// Chunks that count in samples, and are wrong at another rate.
const RATE_BOUND: [&[u8; 4]; 4] = [b"bext", b"cue ", b"plst", b"smpl"];

/// `auto` ends where a whole block stays below this: half a step of 16 bits.
const INAUDIBLE: f32 = 0.5 / 32_768.0;

/// What comes after the end of the input, while the resonators still ring.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Tail {
    /// Nothing: the output is as long as the input.
    #[default]
    None,
    /// So many seconds.
    Seconds(f64),
    /// Until it cannot be heard.
    Auto,
}

/// How to render.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The sound.
    pub settings: Settings,
    /// What is played on its bands.
    pub keys: Score,
    /// The output's depth; the input's if there is none.
    pub depth: Option<Depth>,
    /// The output's sample rate in Hz; the input's if there is none.
    pub rate: Option<u32>,
    /// What comes after the end.
    pub tail: Tail,
    /// The output's peak in dB full scale; wherever it falls if there is none.
    pub normalize: Option<f32>,
    /// Round without dither.
    pub no_dither: bool,
    /// What computes.
    pub kernel: Kernel,
    /// Overwrite an output that exists.
    pub force: bool,
    /// Give the output the input's time of modification.
    pub keep_mtime: bool,
    /// Measure the loudness, which takes as long as the filter's bank.
    pub loudness: bool,
}

/// What was done.
#[derive(Debug, Clone, Copy)]
pub struct Report {
    /// What the output's samples have in common.
    pub format: Format,
    /// Samples a channel of the output.
    pub frames: u64,
    /// Seconds of sound that were read.
    pub source_seconds: f64,
    /// Samples that were filtered, all channels together.
    pub samples: u64,
    /// Seconds it took, reading and writing included.
    pub wall_seconds: f64,
    /// How loud the input is.
    pub before: Level,
    /// How loud the output is, before samples are cut to full scale.
    pub after: Level,
    /// Integrated loudness by EBU R128 of input and output, in LUFS, where it is measured and there is any.
    pub loudness: [Option<f64>; 2],
    /// Samples beyond full scale that had to be cut to it.
    pub clipped: u64,
    /// The bands that sounded.
    pub notes: BandMask,
    /// The sound.
    pub settings: Settings,
}

impl Report {
    /// Duration of the output.
    pub fn audio_seconds(&self) -> f64 {
        self.frames as f64 / f64::from(self.format.rate)
    }

    /// Seconds of sound a second.
    pub fn times_real_time(&self) -> f64 {
        self.source_seconds / self.wall_seconds
    }

    /// Samples of all channels a second, in millions.
    pub fn mega_samples_per_second(&self) -> f64 {
        self.samples as f64 / self.wall_seconds / 1e6
    }
}

/// Renders the file `input` to the WAV file `output`, which starts in time with it. `progress` is told
/// which part of the work is done, 0 to 1, if the file tells its length.
///
/// Takes the same memory for any length. The output appears when it is complete, and depends on nothing
/// but the input and the options.
///
/// # Errors
/// As [`enum@Error`] tells; then there is no output, and one that was there is untouched.
pub fn render(
    input: &Path,
    output: &Path,
    options: &Options,
    mut progress: impl FnMut(f64),
) -> Result<Report, Error> {
    let start = Instant::now();
    let input = Input::new(input)?;
    let mut pass = Pass::new(&input, options)?;
    let output = Output::create(output, input.path(), options.force)?;
    let mut gain = 1.0;
    if let Some(peak_db) = options.normalize {
        pass.run(gain, &mut |part| progress(part / 2.0), &mut |_| Ok(()))?;
        if pass.after.peak == 0.0 {
            return Err(Error::Silent(input.path().into()));
        }
        gain = libm::powf(10.0, peak_db / 20.0) / pass.after.peak;
        pass = Pass::new(&input, options)?;
    }
    let mut progress = |part: f64| {
        progress(if options.normalize.is_some() { 0.5 + part / 2.0 } else { part });
    };

    let source = pass.source.format();
    let format = pass.format(options);
    let Settings { bypass, mix, morph, output: level, .. } = options.settings;
    let passed_on = bypass || morph == 0.0 || mix == 0.0 && level == 0.0;
    let processed = !passed_on || gain != 1.0 || pass.resampler.is_some();
    let bits = format.depth.bits();
    let dithered = !options.no_dither && (bits < source.depth.bits() || processed && bits <= 16);
    let mut writer = Writer::new(&output, format, pass.most_frames(), dithered)?;
    let (before, after) = pass.chunks();
    for chunk in before {
        writer.carry(chunk, |to| pass.source.copy_chunk(chunk, to))?;
    }
    let long = pass.most_frames().is_none_or(|frames| frames > LONG);
    let frames = if long {
        in_parallel(output.path(), &mut writer, |sink| pass.run(gain, &mut progress, sink))?
    } else {
        pass.run(gain, &mut progress, &mut |block| writer.write(block))?
    };
    writer.end_data()?;
    for chunk in after {
        writer.carry(chunk, |to| pass.source.copy_chunk(chunk, to))?;
    }
    let clipped = writer.finish()?;
    if options.keep_mtime {
        output.set_modified(input.modified()?)?;
    }
    output.commit()?;
    Ok(Report {
        format,
        frames,
        source_seconds: pass.read as f64 / f64::from(source.rate),
        samples: pass.read * u64::from(source.channels),
        wall_seconds: start.elapsed().as_secs_f64(),
        before: pass.before,
        after: pass.after,
        loudness: pass.meters.map(|meter| loudness(meter.as_ref())),
        clipped,
        notes: pass.notes,
        settings: options.settings,
    })
}

/// Where blocks go. It may take a block's vectors and leave others in their place.
type Sink<'a> = &'a mut dyn FnMut(&mut Vec<Vec<f32>>) -> Result<(), Error>;

/// Lets `work` hand blocks to a thread of its own that writes them: while one block is rounded and goes to the
/// disk, the next ones are filtered.
fn in_parallel<T>(
    path: &Path,
    writer: &mut Writer,
    work: impl FnOnce(Sink) -> Result<T, Error>,
) -> Result<T, Error> {
    thread::scope(|scope| {
        let (full, blocks) = mpsc::sync_channel::<Vec<Vec<f32>>>(WAITING);
        let (empty, vectors) = mpsc::channel();
        let writing = scope.spawn(move || {
            for block in blocks {
                writer.write(&block)?;
                // Nobody wants it back after the last one.
                drop(empty.send(block));
            }
            Ok(())
        });
        let done = work(&mut |block| {
            let free = vectors.try_recv().unwrap_or_else(|_| vec![Vec::new(); block.len()]);
            // Why the writer gave up, it tells itself.
            let gone =
                |_| Error::Write { path: path.into(), source: io::ErrorKind::BrokenPipe.into() };
            full.send(std::mem::replace(block, free)).map_err(gone)
        });
        drop(full);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(done)
    })
}

/// One run over a file from its start to the end of its tail.
struct Pass {
    source: Source,
    filter: ToneFilter,
    resampler: Option<Resampler>,
    tail: Tail,
    player: Player,
    /// Frames of the source so far.
    read: u64,
    /// Frames of the filter's output that are still to be left out, because they come before the source's first.
    early: usize,
    before: Level,
    after: Level,
    /// Of input and output.
    meters: [Option<EbuR128>; 2],
    notes: BandMask,
}

impl Pass {
    fn new(input: &Input, options: &Options) -> Result<Self, Error> {
        let source = Source::open(input)?;
        let Format { channels, rate, .. } = source.format();
        let path = || input.path().to_path_buf();
        let hertz = f64::from(rate);
        let filter = ToneFilter::new(hertz, &options.settings)
            .map_err(|source| Error::Filter { path: path(), source })?
            .with_channels(usize::from(channels))
            .with_kernel(options.kernel);
        let resampler = options.rate.filter(|to| *to != rate).map(|to| {
            Resampler::new(rate, to, channels).map_err(|reason| Error::Rate {
                path: path(),
                from: rate,
                to,
                reason,
            })
        });
        // A rate that is none for it has no loudness.
        let meter = |rate| EbuR128::new(u32::from(channels), rate, Mode::I).ok();
        let meter = |rate| options.loudness.then(|| meter(rate)).flatten();
        Ok(Self {
            early: filter.latency(),
            player: Player::new(&options.keys, &filter),
            meters: [rate, options.rate.unwrap_or(rate)].map(meter),
            source,
            filter,
            resampler: resampler.transpose()?,
            tail: options.tail,
            read: 0,
            before: Level::default(),
            after: Level::default(),
            notes: BandMask::NONE,
        })
    }

    /// What comes out.
    fn format(&self, options: &Options) -> Format {
        let source = self.source.format();
        Format {
            depth: options.depth.unwrap_or(self.source.natural_depth()),
            rate: options.rate.unwrap_or(source.rate),
            ..source
        }
    }

    /// No more samples a channel than this come out.
    fn most_frames(&self) -> Option<u64> {
        let frames = self.source.frames()? + self.tail_frames();
        Some(self.resampler.as_ref().map_or(frames, |resampler| resampler.output_frames(frames)))
    }

    fn tail_frames(&self) -> u64 {
        let seconds = match self.tail {
            Tail::None => 0.0,
            Tail::Seconds(seconds) => seconds,
            // The filter's own tail is the time to -60 dB, and 16 bits have 96.
            Tail::Auto => ToneFilter::tail(self.filter.settings()) * 96.0 / 60.0,
        };
        (seconds * f64::from(self.source.format().rate)).round() as u64
    }

    /// The chunks to carry over, before and after the samples.
    fn chunks(&self) -> (Vec<Chunk>, Vec<Chunk>) {
        let fits = |chunk: &&Chunk| self.resampler.is_none() || !RATE_BOUND.contains(&&chunk.id);
        let (before, after) = self.source.chunks();
        (
            before.iter().filter(fits).copied().collect(),
            after.iter().filter(fits).copied().collect(),
        )
    }

    /// Filters all of it and hands the output out in blocks. Gives the output's number of frames.
    fn run(&mut self, gain: f32, progress: &mut dyn FnMut(f64), sink: Sink) -> Result<u64, Error> {
        let channels = self.source.format().channels;
        let mut block = vec![Vec::new(); usize::from(channels)];
        let mut frames = 0;
        let mut put = |this: &mut Self, block: &mut Vec<Vec<f32>>| {
            for channel in block.iter_mut() {
                if gain != 1.0 {
                    channel.iter_mut().for_each(|sample| *sample *= gain);
                }
                this.after.add(channel);
            }
            measure(&mut this.meters[1], block);
            frames += block[0].len() as u64;
            sink(block)
        };
        loop {
            self.source.read(&mut block, BLOCK)?;
            if block[0].is_empty() {
                break;
            }
            self.read += block[0].len() as u64;
            block.iter().for_each(|channel| self.before.add(channel));
            measure(&mut self.meters[0], &block);
            self.filter(&mut block);
            if let Some(resampler) = &mut self.resampler {
                resampler.process(&mut block);
            }
            put(self, &mut block)?;
            if let Some(frames) = self.source.frames() {
                progress(self.read as f64 / frames.max(self.read) as f64);
            }
        }
        // What the filter still holds back.
        silence(&mut block, self.filter.latency());
        self.filter(&mut block);
        if let Some(resampler) = &mut self.resampler {
            resampler.process(&mut block);
        }
        put(self, &mut block)?;
        let mut left = self.tail_frames();
        while left > 0 {
            let piece = left.min(MOMENT as u64);
            silence(&mut block, piece as usize);
            self.filter(&mut block);
            let audible = |channel: &Vec<f32>| channel.iter().any(|s| s.abs() * gain >= INAUDIBLE);
            if self.tail == Tail::Auto && !block.iter().any(audible) {
                break;
            }
            if let Some(resampler) = &mut self.resampler {
                resampler.process(&mut block);
            }
            put(self, &mut block)?;
            left -= piece;
        }
        if let Some(resampler) = &mut self.resampler {
            resampler.finish(&mut block);
            put(self, &mut block)?;
        }
        Ok(frames)
    }

    /// Filters `block`, and leaves out what comes too early.
    fn filter(&mut self, block: &mut [Vec<f32>]) {
        for start in (0..block[0].len()).step_by(MOMENT) {
            let end = block[0].len().min(start + MOMENT);
            self.player.process(&mut self.filter, block, start..end, |_| ());
            let sounding = self.filter.sounding_bands();
            for (tone, band) in self.filter.bands().bands.iter().enumerate() {
                if band.state != BandState::Muted && sounding.contains(tone) {
                    self.notes = self.notes.with(tone, true);
                }
            }
        }
        let early = self.early.min(block[0].len());
        self.early -= early;
        if early > 0 {
            block.iter_mut().for_each(|channel| drop(channel.drain(..early)));
        }
    }
}

fn measure(meter: &mut Option<EbuR128>, block: &[Vec<f32>]) {
    let channels: Vec<&[f32]> = block.iter().map(Vec::as_slice).collect();
    if let Some(Err(_)) = meter.as_mut().map(|meter| meter.add_frames_planar_f32(&channels)) {
        *meter = None;
    }
}

/// What a meter says; of less than 0.4 s, and of silence, nothing.
fn loudness(meter: Option<&EbuR128>) -> Option<f64> {
    meter?.loudness_global().ok().filter(|loudness| loudness.is_finite())
}

/// Replaces what `block` holds by so many frames of silence.
fn silence(block: &mut [Vec<f32>], frames: usize) {
    for channel in block {
        channel.clear();
        channel.resize(frames, 0.0);
    }
}
