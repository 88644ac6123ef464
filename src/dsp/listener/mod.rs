//! Which notes are played: 48 decisions every 11.6 ms, from the sound alone.
//!
//! `docs/listening.md` has the formulas, [`reference::listener`](super::reference::listener) the same in
//! f64, one sample after the other.

pub(super) mod decimator;
pub(super) mod detector;
pub(super) mod model;
mod network;
pub mod notes;
mod weights;

use super::{
    kernel::{Kernel, Work},
    lanes::BLOCK,
    notes::TONES,
};
use decimator::{Decimator, decimation};
use detector::{CHUNK, Detectors, FIRST_BAND, Row};
use fearless_simd::Simd;
use model::Model;
use network::Network;

/// Seconds from one decision to the next; the nearest whole number of detector samples is taken.
pub const FRAME: f64 = 512.0 / 44_100.0;
/// The most frames that a decision looks ahead.
const LOOKAHEAD: usize = 4;

/// By how many the sample rate (Hz) is divided for the detectors, and how many of their samples a frame has.
pub(super) fn frame(sample_rate: f64) -> (usize, usize) {
    let decimation = decimation(sample_rate);
    let frame = (FRAME * sample_rate / decimation as f64).round_ties_even() as usize;
    (decimation, frame)
}

/// What was decided about one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// Whether the note of each band is played.
    pub on: [bool; TONES],
    /// Log odds of it, before the threshold and its hysteresis.
    pub logit: [f32; TONES],
    /// Power of the input at the note's frequency, at the moment that the decision is about: 0.5 for a sine
    /// of full scale.
    pub level: [f32; TONES],
    /// Frames decided since the reset. The decision is about the moment
    /// `frames * frame - lookahead` in samples of the input.
    pub frames: u64,
    /// Samples from the end of the last of these frames to the end of the block with which the decision
    /// came; at most [`Listener::delay`].
    pub age: u64,
}

impl Decisions {
    /// Nothing is played.
    pub const NONE: Self =
        Self { on: [false; TONES], logit: [0.0; TONES], level: [0.0; TONES], frames: 0, age: 0 };
}

/// Hears a sound and decides which notes are played.
///
/// It is given whole blocks of 64 samples, each in bounded time: with the block that ends a frame, the
/// templates of the decision are computed, with the next one, the rest. It does not switch denormals off itself.
#[derive(Debug, Clone)]
pub struct Listener {
    sample_rate: f64,
    decimation: usize,
    /// Samples of a frame, at the rate of the detectors.
    frame: usize,
    /// Frequency of the detector of A4 in Hz: as it is and as it should be from the next frame on.
    a4: [f64; 2],
    /// What the threshold is lowered by.
    sensitivity: f32,
    decimator: Decimator,
    detectors: Detectors,
    network: Network,
    /// Samples from the start of the next block to the end of the next chunk for the detectors.
    chunk_end: usize,
    /// Samples from the start of that chunk to the end of the frame, at the detectors' rate.
    left: usize,
    /// What is left to do for the last frame, and the powers at its end.
    pending: Option<Pending>,
    power: Row,
    /// Power at each band at the end of the last frames, newest first.
    levels: [[f32; TONES]; LOOKAHEAD + 1],
    /// Blocks since the reset.
    blocks: u64,
    decisions: Decisions,
}

/// The next part of a decision.
#[derive(Debug, Clone, Copy)]
enum Pending {
    Templates,
    Combination,
}

impl Listener {
    /// A listener for sound of `sample_rate` Hz (1000 to 1e9) that has heard nothing, tuned to A4 = 440 Hz.
    /// With `lookahead`, its decisions are about a moment [`Listener::lookahead`] samples ago, and better.
    pub fn new(sample_rate: f64, lookahead: bool) -> Self {
        let (decimation, frame) = frame(sample_rate);
        let mut listener = Self {
            sample_rate,
            decimation,
            frame,
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

    /// Forgets all it has heard.
    pub fn reset(&mut self) {
        self.decimator.reset();
        self.detectors.reset();
        self.tune();
        self.network.reset();
        self.left = self.frame;
        self.chunk_end = self.left.min(CHUNK) * self.decimation;
        self.pending = None;
        self.levels = [[0.0; TONES]; LOOKAHEAD + 1];
        self.blocks = 0;
        self.decisions = Decisions::NONE;
    }

    /// With lookahead or without, from the next frame on.
    pub fn set_lookahead(&mut self, lookahead: bool) {
        self.network.set_model(Model::fitted(lookahead));
    }

    /// Tunes it to `tuning` Hz for A4 and bands moved by `transpose` semitones, from the next frame on.
    pub fn set_tuning(&mut self, tuning: f64, transpose: f64) {
        self.a4[1] = tuning * (transpose / 12.0).exp2();
    }

    /// Lowers the threshold by `shift` in log odds: the greater, the more notes. At 0, it is the fitted one.
    pub fn set_sensitivity(&mut self, shift: f32) {
        self.sensitivity = shift;
    }

    /// How many samples ago the moment is that decisions are about, seen from the end of the last frame.
    pub fn lookahead(&self) -> usize {
        self.network.model().lookahead * self.frame()
    }

    /// The greatest number of samples from the end of a frame to the end of the block with which the
    /// decision comes: the rest of one block and all of the next. 64 at 44.1 kHz, always.
    pub fn delay(&self) -> usize {
        // Frames may end wherever their length and the blocks' have no common divisor.
        2 * BLOCK - (1 << self.frame().trailing_zeros().min(BLOCK.trailing_zeros()))
    }

    /// Samples of the input from one decision to the next.
    pub fn frame(&self) -> usize {
        self.frame * self.decimation
    }

    /// What was decided last.
    pub fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    /// Hears a block of finite samples with the vectors of `kernel`. Returns what it decides about another
    /// frame, if it does; should frames be shorter than a block, about the last one.
    pub fn push(&mut self, kernel: Kernel, block: &[f32; BLOCK]) -> Option<&Decisions> {
        let before = self.decisions.frames;
        kernel.run(Push { listener: self, block });
        (self.decisions.frames > before).then_some(&self.decisions)
    }

    fn hear<S: Simd>(&mut self, simd: S, block: &[f32; BLOCK]) {
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
        self.pending = Some(Pending::Templates);
        self.power = self.detectors.power();
        self.left = self.frame;
        self.tune();
    }

    /// Does one of the parts that are left of a decision.
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
                for ((held, logit), audible) in bands {
                    *held = audible & (*logit > if *held { off } else { on });
                }
                self.decisions.logit = logit;
                self.decisions.level = self.levels[model.lookahead];
                self.decisions.frames += 1;
                let heard = self.decisions.frames * self.frame() as u64;
                self.decisions.age = self.blocks * BLOCK as u64 - heard;
            }
        }
    }

    /// Tunes the detectors to where they should be.
    fn tune(&mut self) {
        if self.a4[0] != self.a4[1] {
            self.a4[0] = self.a4[1];
            let rate = self.sample_rate / self.decimation as f64;
            self.detectors.tune(self.a4[0], rate, self.frame);
        }
    }
}

/// A block to hear.
struct Push<'a> {
    listener: &'a mut Listener,
    block: &'a [f32; BLOCK],
}

impl Work for Push<'_> {
    fn run<S: Simd>(self, simd: S) {
        self.listener.hear(simd, self.block);
    }
}

#[cfg(test)]
mod tests;
