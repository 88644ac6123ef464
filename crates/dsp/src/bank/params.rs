//! Parameters of a bank, computed from the settings by the formulas in `docs/dsp.md`.

use super::{
    kernel::{Coefficients, RMS_GUARD},
    one_pole::Response,
    resonator::{Design, ring_of},
};
use crate::{
    lanes::{BLOCK, Lanes},
    notes::{PUBLISHED, TONES, frequency, semitone},
    ramp::Ramp,
    settings::Settings,
};

/// Ratio of the time constant of the total power tracker to the time constant of the band power trackers.
pub const TOTAL_RELEASE: f64 = 1.2;

#[derive(Debug, Clone)]
pub struct BankParams {
    pub sample_rate: f64,
    /// One-pole coefficient of the band power trackers, per sample.
    pub band_step: f64,
    /// Relative gate: minimum power of a band, as a ratio to total power.
    threshold: f64,
    /// Relative limit: maximum power of a band, as a ratio to total power.
    pub ceiling: f64,
    /// Absolute gate at the nominal level: minimum power of a band.
    floor: f64,
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
    pub(super) ring: f32,
    tuning: f32,
    transpose: f32,
    /// Number of tones with a resonator.
    pub count: usize,
}

impl BankParams {
    pub fn new(settings: &Settings, sample_rate: f64) -> Self {
        let mut params = Self {
            sample_rate,
            band_step: 0.0,
            threshold: 0.0,
            ceiling: 0.0,
            floor: 0.0,
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
        let power = |db: f32| libm::exp10(f64::from(db) / 10.0);
        let tracker_step = |tau: f64| -libm::expm1(-1.0 / (tau * self.sample_rate));
        let low_pass = |cutoff: f64| Response::new(1.0 - low_pass_pole(cutoff, self.sample_rate));
        let (release, tone) = (f64::from(settings.release) / 1000.0, f64::from(settings.tone));
        self.band_step = tracker_step(release);
        self.coefficients.set_step(if frozen { 0.0 } else { self.band_step });
        self.total =
            Response::new(if frozen { 0.0 } else { tracker_step(TOTAL_RELEASE * release) });
        (self.low_pass, self.voice_low_pass) = (low_pass(tone), low_pass(voice_cutoff(tone)));
        self.threshold = power(settings.threshold);
        self.ceiling = power(settings.ceiling);
        self.floor = power(settings.floor);
        self.coefficients.drive = settings.drive;
        self.coefficients.threshold = self.threshold as f32;
        self.coefficients.ceiling = self.ceiling as f32;

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

    /// Sets the gains of the block. Must be called after [`BankParams::update`].
    pub fn set_gains(&mut self, gains: Ramp<f32>) {
        let gain = gains.to;
        self.gains = gains;
        self.coefficients.floor = (self.floor / f64::from(gain).powi(2)) as f32;
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
        (self.threshold * total).max(f64::from(self.coefficients.floor))
    }

    /// Applies the second soft clip to the sum: `2 x / (1 + g |2 x|)`, with `g` from `gains`, so that its knee is at the nominal
    /// level. The first soft clip is the drive of each band.
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

/// Returns the pole of a one-pole low-pass for its `cutoff` in Hz: `exp(-2 pi cutoff / fs)`.
pub fn low_pass_pole(cutoff: f64, sample_rate: f64) -> f64 {
    libm::exp(-std::f64::consts::TAU * cutoff / sample_rate)
}

/// Returns the cutoff of the voices' low-pass for a `tone`, both in Hz. It equals `tone` within 1 % up to 6 kHz. At 20 kHz it is
/// infinite, so that a waveform can keep all its harmonics.
fn voice_cutoff(tone: f64) -> f64 {
    tone / (1.0 - (tone / 20_000.0).powi(4))
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
