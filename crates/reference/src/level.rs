//! Auto level: measures the input's level, and computes the gains that make the mix as loud as the dry signal.

use crate::{BLOCK, Biquad, decibels};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Returns the mean square of the nominal level: -14 dB full scale.
fn nominal() -> f64 {
    decibels(-14.0)
}

pub(crate) struct Level {
    sample_rate: f64,
    /// Tracked mean square of the banks' input; `None` before the first block with sound.
    power: Option<f64>,
    /// Gain before the first measurement.
    initial_gain: f64,
    /// K-weighting of dry and wet, for each channel.
    weightings: Vec<[KWeighting; 2]>,
    /// K-weighted mean square of the dry signal while notes sound, as if the banks' input had its nominal level.
    dry: f64,
    /// K-weighted mean square of the wet signal while notes sound, as if the banks' input had its nominal level.
    wet: f64,
    /// Mean product of both K-weighted signals while notes sound, as if the banks' input had its nominal level.
    both: f64,
    /// Averaging time of `dry`, `wet` and `both` so far, in seconds.
    tracked: f64,
    /// Tracked fraction of the dry power that falls into blocks with sounding notes.
    share: f64,
    /// Correction of the makeup gain in nepers.
    trim: f64,
    /// Power of the mix relative to the dry signal's, tracked over a short time.
    ratio: f64,
    /// Lift of the dry signal while notes are missing: 0 leaves its gain in the mix, 1 raises this gain to 1.
    lift: f64,
}

impl Level {
    pub fn new(sample_rate: f64) -> Self {
        // Starts with values that are typical of music, a makeup gain of 2 and a correlation of 0.3, weighted like 0.3 s of
        // measurement.
        let (makeup, correlation) = (2.0, 0.3);
        Self {
            sample_rate,
            power: None,
            initial_gain: 1e4,
            weightings: Vec::new(),
            dry: nominal(),
            wet: nominal() / (makeup * makeup),
            both: correlation * nominal() / makeup,
            tracked: 0.3,
            share: 1.0,
            trim: 0.0,
            ratio: 1.0,
            lift: 0.0,
        }
    }

    /// Creates the measurement for auto level that is switched on during sound: the gain is 1 until a block is measured.
    pub fn activated(sample_rate: f64) -> Self {
        Self { initial_gain: 1.0, ..Self::new(sample_rate) }
    }

    /// Returns the gain that brings the input to the nominal level, at most 80 dB.
    pub fn gain(&self) -> f64 {
        self.power.map_or(self.initial_gain, |power| (nominal() / power).sqrt().min(1e4))
    }

    /// Returns the makeup gain of the wet signal with the factor `trim`, within -12 and 24 dB.
    fn makeup(&self, trim: f64) -> f64 {
        let ratio = (self.dry / (self.share.max(0.4) * self.wet)).sqrt();
        (trim * ratio).clamp(decibels(-6.0), decibels(12.0))
    }

    /// Returns the gains of dry and wet at a `mix` of 0..1, with which the mix is as loud as the dry signal.
    pub fn mix(&self, mix: f64) -> [f64; 2] {
        let makeup = self.makeup(self.trim.exp());
        let (a, b) = ((FRAC_PI_2 * mix).cos(), (FRAC_PI_2 * mix).sin());
        let untrimmed = b * makeup / self.trim.exp();
        let sounding = untrimmed * untrimmed * self.wet + 2.0 * a * untrimmed * self.both;
        let sum = a * a + self.share.max(0.4) * sounding / self.dry;
        let n = if mix == 0.0 { 1.0 } else { sum.max(0.25).sqrt() };
        let dry = a / n;
        let lift = self.lift * ((1.0 - mix) / 0.05).min(1.0);
        [dry + lift * (1.0 - dry).max(0.0), b * makeup / n]
    }

    /// Measures a block: the banks' `inputs`, dry and wet signal of each channel, and their gains in the mix.
    pub fn measure(&mut self, inputs: &[Vec<f64>], signals: &[(&[f64], &[f64])], gains: [f64; 2]) {
        let seconds = BLOCK as f64 / self.sample_rate;
        let bounded = |x: f64| x.clamp(-8.0, 8.0);
        let squares = inputs.iter().flatten().map(|x| bounded(*x).powi(2));
        let power = squares.sum::<f64>() / (inputs.len() * BLOCK) as f64;
        let sounds = power > decibels(-110.0);
        if sounds {
            let before = self.power.unwrap_or(power);
            let time_constant = if power > before { 0.05 } else { 3.0 };
            self.power = Some(before + (1.0 - (-seconds / time_constant).exp()) * (power - before));
        }
        self.weightings.resize(signals.len(), [KWeighting::new(self.sample_rate); 2]);
        let [mut dry, mut wet, mut both] = [0.0; 3];
        for ((dries, wets), [of_dry, of_wet]) in signals.iter().zip(&mut self.weightings) {
            for (x, w) in dries.iter().zip(*wets) {
                let (x, w) = (of_dry.next(bounded(*x)), of_wet.next(bounded(*w)));
                dry += x * x;
                wet += w * w;
                both += x * w;
            }
        }
        let scale = self.gain().powi(2) / (signals.len() * BLOCK) as f64;
        if sounds {
            self.follow(seconds, [dry, wet, both].map(|sum| sum * scale), gains);
        }
    }

    /// Updates means, `trim` and `lift` with the powers and the mean product of dry and wet in a block of `seconds`. `a` and `b`
    /// are the gains of dry and wet in the mix.
    fn follow(&mut self, seconds: f64, [dry, wet, both]: [f64; 3], [a, b]: [f64; 2]) {
        let mixed = a * a * dry + b * b * wet + 2.0 * a * b * both;
        // Steps are in proportion to the dry power, up to four times the nominal one.
        let loud = |power: f64| power / nominal().max(dry / 4.0);
        self.ratio += seconds / 0.12 * (loud(mixed) - self.ratio * loud(dry));
        let missing = (0.7 - self.ratio).max(-1.0);
        self.lift = (self.lift + seconds / 0.3 * loud(dry) * missing).clamp(0.0, 1.0);

        let notes = wet > 1e-4 * dry.max(0.01 * nominal());
        let share = if notes { 1.0 } else { 0.0 };
        self.share += (seconds / 10.0 * dry / self.dry).min(1.0) * (share - self.share);

        let gated = mixed + 0.12 * b * b * wet;
        let error = (seconds / 5.0 * (dry - gated) / self.dry).clamp(-0.1, 0.1);
        let limit = 10f64.ln() / 10.0;
        self.trim = (self.trim + error).clamp(-limit, limit);

        if notes {
            self.tracked = (self.tracked + seconds).min(3.0);
            let step = seconds / self.tracked;
            self.dry += step * (dry - self.dry);
            self.wet += step * (wet - self.wet);
            self.both += step * (both - self.both);
        }
    }
}

/// K-weighting: a high shelf, then two high-passes of first order.
#[derive(Debug, Clone, Copy)]
struct KWeighting {
    shelf: Biquad,
    pole: f64,
    /// Last output of the shelf.
    shelved: f64,
    high_passes: [f64; 2],
}

impl KWeighting {
    fn new(sample_rate: f64) -> Self {
        let k = (PI * (1_681.974_450_955_533 / sample_rate).min(0.45)).tan();
        let q = 0.707_175_236_955_419_6;
        let high = 10f64.powf(3.999_843_853_973_347 / 20.0);
        let middle = high.powf(0.499_666_774_154_541_6);
        let b =
            [high + middle * k / q + k * k, 2.0 * (k * k - high), high - middle * k / q + k * k];
        let a = [1.0 + k / q + k * k, 2.0 * (k * k - 1.0), 1.0 - k / q + k * k];
        let pole = (-TAU * 38.135_470_876_024_44 / sample_rate).exp();
        Self { shelf: Biquad::new(b, a), pole, shelved: 0.0, high_passes: [0.0; 2] }
    }

    fn next(&mut self, x: f64) -> f64 {
        let y = self.shelf.next(x);
        let first = self.pole * self.high_passes[0] + y - self.shelved;
        let second = self.pole * self.high_passes[1] + first - self.high_passes[0];
        (self.shelved, self.high_passes) = (y, [first, second]);
        second
    }
}
