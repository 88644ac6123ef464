//! Rendering of one file.

use crate::{
    ahead::with_listener,
    analyse::analyse,
    container::{Container, Writer},
    error::{Error, Fault},
    level::Level,
    metadata::Metadata,
    options::Options,
    output::Output,
    pass::Pass,
    silence_reasons::Cause,
    source::Input,
    wav::Format,
};
use std::{io, path::Path, sync::mpsc, thread, time::Instant};
use tone_filter_dsp::{BandMask, Settings};

/// Number of frames that go from reader to filter to writer at a time. Filtering them takes much longer than their system calls
/// and thread messages.
const BLOCK: usize = 16_384;

/// Length of the queue from filter to writer, in blocks of [`BLOCK`] frames. The queue absorbs jitter.
const WAITING: usize = 4;

/// Maximum length of an output, in frames, that is rendered on one thread. Longer ones get threads for writing and listening.
/// Shorter ones mostly come in batches, which use all cores anyway.
const LONG: u64 = 1 << 21;

/// An output whose peak is at most this multiple of the input's peak counts as silent (-100 dB). It consists of rounding
/// errors: the makeup gain raises those of 24 bits by up to 24 dB.
const ROUNDING: f32 = 1e-5;

/// Report on a rendered file.
#[derive(Debug, Clone)]
pub struct Report {
    /// Sample format of the output.
    pub format: Format,
    /// Length of the output in frames.
    pub frames: u64,
    /// Duration of the input in seconds.
    pub source_seconds: f64,
    /// Number of samples of the input, over all channels.
    pub samples: u64,
    /// Duration of the run in seconds, reading and writing included.
    pub wall_seconds: f64,
    /// Number of samples of the input that are NaN or infinite and count as silence.
    pub not_finite: u64,
    /// Message about samples of the input that are ignored; `None` if there are none.
    pub ignored: Option<&'static str>,
    /// Names of fields and chunks of the input that the output lacks; empty if the options strip all metadata.
    pub left_out: Vec<String>,
    /// Level of the input.
    pub before: Level,
    /// Level of the output before clipping.
    pub after: Level,
    /// Integrated loudness (EBU R128) of input and output in LUFS; `None` if not measured, for less than 0.4 s, and for silence.
    pub loudness: [Option<f64>; 2],
    /// Number of samples that were clipped to full scale.
    pub clipped: u64,
    /// Bands that sounded.
    pub notes: BandMask,
    /// Reason why no note sounded, or a warning that left and right cancel; `None` if neither applies, and if the output is dry.
    pub unheard: Option<Cause>,
    /// Filter settings, copied from the options.
    pub settings: Settings,
}

impl Report {
    /// Returns the duration of the output in seconds.
    pub fn audio_seconds(&self) -> f64 {
        self.frames as f64 / f64::from(self.format.rate)
    }

    /// Returns the speed: seconds of input per second of the run.
    pub fn times_real_time(&self) -> f64 {
        self.source_seconds / self.wall_seconds
    }
}

/// Renders the file `input` to the file `output`: as FLAC if the extension of `output` says so, otherwise as WAV. Input and
/// output are aligned in time. Calls `progress` with the fraction of the work done, 0 to 1, if the length of the input is known.
///
/// Memory does not grow with the length. The output appears when it is complete, and depends only on input and options.
///
/// # Errors
/// See [`Fault`]. After an error there is no new output, and an old one is untouched.
pub fn render(
    input: &Path,
    output: &Path,
    options: &Options,
    mut progress: impl FnMut(f64),
) -> Result<Report, Error> {
    let start = Instant::now();
    let input = Input::new(input)?;
    let mut pass = Pass::new(&input, options, 1.0)?;
    let output = Output::create(output, &input.path, options.force)?;
    let mut gain = 1.0;
    if let Some(peak_db) = options.normalize {
        let work = (&mut pass, &input, options);
        run(work, &mut |part| progress(part / 2.0), &mut |_| Ok(()))?;
        if pass.after.peak <= ROUNDING * pass.before.peak {
            return Err(Fault::Silent.at(&input.path));
        }
        gain = libm::powf(10.0, peak_db / 20.0) / pass.after.peak;
        pass = Pass::new(&input, options, gain)?;
    }
    let mut progress = |part: f64| {
        progress(if options.normalize.is_some() { 0.5 + part / 2.0 } else { part });
    };

    let source = pass.source.format();
    let container = Container::of(&output.path).unwrap_or_default();
    let format = container.fit(pass.format());
    let Settings { mix, morph, output: level, .. } = options.settings;
    let passed_on = options.bypass || morph == 0.0 || mix == 0.0 && level == 0.0;
    let processed = !passed_on || gain != 1.0 || pass.resampler.is_some();
    let bits = format.depth.bits();
    let dithered = !options.no_dither && (bits < source.depth.bits() || processed && bits <= 16);
    let metadata = match options.strip_metadata {
        true => Metadata::default(),
        false => {
            let rates = [source.rate, format.rate];
            let read = Metadata::read(&input.file, &mut pass.source, container, rates);
            read.map_err(|error| Fault::Read(error).at(&input.path))?
        }
    };
    let (kind, frames) = ((container, format), pass.most_frames());
    let mut writer = Writer::new(kind, &output, frames, dithered, &metadata, &mut pass.source)?;
    let long = is_long(&pass);
    let work = (&mut pass, &input, options);
    let frames = if long {
        in_parallel(&output.path, &mut writer, |sink| run(work, &mut progress, sink))?
    } else {
        run(work, &mut progress, &mut |block| writer.write(block))?
    };
    let clipped = writer.finish(&metadata, &mut pass.source)?;
    if options.keep_mtime {
        output.set_modified(input.modified()?)?;
    }
    output.commit()?;
    let is_wet = !options.bypass && options.settings.mix > 0.0;
    let unheard = match pass.unheard().filter(|_| is_wet) {
        // At a focus of 0 %, the listener has not run. A second run with the listener may find a better reason.
        Some(Cause::Weak(_)) if options.explain && options.settings.focus == 0.0 => {
            let sound = (&options.settings, options.keys.as_deref());
            analyse(&input, sound, options.kernel, 1.0, |_| (), |_, _| Ok(()), |_| ())?.unheard
        }
        known => known,
    };
    Ok(Report {
        format,
        frames,
        source_seconds: pass.seconds(),
        samples: pass.read * u64::from(source.channels),
        wall_seconds: start.elapsed().as_secs_f64(),
        not_finite: pass.not_finite,
        ignored: pass.source.ignored(),
        left_out: metadata.left_out,
        before: pass.before,
        after: pass.after,
        loudness: pass.loudness(),
        clipped,
        notes: pass.notes,
        unheard,
        settings: options.settings,
    })
}

/// Function that receives each block. It may replace the block's vectors by others.
type Sink<'a> = &'a mut dyn FnMut(&mut Vec<Vec<f32>>) -> Result<(), Error>;

/// Runs `work`, and writes its blocks on another thread: while one block is rounded and written, the next ones are filtered.
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
                // Fails after the last block, when nothing receives the vectors any more.
                drop(empty.send(block));
            }
            Ok(())
        });
        let done = work(&mut |block| {
            let free = vectors.try_recv().unwrap_or_else(|_| vec![Vec::new(); block.len()]);
            // Only stops the work: the result is the error of the writing thread.
            let gone = |_| Fault::Write(io::ErrorKind::BrokenPipe.into()).at(path);
            full.send(std::mem::replace(block, free)).map_err(gone)
        });
        drop(full);
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(done)
    })
}

/// Filters the whole input, and passes the blocks of the output to `sink`. Returns the number of output frames. For a long
/// file, the listener runs on its own thread if `options` permit.
fn run(
    (pass, input, options): (&mut Pass, &Input, &Options),
    progress: &mut dyn FnMut(f64),
    sink: Sink,
) -> Result<u64, Error> {
    // In a loop, the source jumps back. The scout cannot follow, because it reads straight on.
    let ahead = options.ahead && is_long(pass) && pass.loop_passes.is_none();
    match pass.filter.scout().filter(|_| ahead) {
        Some(scout) => with_listener(input, scout, |decisions| {
            pass.decisions = Some(decisions);
            let done = run_through(pass, progress, sink);
            // Ends the listener's thread.
            pass.decisions = None;
            done
        }),
        None => run_through(pass, progress, sink),
    }
}

/// Returns whether the output is longer than [`LONG`], or its length is unknown.
fn is_long(pass: &Pass) -> bool {
    pass.most_frames().is_none_or(|frames| frames > LONG)
}

fn run_through(pass: &mut Pass, progress: &mut dyn FnMut(f64), sink: Sink) -> Result<u64, Error> {
    let mut block = vec![Vec::new(); usize::from(pass.format().channels)];
    let mut frames = 0;
    while pass.next(&mut block, BLOCK)? {
        frames += block[0].len() as u64;
        sink(&mut block)?;
        if let Some(part) = pass.part() {
            progress(part);
        }
    }
    Ok(frames)
}
