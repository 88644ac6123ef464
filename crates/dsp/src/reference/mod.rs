//! The reference implementation of the tone filter: in f64, one sample at a time, written for readability.
//!
//! Tests compare every kernel with it. It has the resonators in direct form, the formulas of `docs/dsp.md` as they
//! stand there, and constant settings. It is slow, and it lacks the safeguards of a real-time filter.

mod chip;
pub mod voice;

use super::{
    bank::resonator::Design,
    constants::{Constants, RMS_GUARD},
    notes::{TONES, frequency},
    settings::{BandMask, Settings, Stereo},
};

/// One resonator in direct form.
#[derive(Debug, Clone, Copy)]
pub struct Resonator {
    gain: f64,
    feedback: [f64; 2],
    x: [f64; 2],
    y: [f64; 2],
}

impl Resonator {
    /// The resonator of `design`, at rest.
    pub fn new(design: Design) -> Self {
        let Design { angle, radius, gain } = design;
        Self {
            gain,
            feedback: [2.0 * radius * angle.cos(), -radius * radius],
            x: [0.0; 2],
            y: [0.0; 2],
        }
    }

    /// The next output for the next input.
    pub fn next(&mut self, x: f64) -> f64 {
        let y = self.gain * (x - self.x[1])
            + self.feedback[0] * self.y[0]
            + self.feedback[1] * self.y[1];
        self.x = [x, self.x[0]];
        self.y = [y, self.y[0]];
        y
    }
}

/// One band at the latest sample.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Band {
    /// The resonator's output.
    pub resonance: f64,
    /// The tracked power.
    pub power: f64,
    /// The driven output.
    pub output: f64,
}

/// One bank of 48 tones: a signal in, the wet signal out.
#[derive(Debug, Clone)]
pub struct Bank {
    constants: Constants,
    sounding: BandMask,
    resonators: [Resonator; TONES],
    bands: [Band; TONES],
    total_power: f64,
    low_pass: f64,
}

impl Bank {
    /// A bank at rest in which all bands may sound.
    pub fn new(constants: Constants, designs: [Design; TONES]) -> Self {
        Self {
            constants,
            sounding: BandMask::ALL,
            resonators: designs.map(Resonator::new),
            bands: [Band::default(); TONES],
            total_power: 0.0,
            low_pass: 0.0,
        }
    }

    /// A bank at rest with the sound of `settings`, at `sample_rate` Hz.
    pub fn from_settings(settings: &Settings, sample_rate: f64) -> Self {
        let designs = std::array::from_fn(|tone| {
            let f = frequency(tone, f64::from(settings.tuning), f64::from(settings.transpose));
            Design::new(f, f64::from(settings.ring), sample_rate)
        });
        let sounding = settings.sounding_bands();
        Self { sounding, ..Self::new(Constants::new(settings, sample_rate), designs) }
    }

    /// The next wet sample for the next input sample.
    pub fn next(&mut self, x: f64) -> f64 {
        let c = &self.constants;
        self.total_power += c.total_step * (x * x - self.total_power);
        let low = (c.threshold * self.total_power).max(c.floor);
        let high = c.ceiling * self.total_power;

        let mut sum = 0.0;
        let bands = self.resonators.iter_mut().zip(&mut self.bands);
        for (tone, (resonator, band)) in bands.enumerate() {
            let y = resonator.next(x);
            let q = y * y;
            let level = q.min(q.powi(4) / low.powi(3)).min(high);
            band.power += c.band_step * (level - band.power);
            let rms = band.power.sqrt();
            let driven = c.drive * y / (rms + RMS_GUARD);
            band.resonance = y;
            band.output = rms * driven / (1.0 + driven.abs());
            if self.sounding.contains(tone) {
                sum += band.output;
            }
        }
        self.low_pass += (1.0 - c.smoothing) * (sum - self.low_pass);
        let doubled = 2.0 * self.low_pass;
        doubled / (1.0 + doubled.abs())
    }

    /// The 48 bands at the latest sample.
    pub fn bands(&self) -> &[Band; TONES] {
        &self.bands
    }

    /// The tracked power of the input.
    pub fn total_power(&self) -> f64 {
        self.total_power
    }
}

/// Runs a whole recording through the filter: `channels` of equal length in, the same out.
///
/// `sample_rate` is in Hz. This is [`ToneFilter`](super::ToneFilter) with settings that never move.
pub fn process(settings: &Settings, sample_rate: f64, channels: &[&[f32]]) -> Vec<Vec<f64>> {
    let output = 10f64.powf(f64::from(settings.output) / 20.0);
    let mix = f64::from(settings.mix) / 100.0;
    let (dry_gain, wet_gain) = ((1.0 - mix) * output, mix * output);
    let frames = channels.first().map_or(0, |channel| channel.len());
    let wet = |signal: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let mut bank = Bank::from_settings(settings, sample_rate);
        (0..frames).map(|frame| bank.next(signal(frame))).collect()
    };
    let wets = if settings.stereo == Stereo::Stereo && channels.len() == 2 {
        vec![
            wet(&|frame| f64::from(channels[0][frame])),
            wet(&|frame| f64::from(channels[1][frame])),
        ]
    } else {
        let count = channels.len() as f64;
        vec![wet(&|frame| channels.iter().map(|c| f64::from(c[frame])).sum::<f64>() / count)]
    };
    channels
        .iter()
        .enumerate()
        .map(|(index, dry)| {
            let wet = &wets[index.min(wets.len() - 1)];
            let mixed = dry.iter().zip(wet);
            mixed.map(|(&x, w)| dry_gain * f64::from(x) + wet_gain * w).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{PI, TAU};

    const RATES: [f64; 6] = [44_100.0, 48_000.0, 88_200.0, 96_000.0, 176_400.0, 192_000.0];

    /// The complex response of a resonator at `w`, from its difference equation.
    fn response(resonator: &Resonator, w: f64) -> (f64, f64) {
        let [a1, a2] = resonator.feedback;
        let numerator = (1.0 - (2.0 * w).cos(), (2.0 * w).sin());
        let denominator =
            (1.0 - a1 * w.cos() - a2 * (2.0 * w).cos(), a1 * w.sin() + a2 * (2.0 * w).sin());
        let norm = denominator.0.powi(2) + denominator.1.powi(2);
        (
            resonator.gain * (numerator.0 * denominator.0 + numerator.1 * denominator.1) / norm,
            resonator.gain * (numerator.1 * denominator.0 - numerator.0 * denominator.1) / norm,
        )
    }

    fn each_tone(mut check: impl FnMut(f64, f64, &Design)) {
        for rate in RATES {
            for tone in 0..TONES {
                let f = frequency(tone, 440.0, 0.0);
                check(rate, f, &Design::new(f, 1.5663, rate));
            }
        }
    }

    #[test]
    fn a_tone_at_its_own_frequency_passes_with_gain_one_and_phase_zero() {
        each_tone(|rate, f, design| {
            let (re, im) = response(&Resonator::new(*design), TAU * f / rate);
            let (magnitude, phase) = (re.hypot(im), im.atan2(re));
            assert!((magnitude - 1.0).abs() < 1e-7, "{rate} {f}: {magnitude}");
            // The zeros' phase is not exactly the poles': (1 - r) / (2 tan w) at first order.
            let expected = (1.0 - design.radius) / (2.0 * design.angle.tan());
            assert!((phase - expected).abs() < 1e-4 && phase.abs() < 0.0017, "{rate} {f}: {phase}");
        });
    }

    #[test]
    fn the_band_is_three_db_down_at_half_its_width_to_either_side() {
        each_tone(|rate, f, design| {
            // A decay rate of s per second is a half width of s / 2 pi Hz: that is what a T60 means.
            let half_width = 1000f64.ln() / 1.5663 / TAU;
            for side in [-1.0, 1.0] {
                let (re, im) =
                    response(&Resonator::new(*design), TAU * (f + side * half_width) / rate);
                let db = 20.0 * re.hypot(im).log10();
                assert!((db + 10.0 * 2f64.log10()).abs() < 0.02, "{rate} {f}: {db}");
            }
        });
    }

    #[test]
    fn dc_and_nyquist_are_blocked() {
        each_tone(|_, _, design| {
            for w in [0.0, PI] {
                let (re, im) = response(&Resonator::new(*design), w);
                assert!(re.hypot(im) < 1e-10);
            }
        });
    }

    #[test]
    fn a_struck_resonator_falls_by_60_db_in_a_ring_time() {
        for rate in RATES {
            let ring = 0.4;
            let design = Design::new(440.0, ring, rate);
            let mut resonator = Resonator::new(design);
            let period = (rate / 440.0).ceil() as usize;
            let length = (ring * rate) as usize;
            let response: Vec<f64> = (0..length + 3 * period)
                .map(|t| resonator.next(if t == 0 { 1.0 } else { 0.0 }))
                .collect();
            let peak = |from: usize| {
                response[from..from + period].iter().fold(0f64, |peak, y| peak.max(y.abs()))
            };
            let fall = 20.0 * (peak(period + length) / peak(period)).log10();
            // The peak is looked for on whole samples, of which a period has at least 100.
            assert!((fall + 60.0).abs() < 0.02, "{rate}: {fall}");
        }
    }

    #[test]
    fn a_steady_sine_below_the_ceiling_is_measured_at_its_power() {
        // Two tones far apart share the power; with the ceiling out of the way and no gate, the tracked
        // power of a steady sine is its mean square.
        let settings = Settings {
            ceiling: 0.0,
            threshold: -60.0,
            floor: -90.0,
            ring: 0.5,
            ..Settings::REFERENCE
        };
        let rate = 48_000.0;
        let mut bank = Bank::from_settings(&settings, rate);
        let (mut mean, mut count) = (0.0, 0.0);
        for t in 0..(6.0 * rate) as usize {
            let sine = |f: f64, a: f64| a * (TAU * f * t as f64 / rate).sin();
            bank.next(sine(440.0, 0.1) + sine(1760.0, 0.5));
            if t as f64 > 4.0 * rate {
                (mean, count) = (mean + bank.bands()[12].power, count + 1.0);
            }
        }
        let db = 10.0 * (mean / count / (0.1f64.powi(2) / 2.0)).log10();
        assert!(db.abs() < 0.01, "{db}");
    }
}
