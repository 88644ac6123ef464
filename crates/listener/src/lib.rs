//! The listener decides which notes are played: 80 decisions every 11.6 ms.
//!
//! ```text
//! samples -> Decimator -> Detectors -> Features -> Network -> Decider -> Notes
//!            each channel, each block | each frame | in steps, spread over some blocks
//! ```
//!
//! `docs/listening.md` has the formulas. The crate `tone-filter-reference` computes the same decisions in f64, one sample at a
//! time.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod beats;
mod cells;
mod decide;
mod decimator;
mod dense;
mod detectors;
mod edges;
mod features;
mod matrices;
#[doc(hidden)]
pub mod measure;
mod network;
pub mod notes;
pub mod one_voice;
mod pitch;
mod tuning;
mod weights;

pub use decide::Decisions;
pub use tuning::Deviation;

use decide::{Decider, LOOKAHEAD, Timing};
use decimator::{Decimator, decimation};
use detectors::{CHUNK, Detectors, GROUPS};
use edges::Edges;
use fearless_simd::Simd;
use features::{Features, STEP_COST};
use network::{Network, STEPS};
use pitch::Pitches;
use tone_filter_simd::{Kernel, Work};

/// Length of a block in samples.
pub const BLOCK: usize = 64;

/// Number of notes, E1 to B7.
pub const NOTES: usize = 80;
/// MIDI note of the lowest note.
pub const LOWEST_NOTE: usize = 28;

/// Seconds from one decision to the next, before rounding to a whole number of detector samples.
pub const FRAME: f64 = 512.0 / 44_100.0;

/// Maximum cost of a step, as a fraction of the work on a frame.
const GREATEST_STEP: f64 = 0.02;

/// Returns the coefficient of a one-pole with the time constant `tau` s at `rate` Hz: `1 - exp(-1 / (tau rate))`.
fn tracker_step(tau: f64, rate: f64) -> f64 {
    -libm::expm1(-1.0 / (tau * rate))
}

/// Returns the decimation factor for a sample rate in Hz, and the length of a frame in decimated samples.
pub fn frame(sample_rate: f64) -> (usize, usize) {
    let decimation = decimation(sample_rate);
    let frame = (FRAME * sample_rate / decimation as f64).round_ties_even() as usize;
    (decimation, frame)
}

/// Network of the listener.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Model {
    /// More accurate network: 2.9 million multiply-adds a frame.
    #[default]
    Full,
    /// Smaller and slightly less accurate network: 0.8 million multiply-adds a frame.
    Light,
}

impl Model {
    /// All networks, the most accurate first.
    pub const ALL: [Self; 2] = [Self::Full, Self::Light];
}

/// Decides which notes of a signal are played.
///
/// Processes blocks of 64 samples, each in bounded time: the work on a frame's decisions is spread over the block in which the
/// frame ends and the blocks after it. The CPU's handling of denormals has no effect.
#[derive(Debug, Clone)]
pub struct Listener {
    sample_rate: f64,
    decimation: usize,
    /// Length of a frame in samples at the detectors' rate.
    frame: usize,
    /// Whether decisions use lookahead: at the last complete frame, and from the next frame on.
    looks_ahead: [bool; 2],
    /// Network now, and from the next frame on.
    model: [Model; 2],
    /// Frequency of the detector of A4 in Hz: now, and from the next frame on.
    a4: [f64; 2],
    /// Frequency of the detector of A4 during the last complete frame, in Hz.
    last_a4: f64,
    /// Reduction of the threshold in log odds.
    sensitivity: f32,
    /// Number of channels of the last block, 1 or 2.
    channels: usize,
    decimators: [Decimator; 2],
    detectors: Detectors,
    features: Features,
    /// Whether [`Listener::pitch`] is available.
    tracking: bool,
    pitches: Box<Pitches>,
    full: Box<Network<16, 32>>,
    light: Box<Network<8, 16>>,
    /// Samples from the start of the next block to the end of the detectors' next chunk.
    chunk_end: usize,
    /// Samples from the start of the detectors' next chunk to the end of the frame, at the detectors' rate.
    left: usize,
    /// Unfinished work on the decisions of the last frame.
    pending: Option<Pending>,
    decider: Decider,
    edges: Edges,
    timings: [Timing; NOTES],
    /// Number of blocks since the reset.
    blocks: u64,
}

/// Progress of the work on a frame's decisions.
#[derive(Debug, Clone, Copy, Default)]
struct Pending {
    /// Index of the next step: the steps of the features come first, then those of the network.
    step: usize,
    /// Cost of the steps so far.
    done: usize,
    /// Number of blocks so far.
    blocks: usize,
}

impl Listener {
    /// Creates a listener for signals of `sample_rate` Hz (1000 to 1e9), tuned to A4 = 440 Hz, with the network `model`. With
    /// `lookahead`, its decisions are more accurate, and refer to the time [`Listener::lookahead`] samples ago.
    ///
    /// The first listener of a process also parses the weights, which all listeners share.
    pub fn new(sample_rate: f64, lookahead: bool, model: Model) -> Self {
        let (decimation, frame) = frame(sample_rate);
        let mut listener = Self {
            sample_rate,
            decimation,
            frame,
            looks_ahead: [lookahead; 2],
            model: [model; 2],
            a4: [0.0, 440.0],
            last_a4: 440.0,
            sensitivity: 0.0,
            channels: 1,
            decimators: [Decimator::new(sample_rate), Decimator::new(sample_rate)],
            detectors: Detectors::new(),
            features: Features::new((frame * decimation) as f64 / sample_rate),
            tracking: false,
            pitches: Box::new(Pitches::new((frame * decimation) as f64 / sample_rate)),
            full: Box::new(Network::new(&weights::FULL)),
            light: Box::new(Network::new(&weights::LIGHT)),
            chunk_end: 0,
            left: 0,
            pending: None,
            decider: Decider::NEW,
            edges: Edges::new(sample_rate),
            timings: Timing::all(440.0),
            blocks: 0,
        };
        listener.reset();
        listener
    }

    /// Resets the listener to the state after silence.
    pub fn reset(&mut self) {
        self.decimators.iter_mut().for_each(Decimator::reset);
        self.detectors.reset();
        self.features.reset();
        self.pitches.reset();
        self.full.reset();
        self.light.reset();
        self.tune();
        self.looks_ahead[0] = self.looks_ahead[1];
        self.model[0] = self.model[1];
        self.channels = 1;
        self.left = self.frame;
        self.chunk_end = self.left.min(CHUNK) * self.decimation;
        self.pending = None;
        self.decider = Decider::NEW;
        self.edges.reset();
        self.blocks = 0;
    }

    /// Switches lookahead on or off, from the next frame on. The network always computes both kinds of decisions, so it keeps its
    /// state.
    pub fn set_lookahead(&mut self, lookahead: bool) {
        self.looks_ahead[1] = lookahead;
    }

    /// Sets the network, from the next frame on. A new network starts as after silence.
    pub fn set_model(&mut self, model: Model) {
        self.model[1] = model;
    }

    /// Returns the network that was set last; it may take effect only with the next frame.
    pub fn model(&self) -> Model {
        self.model[1]
    }

    /// Tunes the listener to `tuning` Hz for A4 and notes transposed by `transpose` semitones, from the next frame on.
    pub fn set_tuning(&mut self, tuning: f64, transpose: f64) {
        self.a4[1] = tuning * libm::exp2(transpose / 12.0);
    }

    /// Lowers the threshold by `shift` in log odds: a greater shift gives more notes. 0 is the fitted threshold. A decision with
    /// lookahead uses the shift that was set at the time that it refers to.
    pub fn set_sensitivity(&mut self, shift: f32) {
        self.sensitivity = shift;
    }

    /// Switches the tracking of pitches for [`Listener::pitch`] on or off, from the next frame on.
    pub fn track_pitches(&mut self, track: bool) {
        if track && !self.tracking {
            self.pitches.reset();
        }
        self.tracking = track;
    }

    /// Returns the lookahead in samples: the time from the point that decisions refer to until the end of the last frame.
    pub fn lookahead(&self) -> usize {
        if self.looks_ahead[0] { LOOKAHEAD * self.frame() } else { 0 }
    }

    /// Returns the maximum number of samples from the end of a frame to the end of the block that returns its decisions: 256 at
    /// 44.1 kHz, 5.8 ms.
    pub fn delay(&self) -> usize {
        // Frames end in a block at multiples of the greatest common divisor of frame and block.
        let common = 1 << self.frame().trailing_zeros().min(BLOCK.trailing_zeros());
        self.blocks_per_frame() * BLOCK - common
    }

    /// Returns the length of a frame in samples of the input.
    pub fn frame(&self) -> usize {
        self.frame * self.decimation
    }

    /// Returns the last decisions; [`Decisions::NONE`] before the first frame.
    pub fn decisions(&self) -> &Decisions {
        &self.decider.decisions
    }

    /// Replaces the last decisions by those of another listener with the same input, and returns them.
    pub fn replace_decisions(&mut self, decisions: Decisions) -> &Decisions {
        self.decider.decisions = decisions;
        &self.decider.decisions
    }

    /// Computes the deviation of the last complete frame's tones from the semitones of A4 = 440 Hz, from 174 detectors.
    pub fn deviation(&self) -> Deviation {
        Deviation::of(&self.features, self.last_a4)
    }

    /// Computes the pitch of the tone at `note` (0..80): its distance from the note in semitones, in the listener's tuning, 3.5
    /// frames before the end of the last complete frame. `None` if no tone is within a semitone, or pitches are not tracked.
    ///
    /// The error is at most 8 cents for a vibrato of 40 cents at 6 Hz, from A3 up. In the first 0.11 s of a tone the pitch is
    /// coarse.
    pub fn pitch(&self, note: usize) -> Option<f64> {
        self.pitches.offset(note).filter(|_| self.tracking)
    }

    /// Processes a block of one or two channels with the vectors of `kernel`. Returns the decisions of a frame if the work on it
    /// was completed; if frames are shorter than a block, those of the last frame.
    ///
    /// A new second channel counts as equal to the first one until now. Two channels that have always been equal cost no more
    /// time than one, and give the same decisions.
    pub fn push(
        &mut self,
        kernel: Kernel,
        left: &[f32; BLOCK],
        right: Option<&[f32; BLOCK]>,
    ) -> Option<&Decisions> {
        let before = self.decisions().frames;
        kernel.run(Push { listener: self, left, right });
        (self.decisions().frames > before).then_some(&self.decider.decisions)
    }

    /// Returns the number of blocks over which the work on a frame is spread: the smallest number at which the work of a block,
    /// plus one step, is below twice the mean.
    fn blocks_per_frame(&self) -> usize {
        let blocks = self.frame() as f64 / BLOCK as f64;
        let share = (2.0 / blocks - GREATEST_STEP).max(1.0 / blocks);
        (1.0 / share).ceil().min(blocks.floor()).max(1.0) as usize
    }

    fn process<S: Simd>(&mut self, simd: S, left: &[f32; BLOCK], right: Option<&[f32; BLOCK]>) {
        self.blocks += 1;
        if self.looks_ahead[1] {
            self.edges.push([left, right.unwrap_or(left)]);
        }
        // Two channels that have always been equal count as one.
        let right = right.filter(|right| self.channels > 1 || *right != left);
        self.set_channels(if right.is_some() { 2 } else { 1 });
        for (decimator, block) in self.decimators.iter_mut().zip([Some(left), right]) {
            block.into_iter().for_each(|block| decimator.push(block));
        }
        while self.chunk_end <= BLOCK {
            let size = self.left.min(CHUNK);
            let mut chunks = [[0.0; CHUNK]; 2];
            let chunks = &mut chunks[..self.channels];
            for (chunk, decimator) in chunks.iter_mut().zip(&self.decimators) {
                *chunk = decimator.chunk(simd, self.chunk_end);
                chunk[..CHUNK - size].fill(0.0);
            }
            self.left -= size;
            self.detectors.advance(simd, chunks, self.left == 0);
            if self.left == 0 {
                self.end_frame(simd);
            }
            self.chunk_end += self.left.min(CHUNK) * self.decimation;
        }
        self.chunk_end -= BLOCK;
        self.work(simd);
    }

    fn set_channels(&mut self, channels: usize) {
        if channels > self.channels {
            let [one, other] = &mut self.decimators;
            other.copy(one);
            self.detectors.copy_channel();
        }
        self.channels = channels;
    }

    fn end_frame<S: Simd>(&mut self, simd: S) {
        while self.pending.is_some() {
            self.work(simd);
        }
        self.looks_ahead[0] = self.looks_ahead[1];
        if self.model[0] != self.model[1] {
            self.model[0] = self.model[1];
            match self.model[0] {
                Model::Full => self.full.reset(),
                Model::Light => self.light.reset(),
            }
        }
        self.last_a4 = self.a4[0];
        let levels = self.features.push(simd, &self.detectors, self.channels);
        self.decider.push_levels(levels);
        if self.tracking {
            self.pitches.push(&self.detectors, &self.features, self.channels, self.last_a4);
        }
        self.pending = Some(Pending::default());
        self.left = self.frame;
        self.tune();
    }

    /// Does a block's share of the unfinished work.
    fn work<S: Simd>(&mut self, simd: S) {
        let Some(mut pending) = self.pending.take() else { return };
        let blocks = self.blocks_per_frame();
        let Self { full, light, features, .. } = self;
        let complete = match self.model[0] {
            Model::Full => pending.work(simd, features, full, blocks),
            Model::Light => pending.work(simd, features, light, blocks),
        };
        if !complete {
            self.pending = Some(pending);
            return;
        }
        let (logits, thresholds) = match self.model[0] {
            Model::Full => (self.full.logits(), &self.full.weights().thresholds),
            Model::Light => (self.light.logits(), &self.light.weights().thresholds),
        };
        let time = (self.frame * self.decimation, self.blocks);
        let on = self.detectors.on();
        let looks_ahead = self.looks_ahead[0];
        let edges = (&self.edges, &self.timings);
        let thresholds = (thresholds, self.sensitivity);
        self.decider.decide(logits, looks_ahead, thresholds, on, time, edges);
    }

    /// Tunes the detectors if the tuning has changed.
    fn tune(&mut self) {
        if self.a4[0] != self.a4[1] {
            self.a4[0] = self.a4[1];
            let rate = self.sample_rate / self.decimation as f64;
            self.detectors.tune(self.a4[0], rate, self.frame);
            self.timings = Timing::all(self.a4[0]);
        }
    }
}

impl Pending {
    /// Does the work of a block, one of `blocks_per_frame`. Returns whether all work on the frame is complete.
    fn work<S: Simd, const C1: usize, const C: usize>(
        &mut self,
        simd: S,
        features: &mut Features,
        network: &mut Network<C1, C>,
        blocks_per_frame: usize,
    ) -> bool {
        self.blocks += 1;
        let target = (GROUPS * STEP_COST + network.total()) * self.blocks / blocks_per_frame;
        while self.step < GROUPS + STEPS {
            let of_network = self.step.checked_sub(GROUPS);
            let cost = of_network.map_or(STEP_COST, |step| network.cost(step));
            // Rounds to the nearest number of steps.
            if self.blocks < blocks_per_frame && self.done + cost / 2 > target {
                return false;
            }
            match of_network {
                None => features.step(simd, self.step),
                Some(step) => network.step(simd, step, features),
            }
            self.done += cost;
            self.step += 1;
        }
        true
    }
}

/// Processing of a block, generic over the vectors.
struct Push<'a> {
    listener: &'a mut Listener,
    left: &'a [f32; BLOCK],
    right: Option<&'a [f32; BLOCK]>,
}

impl Work for Push<'_> {
    fn run<S: Simd>(self, simd: S) {
        self.listener.process(simd, self.left, self.right);
    }
}

/// Compiles and runs the Rust in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_a_small_part_of_a_frame() {
        fn check<const C1: usize, const C: usize>(network: &Network<C1, C>) {
            let total = GROUPS * STEP_COST + network.total();
            for step in 0..STEPS {
                let (cost, multiply_adds) = (network.cost(step), network.multiply_adds(step));
                assert!(cost >= multiply_adds, "{step}: {cost} for {multiply_adds}");
                assert!(cost as f64 <= GREATEST_STEP * total as f64, "{step}: {cost}");
            }
        }
        let listener = Listener::new(44_100.0, false, Model::Full);
        check(&listener.full);
        check(&listener.light);
    }

    #[test]
    fn an_instance_has_at_most_256_kb() {
        let listener = Listener::new(192_000.0, false, Model::Full);
        let bytes = size_of::<Listener>()
            + size_of_val(&*listener.full)
            + size_of_val(&*listener.light)
            + size_of_val(&*listener.pitches)
            + listener.features.bytes()
            + listener.detectors.bytes()
            + listener.decimators.iter().map(Decimator::bytes).sum::<usize>();
        assert!(bytes <= 256 << 10, "{bytes}");
    }
}
