//! The constants of a bank, by the settings.

use super::{
    kernel::{Coefficients, RMS_GUARD},
    one_pole::Response,
    pitches::{LOOK, Pitches, Tones},
    resonator::{Design, ring_of},
};
use crate::{
    constants::Constants,
    lanes::{BLOCK, Lanes},
    notes::{PUBLISHED, TONES, frequency, semitone},
    ramp::Ramp,
    settings::Settings,
};

/// The constants and coefficients of a bank for the current settings, at one sample rate.
#[derive(Debug, Clone)]
pub struct BankParams {
    /// Hz.
    pub sample_rate: f64,
    /// The constants of the formulas.
    pub constants: Constants,
    /// Coefficients of the kernel.
    pub coefficients: Coefficients,
    /// The averages: the total power, the low-pass of the soft clip and that of the other voices.
    pub(super) total: Response,
    /// See `total`.
    pub(super) low_pass: Response,
    /// See `total`.
    pub voice_low_pass: Response,
    /// Gain that would bring the input to the nominal level. It is applied to the floor, the guard and the clip in place of the input.
    gains: Ramp<f32>,
    /// The bands' pitches, for the voices.
    pub pitches: Pitches,
    /// The bands' tuning, for snapshots.
    pub tones: Tones,
    /// The settings of the current resonators, and how many there are.
    ring: f32,
    tuning: f32,
    transpose: f32,
    count: usize,
}

impl BankParams {
    /// Parameters for `settings` at `sample_rate` Hz.
    pub fn new(settings: &Settings, sample_rate: f64) -> Self {
        let mut params = Self {
            sample_rate,
            constants: Constants::new(settings, sample_rate),
            coefficients: Coefficients::ZERO,
            total: Response::new(0.0),
            low_pass: Response::new(0.0),
            voice_low_pass: Response::new(0.0),
            gains: Ramp::rest(1.0),
            pitches: Pitches::ZERO,
            tones: Tones::ZERO,
            ring: f32::NAN,
            tuning: f32::NAN,
            transpose: f32::NAN,
            count: 0,
        };
        params.update(settings, PUBLISHED);
        params
    }

    /// Updates all constants for `settings` and the first `count` tones. The resonators are designed again only if their settings have changed.
    /// With [`Settings::freeze`], they ring for ever, which leaves their input no gain, and the powers stay as they are.
    pub fn update(&mut self, settings: &Settings, count: usize) {
        let frozen = settings.freeze;
        self.constants = Constants::new(settings, self.sample_rate);
        self.coefficients.set_step(if frozen { 0.0 } else { self.constants.band_step });
        self.total = Response::new(if frozen { 0.0 } else { self.constants.total_step });
        self.low_pass = Response::new(1.0 - self.constants.smoothing);
        self.voice_low_pass = Response::new(1.0 - self.constants.voice_smoothing);
        self.coefficients.drive = self.constants.drive as f32;
        self.coefficients.threshold = self.constants.threshold as f32;
        self.coefficients.ceiling = self.constants.ceiling as f32;

        let &Settings { ring, tuning, transpose, .. } = settings;
        let ring = if frozen { f32::INFINITY } else { ring };
        let same = [ring, tuning, transpose] == [self.ring, self.tuning, self.transpose];
        if same && count == self.count {
            return;
        }
        (self.ring, self.tuning, self.transpose, self.count) = (ring, tuning, transpose, count);
        let mut designs = [Design::new(0.0, f64::from(ring), self.sample_rate); TONES];
        let designs = &mut designs[..count];
        for (tone, design) in designs.iter_mut().enumerate() {
            let f = frequency(tone, f64::from(tuning), f64::from(transpose));
            let ring = ring_of(semitone(tone), f64::from(ring));
            *design = Design::new(f, ring, self.sample_rate);
        }
        self.coefficients.set_resonators(designs);
        for (tone, design) in designs.iter().enumerate() {
            let (rise, fall) = (self.coefficients.rise.0[tone], self.coefficients.fall.0[tone]);
            let angle = design.angle;
            (self.pitches.angles.0[tone], self.pitches.exact[tone]) = (angle as f32, angle);
            self.pitches.lo_weights.0[tone] = 2.0 / rise;
            for (look, back) in (1..).zip(&mut self.pitches.backs) {
                let turned = angle * (look * LOOK) as f64;
                let (sine, cosine) = libm::sincos(angle * BLOCK as f64 - turned);
                (back[0].0[tone], back[1].0[tone]) = (cosine as f32, sine as f32);
            }
            self.tones.angular_frequency[tone] = (angle * self.sample_rate) as f32;
            self.tones.lo_weight[tone] = (f64::from(fall) / libm::sin(angle)) as f32;
            self.tones.bp_weight[tone] = libm::tan(angle / 2.0) as f32;
        }
    }

    /// Whether the resonators ring for ever.
    pub fn frozen(&self) -> bool {
        self.ring.is_infinite()
    }

    /// Sets the level gains of the current block, after the constants.
    pub fn set_gains(&mut self, gains: Ramp<f32>) {
        let gain = gains.to;
        self.gains = gains;
        self.coefficients.floor = (self.constants.floor / f64::from(gain).powi(2)) as f32;
        self.coefficients.guard = RMS_GUARD / gain;
    }

    /// Sets the tones' places between left, 1, and right, -1, after the weights; `None` for one sum.
    pub fn place(&mut self, places: Option<&Ramp<Lanes>>) {
        let weights = &self.coefficients.weights;
        self.coefficients.sides = places.map(|places| {
            let side = |weights: &Lanes, places: &Lanes| {
                Lanes::of(|tone| weights.0[tone] * places.0[tone])
            };
            Ramp::between(side(&weights.from, &places.from), side(&weights.to, &places.to))
        });
    }

    /// Sets whether the bands are driven and summed in the current block.
    pub fn set_driven(&mut self, driven: bool) {
        self.coefficients.driven = driven;
    }

    /// The gate: the power below which a band fades away, for a total power of `total`.
    pub fn gate(&self, total: f64) -> f64 {
        (self.constants.threshold * total).max(f64::from(self.coefficients.floor))
    }

    /// The gain to the nominal level, at the end of the current block.
    pub fn gain(&self) -> f32 {
        self.gains.to
    }

    /// Soft clip of the sum (the first one drives each band), `2 x / (1 + |2 x|)`, with its knee at the nominal level.
    #[inline(always)]
    pub(super) fn clip(&self, position: usize, signal: &mut [f32]) {
        let Ramp { from, to, .. } = self.gains;
        let clipped = |sample: f32, gain: f32| {
            let doubled = 2.0 * sample;
            doubled / (1.0 + gain * doubled.abs())
        };
        if from == to {
            signal.iter_mut().for_each(|sample| *sample = clipped(*sample, to));
            return;
        }
        let step = (to - from) / BLOCK as f32;
        for (frame, sample) in (position + 1..).zip(signal) {
            *sample = clipped(*sample, to - step * (BLOCK - frame) as f32);
        }
    }
}
