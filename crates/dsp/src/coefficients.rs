//! Coefficients of the formulas in `docs/dsp.md`, computed from the settings and the sample rate.

use super::settings::Settings;

/// Guard added to a band's RMS in the denominator of the drive: keeps the drive finite while a band has no power yet.
pub const RMS_GUARD: f64 = 0.001;
/// Ratio of the time constant of the total power tracker to the time constant of the band power trackers.
pub const TOTAL_RELEASE: f64 = 1.2;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FormulaCoefficients {
    /// One-pole coefficient of the total power tracker, per sample.
    pub total_step: f64,
    /// One-pole coefficient of the band power trackers, per sample.
    pub band_step: f64,
    /// Relative gate: minimum power of a band, as a ratio to total power.
    pub threshold: f64,
    /// Relative limit: maximum power of a band, as a ratio to total power.
    pub ceiling: f64,
    /// Absolute gate: minimum power of a band.
    pub floor: f64,
    /// Pole of the low-pass after the bands.
    pub clip_pole: f64,
    /// Pole of the oscillators' low-pass; 0 (off) at the top of the range of `tone`.
    pub voice_pole: f64,
}

impl FormulaCoefficients {
    pub fn new(settings: &Settings, sample_rate: f64) -> Self {
        let power = |db: f32| libm::exp10(f64::from(db) / 10.0);
        let release = f64::from(settings.release) / 1000.0;
        Self {
            total_step: tracker_step(TOTAL_RELEASE * release, sample_rate),
            band_step: tracker_step(release, sample_rate),
            threshold: power(settings.threshold),
            ceiling: power(settings.ceiling),
            floor: power(settings.floor),
            clip_pole: low_pass_pole(f64::from(settings.tone), sample_rate),
            voice_pole: low_pass_pole(voice_cutoff(f64::from(settings.tone)), sample_rate),
        }
    }
}

/// Returns the one-pole coefficient for a time constant of `tau` seconds: `1 - exp(-1 / (tau fs))`.
pub fn tracker_step(tau: f64, sample_rate: f64) -> f64 {
    -libm::expm1(-1.0 / (tau * sample_rate))
}

/// Returns the pole of a one-pole low-pass for its `cutoff` in Hz: `exp(-2 pi cutoff / fs)`.
pub fn low_pass_pole(cutoff: f64, sample_rate: f64) -> f64 {
    libm::exp(-std::f64::consts::TAU * cutoff / sample_rate)
}

/// Returns the cutoff of the voices' low-pass for a `tone`, both in Hz. It equals `tone` within 1 % up to 6 kHz. At 20 kHz it is
/// infinite, so that a waveform can keep all its harmonics.
pub fn voice_cutoff(tone: f64) -> f64 {
    tone / (1.0 - (tone / 20_000.0).powi(4))
}
