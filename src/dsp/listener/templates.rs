//! From the powers at the detectors to logits of the 48 bands, in two stages a frame.
//!
//! Both stages are templates: one weight per feature and offset in semitones, the same for every band. The
//! first sees levels against the loudness of the last seconds, and how they rose and fell; the second sees
//! the first one's opinions besides, their history, and six numbers on the whole sound.

use super::{
    approx::{ln, logistic},
    detector::{DETECTORS, FIRST_BAND, LANES, Row},
};
use crate::dsp::{constants::tracker_step, notes::TONES};
use fearless_simd::{Simd, SimdBase, SimdFloat};

/// The reference power is at least this.
pub const QUIETEST: f64 = 1e-9;
/// Added to the ratio of power and reference before the logarithm.
pub const FLOOR: f64 = 1e-6;
/// `ln FLOOR`: the level of what cannot be heard.
const SILENT: f32 = -13.815_511;
/// Frames back to which levels are compared for rise and fall.
pub const LAG: usize = 3;
/// The first stage's logits are clipped to this before the second sees them.
pub const LOGIT_RANGE: [f32; 2] = [-6.0, 3.0];
/// Room for offsets, at each end of a row.
const PADDING: usize = 48;

/// What a template sees of each detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Logarithm of the power against the reference.
    Level,
    /// How much the level rose in [`LAG`] frames, or 0.
    Rise,
    /// How much it fell, as a negative number, or 0.
    Fall,
    /// The first stage's probability.
    Probability,
    /// The first stage's logit, clipped.
    Logit,
    /// The logit's peak, falling in 0.3 s.
    ShortPeak,
    /// The logit's peak, falling in 1 s.
    LongPeak,
    /// The logit's mean over 0.1 s.
    ShortMean,
    /// The logit's mean over 4 s.
    LongMean,
}

/// How many features there are.
pub const FEATURES: usize = Feature::ALL.len();
/// How many numbers on the whole sound there are.
pub const OVERALL: usize = 6;

/// The features that remember the logit, with their time constants in s on the way up and down.
pub const HISTORY: [(Feature, [f64; 2]); 4] = [
    (Feature::ShortPeak, [0.0, 0.3]),
    (Feature::LongPeak, [0.0, 1.0]),
    (Feature::ShortMean, [0.1, 0.1]),
    (Feature::LongMean, [4.0, 4.0]),
];
/// Time constants, up and down, of what follows the loudness.
pub const LOUDNESS: [f64; 2] = [0.05, 3.0];
/// The same of the number of notes.
pub const COUNT: [f64; 2] = [3.0, 3.0];

impl Feature {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Level,
        Self::Rise,
        Self::Fall,
        Self::Probability,
        Self::Logit,
        Self::ShortPeak,
        Self::LongPeak,
        Self::ShortMean,
        Self::LongMean,
    ];

    /// What it is outside the bank.
    pub const fn outside(self) -> f32 {
        match self {
            Self::Level => SILENT,
            Self::Rise | Self::Fall | Self::Probability => 0.0,
            _ => LOGIT_RANGE[0],
        }
    }
}

/// Weights of one feature.
#[derive(Debug)]
pub struct Group {
    /// Of what.
    pub feature: Feature,
    /// Where, in semitones from the band.
    pub offsets: &'static [i8],
    /// As many weights.
    pub weights: &'static [f32],
}

/// One stage: `logit = bias + sum of weight * feature[band + offset] + sum of weight * overall`.
#[derive(Debug)]
pub struct Stage {
    /// In log odds.
    pub bias: f32,
    /// The weights of the features.
    pub groups: &'static [Group],
    /// The weights of: greatest level, the same tracked, number of notes over 3 s, logarithm of that of now,
    /// mean rise, greatest logit of the first stage tracked.
    pub overall: [f32; OVERALL],
}

/// What was fitted.
#[derive(Debug)]
pub struct Model {
    /// A band goes on above this logit.
    pub threshold: f32,
    /// It goes off this much below.
    pub hysteresis: f32,
    /// How many frames back the decision is about.
    pub lookahead: usize,
    /// The stage for every detector.
    pub first: Stage,
    /// The stage for the 48 bands.
    pub second: Stage,
}

/// Shares of the new value in a tracker, per frame: on the way up, on the way down.
type Step = [f32; 2];

#[inline(always)]
fn track([up, down]: Step, value: f32, x: f32) -> f32 {
    value + if x > value { up } else { down } * (x - value)
}

/// The shares of all trackers.
#[derive(Debug, Clone)]
struct Steps {
    loudness: Step,
    count: Step,
    history: [Step; HISTORY.len()],
}

impl Steps {
    /// All trackers take the new value as it is.
    const AT_ONCE: Self =
        Self { loudness: [1.0; 2], count: [1.0; 2], history: [[1.0; 2]; HISTORY.len()] };

    /// For frames of `period` s.
    fn new(period: f64) -> Self {
        let step = |times: [f64; 2]| times.map(|tau| tracker_step(tau, 1.0 / period) as f32);
        Self {
            loudness: step(LOUDNESS),
            count: step(COUNT),
            history: HISTORY.map(|(_, times)| step(times)),
        }
    }
}

/// A feature of every detector, with room for offsets.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Padded([f32; PADDING + LANES + PADDING]);

/// Both stages and what they remember.
#[derive(Debug, Clone)]
pub struct Classifier {
    steps: Steps,
    /// The powers of the last seconds, in one number.
    reference: f32,
    /// The levels of the last frames, in a ring.
    past: [Row; LAG],
    oldest: usize,
    features: [Padded; FEATURES],
    /// The first stage's logits.
    logits: [f32; LANES],
    overall: [f32; OVERALL],
}

impl Classifier {
    /// For frames of `period` s.
    pub fn new(period: f64) -> Self {
        Self {
            steps: Steps::new(period),
            reference: 0.0,
            past: [Row::ZERO; LAG],
            oldest: 0,
            features: [Padded([0.0; PADDING + LANES + PADDING]); FEATURES],
            logits: [0.0; LANES],
            overall: [0.0; OVERALL],
        }
    }

    /// As after a frame of silence, which has these powers.
    pub fn reset<S: Simd>(&mut self, simd: S, model: &Model, silence: &Row) {
        self.reference = QUIETEST as f32;
        self.past = [Row([SILENT; LANES]); LAG];
        self.oldest = 0;
        self.features =
            Feature::ALL.map(|feature| Padded([feature.outside(); PADDING + LANES + PADDING]));
        self.overall = [0.0; OVERALL];
        let steps = std::mem::replace(&mut self.steps, Steps::AT_ONCE);
        self.first(simd, model, silence);
        self.second(simd, model);
        self.steps = steps;
    }

    /// The first stage for a frame of these powers.
    pub fn first<S: Simd>(&mut self, simd: S, model: &Model, power: &Row) {
        simd.vectorize(
            #[inline(always)]
            || {
                self.contrast(power);
                let Stage { bias, .. } = model.first;
                self.logits = apply::<S, LANES, 6>(simd, &self.features, &model.first, 0, bias);
            },
        );
    }

    /// The second stage for the same frame: a logit for each band.
    pub fn second<S: Simd>(&mut self, simd: S, model: &Model) -> [f32; TONES] {
        simd.vectorize(
            #[inline(always)]
            || {
                self.remember();
                let stage = &model.second;
                let overall = self.overall.iter().zip(&stage.overall);
                let bias = overall.fold(stage.bias, |sum, (value, weight)| sum + value * weight);
                apply::<S, TONES, 3>(simd, &self.features, stage, FIRST_BAND, bias)
            },
        )
    }

    /// Levels against the loudness of the last seconds, and how they rose and fell.
    #[inline(always)]
    fn contrast(&mut self, power: &Row) {
        let sum = sum(&power.0);
        self.reference = track(self.steps.loudness, self.reference, sum.max(QUIETEST as f32));
        let inverse = 1.0 / self.reference;
        let [level, rise, fall, ..] = &mut self.features;
        let past = &mut self.past[self.oldest].0;
        for i in 0..LANES {
            let u = ln(power.0[i] * inverse + FLOOR as f32);
            let change = u - past[i];
            past[i] = u;
            level.0[PADDING + i] = u;
            rise.0[PADDING + i] = if change > 0.0 { change } else { 0.0 };
            fall.0[PADDING + i] = if change < 0.0 { change } else { 0.0 };
        }
        self.oldest = (self.oldest + 1) % LAG;
    }

    /// The first stage's opinions, their history, and the numbers on the whole sound.
    #[inline(always)]
    fn remember(&mut self) {
        let [level, rise, _, probability, logit, history @ ..] = &mut self.features;
        for i in 0..LANES {
            let inside = i < DETECTORS;
            let [low, high] = LOGIT_RANGE;
            let raw = self.logits[i];
            probability.0[PADDING + i] = if inside { logistic(raw) } else { 0.0 };
            logit.0[PADDING + i] = if inside { raw.clamp(low, high) } else { low };
        }
        for (memory, step) in history.iter_mut().zip(self.steps.history) {
            for i in PADDING..PADDING + LANES {
                memory.0[i] = track(step, memory.0[i], logit.0[i]);
            }
        }

        let bands = PADDING + FIRST_BAND..PADDING + FIRST_BAND + TONES;
        let loudest = greatest(&level.0[bands.clone()]);
        let count = sum(&probability.0[bands]);
        let mean_rise = sum(&rise.0[PADDING..PADDING + LANES]) / DETECTORS as f32;
        let surest = greatest(&self.logits[FIRST_BAND..FIRST_BAND + TONES]);
        let Steps { loudness, count: notes, .. } = self.steps;
        let [_, loudest_before, count_before, _, _, surest_before] = self.overall;
        self.overall = [
            loudest,
            track(loudness, loudest_before, loudest),
            track(notes, count_before, count),
            ln(0.05 + count),
            mean_rise,
            track(loudness, surest_before, surest),
        ];
    }
}

/// The sum of a row of whole vectors of 16, lane by lane.
#[inline(always)]
fn sum(row: &[f32]) -> f32 {
    let (vectors, _) = row.as_chunks::<16>();
    let mut sums = [0.0; 16];
    for vector in vectors {
        for i in 0..16 {
            sums[i] += vector[i];
        }
    }
    sums.iter().sum()
}

/// The greatest number of such a row.
#[inline(always)]
fn greatest(row: &[f32]) -> f32 {
    let (vectors, _) = row.as_chunks::<16>();
    let mut most = [f32::MIN; 16];
    for vector in vectors {
        for i in 0..16 {
            most[i] = if vector[i] > most[i] { vector[i] } else { most[i] };
        }
    }
    most.into_iter().fold(f32::MIN, f32::max)
}

/// The templates of `stage` at `N` detectors from `first` on, by `GROUP` vectors at a time.
#[inline(always)]
fn apply<S: Simd, const N: usize, const GROUP: usize>(
    simd: S,
    features: &[Padded; FEATURES],
    stage: &Stage,
    first: usize,
    bias: f32,
) -> [f32; N] {
    let lanes = S::f32s::LEN;
    let mut logits = [0.0; N];
    for (chunk, logits) in logits.chunks_exact_mut(GROUP * lanes).enumerate() {
        let mut sums = [S::f32s::splat(simd, bias); GROUP];
        let start = PADDING + first + chunk * GROUP * lanes;
        for group in stage.groups {
            let row = &features[group.feature as usize].0;
            for (&offset, &weight) in group.offsets.iter().zip(group.weights) {
                let weight = S::f32s::splat(simd, weight);
                let seen = &row[start.wrapping_add_signed(offset.into())..][..GROUP * lanes];
                for i in 0..GROUP {
                    let seen = S::f32s::from_slice(simd, &seen[i * lanes..][..lanes]);
                    sums[i] = seen.mul_add(weight, sums[i]);
                }
            }
        }
        for i in 0..GROUP {
            sums[i].store_slice(&mut logits[i * lanes..][..lanes]);
        }
    }
    logits
}
