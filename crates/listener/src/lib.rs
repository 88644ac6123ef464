//! The listener decides which notes are played: 48 decisions every 11.6 ms.
//!
//! `docs/listening.md` has the formulas; the crate `tone-filter-reference` computes the same in f64, one sample at a
//! time.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod decimator;
mod detector;
mod model;
mod network;
pub mod notes;
mod weights;

use decimator::{Decimator, decimation};
use detector::{CHUNK, Detectors, FIRST_BAND, Row};
use fearless_simd::Simd;
use model::Model;
use network::Network;
use tone_filter_simd::{Kernel, Work};

/// Samples of a block.
pub const BLOCK: usize = 64;

/// The number of notes, A3 to G#7.
pub const TONES: usize = 48;

/// Seconds from one decision to the next; the nearest whole number of detector samples is taken.
pub const FRAME: f64 = 512.0 / 44_100.0;
/// The most frames that a decision looks ahead.
const LOOKAHEAD: usize = 4;

/// The step of a one-pole tracker with time constant `tau` s: `1 - exp(-1 / (tau fs))`.
fn tracker_step(tau: f64, rate: f64) -> f64 {
    -libm::expm1(-1.0 / (tau * rate))
}

/// The decimation factor for a sample rate in Hz, and the length of a frame in decimated samples.
pub fn frame(sample_rate: f64) -> (usize, usize) {
    let decimation = decimation(sample_rate);
    let frame = (FRAME * sample_rate / decimation as f64).round_ties_even() as usize;
    (decimation, frame)
}

/// The decisions for one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// Whether the note of each band is played.
    pub on: [bool; TONES],
    /// Log odds that it is played, before threshold and hysteresis.
    pub logit: [f32; TONES],
    /// Power of the input at the note's frequency, at the time that the decision refers to: 0.5 for a full-scale sine.
    pub level: [f32; TONES],
    /// The greatest power there from that time to the last frame: with lookahead, that of a note that is just setting in.
    pub peak: [f32; TONES],
    /// Frames decided since the reset. The decision refers to the time `frames * frame - lookahead` in samples of the
    /// input.
    pub frames: u64,
    /// Samples from the end of the last of these frames to the end of the block with which the decision was returned;
    /// at most [`Listener::delay`].
    pub age: u64,
}

impl Decisions {
    /// Nothing is played.
    pub const NONE: Self = Self {
        on: [false; TONES],
        logit: [0.0; TONES],
        level: [0.0; TONES],
        peak: [0.0; TONES],
        frames: 0,
        age: 0,
    };
}

/// Decides which notes of a signal are played.
///
/// It processes whole blocks of 64 samples, each in bounded time: the block in which a frame ends computes the
/// templates of the decision, the next block the rest. It does not switch denormals off.
#[derive(Debug, Clone)]
pub struct Listener {
    sample_rate: f64,
    decimation: usize,
    /// Samples of a frame, at the rate of the detectors.
    frame: usize,
    /// Whether decisions look ahead from the next frame on.
    looks_ahead: bool,
    /// Frequency of the detector of A4 in Hz: the current one, and that from the next frame on.
    a4: [f64; 2],
    /// The amount by which the threshold is lowered, in log odds.
    sensitivity: f32,
    decimator: Decimator,
    detectors: Detectors,
    network: Network,
    /// Samples from the start of the next block to the end of the next chunk for the detectors.
    chunk_end: usize,
    /// Samples from the start of that chunk to the end of the frame, at the detectors' rate.
    left: usize,
    /// The next step of the decision for the last frame, if it is not complete.
    pending: Option<Pending>,
    /// The detectors' powers at the end of that frame.
    power: Row,
    /// Power at each band at the end of the last frames, newest first.
    levels: [[f32; TONES]; LOOKAHEAD + 1],
    /// Blocks since the reset.
    blocks: u64,
    decisions: Decisions,
}

/// The steps of a decision.
#[derive(Debug, Clone, Copy)]
enum Pending {
    Templates,
    Combination,
}

impl Listener {
    /// A listener for signals of `sample_rate` Hz (1000 to 1e9), tuned to A4 = 440 Hz. With `lookahead`, its decisions
    /// are more accurate, and refer to the time [`Listener::lookahead`] samples ago.
    pub fn new(sample_rate: f64, lookahead: bool) -> Self {
        let (decimation, frame) = frame(sample_rate);
        let mut listener = Self {
            sample_rate,
            decimation,
            frame,
            looks_ahead: lookahead,
            a4: [0.0, 440.0],
            sensitivity: 0.0,
            decimator: Decimator::new(sample_rate),
            detectors: Detectors::new(),
            network: Network::new(
                (frame * decimation) as f64 / sample_rate,
                Model::fitted(lookahead),
            ),
            chunk_end: 0,
            left: 0,
            pending: None,
            power: Row::ZERO,
            levels: [[0.0; TONES]; LOOKAHEAD + 1],
            blocks: 0,
            decisions: Decisions::NONE,
        };
        listener.reset();
        listener
    }

    /// Resets it to the state after silence.
    pub fn reset(&mut self) {
        self.decimator.reset();
        self.detectors.reset();
        self.tune();
        self.network.set_model(Model::fitted(self.looks_ahead));
        self.network.reset();
        self.left = self.frame;
        self.chunk_end = self.left.min(CHUNK) * self.decimation;
        self.pending = None;
        self.levels = [[0.0; TONES]; LOOKAHEAD + 1];
        self.blocks = 0;
        self.decisions = Decisions::NONE;
    }

    /// Switches lookahead on or off, from the next frame on.
    pub fn set_lookahead(&mut self, lookahead: bool) {
        self.looks_ahead = lookahead;
    }

    /// Tunes it to `tuning` Hz for A4 and bands moved by `transpose` semitones, from the next frame on.
    pub fn set_tuning(&mut self, tuning: f64, transpose: f64) {
        self.a4[1] = tuning * libm::exp2(transpose / 12.0);
    }

    /// Lowers the threshold by `shift` in log odds: a greater shift gives more notes, 0 the fitted threshold.
    pub fn set_sensitivity(&mut self, shift: f32) {
        self.sensitivity = shift;
    }

    /// Samples from the time that decisions refer to, to the end of the last frame.
    pub fn lookahead(&self) -> usize {
        self.network.model().lookahead * self.frame()
    }

    /// The greatest number of samples from the end of a frame to the end of the block that returns its decision: the
    /// rest of one block and all of the next. Always 64 at 44.1 kHz.
    pub fn delay(&self) -> usize {
        // The ends of frames within a block are multiples of the common divisor of the lengths of frame and block.
        2 * BLOCK - (1 << self.frame().trailing_zeros().min(BLOCK.trailing_zeros()))
    }

    /// Samples of the input from one decision to the next.
    pub fn frame(&self) -> usize {
        self.frame * self.decimation
    }

    /// The last decisions.
    pub fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    /// Processes a block of finite samples with the vectors of `kernel`. Returns the decisions for a frame if one was
    /// completed; if frames are shorter than a block, those for the last one.
    pub fn push(&mut self, kernel: Kernel, block: &[f32; BLOCK]) -> Option<&Decisions> {
        let before = self.decisions.frames;
        kernel.run(Push { listener: self, block });
        (self.decisions.frames > before).then_some(&self.decisions)
    }

    fn process<S: Simd>(&mut self, simd: S, block: &[f32; BLOCK]) {
        self.blocks += 1;
        self.decimator.push(block);
        while self.chunk_end <= BLOCK {
            let mut chunk = self.decimator.chunk(simd, self.chunk_end);
            let size = self.left.min(CHUNK);
            chunk[..CHUNK - size].fill(0.0);
            self.left -= size;
            self.detectors.advance(simd, &chunk, self.left == 0);
            if self.left == 0 {
                self.end_frame(simd);
            }
            self.chunk_end += self.left.min(CHUNK) * self.decimation;
        }
        self.chunk_end -= BLOCK;
        self.decide(simd);
    }

    fn end_frame<S: Simd>(&mut self, simd: S) {
        while self.pending.is_some() {
            self.decide(simd);
        }
        self.network.set_model(Model::fitted(self.looks_ahead));
        self.pending = Some(Pending::Templates);
        self.power = self.detectors.power();
        self.left = self.frame;
        self.tune();
    }

    /// Runs the next step of a pending decision.
    fn decide<S: Simd>(&mut self, simd: S) {
        match self.pending.take() {
            None => {}
            Some(Pending::Templates) => {
                self.levels.rotate_right(1);
                self.levels[0].copy_from_slice(&self.power.0[FIRST_BAND..FIRST_BAND + TONES]);
                self.network.match_templates(simd, &self.power);
                self.pending = Some(Pending::Combination);
            }
            Some(Pending::Combination) => {
                let logit = self.network.combine(simd);
                let model = self.network.model();
                let on = model.threshold - self.sensitivity;
                let off = on - model.hysteresis;
                let audible = self.detectors.audible(FIRST_BAND..FIRST_BAND + TONES);
                let bands = self.decisions.on.iter_mut().zip(&logit).zip(audible);
                for ((played, logit), audible) in bands {
                    *played = audible & (*logit > if *played { off } else { on });
                }
                self.decisions.logit = logit;
                self.decisions.level = self.levels[model.lookahead];
                self.decisions.peak = self.decisions.level;
                for newer in &self.levels[..model.lookahead] {
                    let peaks = self.decisions.peak.iter_mut().zip(newer);
                    peaks.for_each(|(peak, newer)| *peak = peak.max(*newer));
                }
                self.decisions.frames += 1;
                let decided = self.decisions.frames * self.frame() as u64;
                self.decisions.age = self.blocks * BLOCK as u64 - decided;
            }
        }
    }

    /// Tunes the detectors if the tuning has changed.
    fn tune(&mut self) {
        if self.a4[0] != self.a4[1] {
            self.a4[0] = self.a4[1];
            let rate = self.sample_rate / self.decimation as f64;
            self.detectors.tune(self.a4[0], rate, self.frame);
        }
    }
}

/// The work on a block, generic over the vectors.
struct Push<'a> {
    listener: &'a mut Listener,
    block: &'a [f32; BLOCK],
}

impl Work for Push<'_> {
    fn run<S: Simd>(self, simd: S) {
        self.listener.process(simd, self.block);
    }
}

#[cfg(test)]
mod tests;
