//! Level: how loud the music is, so that the bank can be set to it, and how loud the bank's sound must be made to
//! equal it.
//!
//! Nothing here touches a sample. The two gains move slowly, once a block of [`BLOCK`]: the dynamics of the music
//! stay.

use super::{bank::LOUDEST, lanes::BLOCK};
use wide::f64x2;

/// The mean square that the published constants are at their best with: -14 dB full scale.
const NOMINAL: f64 = 0.039_810_717;

/// Mean square below which sound counts as silence: -100 dB full scale.
const SILENCE: f64 = 1e-10;

/// The most that the bank's input is amplified: 80 dB.
const HIGHEST_GAIN: f64 = 1e4;

/// Seconds in which the gain falls, and in which it rises, to 1/e of a change of power.
const FALL: f64 = 0.05;
const RISE: f64 = 3.0;

/// Seconds over which the loudness of wet and dry are compared.
const LOUDNESS: f64 = 3.0;

/// The bounds of the makeup gain: -12 and +24 dB.
const MAKEUP: [f64; 2] = [0.251_188_64, 15.848_932];

/// What the comparison starts from, as if heard for so many seconds: the makeup gain, and the correlation of
/// wet and dry, that ordinary music comes to.
const START: f64 = 0.3;
const START_MAKEUP: f64 = 2.0;
const START_CORRELATION: f64 = 0.3;

/// Loudness of the wet signal, against the dry one's, below which no note sounds: -40 dB.
const SOUNDING: f64 = 1e-4;

/// The level of one stream of sound.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// Seconds in a block.
    period: f64,
    /// Tracked mean square of what the bank hears, 0 until there is any.
    power: f64,
    /// K-weighting of the dry and the wet signal of each channel that there is room for.
    weightings: Vec<KWeighting>,
    loudness: Loudness,
    /// Seconds that [`Self::loudness`] was tracked for, at most [`LOUDNESS`].
    tracked: f64,
}

/// K-weighted powers at the nominal level.
#[derive(Debug, Clone, Copy)]
struct Loudness {
    dry: f64,
    wet: f64,
    /// Mean product of dry and wet.
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
    /// The level of silence, with room for the loudness of `channels`; `sample_rate` is in Hz.
    pub fn new(sample_rate: f64, channels: usize) -> Self {
        Self {
            period: BLOCK as f64 / sample_rate,
            power: 0.0,
            weightings: vec![KWeighting::new(sample_rate); channels],
            loudness: Loudness::START,
            tracked: START,
        }
    }

    /// Forgets what was heard.
    pub fn reset(&mut self) {
        self.weightings.iter_mut().for_each(KWeighting::reset);
        (self.power, self.loudness, self.tracked) = (0.0, Loudness::START, START);
    }

    /// What brings the bank's input to the nominal level, as a factor.
    pub fn gain(&self) -> f64 {
        (NOMINAL / self.power).sqrt().min(HIGHEST_GAIN)
    }

    /// What makes the wet signal as loud as the dry one, as a factor.
    pub fn makeup(&self) -> f64 {
        (self.loudness.dry / self.loudness.wet).sqrt().clamp(MAKEUP[0], MAKEUP[1])
    }

    /// The shares of dry and wet that mix to the loudness of the dry signal: by equal power, corrected for what
    /// the two have in common. `mix` is 0 for dry to 1 for wet.
    pub fn mix(&self, mix: f64) -> (f64, f64) {
        let (wet, dry) = (mix * std::f64::consts::FRAC_PI_2).sin_cos();
        let makeup = self.makeup();
        let Loudness { dry: d, wet: w, both } = self.loudness;
        let wet = wet * makeup;
        let sum = (dry * dry * d + wet * wet * w + 2.0 * dry * wet * both) / d;
        // What cancels is not made up for without bound.
        let whole = if mix == 0.0 { 1.0 } else { 1.0 / sum.max(0.25).sqrt() };
        (whole * dry, whole * wet)
    }

    /// Takes in a whole block: what the banks hear, and the dry and the wet signal of each channel.
    pub fn measure<'a>(
        &mut self,
        heard: &[[f32; BLOCK]],
        signals: impl Iterator<Item = (&'a [f32; BLOCK], &'a [f32; BLOCK])>,
    ) {
        let square = |x: &f32| f64::from(bounded(*x)).powi(2);
        let power = heard.iter().flatten().map(square).sum::<f64>() / (heard.len() * BLOCK) as f64;
        if power > SILENCE {
            let time = if power > self.power { FALL } else { RISE };
            let step = if self.power == 0.0 { 1.0 } else { -(-self.period / time).exp_m1() };
            self.power += step * (power - self.power);
        }
        let mut sums = [0.0; 3];
        let mut channels = 0.0;
        for (weighting, (dry, wet)) in self.weightings.iter_mut().zip(signals) {
            let powers = weighting.powers(dry, wet);
            sums.iter_mut().zip(powers).for_each(|(sum, power)| *sum += power);
            channels += BLOCK as f64;
        }
        let scale = self.gain().powi(2) / channels;
        let [dry, wet, both] = sums.map(|sum| sum * scale);
        // Held while nothing sounds.
        if power > SILENCE && wet > SOUNDING * dry.max(0.01 * NOMINAL) {
            self.tracked = (self.tracked + self.period).min(LOUDNESS);
            let step = self.period / self.tracked;
            self.loudness.dry += step * (dry - self.loudness.dry);
            self.loudness.wet += step * (wet - self.loudness.wet);
            self.loudness.both += step * (both - self.loudness.both);
        }
    }
}

/// The sample as the bank hears it: a fault in the input must not be remembered for minutes.
fn bounded(x: f32) -> f32 {
    x.clamp(-LOUDEST, LOUDEST)
}

/// The weighting of ITU-R BS.1770, of a dry and a wet signal side by side: a shelf for the head, then a
/// high-pass.
#[derive(Debug, Clone)]
struct KWeighting {
    stages: [Biquad; 2],
}

impl KWeighting {
    /// At rest. The analogue prototypes behind the recommendation's coefficients at 48 kHz, for any rate in Hz.
    fn new(sample_rate: f64) -> Self {
        let tangent = |hertz: f64| (std::f64::consts::PI * (hertz / sample_rate).min(0.45)).tan();
        let denominator = |k: f64, q: f64| {
            let a0 = 1.0 + k / q + k * k;
            (a0, [2.0 * (k * k - 1.0) / a0, (1.0 - k / q + k * k) / a0])
        };
        let (k, q) = (tangent(1_681.974_450_955_533), 0.707_175_236_955_419_6);
        let high: f64 = 10f64.powf(3.999_843_853_973_347 / 20.0);
        let band = high.powf(0.499_666_774_154_541_6);
        let (a0, a) = denominator(k, q);
        let b = [high + band * k / q + k * k, 2.0 * (k * k - high), high - band * k / q + k * k];
        let shelf = Biquad::new(b.map(|b| b / a0), a);
        let (_, a) = denominator(tangent(38.135_470_876_024_44), 0.500_327_037_323_877_3);
        Self { stages: [shelf, Biquad::new([1.0, -2.0, 1.0], a)] }
    }

    fn reset(&mut self) {
        self.stages.iter_mut().for_each(|stage| stage.state = [f64x2::ZERO; 2]);
    }

    /// The sums of the squares of `dry` and `wet`, and of their product, weighted.
    fn powers(&mut self, dry: &[f32; BLOCK], wet: &[f32; BLOCK]) -> [f64; 3] {
        let (mut squares, mut products) = (f64x2::ZERO, 0.0);
        let [shelf, high_pass] = &mut self.stages;
        for (dry, wet) in dry.iter().zip(wet) {
            let x = f64x2::from([*dry, *wet].map(|x| f64::from(bounded(x))));
            let y = high_pass.next(shelf.next(x));
            squares += y * y;
            let [dry, wet] = y.to_array();
            products += dry * wet;
        }
        let [dry, wet] = squares.to_array();
        [dry, wet, products]
    }
}

/// A biquad in transposed direct form II.
#[derive(Debug, Clone)]
struct Biquad {
    b: [f64; 3],
    a: [f64; 2],
    state: [f64x2; 2],
}

impl Biquad {
    fn new(b: [f64; 3], a: [f64; 2]) -> Self {
        Self { b, a, state: [f64x2::ZERO; 2] }
    }

    #[inline(always)]
    fn next(&mut self, x: f64x2) -> f64x2 {
        let Self { b, a, state } = self;
        let y = state[0] + x * f64x2::splat(b[0]);
        state[0] = state[1] + x * f64x2::splat(b[1]) - y * f64x2::splat(a[0]);
        state[1] = x * f64x2::splat(b[2]) - y * f64x2::splat(a[1]);
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine(hertz: f64, rate: f64, amplitude: f64, block: usize) -> [f32; BLOCK] {
        let w = std::f64::consts::TAU * hertz / rate;
        std::array::from_fn(|t| (amplitude * (w * (block * BLOCK + t) as f64).sin()) as f32)
    }

    /// K-weighted gain in dB at `hertz`.
    fn weight(hertz: f64, rate: f64) -> f64 {
        let mut weighting = KWeighting::new(rate);
        let mut sums = [0.0; 2];
        for block in 0..(rate / 64.0) as usize {
            let [dry, ..] = weighting.powers(&sine(hertz, rate, 1.0, block), &[0.0; BLOCK]);
            sums[usize::from(block * BLOCK > rate as usize / 2)] += dry;
        }
        10.0 * (sums[1] / (0.5 * 0.5 * rate)).log10()
    }

    #[test]
    fn the_weighting_is_that_of_bs_1770_at_any_rate() {
        for rate in [44_100.0, 48_000.0, 192_000.0] {
            // The recommendation reads a full-scale sine of 997 Hz as -3.01 LKFS, with an offset of -0.691 dB.
            assert!((weight(997.0, rate) - 0.691).abs() < 0.02, "{rate}: {}", weight(997.0, rate));
            assert!((weight(10_000.0, rate) - 4.0).abs() < 0.15, "{}", weight(10_000.0, rate));
            assert!(weight(38.0, rate) < -5.5 && weight(38.0, rate) > -6.5);
        }
    }

    #[test]
    fn the_gain_brings_music_to_the_nominal_level_and_holds_in_silence() {
        let rate = 48_000.0;
        for amplitude in [1.0, 0.1, 1e-3] {
            let mut level = Level::new(rate, 1);
            for block in 0..4000 {
                let x = sine(440.0, rate, amplitude, block);
                level.measure(&[x], [(&x, &x)].into_iter());
            }
            let expected = (NOMINAL / (amplitude * amplitude / 2.0)).sqrt();
            assert!((level.gain() / expected - 1.0).abs() < 0.02, "{amplitude}: {}", level.gain());
            assert!((level.makeup() - 1.0).abs() < 0.25, "{}", level.makeup());
            let held = level.gain();
            let silence = [1e-6; BLOCK];
            for _ in 0..10_000 {
                level.measure(&[silence], [(&silence, &silence)].into_iter());
            }
            assert_eq!(level.gain(), held);
        }
    }

    #[test]
    fn the_mix_has_the_loudness_of_the_dry_signal() {
        let rate = 48_000.0;
        // A wet signal 20 dB down, in part the dry one's.
        let mut level = Level::new(rate, 1);
        let wet = |block| {
            let (same, other) = (sine(440.0, rate, 0.03, block), sine(660.0, rate, 0.04, block));
            std::array::from_fn(|t| same[t] + other[t])
        };
        for block in 0..20_000 {
            let dry = sine(440.0, rate, 0.5, block);
            level.measure(&[dry], [(&dry, &wet(block))].into_iter());
        }
        for mix in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let (d, w) = level.mix(mix);
            let mut weighting = [KWeighting::new(rate), KWeighting::new(rate)];
            let mut sums = [0.0; 2];
            for block in 0..2000 {
                let (dry, wet) = (sine(440.0, rate, 0.5, block), wet(block));
                let mixed =
                    std::array::from_fn(|t| (d * f64::from(dry[t]) + w * f64::from(wet[t])) as f32);
                sums[0] += weighting[0].powers(&dry, &dry)[0];
                sums[1] += weighting[1].powers(&mixed, &mixed)[0];
            }
            let change = 10.0 * (sums[1] / sums[0]).log10();
            assert!(change.abs() < 0.1, "mix {mix}: {change:.2} dB");
        }
    }
}
