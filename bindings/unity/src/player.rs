//! The filter on Unity's audio thread.
//!
//! A score follows Unity's DSP clock, which stands still while the game is paused. The number of processed samples would not do,
//! because Unity does not process a silent mixer. Each block has the clock's time; after a gap, the filter seeks.

use crate::{
    levels::Levels,
    parameters::{PRESET_SETTINGS, ParameterValues, RawValues},
    request_queue::{QUEUES, RequestQueue},
};
use tone_filter_dsp::{Controls, DEFAULT_TEMPO, Error, Settings, ToneFilter};

/// Maximum number of filtered channels, as in Unity's largest speaker mode, 7.1.
pub const MAX_CHANNELS: usize = 8;

const CHUNK: usize = 256;

type Chunk = [[f32; CHUNK]; MAX_CHANNELS];

/// Block of sound, with interleaved samples.
pub struct Block {
    /// Input, with `inputs` channels.
    pub input: *const f32,
    /// Sidechain, with `inputs` channels; may be null.
    pub sidechain: *const f32,
    /// Output, with `outputs` channels.
    pub output: *mut f32,
    pub inputs: usize,
    pub outputs: usize,
    pub frames: usize,
    /// Start of the block, in frames since the audio system started.
    pub tick: u64,
    /// Whether to reset the filter before the block. Keys stay pressed.
    pub reset: bool,
}

/// Filter of an instance, and the scripts' requests that it has applied.
pub struct Player {
    /// On the heap, because threads of games have little stack.
    filter: Box<ToneFilter>,
    /// Looked up when the player is created, because the first access allocates. So are `presets`.
    queues: &'static [RequestQueue],
    presets: &'static [Settings],
    /// Instance number and version of the last requests that were applied.
    applied: Option<(usize, u64)>,
    preset: Option<Settings>,
    tempo: f64,
    /// Instance number and [`Position::count`](crate::request_queue::Position::count) of the last position that was applied.
    applied_position: Option<(usize, u64)>,
    /// Time on Unity's DSP clock at which the score, or its current repetition, starts, in seconds; `None` before the first
    /// requests are applied.
    origin: Option<f64>,
    /// Seconds from the start of the score until it repeats; `None` to play it once.
    length: Option<f64>,
    /// Tick of the next block if the clock has no gap; `None` to seek at the next block.
    next_tick: Option<u64>,
    input: Box<Chunk>,
    sidechain: Box<Chunk>,
}

impl Player {
    /// Creates a player at `sample_rate` Hz.
    ///
    /// # Errors
    /// If the sample rate is out of range.
    pub fn new(sample_rate: u32) -> Result<Self, Error> {
        let filter = ToneFilter::new(sample_rate.into(), &Settings::default())?;
        Ok(Self {
            filter: Box::new(filter.with_channels(MAX_CHANNELS)),
            queues: &QUEUES,
            presets: &PRESET_SETTINGS,
            applied: None,
            preset: None,
            tempo: DEFAULT_TEMPO,
            applied_position: None,
            origin: None,
            length: None,
            next_tick: None,
            input: Box::new([[0.0; CHUNK]; MAX_CHANNELS]),
            sidechain: Box::new([[0.0; CHUNK]; MAX_CHANNELS]),
        })
    }

    /// Filters a block, with the values of the parameters, and stores the levels of the bands. Neither allocates nor waits.
    ///
    /// # Safety
    /// The pointers of `block` must be valid for its frames and channels, and nothing else may write there. Buffers may overlap.
    pub unsafe fn process(&mut self, values: &RawValues, levels: &Levels, block: &Block) {
        let parameters = values.read();
        let queue = &self.queues[parameters.instance];
        let now = block.tick as f64 / self.filter.sample_rate();
        self.apply_requests(queue, parameters.instance, now);
        self.set(parameters);
        if block.reset {
            let keyboard = *self.filter.keyboard();
            self.filter.reset();
            self.filter.set_keyboard(&keyboard);
            self.next_tick = None;
        }
        // The clock has a gap if the mixer has rested.
        if self.next_tick != Some(block.tick) {
            self.filter.seek(now - self.origin.unwrap_or(now));
        }
        self.next_tick = Some(block.tick.wrapping_add(block.frames as u64));
        for start in (0..block.frames).step_by(CHUNK) {
            let frames = CHUNK.min(block.frames - start);
            self.repeat(now + start as f64 / self.filter.sample_rate());
            // SAFETY: the caller guarantees it; only frames of the block are accessed.
            unsafe { self.process_chunk(block, start, frames) };
        }
        let snapshot = self.filter.snapshot();
        let bands = snapshot.read();
        levels.write(&bands, snapshot.ceiling);
        queue.levels.write(&bands, snapshot.ceiling);
    }

    /// Applies new requests; if a script is changing them, leaves them to the next block. The block starts at `now` seconds of
    /// Unity's DSP clock.
    fn apply_requests(&mut self, queue: &RequestQueue, instance: usize, now: f64) {
        let newest = Some((instance, queue.version()));
        if self.applied == newest {
            return;
        }
        let Some(requests) = queue.try_lock() else { return };
        (self.preset, self.tempo) = (requests.preset, requests.tempo.unwrap_or(DEFAULT_TEMPO));
        self.filter.set_keyboard(&requests.keyboard);
        // The queue keeps a reference to the old score, so nothing is freed here.
        drop(self.filter.set_score(requests.score.clone()));
        let position = requests.position;
        let set = Some((instance, position.count));
        if self.applied_position != set {
            (self.origin, self.length) = (Some(now - position.at(now)), position.length);
            (self.applied_position, self.next_tick) = (set, None);
        }
        self.applied = newest;
    }

    /// Repeats the score. If [`Self::length`] seconds have passed since the origin, moves the origin to the start of the
    /// current repetition, and seeks. `now` is in seconds of Unity's DSP clock.
    fn repeat(&mut self, now: f64) {
        let Some((origin, length)) = self.origin.zip(self.length) else { return };
        // The offset keeps rounding errors from delaying the end by a frame.
        let times = ((now - origin) / length + 1e-9).floor();
        if times >= 1.0 {
            let origin = origin + times * length;
            self.origin = Some(origin);
            self.filter.seek((now - origin).max(0.0));
        }
    }

    fn set(&mut self, parameters: ParameterValues) {
        let ParameterValues { controls, preset, .. } = parameters;
        let factory = || preset.and_then(|index| self.presets.get(index)).copied();
        let settings = self.preset.or_else(factory).unwrap_or(controls.settings);
        let settings = Settings { morph: controls.settings.morph, ..settings };
        let settings = settings.at_tempo(self.tempo);
        // All values are within their ranges, so this cannot fail.
        let _ = self.filter.set_controls(&Controls { settings, ..controls });
    }

    /// # Safety
    /// The pointers of `block` must be valid for frames `start..start + frames`; `frames` must be at most [`CHUNK`].
    unsafe fn process_chunk(&mut self, block: &Block, start: usize, frames: usize) {
        let Block { inputs, outputs, .. } = *block;
        let read = |from: *const f32, chunk: &mut Chunk| {
            for (channel, samples) in chunk[..inputs].iter_mut().enumerate() {
                for (frame, sample) in samples[..frames].iter_mut().enumerate() {
                    // SAFETY: the caller guarantees it.
                    *sample = unsafe { from.add((start + frame) * inputs + channel).read() };
                }
            }
        };
        read(block.input, &mut self.input);
        let connected = if block.sidechain.is_null() { 0 } else { inputs };
        if connected > 0 {
            read(block.sidechain, &mut self.sidechain);
        }
        let mut channels = self.input.each_mut().map(|channel| &mut channel[..frames]);
        let sidechain = self.sidechain.each_ref().map(|channel| &channel[..frames]);
        let (main, sidechain) = (&mut channels[..inputs], &sidechain[..connected]);
        self.filter.process_events(main, sidechain, [], |_, _| ());
        for frame in 0..frames {
            for output in 0..outputs {
                let sample = match inputs {
                    1 => channels[0][frame],
                    _ => channels[..inputs].get(output).map_or(0.0, |channel| channel[frame]),
                };
                // SAFETY: the caller guarantees it.
                unsafe { block.output.add((start + frame) * outputs + output).write(sample) };
            }
        }
    }
}
