//! Run over a file: reading, filtering, resampling, block by block.

use crate::{
    ahead::DecisionsAhead,
    error::{Error, Fault},
    level::Level,
    loop_passes::LoopPasses,
    options::{Looped, Options, Tail},
    resample::Resampler,
    score::KeyPlayer,
    silence_reasons::{Cause, Unheard},
    source::{Input, Source},
    wav::Format,
};
use ebur128::{EbuR128, Mode};
use tone_filter_dsp::{BandMask, BandState, KeyEvent, ToneFilter};

/// Maximum number of frames that are filtered between two readings of the bands. Also the length of a block of the tail.
const MOMENT: usize = 2048;

/// Half an LSB of 16 bits. [`Tail::Auto`] ends the tail at the first block whose peak is lower.
const INAUDIBLE: f32 = 0.5 / 32_768.0;

/// Run over a file from its start to the end of its tail.
pub struct Pass<'a> {
    input: &'a Input,
    options: &'a Options,
    /// Gain that is applied to the filter's output.
    gain: f32,
    /// Whether the source restarts at its end. The filter is not reset then, so there is no seam.
    pub repeats: bool,
    pub(super) source: Source,
    /// Filter, to read its state or to change its settings during the run.
    pub filter: ToneFilter,
    pub(super) resampler: Option<Resampler>,
    player: KeyPlayer,
    /// Decisions of the listener, if it runs on another thread.
    pub(super) decisions: Option<DecisionsAhead>,
    stage: Stage,
    /// State of the loop, which is filtered in several passes; `None` without a loop, and with bypass.
    pub(super) loop_passes: Option<LoopPasses>,
    /// Number of source frames read since the last restart; repetitions of a loop do not count.
    pub(super) read: u64,
    /// Number of source samples so far that are NaN or infinite and count as silence. Repetitions do not count.
    pub not_finite: u64,
    /// Whether the source has restarted at its end.
    repeated: bool,
    /// Number of output frames still to be dropped, because they precede the source's first frame.
    frames_to_drop: usize,
    /// Level of the input.
    pub(super) before: Level,
    /// Level of the output.
    pub(super) after: Level,
    /// Loudness meters of input and output; `None` if not measured.
    meters: [Option<EbuR128>; 2],
    /// Bands that have sounded so far.
    pub(super) notes: BandMask,
    unheard: Unheard,
}

/// Origin of the frames of the next block.
enum Stage {
    /// Frames read from the file.
    Source,
    /// Frames that follow the end of the file; see [`Pass::read_beyond`]. They push the last sound out of the filter.
    Latency,
    /// Silence, of which this number of frames is still to be filtered.
    Tail(u64),
    /// Frames that follow the sound. They push its end out of the resampler.
    Resampler,
    /// Nothing: the output is complete.
    End,
}

impl<'a> Pass<'a> {
    /// Opens `input` at its start. `gain` is a factor on the output.
    ///
    /// # Errors
    /// If the file cannot be read, or the filter or the resampler cannot work at its sample rate.
    pub fn new(input: &'a Input, options: &'a Options, gain: f32) -> Result<Self, Error> {
        let mut source = Source::open(input)?;
        let Format { channels, rate, .. } = source.format();
        let hertz = f64::from(rate);
        let mut filter = ToneFilter::new(hertz, &options.settings)
            .map_err(|error| Fault::Filter(error).at(&input.path))?
            .with_channels(usize::from(channels))
            .with_kernel(options.kernel);
        filter.set_routing(options.routing());
        filter.set_score(options.score.clone());
        filter.reset();
        let resampler = options.rate.filter(|to| *to != rate).map(|to| {
            let fault = |reason| Fault::Rate { from: rate, to, reason };
            Resampler::new(rate, to, channels).map_err(|reason| fault(reason).at(&input.path))
        });
        let mut resampler = resampler.transpose()?;
        let reach = resampler.as_ref().map_or(0, Resampler::reach);
        let looped = match (options.looped, source.looped()?) {
            (Looped::Nothing, _) => None,
            (Looped::Whole, None) => Some(0..source.frames().unwrap_or(u64::MAX)),
            (_, of_file) => of_file,
        };
        let loop_passes = looped.filter(|_| !options.bypass).map(|frames| {
            let tail = ToneFilter::tail(&options.settings);
            LoopPasses::new(frames, channels.into(), hertz, tail, reach)
        });
        if let Some(resampler) = &mut resampler
            && loop_passes.as_ref().is_none_or(|passes| passes.start() > 0)
        {
            // A loop at the start brings the frames that precede it.
            resampler.process(&mut vec![vec![0.0; reach - 1]; channels.into()]);
        }
        // `ebur128` rejects some rates; there the loudness is unknown.
        let meter = |rate| EbuR128::new(u32::from(channels), rate, Mode::I).ok();
        let meter = |rate| options.loudness.then(|| meter(rate)).flatten();
        Ok(Self {
            input,
            options,
            gain,
            repeats: false,
            frames_to_drop: filter.latency(),
            player: KeyPlayer::new(options.keys.as_deref(), &filter, 0),
            decisions: None,
            meters: [rate, options.rate.unwrap_or(rate)].map(meter),
            source,
            filter,
            resampler,
            stage: Stage::Source,
            loop_passes,
            read: 0,
            not_finite: 0,
            repeated: false,
            before: Level::default(),
            after: Level::default(),
            notes: BandMask::NONE,
            unheard: Unheard::default(),
        })
    }

    /// Returns the format of the output: the source's, with rate and depth of the options, or else [`Source::natural_depth`].
    pub fn format(&self) -> Format {
        let source = self.source.format();
        Format {
            depth: self.options.depth.unwrap_or(self.source.natural_depth()),
            rate: self.options.rate.unwrap_or(source.rate),
            ..source
        }
    }

    /// Returns the maximum number of output frames; `None` if the length of the source is unknown.
    pub fn most_frames(&self) -> Option<u64> {
        let frames = self.source.frames()? + self.tail_frames();
        Some(self.resampler.as_ref().map_or(frames, |resampler| resampler.output_frames(frames)))
    }

    /// Returns the fraction of the source that has been read, 0 to 1; `None` if the length of the source is unknown.
    pub fn part(&self) -> Option<f64> {
        self.source.frames().map(|frames| self.read as f64 / frames.max(self.read) as f64)
    }

    /// Returns how many seconds of the source have been read since its last start; repetitions of a loop do not count.
    pub fn seconds(&self) -> f64 {
        self.read as f64 / f64::from(self.source.format().rate)
    }

    /// Returns the integrated loudness of input and output in LUFS; `None` if not measured, for less than 0.4 s, and for silence.
    pub(super) fn loudness(&self) -> [Option<f64>; 2] {
        let loudness = |meter: &Option<EbuR128>| meter.as_ref()?.loudness_global().ok();
        self.meters.each_ref().map(|meter| loudness(meter).filter(|lufs| lufs.is_finite()))
    }

    /// Replaces the content of `block` by the next output, from about `frames` source frames. The block may be empty before the
    /// end. Returns false at the end.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn next(&mut self, block: &mut [Vec<f32>], frames: usize) -> Result<bool, Error> {
        match self.stage {
            Stage::Source => {
                let (mut not_finite, is_new) = self.read(block, frames)?;
                if block[0].is_empty() && self.repeats && self.read > 0 {
                    self.jump_to(0)?;
                    (self.read, self.repeated) = (0, true);
                    not_finite = self.source.read(block, frames)?;
                }
                if !self.repeated && is_new {
                    self.not_finite += not_finite;
                }
                if block[0].is_empty() {
                    self.stage = Stage::Latency;
                    return self.next(block, frames);
                }
                if is_new {
                    self.read += block[0].len() as u64;
                    block.iter().for_each(|channel| self.before.add(channel));
                    self.unheard.add_input(block);
                    measure(&mut self.meters[0], block);
                }
                self.process(block);
            }
            Stage::Latency => {
                self.read_beyond(block)?;
                self.process(block);
                self.stage = Stage::Tail(self.tail_frames());
            }
            Stage::Tail(0) => {
                self.stage = Stage::Resampler;
                return self.next(block, frames);
            }
            Stage::Tail(remaining) => {
                let piece = remaining.min(MOMENT as u64);
                block.iter_mut().for_each(|channel| *channel = vec![0.0; piece as usize]);
                self.process_at_rate(block);
                let audible = |sample: &f32| sample.abs() * self.gain >= INAUDIBLE;
                if self.options.tail == Tail::Auto && !block.iter().flatten().any(audible) {
                    self.stage = Stage::Resampler;
                    return self.next(block, frames);
                }
                self.resample(block);
                self.stage = Stage::Tail(remaining - piece);
            }
            Stage::Resampler => {
                self.stage = Stage::End;
                let Some(resampler) = &self.resampler else { return Ok(false) };
                block.fill(vec![0.0; resampler.reach()]);
                if let Some(passes) = self.loop_at_end() {
                    passes.repeat_start(block);
                }
                self.resample(block);
            }
            Stage::End => return Ok(false),
        }
        for channel in block.iter_mut() {
            if self.gain != 1.0 {
                channel.iter_mut().for_each(|sample| *sample *= self.gain);
            }
            self.after.add(channel);
        }
        measure(&mut self.meters[1], block);
        Ok(true)
    }

    /// Reads the next frames of the source, and jumps back at the end of a loop. Returns how many samples are not finite, and
    /// whether the frames are read for the first time.
    fn read(&mut self, block: &mut [Vec<f32>], frames: usize) -> Result<(u64, bool), Error> {
        let Some(passes) = &mut self.loop_passes else {
            return Ok((self.source.read(block, frames)?, true));
        };
        let mut read = None;
        if let Some(room) = passes.room(frames) {
            read = Some(self.source.read(block, room)?).filter(|_| !block[0].is_empty());
        }
        if read.is_none() && passes.has_next_pass() {
            let start = passes.restart();
            let room = passes.room(frames).unwrap_or(frames);
            self.jump_to(start)?;
            read = Some(self.source.read(block, room)?);
        }
        let is_new = self.loop_passes.as_mut().is_none_or(|passes| passes.advance(block[0].len()));
        Ok((read.unwrap_or(0), is_new))
    }

    /// Replaces the content of `block` by frames that follow the source's end, as many as the filter's latency. Normally they
    /// are silent. If a loop ends there and no tail follows, they are the loop's start, which a player plays next: with
    /// lookahead, they affect the end of the output.
    fn read_beyond(&mut self, block: &mut [Vec<f32>]) -> Result<(), Error> {
        let latency = self.filter.latency();
        let mut beyond = vec![Vec::new(); block.len()];
        if let Some(start) = self.loop_at_end().map(LoopPasses::start) {
            self.source.seek(self.input, start)?;
            while beyond[0].len() < latency {
                self.source.read(block, latency - beyond[0].len())?;
                if block[0].is_empty() {
                    break;
                }
                beyond.iter_mut().zip(&mut *block).for_each(|(all, part)| all.append(part));
            }
        }
        for (channel, beyond) in block.iter_mut().zip(beyond) {
            // A loop may be shorter than the latency.
            *channel = beyond.iter().copied().cycle().take(latency).collect();
            channel.resize(latency, 0.0);
        }
        Ok(())
    }

    /// Returns the loop if the output ends with it.
    fn loop_at_end(&self) -> Option<&LoopPasses> {
        self.loop_passes.as_ref().filter(|passes| self.tail_frames() == 0 && passes.is_at_end())
    }

    /// Continues the source and the keys at `frame`, and releases all keys. The filter is not reset.
    fn jump_to(&mut self, frame: u64) -> Result<(), Error> {
        self.source.seek(self.input, frame)?;
        self.filter.play(KeyEvent::ReleaseAll);
        self.filter.seek(frame as f64 / self.filter.sample_rate());
        self.player = KeyPlayer::new(self.options.keys.as_deref(), &self.filter, frame);
        Ok(())
    }

    /// Returns the reason why no note has sounded, or a warning that left and right cancel; `None` if neither applies.
    pub(super) fn unheard(&self) -> Option<Cause> {
        let Options { settings, score, .. } = self.options;
        self.unheard.cause(settings, score.is_some(), &self.before)
    }

    fn tail_frames(&self) -> u64 {
        let seconds = match self.options.tail {
            Tail::None => 0.0,
            Tail::Seconds(seconds) => seconds,
            // [`ToneFilter::tail`] is the time to -60 dB; 16 bits have a range of 96 dB.
            Tail::Auto => ToneFilter::tail(self.filter.settings()) * 96.0 / 60.0,
        };
        (seconds * f64::from(self.source.format().rate)).round() as u64
    }

    /// Filters `block`, and resamples it to the output's sample rate.
    fn process(&mut self, block: &mut [Vec<f32>]) {
        self.process_at_rate(block);
        self.resample(block);
    }

    fn resample(&mut self, block: &mut [Vec<f32>]) {
        if let Some(resampler) = &mut self.resampler {
            resampler.process(block);
        }
    }

    /// Filters `block` at the source's sample rate, plays the keys, and notes which bands sound. Then drops the filter's
    /// latency at the start, and the passes of a loop that are not kept.
    fn process_at_rate(&mut self, block: &mut [Vec<f32>]) {
        for start in (0..block[0].len()).step_by(MOMENT) {
            let end = block[0].len().min(start + MOMENT);
            let Self { player, filter, unheard, decisions, .. } = self;
            if let Some(decisions) = decisions {
                decisions.pass_on(filter, end - start);
            }
            player.process(filter, block, start..end, |filter| unheard.push(filter));
            let bands = filter.bands();
            unheard.observe_bands(&bands);
            for (tone, band) in bands.bands.iter().enumerate() {
                if band.state != BandState::Inactive {
                    self.notes = self.notes.with(tone, true);
                }
            }
        }
        let dropped = self.frames_to_drop.min(block[0].len());
        self.frames_to_drop -= dropped;
        if dropped > 0 {
            block.iter_mut().for_each(|channel| drop(channel.drain(..dropped)));
        }
        if let Some(passes) = &mut self.loop_passes {
            passes.keep_last_pass(block);
        }
    }
}

fn measure(meter: &mut Option<EbuR128>, block: &[Vec<f32>]) {
    let channels: Vec<&[f32]> = block.iter().map(Vec::as_slice).collect();
    if let Some(Err(_)) = meter.as_mut().map(|meter| meter.add_frames_planar_f32(&channels)) {
        *meter = None;
    }
}
