//! Level: measures the input's level, and computes two gains. One brings the banks' input to the nominal level. The makeup gain
//! makes the wet signal as loud as the dry one.
//!
//! Only gains are computed here, no samples. Both gains move slowly, once per block of [`BLOCK`] samples, so that the dynamics of
//! the music are kept.
//!
//! `docs/dsp.md`, "Level", has the formulas with all constants. The nominal level is the one at which the published constants work,
//! and the loudness is that of ITU-R BS.1770; all other constants are this project's own. The twin
//! (`crates/reference/src/level.rs`) has them once more, so a constant that changes here alone fails its tests.
//!
//! Each average is either weighted by power or held in silence, so that pauses move no gain.

use super::k_weighting::{KWeighting, SILENT, bounded};
use crate::lanes::BLOCK;
use tone_filter_simd::Kernel;

/// Nominal level as a mean square, at which the published constants work best: -14 dB full scale.
const NOMINAL: f64 = 0.039_810_717;
/// Mean square below which a block counts as silence: -110 dB full scale.
const SILENCE: f64 = 1e-11;
/// Maximum gain of the banks' input: 80 dB.
const HIGHEST_GAIN: f64 = 1e4;
/// Time constant in seconds while the tracked power rises.
const POWER_RISE: f64 = 0.05;
/// Time constant in seconds while the tracked power falls.
const POWER_FALL: f64 = 3.0;
/// Time constant in seconds of the tracked loudness.
const LOUDNESS: f64 = 3.0;
/// Range of the makeup gain: -12 to +24 dB.
const MAKEUP: [f64; 2] = [0.251_188_64, 15.848_932];
/// Time in seconds for which the initial loudness counts as measured.
const START: f64 = 0.3;
const START_MAKEUP: f64 = 2.0;
const START_CORRELATION: f64 = 0.3;
/// Time constant in seconds of [`Level::share`].
const SHARE: f64 = 10.0;
/// Lower bound of [`Level::share`] in the makeup gain, so that a small share raises the gain by at most 4 dB.
const LEAST_SHARE: f64 = 0.4;
/// Time constant in seconds of [`Level::trim`].
const TRIM: f64 = 5.0;
/// Maximum of [`Level::trim`], up or down, as a natural logarithm: 2 dB.
const MOST_TRIM: f64 = 0.230_258_5;

/// Factor on the wet power in [`Level::trim`]: 0.5 dB. It stands for the gate of integrated loudness, which ignores quiet
/// passages: the wet signal decays sooner than the dry one, so it is quiet for longer.
const GATED: f64 = 1.12;
/// Time constant of [`Level::ratio`] in seconds, at the nominal level.
const SHORT: f64 = 0.12;
/// Threshold of [`Level::ratio`], -1.5 dB: below it, the dry signal is raised.
const LEAST: f64 = 0.7;
/// Seconds in which [`Level::lift`] would rise from 0 to 1 at the nominal level if [`Level::ratio`] stayed 1 below [`LEAST`].
const LIFT: f64 = 0.3;
/// Maximum factor by which a sound above the nominal level shortens [`SHORT`] and [`LIFT`].
const MOST_WEIGHT: f64 = 4.0;
/// Minimum dry part of the mix for a full [`Level::lift`]. Below it, the lift is smaller, so that a fully wet mix stays wet.
const LEAST_DRY: f64 = 0.05;
/// Minimum power of the wet signal in a block with notes, relative to the dry one: -40 dB.
const SOUNDING: f64 = 1e-4;

/// Level measurement, and the gains that follow from it.
#[derive(Debug, Clone)]
pub struct Level {
    /// Duration of a block in seconds.
    period: f64,
    /// One-pole coefficients per block of a falling and of a rising power.
    steps: [f64; 2],
    /// Tracked mean square of the banks' input. Before the first block that is not silent: 0, or nominal after `activate`.
    power: f64,
    /// Whether all blocks so far were silent.
    fresh: bool,
    /// One K-weighting for each pair of channels.
    weightings: Vec<KWeighting>,
    loudness: Loudness,
    /// Fraction of the dry signal's power in blocks with sounding notes, tracked with the time constant [`SHARE`].
    share: f64,
    /// Correction of the makeup gain by the measured loudness of the mix, as a natural logarithm. The gain comes from averaged
    /// powers, and the average of a product is not the product of averages.
    trim: f64,
    /// Power of the mix relative to the dry signal, over a short time.
    ratio: f64,
    /// Raise of the dry gain while notes are missing: at 0, the dry signal keeps its gain in the mix; at 1, its gain is 1.
    lift: f64,
    /// Seconds for which the loudness has been tracked, [`START`] included; at most [`LOUDNESS`].
    tracked: f64,
}

/// Mean K-weighted powers of the dry and the wet signal, and the mean of their product (`both`), scaled as if the banks' input
/// had its nominal level.
#[derive(Debug, Clone, Copy)]
struct Loudness {
    dry: f64,
    wet: f64,
    both: f64,
}

impl Loudness {
    const START: Self = Self {
        dry: NOMINAL,
        wet: NOMINAL / (START_MAKEUP * START_MAKEUP),
        both: START_CORRELATION * NOMINAL / START_MAKEUP,
    };
}

impl Level {
    pub fn new(sample_rate: f64, channels: usize) -> Self {
        let period = BLOCK as f64 / sample_rate;
        Self {
            period,
            steps: [POWER_FALL, POWER_RISE].map(|time| -libm::expm1(-period / time)),
            power: 0.0,
            fresh: true,
            weightings: vec![KWeighting::new(sample_rate); channels.div_ceil(2)],
            loudness: Loudness::START,
            share: 1.0,
            trim: 0.0,
            ratio: 1.0,
            lift: 0.0,
            tracked: START,
        }
    }

    pub fn reset(&mut self) {
        self.weightings.iter_mut().for_each(KWeighting::reset);
        (self.power, self.share, self.trim, self.tracked) = (0.0, 1.0, 0.0, START);
        (self.loudness, self.fresh) = (Loudness::START, true);
        (self.ratio, self.lift) = (1.0, 0.0);
    }

    /// Resets to a gain of 1, which holds until the first block that is not silent.
    pub fn activate(&mut self) {
        self.reset();
        self.power = NOMINAL;
    }

    /// Returns the gain from the banks' input to the nominal level, as a factor.
    pub fn gain(&self) -> f64 {
        (NOMINAL / self.power).sqrt().min(HIGHEST_GAIN)
    }

    /// Returns the gain that makes the wet signal as loud as the dry one, as a factor.
    pub fn makeup(&self) -> f64 {
        self.trimmed(libm::exp(self.trim))
    }

    /// Returns the makeup gain with the correction `trim`, both as factors.
    fn trimmed(&self, trim: f64) -> f64 {
        let ratio = self.loudness.dry / (self.share.max(LEAST_SHARE) * self.loudness.wet);
        (ratio.sqrt() * trim).clamp(MAKEUP[0], MAKEUP[1])
    }

    /// Returns the gains of dry and wet for a mix as loud as the dry signal: an equal-power crossfade, corrected for the
    /// correlation of both signals. `mix` is the fraction of the wet signal, 0..1, as the setting gives it.
    pub fn mix(&self, mix: f64) -> (f64, f64) {
        let (wet, dry) = libm::sincos(mix * std::f64::consts::FRAC_PI_2);
        let Loudness { dry: d, wet: w, both } = self.loudness;
        let trim = libm::exp(self.trim);
        let makeup = self.trimmed(trim);
        let untrimmed = wet * makeup / trim;
        let sounding = self.share.max(LEAST_SHARE)
            * (untrimmed * untrimmed * w + 2.0 * dry * untrimmed * both);
        let sum = dry * dry + sounding / d;
        // The gain against cancellation is limited to 2.
        let common = if mix == 0.0 { 1.0 } else { 1.0 / sum.max(0.25).sqrt() };
        let dry = common * dry;
        let lift = self.lift * ((1.0 - mix) / LEAST_DRY).min(1.0);
        (dry + lift * (1.0 - dry).max(0.0), common * wet * makeup)
    }

    /// Measures a whole block of the banks' `inputs`. `signals` yields the dry (or sidechain) and the wet signal of each channel;
    /// `dry_gain` and `wet_gain` are the gains in the mix.
    pub fn measure<'a, 'b>(
        &mut self,
        kernel: Kernel,
        inputs: &[[f32; BLOCK]],
        mut signals: impl Iterator<Item = (&'a [f32; BLOCK], &'b [f32; BLOCK])>,
        (dry_gain, wet_gain): (f64, f64),
    ) {
        let mut sum = 0.0;
        kernel.vectorize(
            #[inline(always)]
            || sum = energy(inputs),
        );
        let power = sum / (inputs.len() * BLOCK) as f64;
        if power > SILENCE {
            let rises = usize::from(power > self.power);
            let step = if self.fresh { 1.0 } else { self.steps[rises] };
            self.fresh = false;
            self.power += step * (power - self.power);
        }
        let mut sums = [0.0; 3];
        let mut channels = 0.0;
        for weighting in &mut self.weightings {
            // While the bands read the sidechain there may be fewer channels; the missing ones restart.
            let Some(first) = signals.next() else {
                weighting.reset();
                continue;
            };
            let second = signals.next();
            if second.is_none() {
                weighting.reset_second();
            }
            channels += if second.is_some() { 2.0 } else { 1.0 };
            let powers = weighting.powers(kernel, [first, second.unwrap_or((&SILENT, &SILENT))]);
            sums.iter_mut().zip(powers).for_each(|(sum, power)| *sum += power);
        }
        let scale = self.gain().powi(2) / (channels * BLOCK as f64);
        let [dry, wet, both] = sums.map(|sum| sum * scale);
        if power <= SILENCE {
            return;
        }
        let mixed = dry_gain * dry_gain * dry
            + wet_gain * wet_gain * wet
            + 2.0 * dry_gain * wet_gain * both;
        // Weighted by the power of the dry signal, so that pauses have no effect.
        let unit = NOMINAL.max(dry / MOST_WEIGHT);
        self.ratio += self.period / SHORT * (mixed - self.ratio * dry) / unit;
        let step = self.period / LIFT * dry / unit;
        self.lift = (self.lift + step * (LEAST - self.ratio).max(-1.0)).clamp(0.0, 1.0);
        let sounds = wet > SOUNDING * dry.max(0.01 * NOMINAL);
        let step = (self.period / SHARE * dry / self.loudness.dry).min(1.0);
        self.share += step * (f64::from(u8::from(sounds)) - self.share);
        let gated = mixed + (GATED - 1.0) * wet_gain * wet_gain * wet;
        let error = (self.period / TRIM * (dry - gated) / self.loudness.dry).clamp(-0.1, 0.1);
        self.trim = (self.trim + error).clamp(-MOST_TRIM, MOST_TRIM);
        // The loudness is held while no note sounds.
        if sounds {
            self.tracked = (self.tracked + self.period).min(LOUDNESS);
            let step = self.period / self.tracked;
            self.loudness.dry += step * (dry - self.loudness.dry);
            self.loudness.wet += step * (wet - self.loudness.wet);
            self.loudness.both += step * (both - self.loudness.both);
        }
    }
}

/// Returns the sum of the squares. Eight partial sums are faster than one, because they are independent.
#[inline(always)]
fn energy(inputs: &[[f32; BLOCK]]) -> f64 {
    let mut sums = [0.0; 8];
    for eight in inputs.as_flattened().as_chunks::<8>().0 {
        let squares = eight.map(|x| f64::from(bounded(x)).powi(2));
        sums.iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
    }
    sums.iter().sum()
}
