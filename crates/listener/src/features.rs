//! Features: the network's input from the detectors at the end of a frame: level, shift and growth of each.

use crate::{
    NOTES,
    detectors::{
        BANK_GROUPS, BANKS, DETECTORS, Detectors, FIRST_NOTE, GROUPS, Group, LANES, States,
    },
    tracker_step,
};
use fearless_simd::Simd;
use tone_filter_simd::approx::ln;

/// Features of a semitone: three of each bank.
pub const FEATURES: usize = 3 * BANKS;
/// Frames that are remembered, the last one included.
pub const FRAMES: usize = 8;
/// Rows of zeros at both ends.
pub const MARGIN: usize = 2;

/// Added to the mean square, which keeps ratios of silence in bounds.
const SILENCE: f32 = 1e-20;
/// Levels are logarithms of powers relative to the reference, from this one on, divided by [`RANGE`].
const FLOOR: f32 = 1e-6;
const RANGE: f32 = 4.0;
/// The least total power.
const QUIETEST: f32 = 1e-15;
/// Time constants of the reference power in s when it rises and falls.
const RISE: f64 = 0.05;
const FALL: f64 = 3.0;
/// The greatest shift and growth, in bandwidths.
const MOST: f32 = 2.0;

/// Multiply-adds that take as long as a step.
pub const STEP_COST: usize = 5000;

/// The features of the last frames.
#[derive(Debug, Clone)]
pub struct Features {
    /// The steps of the reference in a frame, when it rises and falls.
    steps: [f32; 2],
    reference: f32,
    /// A ring of frames, one row per semitone.
    rows: Box<[[[f32; FEATURES]; DETECTORS + 2 * MARGIN]; FRAMES]>,
    newest: usize,
    /// The detectors at the end of the last frame.
    sums: [Sums; GROUPS],
    /// Where those of the first bank lie between left and right.
    places: [Group; BANK_GROUPS],
}

impl Features {
    /// After silence, for frames of `period` s.
    pub fn new(period: f64) -> Self {
        Self {
            steps: [RISE, FALL].map(|tau| tracker_step(tau, 1.0 / period) as f32),
            reference: QUIETEST,
            rows: Box::new([[[0.0; FEATURES]; DETECTORS + 2 * MARGIN]; FRAMES]),
            newest: 0,
            sums: [Sums::ZERO; GROUPS],
            places: [Group::ZERO; BANK_GROUPS],
        }
    }

    /// Returns to the state after silence.
    pub fn reset(&mut self) {
        self.reference = QUIETEST;
        self.sums = [Sums::ZERO; GROUPS];
        self.rows.as_flattened_mut().fill([0.0; FEATURES]);
    }

    /// The features `lag` frames ago, with [`MARGIN`] rows of zeros at both ends.
    pub fn rows(&self, lag: usize) -> &[[f32; FEATURES]; DETECTORS + 2 * MARGIN] {
        &self.rows[(self.newest + FRAMES - lag) % FRAMES]
    }

    /// Begins the features of a frame that ends, of one or two `channels`; [`GROUPS`] steps follow. Returns the power at each
    /// note, where a sine of amplitude `A` at its frequency gives `A^2 / 2`, and its place.
    pub fn push<S: Simd>(
        &mut self,
        simd: S,
        detectors: &Detectors,
        channels: usize,
    ) -> [[f32; NOTES]; 2] {
        let Self { sums, places, .. } = self;
        simd.vectorize(
            #[inline(always)]
            || {
                for (group, sums) in sums.iter_mut().enumerate() {
                    *sums = Sums::of(&detectors.states(0)[group]);
                    if channels > 1 {
                        let other = Sums::of(&detectors.states(1)[group]);
                        if let Some(places) = places.get_mut(group) {
                            *places = sums.places(&other);
                        }
                        sums.average(&other);
                    }
                    sums.square.0.iter_mut().for_each(|square| *square += SILENCE);
                }
            },
        );
        let sums = &self.sums;
        let power = |n: usize| 2.0 * sums[n / LANES].square.0[n % LANES];
        let total = (0..DETECTORS).map(power).sum::<f32>().max(QUIETEST);
        let [rise, fall] = self.steps;
        let step = if total > self.reference { rise } else { fall };
        self.reference += step * (total - self.reference);
        self.newest = (self.newest + 1) % FRAMES;
        let place = |n: usize| if channels > 1 { self.places[n / LANES].0[n % LANES] } else { 0.0 };
        let powers = std::array::from_fn(|note| power(FIRST_NOTE + note));
        [powers, std::array::from_fn(|note| place(FIRST_NOTE + note))]
    }

    /// The reference power.
    pub fn reference(&self) -> f32 {
        self.reference
    }

    /// Of the sharp detector `index` of both banks, the lowest first: `|s2|^2`, and the parts of `s1` times the conjugate of `s2`,
    /// means over the channels.
    pub fn sharp(&self, index: usize) -> [f32; 3] {
        let (bank, n) = (1 + index % 2, index / 2);
        let Sums { square, re, im } = &self.sums[bank * BANK_GROUPS + n / LANES];
        [square, re, im].map(|group| group.0[n % LANES])
    }

    /// Computes the features of a group of detectors.
    pub fn step<S: Simd>(&mut self, simd: S, group: usize) {
        let (bank, first) = (group / BANK_GROUPS, group % BANK_GROUPS * LANES);
        let (sums, scale) = (&self.sums[group], 2.0 / self.reference);
        let mut features = [Group::ZERO; 3];
        simd.vectorize(
            #[inline(always)]
            || features = sums.features(scale),
        );
        let rows = &mut self.rows[self.newest][MARGIN + first..];
        for (lane, row) in rows.iter_mut().enumerate().take(LANES.min(DETECTORS - first)) {
            for (feature, values) in features.iter().enumerate() {
                row[3 * bank + feature] = values.0[lane];
            }
        }
    }
}

#[cfg(test)]
impl Features {
    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.rows)
    }
}

/// Means over the channels of a group: `|s2|^2`, and the parts of `s1` times the conjugate of `s2`.
#[derive(Debug, Clone, Copy)]
struct Sums {
    square: Group,
    re: Group,
    im: Group,
}

impl Sums {
    const ZERO: Self = Self { square: Group::ZERO, re: Group::ZERO, im: Group::ZERO };

    /// Sums of one channel.
    #[inline(always)]
    fn of([a, b, c, d]: &States) -> Self {
        let mut sums = Self::ZERO;
        for n in 0..LANES {
            let [a, b, c, d] = [a.0[n], b.0[n], c.0[n], d.0[n]];
            sums.square.0[n] = c * c + d * d;
            sums.re.0[n] = a * c + b * d;
            sums.im.0[n] = b * c - a * d;
        }
        sums
    }

    /// Where each lies between this channel, 1, and another one, -1, by its amplitudes.
    #[inline(always)]
    fn places(&self, other: &Self) -> Group {
        let mut places = Group::ZERO;
        for n in 0..LANES {
            let (own, other) = (self.square.0[n].sqrt(), other.square.0[n].sqrt());
            places.0[n] = (own - other) / (own + other).max(f32::MIN_POSITIVE);
        }
        places
    }

    /// Averages with another channel.
    #[inline(always)]
    fn average(&mut self, other: &Self) {
        for n in 0..LANES {
            self.square.0[n] = 0.5 * (self.square.0[n] + other.square.0[n]);
            self.re.0[n] = 0.5 * (self.re.0[n] + other.re.0[n]);
            self.im.0[n] = 0.5 * (self.im.0[n] + other.im.0[n]);
        }
    }

    /// Level, shift and growth, for a scale of 2 / reference.
    #[inline(always)]
    fn features(&self, scale: f32) -> [Group; 3] {
        let mut features = [Group::ZERO; 3];
        let [level, shift, growth] = &mut features;
        for n in 0..LANES {
            let square = self.square.0[n];
            let log = (ln(square * scale + FLOOR) - LN_FLOOR) * (1.0 / RANGE);
            let sure = log.min(1.0);
            level.0[n] = log;
            shift.0[n] = (self.im.0[n] / square).clamp(-MOST, MOST) * sure;
            growth.0[n] = (self.re.0[n] / square - 1.0).clamp(-MOST, MOST) * sure;
        }
        features
    }
}

/// The logarithm of [`FLOOR`].
const LN_FLOOR: f32 = -13.815_511;
