//! Features: input of the network. These are level, shift and growth of each detector at the end of a frame.

use crate::{
    NOTES,
    detectors::{
        BANK_GROUPS, BANKS, DETECTORS, Detectors, FIRST_NOTE, GROUPS, Group, LANES, States,
    },
    tracker_step,
};
use fearless_simd::Simd;
use tone_filter_simd::approx::ln;

/// Number of features of a semitone: three for each bank.
pub const FEATURES: usize = 3 * BANKS;
/// Number of frames that are kept, including the newest.
pub const FRAMES: usize = 8;
/// Rows of zeros at each end.
pub const MARGIN: usize = 2;

/// Added to the squared magnitude of a detector's output, averaged over the channels, so that ratios stay finite in silence.
const SILENCE: f32 = 1e-20;
/// Added to a power, relative to the reference, before the logarithm.
const FLOOR: f32 = 1e-6;
/// Natural logarithm of [`FLOOR`]; subtracted, so that silence has the level 0.
const LN_FLOOR: f32 = -13.815_511;
/// Divisor of the logarithm in a level.
const RANGE: f32 = 4.0;
/// Lower limit of the total power, so that the reference is never 0.
const QUIETEST: f32 = 1e-15;
/// Time constants of the reference power in s, rising and falling.
const REFERENCE: [f64; 2] = [0.05, 3.0];
/// Maximum absolute value of shift and growth in bandwidths.
const MOST: f32 = 2.0;

/// Cost of [`Features::step`]: the number of multiply-adds that take as long.
pub const STEP_COST: usize = 5000;

/// Features of the last frames.
#[derive(Debug, Clone)]
pub struct Features {
    /// One-pole coefficients of the reference per frame, rising and falling.
    steps: [f32; 2],
    /// Reference power: the smoothed sum of the powers of the fast bank's detectors.
    pub reference: f32,
    /// Ring of frames, with a row for each semitone.
    rows: Box<[[[f32; FEATURES]; DETECTORS + 2 * MARGIN]]>,
    newest: usize,
    /// Products of the detectors' states at the end of the last frame.
    products: [Products; GROUPS],
    /// Stereo positions of the fast bank's detectors.
    places: [Group; BANK_GROUPS],
}

impl Features {
    /// Creates the state after silence, for frames of `period` s.
    pub fn new(period: f64) -> Self {
        Self {
            steps: REFERENCE.map(|tau| tracker_step(tau, 1.0 / period) as f32),
            reference: QUIETEST,
            rows: vec![[[0.0; FEATURES]; DETECTORS + 2 * MARGIN]; FRAMES].into(),
            newest: 0,
            products: [Products::ZERO; GROUPS],
            places: [Group::ZERO; BANK_GROUPS],
        }
    }

    /// Resets to the state after silence.
    pub fn reset(&mut self) {
        self.reference = QUIETEST;
        self.products = [Products::ZERO; GROUPS];
        self.rows.as_flattened_mut().fill([0.0; FEATURES]);
    }

    /// Returns the features of `lag` frames ago, with [`MARGIN`] rows of zeros at each end.
    pub fn rows(&self, lag: usize) -> &[[f32; FEATURES]; DETECTORS + 2 * MARGIN] {
        &self.rows[(self.newest + FRAMES - lag) % FRAMES]
    }

    /// Begins the features of a frame of one or two `channels`; [`Features::step`] must follow for each group. Returns the power of
    /// each note (`A^2 / 2` for a sine of amplitude `A` at its frequency), and its stereo position.
    pub fn push<S: Simd>(
        &mut self,
        simd: S,
        detectors: &Detectors,
        channels: usize,
    ) -> [[f32; NOTES]; 2] {
        let Self { products, places, .. } = self;
        simd.vectorize(
            #[inline(always)]
            || {
                for (group, products) in products.iter_mut().enumerate() {
                    *products = Products::of(&detectors.states[0][group]);
                    if channels > 1 {
                        let other = Products::of(&detectors.states[1][group]);
                        if let Some(places) = places.get_mut(group) {
                            *places = products.places(&other);
                        }
                        products.average(&other);
                    }
                    products.square.0.iter_mut().for_each(|square| *square += SILENCE);
                }
            },
        );
        let products = &self.products;
        let power = |n: usize| 2.0 * products[n / LANES].square.0[n % LANES];
        let total = (0..DETECTORS).map(power).sum::<f32>().max(QUIETEST);
        let [rise, fall] = self.steps;
        let step = if total > self.reference { rise } else { fall };
        self.reference += step * (total - self.reference);
        self.newest = (self.newest + 1) % FRAMES;
        let place = |n: usize| if channels > 1 { self.places[n / LANES].0[n % LANES] } else { 0.0 };
        let powers = std::array::from_fn(|note| power(FIRST_NOTE + note));
        [powers, std::array::from_fn(|note| place(FIRST_NOTE + note))]
    }

    /// Returns the products of a detector, averaged over the channels: `|s2|^2`, plus 1e-20, and real and imaginary part of
    /// `s1 conj(s2)`.
    pub fn products(&self, bank: usize, index: usize) -> [f32; 3] {
        let Products { square, re, im } = &self.products[bank * BANK_GROUPS + index / LANES];
        [square, re, im].map(|group| group.0[index % LANES])
    }

    /// Computes the features of a group of detectors.
    pub fn step<S: Simd>(&mut self, simd: S, group: usize) {
        let (bank, first) = (group / BANK_GROUPS, group % BANK_GROUPS * LANES);
        let (products, scale) = (&self.products[group], 2.0 / self.reference);
        let mut features = [Group::ZERO; 3];
        simd.vectorize(
            #[inline(always)]
            || features = products.features(scale),
        );
        let rows = &mut self.rows[self.newest][MARGIN + first..];
        for (lane, row) in rows.iter_mut().enumerate().take(LANES.min(DETECTORS - first)) {
            for (feature, values) in features.iter().enumerate() {
                row[3 * bank + feature] = values.0[lane];
            }
        }
    }
}

/// Products of a group's states: `|s2|^2`, and real and imaginary part of `s1 conj(s2)`.
#[derive(Debug, Clone, Copy)]
struct Products {
    square: Group,
    re: Group,
    im: Group,
}

impl Products {
    const ZERO: Self = Self { square: Group::ZERO, re: Group::ZERO, im: Group::ZERO };

    /// Returns the products of one channel.
    #[inline(always)]
    fn of([a, b, c, d]: &States) -> Self {
        let mut products = Self::ZERO;
        for n in 0..LANES {
            let [a, b, c, d] = [a.0[n], b.0[n], c.0[n], d.0[n]];
            products.square.0[n] = c * c + d * d;
            products.re.0[n] = a * c + b * d;
            products.im.0[n] = b * c - a * d;
        }
        products
    }

    /// Returns the stereo positions by the amplitudes: 1 for this channel alone, -1 for `other` alone.
    #[inline(always)]
    fn places(&self, other: &Self) -> Group {
        let mut places = Group::ZERO;
        for n in 0..LANES {
            let (own_amplitude, other_amplitude) =
                (self.square.0[n].sqrt(), other.square.0[n].sqrt());
            places.0[n] = (own_amplitude - other_amplitude)
                / (own_amplitude + other_amplitude).max(f32::MIN_POSITIVE);
        }
        places
    }

    #[inline(always)]
    fn average(&mut self, other: &Self) {
        for n in 0..LANES {
            self.square.0[n] = 0.5 * (self.square.0[n] + other.square.0[n]);
            self.re.0[n] = 0.5 * (self.re.0[n] + other.re.0[n]);
            self.im.0[n] = 0.5 * (self.im.0[n] + other.im.0[n]);
        }
    }

    /// Returns level, shift and growth. `scale` is 2 / reference.
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
