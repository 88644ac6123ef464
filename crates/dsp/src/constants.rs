//! Constants of the DSP formulas, computed from the settings and the sample rate.

use super::settings::Settings;

/// Added to a band's RMS where the drive divides by it: keeps the drive finite while a band has no power yet.
pub const RMS_GUARD: f64 = 0.001;

/// Ratio of the time constants: total power tracker to band power trackers.
pub const TOTAL_RELEASE: f64 = 1.2;

/// Constants for one set of settings at one sample rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// Weight of the new value in the total power tracker, per sample.
    pub total_step: f64,
    /// Weight of the new value in the band power trackers, per sample.
    pub band_step: f64,
    /// Relative gate: minimum power of a band, as a ratio to total power.
    pub threshold: f64,
    /// Relative limit: maximum power of a band, as a ratio to total power.
    pub ceiling: f64,
    /// Absolute gate: minimum power of a band.
    pub floor: f64,
    /// Gain into each band's soft clip.
    pub drive: f64,
    /// Weight of the old value in the soft clip's low-pass, per sample.
    pub clip_pole: f64,
    /// Weight of the old value in the other voices' low-pass, per sample; 0 (off) at the top of the range of `tone`.
    pub voice_pole: f64,
}

impl Constants {
    /// Computes the constants for `settings` at `sample_rate` Hz.
    pub fn new(settings: &Settings, sample_rate: f64) -> Self {
        let power = |db: f32| libm::exp10(f64::from(db) / 10.0);
        let release = f64::from(settings.release) / 1000.0;
        Self {
            total_step: tracker_step(TOTAL_RELEASE * release, sample_rate),
            band_step: tracker_step(release, sample_rate),
            threshold: power(settings.threshold),
            ceiling: power(settings.ceiling),
            floor: power(settings.floor),
            drive: f64::from(settings.drive),
            clip_pole: low_pass_pole(f64::from(settings.tone), sample_rate),
            voice_pole: low_pass_pole(voice_cutoff(f64::from(settings.tone)), sample_rate),
        }
    }
}

/// Returns the weight of the new value in a one-pole tracker with time constant `tau` s: `1 - exp(-1 / (tau fs))`.
pub fn tracker_step(tau: f64, sample_rate: f64) -> f64 {
    -libm::expm1(-1.0 / (tau * sample_rate))
}

/// Returns the pole of a one-pole low-pass with its cutoff at `cutoff` Hz: `exp(-2 pi cutoff / fs)`.
pub fn low_pass_pole(cutoff: f64, sample_rate: f64) -> f64 {
    libm::exp(-std::f64::consts::TAU * cutoff / sample_rate)
}

/// Returns the cutoff in Hz of the voices' low-pass for a `tone` in Hz. It equals `tone` within 1 % up to 6 kHz, and is infinite
/// at 20 kHz, so that a waveform can keep all its harmonics.
pub fn voice_cutoff(tone: f64) -> f64 {
    tone / (1.0 - (tone / 20_000.0).powi(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trackers_rise_to_one_minus_1_over_e_in_their_time_constant() {
        for rate in [44_100.0, 192_000.0] {
            let tau = 0.25;
            let step = tracker_step(tau, rate);
            let value =
                (0..(tau * rate) as usize).fold(0.0, |value, _| value + step * (1.0 - value));
            assert!((value - (1.0 - (-1f64).exp())).abs() < 1e-9, "{rate}: {value}");
        }
    }

    #[test]
    fn defaults_at_44100_are_the_published_constants() {
        let constants = Constants::new(&Settings::REFERENCE, 44_100.0);
        let near = |a: f64, b: f64, within: f64| assert!((a / b - 1.0).abs() < within, "{a} {b}");
        near(constants.band_step, 1.0 - (0.00503f64.ln() / 44_100.0).exp(), 1e-6);
        // The published 0.01215 implies a rounded ratio of 1.2.
        near(constants.total_step, 1.0 - (0.01215f64.ln() / 44_100.0).exp(), 1e-4);
        near(constants.threshold, 2e-4, 1e-6);
        near(constants.ceiling, 0.1, 1e-6);
        near(constants.floor.powi(3), 1e-11, 3e-6);
        near(constants.clip_pole, 0.5, 1e-6);
        assert_eq!(constants.drive, 40.0);
    }
}
