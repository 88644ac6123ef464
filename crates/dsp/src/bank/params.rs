//! Parameters of a bank, computed from the settings.

use super::{
    kernel::{Coefficients, RMS_GUARD},
    one_pole::Response,
    resonator::{Design, ring_of},
};
use crate::{
    coefficients::FormulaCoefficients,
    lanes::{BLOCK, Lanes},
    notes::{PUBLISHED, TONES, frequency, semitone},
    ramp::Ramp,
    settings::Settings,
};

#[derive(Debug, Clone)]
pub struct BankParams {
    pub sample_rate: f64,
    pub formulas: FormulaCoefficients,
    pub coefficients: Coefficients,
    pub(super) total: Response,
    pub(super) low_pass: Response,
    pub voice_low_pass: Response,
    /// Gain that brings the input to the nominal level. The input itself is not scaled. Instead, the gain scales the second
    /// soft clip, the guard is divided by it, and the floor by its square.
    pub gains: Ramp<f32>,
    pub pitches: Pitches,
    pub tones: Tones,
    /// Ring time of the current resonators in seconds; infinite while frozen.
    ring: f32,
    tuning: f32,
    transpose: f32,
    /// Number of tones with a resonator.
    pub count: usize,
}

impl BankParams {
    pub fn new(settings: &Settings, sample_rate: f64) -> Self {
        let mut params = Self {
            sample_rate,
            formulas: FormulaCoefficients::new(settings, sample_rate),
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

    /// Updates all coefficients for `settings` and the first `count` tones. Designs the resonators only if their settings have
    /// changed. Frozen resonators ring forever without input, and their tracked powers are held.
    pub fn update(&mut self, settings: &Settings, count: usize) {
        let frozen = settings.freeze;
        self.formulas = FormulaCoefficients::new(settings, self.sample_rate);
        self.coefficients.set_step(if frozen { 0.0 } else { self.formulas.band_step });
        self.total = Response::new(if frozen { 0.0 } else { self.formulas.total_step });
        self.low_pass = Response::new(1.0 - self.formulas.clip_pole);
        self.voice_low_pass = Response::new(1.0 - self.formulas.voice_pole);
        self.coefficients.drive = settings.drive;
        self.coefficients.threshold = self.formulas.threshold as f32;
        self.coefficients.ceiling = self.formulas.ceiling as f32;

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
            for (instant, back) in (1..).zip(&mut self.pitches.backs) {
                let turned = angle * (instant * PHASE_INTERVAL) as f64;
                let (sine, cosine) = libm::sincos(angle * BLOCK as f64 - turned);
                (back[0].0[tone], back[1].0[tone]) = (cosine as f32, sine as f32);
            }
            self.tones.angular_frequency[tone] = (angle * self.sample_rate) as f32;
            self.tones.lo_weight[tone] = (f64::from(fall) / libm::sin(angle)) as f32;
            self.tones.bp_weight[tone] = libm::tan(angle / 2.0) as f32;
        }
    }

    pub fn frozen(&self) -> bool {
        self.ring.is_infinite()
    }

    /// Sets the gains of the block. Must be called after [`BankParams::update`].
    pub fn set_gains(&mut self, gains: Ramp<f32>) {
        let gain = gains.to;
        self.gains = gains;
        self.coefficients.floor = (self.formulas.floor / f64::from(gain).powi(2)) as f32;
        self.coefficients.guard = RMS_GUARD / gain;
    }

    /// Sets the stereo positions of the tones, 1 for left and -1 for right. `None`: a single sum. Must be called after the
    /// weights are set.
    pub fn pan(&mut self, pans: Option<&Ramp<Lanes>>) {
        let weights = &self.coefficients.weights;
        self.coefficients.sides = pans.map(|pans| {
            let side =
                |weights: &Lanes, pans: &Lanes| Lanes::of(|tone| weights.0[tone] * pans.0[tone]);
            Ramp::between(side(&weights.from, &pans.from), side(&weights.to, &pans.to))
        });
    }

    /// Returns the power below which a band fades out, for a `total` power.
    pub fn gate(&self, total: f64) -> f64 {
        (self.formulas.threshold * total).max(f64::from(self.coefficients.floor))
    }

    /// Applies the second soft clip to the sum, `2 x / (1 + |2 x|)`, with its knee at the nominal level. The first soft clip is
    /// the drive of each band.
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

/// Samples between two measurements of the phases.
pub const PHASE_INTERVAL: usize = 8;
pub const PHASES_PER_BLOCK: usize = BLOCK / PHASE_INTERVAL;

/// Frequencies of the bands, for oscillators that follow their phases.
#[derive(Debug, Clone)]
pub struct Pitches {
    /// Nominal frequencies in radians per sample.
    pub angles: Lanes,
    /// The same frequencies in full precision.
    pub exact: [f64; TONES],
    /// Factors `2 / a`, with `a` the factor of `bp` in the update of `lo`.
    pub lo_weights: Lanes,
    /// Cosine and sine of the rotation of each band from a measurement to the end of the block. The first measurement is
    /// [`PHASE_INTERVAL`] samples after the start of the block, the last one at its end.
    pub backs: [[Lanes; 2]; PHASES_PER_BLOCK],
}

impl Pitches {
    const ZERO: Self = Self {
        angles: Lanes::ZERO,
        exact: [0.0; TONES],
        lo_weights: Lanes::ZERO,
        backs: [[Lanes::ZERO; 2]; PHASES_PER_BLOCK],
    };
}

/// Coefficients for the phases of the resonators.
#[derive(Debug, Clone, PartialEq)]
pub struct Tones {
    /// Angular frequency of each tone in radians per second.
    pub angular_frequency: [f32; TONES],
    /// Weight of the first integrator (`lo`) in the quadrature signal, which is the resonator's output a quarter of a period ago.
    pub lo_weight: [f32; TONES],
    /// Weight of the second integrator (`bp`) in the quadrature signal, which is the resonator's output a quarter of a period
    /// ago.
    pub bp_weight: [f32; TONES],
}

impl Tones {
    /// Zeros, for a snapshot without input.
    pub const ZERO: Self =
        Self { angular_frequency: [0.0; TONES], lo_weight: [0.0; TONES], bp_weight: [0.0; TONES] };
}
