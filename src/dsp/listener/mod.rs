//! Which notes are played: 48 decisions every 11.6 ms, from the sound alone.
//!
//! `docs/listening.md` has the formulas, [`reference::listener`](super::reference::listener) the same in
//! f64, one sample after the other.

mod approx;
pub(super) mod decimator;
pub(super) mod detector;
pub(super) mod templates;
pub(super) mod weights;

use super::{
    kernel::{Kernel, Work},
    lanes::BLOCK,
    notes::TONES,
};
use decimator::{Decimator, decimation};
use detector::{CHUNK, Detectors, FIRST_BAND, Row};
use fearless_simd::Simd;
use templates::{Classifier, Model};

/// Seconds from one decision to the next; the nearest whole number of detector samples is taken.
pub const FRAME: f64 = 512.0 / 44_100.0;
/// The most frames that a decision looks ahead.
const LOOKAHEAD: usize = 4;

/// Samples of a frame, at the rate of the detectors and at that of the sound.
pub fn frame(sample_rate: f64) -> [usize; 2] {
    let decimation = decimation(sample_rate);
    let frame = (FRAME * sample_rate / decimation as f64).round_ties_even() as usize;
    [frame, frame * decimation]
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
    /// Samples from the end of the last frame heard to the end of the block with which the decision came.
    /// At high sample rates it may come before, because the decimator takes the first of its samples.
    pub age: i64,
}

impl Decisions {
    /// Nothing is played.
    pub const NONE: Self =
        Self { on: [false; TONES], logit: [0.0; TONES], level: [0.0; TONES], frames: 0, age: 0 };
}

/// Hears a sound and decides which notes are played.
///
/// It is given whole blocks of 64 samples, each in bounded time: the block that ends a frame also pays for
/// the first stage of the decision, the next one for the second. It does not switch denormals off itself.
#[derive(Debug, Clone)]
pub struct Listener {
    sample_rate: f64,
    /// Samples of a frame, at the rate of the detectors and at that of the sound.
    frame: [usize; 2],
    /// Frequency of the detector of A4 in Hz: as it is and as it should be from the next frame on.
    a4: [f64; 2],
    model: &'static Model,
    /// What the threshold is lowered by.
    sensitivity: f32,
    decimator: Decimator,
    detectors: Detectors,
    classifier: Classifier,
    /// The next samples for the detectors, of which `filled` are there (or zeros that come before them).
    chunk: [f32; CHUNK],
    filled: usize,
    /// Samples from the start of the chunk to the end of the frame.
    left: usize,
    /// What is left to do for the last frame.
    pending: Option<Pending>,
    /// Power at each band in the last frames, in a ring.
    levels: [[f32; TONES]; LOOKAHEAD + 1],
    /// Blocks since the reset.
    blocks: u64,
    decisions: Decisions,
}

/// The next part of a decision.
#[derive(Debug, Clone)]
enum Pending {
    First(Row),
    Second,
}

impl Listener {
    /// A listener for sound of `sample_rate` Hz (1000 to 1e9) that has heard nothing, tuned to A4 = 440 Hz.
    /// With `lookahead`, its decisions are about a moment [`Listener::lookahead`] samples ago, and better.
    pub fn new(sample_rate: f64, lookahead: bool) -> Self {
        let frame = frame(sample_rate);
        let mut listener = Self {
            sample_rate,
            frame,
            a4: [0.0, 440.0],
            model: &weights::causal::MODEL,
            sensitivity: 0.0,
            decimator: Decimator::new(sample_rate),
            detectors: Detectors::new(),
            classifier: Classifier::new(frame[1] as f64 / sample_rate),
            chunk: [0.0; CHUNK],
            filled: 0,
            left: 0,
            pending: None,
            levels: [[0.0; TONES]; LOOKAHEAD + 1],
            blocks: 0,
            decisions: Decisions::NONE,
        };
        listener.set_lookahead(lookahead);
        listener.reset();
        listener
    }

    /// Forgets all it has heard.
    pub fn reset(&mut self) {
        self.decimator.reset();
        self.detectors.reset();
        self.tune();
        let silence = self.detectors.power();
        self.classifier.reset(fearless_simd::Fallback::new(), self.model, &silence);
        self.left = self.frame[0];
        self.start_chunk();
        self.pending = None;
        self.levels = [[0.0; TONES]; LOOKAHEAD + 1];
        self.blocks = 0;
        self.decisions = Decisions::NONE;
    }

    /// With lookahead or without, from the next frame on.
    pub fn set_lookahead(&mut self, lookahead: bool) {
        self.model = if lookahead { &weights::lookahead::MODEL } else { &weights::causal::MODEL };
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
        self.model.lookahead * self.frame[1]
    }

    /// The greatest number of samples from the end of a frame to the end of the block with which the
    /// decision comes; the least is up to 63 samples less, see [`Decisions::age`]. 64 at 44.1 kHz, always.
    pub fn delay(&self) -> usize {
        let [frame, decimation] = [self.frame[1], decimation(self.sample_rate)];
        // The last sample that counts is `decimation` before the end; its block and the next one pass.
        let step = 1 << frame.trailing_zeros().min(BLOCK.trailing_zeros());
        let earliest = (step - decimation % step) % step;
        (2 * BLOCK).saturating_sub(decimation + earliest)
    }

    /// Samples of the input from one decision to the next.
    pub fn frame(&self) -> usize {
        self.frame[1]
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
        let mut samples = [0.0; BLOCK];
        let count = self.decimator.push(simd, block, &mut samples);
        for &sample in &samples[..count] {
            self.chunk[self.filled] = sample;
            self.filled += 1;
            if self.filled == CHUNK {
                self.hear_chunk(simd);
            }
        }
        self.decide(simd);
    }

    fn hear_chunk<S: Simd>(&mut self, simd: S) {
        let last = self.left <= CHUNK;
        self.detectors.advance(simd, &self.chunk, last);
        self.left = self.left.saturating_sub(CHUNK);
        if last {
            while self.pending.is_some() {
                self.decide(simd);
            }
            self.pending = Some(Pending::First(self.detectors.power()));
            self.left = self.frame[0];
            self.tune();
        }
        self.start_chunk();
    }

    /// Makes room for the next samples. The last chunk of a frame may be shorter and starts with zeros.
    fn start_chunk(&mut self) {
        self.chunk = [0.0; CHUNK];
        self.filled = CHUNK.saturating_sub(self.left);
    }

    /// Does one of the parts that are left of a decision.
    fn decide<S: Simd>(&mut self, simd: S) {
        match self.pending.take() {
            None => {}
            Some(Pending::First(power)) => {
                self.levels.rotate_right(1);
                self.levels[0].copy_from_slice(&power.0[FIRST_BAND..FIRST_BAND + TONES]);
                self.classifier.first(simd, self.model, &power);
                self.pending = Some(Pending::Second);
            }
            Some(Pending::Second) => {
                let logit = self.classifier.second(simd, self.model);
                let on = self.model.threshold - self.sensitivity;
                let off = on - self.model.hysteresis;
                for (band, held) in self.decisions.on.iter_mut().enumerate() {
                    let audible = self.detectors.is_audible(FIRST_BAND + band);
                    *held = audible && logit[band] > if *held { off } else { on };
                }
                self.decisions.logit = logit;
                self.decisions.level = self.levels[self.model.lookahead];
                self.decisions.frames += 1;
                let heard = self.decisions.frames * self.frame[1] as u64;
                self.decisions.age = (self.blocks * BLOCK as u64) as i64 - heard as i64;
            }
        }
    }

    /// Tunes the detectors to where they should be.
    fn tune(&mut self) {
        if self.a4[0] != self.a4[1] {
            self.a4[0] = self.a4[1];
            let rate = self.sample_rate / decimation(self.sample_rate) as f64;
            self.detectors.tune(self.a4[0], rate, self.frame[0]);
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
