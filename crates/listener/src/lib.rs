//! Listener: decides which of 80 notes are played, every 11.6 ms.
//!
//! ```text
//! samples -> Decimator -> Detectors -> Features -> Network -> Decider -> Notes
//!            each channel, each block | each frame: in steps, spread over some blocks
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
use weights::{COLUMNS, Thresholds};

/// Length of a block in samples.
pub const BLOCK: usize = 64;

/// Number of notes, E1 to B7.
pub const NOTES: usize = 80;
/// MIDI note of the lowest note.
pub const LOWEST_NOTE: usize = 28;

/// Seconds from one decision to the next, before rounding to a whole number of detector samples.
pub const FRAME: f64 = 512.0 / 44_100.0;

/// Maximum cost of a step, as a fraction of a frame's cost.
const GREATEST_STEP: f64 = 0.02;

/// Returns the coefficient of a one-pole with time constant `tau` in s at `rate` Hz: `1 - exp(-1 / (tau rate))`.
fn tracker_step(tau: f64, rate: f64) -> f64 {
    -libm::expm1(-1.0 / (tau * rate))
}

/// Returns the decimation factor for a sample rate in Hz, and the length of a frame in decimated samples.
pub fn frame(sample_rate: f64) -> (usize, usize) {
    let decimation = decimation(sample_rate);
    let frame = (FRAME * sample_rate / decimation as f64).round_ties_even() as usize;
    (decimation, frame)
}

/// Choice of the network that the listener uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Model {
    /// Accurate network: 2.9 million multiply-adds per frame.
    #[default]
    Full,
    /// Small, slightly less accurate network: 0.8 million multiply-adds per frame.
    Light,
}

impl Model {
    /// All networks, the most accurate first.
    pub const ALL: [Self; 2] = [Self::Full, Self::Light];
}

/// Decides which notes of a signal are played.
///
/// Processes blocks of 64 samples, each in bounded time: the work on a frame is spread over the block in which the frame ends and
/// the blocks after it. The CPU's mode for denormals has no effect.
#[derive(Debug, Clone)]
pub struct Listener {
    sample_rate: f64,
    decimation: usize,
    /// Length of a frame in samples at the detectors' rate.
    frame: usize,
    /// Whether decisions use lookahead: for the last complete frame, and for the current and later frames.
    looks_ahead: [bool; 2],
    /// Network for the last complete frame, and for the current and later frames.
    model: [Model; 2],
    /// Frequency of A4 in Hz: during the current frame, and from the next frame on.
    a4: [f64; 2],
    /// Frequency of A4 in Hz during the last complete frame.
    last_a4: f64,
    /// Reduction of the threshold in log odds.
    sensitivity: f32,
    /// Number of channels that count in the last block, 1 or 2. Two that have always been equal count as one.
    channels: usize,
    decimators: [Decimator; 2],
    detectors: Detectors,
    features: Features,
    tracking: bool,
    pitches: Box<Pitches>,
    full: Box<Network<16, 32>>,
    light: Box<Network<8, 16>>,
    /// End of the detectors' next chunk, in samples from the start of the next block.
    chunk_end: usize,
    /// Rest of the frame after the detectors' last chunk, in samples at the detectors' rate.
    left: usize,
    /// Unfinished work on the last frame.
    pending: Option<Pending>,
    decider: Decider,
    edges: Edges,
    timings: [Timing; NOTES],
    /// Number of blocks since the reset.
    blocks: u64,
}

/// Progress of the work on a frame.
#[derive(Debug, Clone, Copy, Default)]
struct Pending {
    /// Index of the next step; the features have the first [`GROUPS`] steps, the network has the others.
    step: usize,
    /// Cost of the steps so far.
    done: usize,
    /// Number of blocks so far.
    blocks: usize,
}

impl Listener {
    /// Creates a listener for signals of `sample_rate` Hz (1000 to 1e9), tuned to A4 = 440 Hz, with the network `model`. With
    /// `lookahead`, its decisions are more accurate, but refer to the time [`Listener::lookahead`] samples before the end of their
    /// frame.
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
            full: Network::new(&weights::FULL),
            light: Network::new(&weights::LIGHT),
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

    /// Switches lookahead on or off, from the frame that ends next on. The network keeps its state, as it always computes the log
    /// odds for both.
    pub fn set_lookahead(&mut self, lookahead: bool) {
        self.looks_ahead[1] = lookahead;
    }

    /// Sets the network, from the frame that ends next on. A new network starts in the state after silence.
    pub fn set_model(&mut self, model: Model) {
        self.model[1] = model;
    }

    /// Returns the network that was set last, even if it has not taken effect yet.
    pub fn model(&self) -> Model {
        self.model[1]
    }

    /// Tunes the listener to `tuning` Hz for A4 and notes transposed by `transpose` semitones, from the next frame on.
    pub fn set_tuning(&mut self, tuning: f64, transpose: f64) {
        self.a4[1] = tuning * libm::exp2(transpose / 12.0);
    }

    /// Lowers the threshold by `shift` in log odds: a greater shift gives more notes. 0 is the fitted threshold. Decisions with
    /// lookahead use the shift that was set at the time to which they refer.
    pub fn set_sensitivity(&mut self, shift: f32) {
        self.sensitivity = shift;
    }

    /// Switches the tracking of pitches for [`Listener::pitch`]: on, from the frame that ends next on; off, at once.
    pub fn track_pitches(&mut self, track: bool) {
        if track && !self.tracking {
            self.pitches.reset();
        }
        self.tracking = track;
    }

    /// Returns the lookahead in samples: the time between the point to which decisions refer and the end of their frame.
    pub fn lookahead(&self) -> usize {
        if self.looks_ahead[0] { LOOKAHEAD * self.frame() } else { 0 }
    }

    /// Returns the maximum number of samples from the end of a frame to the end of the block that returns its decisions: 256
    /// (5.8 ms) at 44.1 kHz.
    pub fn delay(&self) -> usize {
        // Within a block, frames end at multiples of the greatest common divisor of frame and block.
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

    /// Replaces the last decisions by `decisions`, which another listener made from the same input. Returns them.
    pub fn replace_decisions(&mut self, decisions: Decisions) -> &Decisions {
        self.decider.decisions = decisions;
        &self.decider.decisions
    }

    /// Computes the deviation of the last complete frame's tones from the semitones of A4 = 440 Hz.
    pub fn deviation(&self) -> Deviation {
        Deviation::of(&self.features, self.last_a4)
    }

    /// Computes the pitch of the tone at `note` (0..80), as the distance from the note in semitones, in the listener's tuning. The
    /// pitch refers to the time 3.5 frames before the end of the last complete frame. `None` if no tone is within a semitone, or
    /// pitches are not tracked.
    ///
    /// The error is at most 8 cents for a vibrato of 40 cents at 6 Hz, from A3 up. The pitch is coarse in the first 0.11 s of a
    /// tone.
    pub fn pitch(&self, note: usize) -> Option<f64> {
        self.pitches.offset(note).filter(|_| self.tracking)
    }

    /// Processes a block of one or two channels with the vectors of `kernel`. Returns the decisions of a frame if the work on it is
    /// complete. If the block completes several frames, returns the decisions of the last one.
    ///
    /// If a second channel is added, it counts as equal to the first one until then. Two channels that have always been equal
    /// cost no more time than one, and give the same decisions.
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

    /// Returns the number of blocks over which the work on a frame is spread: the smallest number at which a block's part, plus a
    /// step, is below twice the mean work of a block.
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

    /// Does one block's part of the pending work.
    fn work<S: Simd>(&mut self, simd: S) {
        let Some(mut pending) = self.pending.take() else { return };
        let blocks = self.blocks_per_frame();
        let frame_and_blocks = (self.frame(), self.blocks);
        let Self { full, light, features, .. } = self;
        let result = match self.model[0] {
            Model::Full => pending.work(simd, features, full, blocks),
            Model::Light => pending.work(simd, features, light, blocks),
        };
        let Some((logits, thresholds)) = result else {
            self.pending = Some(pending);
            return;
        };
        let (thresholds, edges) = ((thresholds, self.sensitivity), (&self.edges, &self.timings));
        let (looks_ahead, on) = (self.looks_ahead[0], &self.detectors.on);
        self.decider.decide(logits, looks_ahead, thresholds, on, frame_and_blocks, edges);
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
    /// Does the work of one of `blocks_per_frame` blocks. Returns the network's result if the work on the frame is complete.
    fn work<'a, S: Simd, const C1: usize, const C: usize>(
        &mut self,
        simd: S,
        features: &mut Features,
        network: &'a mut Network<C1, C>,
        blocks_per_frame: usize,
    ) -> Option<(&'a [[f32; COLUMNS]; NOTES], &'static [Thresholds; 2])> {
        self.blocks += 1;
        let target = (GROUPS * STEP_COST + network.total) * self.blocks / blocks_per_frame;
        while self.step < GROUPS + STEPS {
            let of_network = self.step.checked_sub(GROUPS);
            let cost = of_network.map_or(STEP_COST, |step| network.costs[step]);
            // Rounds to the nearest number of steps.
            if self.blocks < blocks_per_frame && self.done + cost / 2 > target {
                return None;
            }
            match of_network {
                None => features.step(simd, self.step),
                Some(step) => network.step(simd, step, features),
            }
            self.done += cost;
            self.step += 1;
        }
        Some(network.result())
    }
}

/// Processing of a block, generic over the vector type.
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
        let Listener { full, light, .. } = Listener::new(44_100.0, false, Model::Full);
        for (costs, total) in [(full.costs, full.total), (light.costs, light.total)] {
            let total = (GROUPS * STEP_COST + total) as f64;
            for (step, cost) in costs.into_iter().enumerate() {
                assert!(cost as f64 <= GREATEST_STEP * total, "{step}: {cost}");
            }
        }
    }
}
