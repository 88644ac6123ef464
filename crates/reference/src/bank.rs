//! The resonators, and the bank that turns their outputs into the wet signal.

use crate::{BLOCK, Sound, TONES, decibels, low_pass_step, semitone, smoothing::Smoothed, step};
use std::f64::consts::TAU;

/// Limit of the frequency of a note, relative to the sample rate. At or above it, a note gets no input.
const HIGHEST: f64 = 0.45;

/// Offset of the RMS, which keeps the drive finite while a note has no power yet.
const GUARD: f64 = 0.001;

/// Maximum magnitude of the input: 18 dB above full scale.
const LOUDEST: f64 = 8.0;

/// Resonator `H(z) = g (1 - z^-2) / (1 - 2 r cos(w) z^-1 + r^2 z^-2)` as a loop of two integrators, whose state stays valid when
/// the coefficients change.
#[derive(Debug, Clone, Copy)]
pub struct Resonator {
    gain: f64,
    factor: f64,
    damping: f64,
    /// Last two inputs, newest first.
    x: [f64; 2],
    /// First integrator.
    lo: f64,
    /// Second integrator, which is the output.
    pub(crate) bp: f64,
}

impl Resonator {
    /// Creates a resonator at rest for a note of `frequency` Hz that rings for `ring` s (T60), at `sample_rate` Hz.
    pub fn new(frequency: f64, ring: f64, sample_rate: f64) -> Self {
        let radius = 10f64.powf(-3.0 / (ring * sample_rate));
        let resonator = Self::with_poles(angle(frequency, sample_rate), radius);
        let gain = if frequency < HIGHEST * sample_rate { resonator.gain } else { 0.0 };
        Self { gain, ..resonator }
    }

    /// Creates a resonator with poles of the radius `r` at the angles `w` and `-w` (radians a sample), and a gain of 1 at `w`.
    fn with_poles(w: f64, r: f64) -> Self {
        // Distances to e^jw: of the zeros 1 and -1, |1 - e^-2jw| = 2 sin w; and of the poles r e^jw and r e^-jw.
        let zeros = 2.0 * w.sin();
        let poles = (1.0 - r) * (1.0 - r * (2.0 * w).cos()).hypot(r * (2.0 * w).sin());
        let factor = ((1.0 - r).powi(2) + 4.0 * r * (w / 2.0).sin().powi(2)).sqrt();
        Self { gain: poles / zeros, factor, damping: 1.0 - r * r, x: [0.0; 2], lo: 0.0, bp: 0.0 }
    }

    fn retune(&mut self, other: Self) {
        let Self { x, lo, bp, .. } = *self;
        *self = Self { x, lo, bp, ..other };
    }

    /// Returns the output for the next input.
    pub fn next(&mut self, x: f64) -> f64 {
        self.lo += self.factor * self.bp - self.gain / self.factor * (x - self.x[1]);
        self.bp -= self.factor * self.lo + self.damping * self.bp;
        self.x = [x, self.x[0]];
        self.bp
    }

    /// Returns the oscillation a quarter of a period before the last output, at `w` radians a sample.
    ///
    /// The first integrator, without the contribution of the last two inputs, is the factor times the sum of all outputs but
    /// the last. While the outputs are `A cos(p - n w)`, the outputs before the last one add up to `A sin(p - w/2) / (2
    /// sin(w/2))`. Twice this sum plus the last output is `A sin(p) / tan(w/2)`.
    pub(crate) fn quadrature(&self, w: f64) -> f64 {
        let sum = (self.lo + self.gain / self.factor * (self.x[0] + self.x[1])) / self.factor;
        (w / 2.0).tan() * (2.0 * sum + self.bp)
    }

    /// Returns the square of the amplitude, which is constant without damping and input.
    fn squared_amplitude(&self) -> f64 {
        let Self { factor: f, lo, bp, .. } = *self;
        (lo * lo + bp * bp + f * lo * bp) / (1.0 - f * f / 4.0)
    }

    /// Records the next input while the resonator is not computed.
    fn rest(&mut self, x: f64) {
        self.x = [x, self.x[0]];
    }

    fn scale(&mut self, by: f64) {
        (self.lo, self.bp) = (by * self.lo, by * self.bp);
    }
}

/// Returns the angle of a frequency in radians a sample, at most the angle of 0.45 times the sample rate.
pub(crate) fn angle(frequency: f64, sample_rate: f64) -> f64 {
    TAU * (frequency / sample_rate).min(HIGHEST)
}

/// State of a note at the latest sample.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Band {
    /// Tracked power after the gate: 0.5 for a full-scale sine that the ceiling does not limit.
    pub power: f64,
    /// Output after the drive and the first soft clip.
    pub output: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Constants {
    /// One-pole coefficient of the tracked power of the input.
    total_step: f64,
    /// One-pole coefficient of the tracked powers of the notes.
    pub band_step: f64,
    low_pass_step: f64,
    /// Lower end of the gate, as a ratio to the power of the input.
    threshold: f64,
    /// Upper end of the gate, as a ratio to the power of the input.
    pub ceiling: f64,
    /// Minimum of the gate's lower end, as a power.
    floor: f64,
    drive: f64,
    /// Offset of the RMS; see [`GUARD`].
    guard: f64,
}

impl Constants {
    /// Computes the constants of `sound`; `gain` would bring the input to its nominal level.
    fn new(sound: &Sound, sample_rate: f64, gain: f64) -> Self {
        let release = sound.release / 1000.0;
        Self {
            total_step: step(1.2 * release, sample_rate),
            band_step: step(release, sample_rate),
            low_pass_step: low_pass_step(sound.tone, sample_rate),
            threshold: decibels(sound.threshold),
            ceiling: decibels(sound.ceiling),
            floor: decibels(sound.floor) / gain.powi(2),
            drive: sound.drive,
            guard: GUARD / gain,
        }
    }

    pub fn gate(&self, total_power: f64) -> Gate {
        let low = (self.threshold * total_power).max(self.floor);
        Gate { low, high: self.ceiling * total_power }
    }
}

/// Range in which a note keeps its own power.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gate {
    /// Lower end. A power below it counts as lower still: four times as far below this end, in dB.
    low: f64,
    /// Upper end: the maximum power of a note.
    pub high: f64,
}

impl Gate {
    /// Returns the power to track for the squared output `q`.
    pub fn level(self, q: f64) -> f64 {
        (q * (q / self.low).min(1.0).powi(3)).min(self.high)
    }
}

pub(crate) type Tones = [f64; TONES];

/// Plan of a bank's block. Each pair has the values at the start and at the end of the block, interpolated linearly.
#[derive(Debug, Clone)]
pub(crate) struct Mix {
    /// Weights of the notes in the sum.
    pub weights: [Tones; 2],
    /// Stereo positions of the notes from left, 1, to right, -1; `None` for one sum.
    pub pans: Option<[Tones; 2]>,
    /// Gain that would bring the input to the nominal level.
    pub gains: [f64; 2],
}

/// Bank: a resonator for each note, and their weighted sum. Turns a signal into the wet signal.
#[derive(Debug, Clone)]
pub struct Bank {
    sample_rate: f64,
    pub(crate) constants: Constants,
    pub(crate) mix: Mix,
    /// Number of samples of the block so far.
    frame: usize,
    pub(crate) resonators: [Resonator; TONES],
    /// State of each note at the latest sample.
    pub bands: [Band; TONES],
    /// Tracked power of the input: 0.5 for a full-scale sine.
    pub total_power: f64,
    /// Low-pass of the mono or left sum.
    low_pass: f64,
    /// Low-pass of the right sum, which exists only with stereo positions.
    right: Option<f64>,
    /// Whether the notes below A3 are computed.
    low: bool,
    driven: bool,
    /// Squared amplitudes at which the notes were frozen; `None` without freeze. While they are frozen, all tracked powers are
    /// held.
    frozen: Option<Tones>,
}

impl Bank {
    /// Creates a bank at rest with this sound, at `sample_rate` Hz.
    pub fn new(sound: &Sound, sample_rate: f64) -> Self {
        let resonator = |tone| Resonator::new(sound.frequency(tone), sound.ring(tone), sample_rate);
        let weights = std::array::from_fn(|tone| f64::from(u8::from(sound.may_sound(tone))));
        Self {
            sample_rate,
            constants: Constants::new(sound, sample_rate, 1.0),
            mix: Mix { weights: [weights; 2], pans: None, gains: [1.0; 2] },
            frame: 0,
            resonators: std::array::from_fn(resonator),
            bands: [Band::default(); TONES],
            total_power: 0.0,
            low_pass: 0.0,
            right: None,
            low: true,
            driven: true,
            frozen: None,
        }
    }

    /// Creates a bank at rest with the constants of the published filter, which are for 44.1 kHz.
    pub fn published() -> Self {
        let rate = 44_100.0;
        let constants = Constants {
            total_step: 1.0 - 0.01215f64.powf(1.0 / rate),
            band_step: 1.0 - 0.00503f64.powf(1.0 / rate),
            low_pass_step: 0.5,
            threshold: 0.0002,
            ceiling: 0.1,
            floor: 1e-11f64.cbrt(),
            drive: 40.0,
            guard: GUARD,
        };
        let resonator = |tone| {
            let frequency = 440.0 * ((semitone(tone) - 12.0) / 12.0).exp2();
            Resonator::with_poles(TAU * frequency / rate, 0.9999)
        };
        let resonators = std::array::from_fn(resonator);
        Self { constants, resonators, ..Self::new(&Sound::published(), rate) }
    }

    pub(crate) fn rest_low(&mut self) {
        for (resonator, band) in self.resonators.iter_mut().zip(&mut self.bands).skip(48) {
            resonator.scale(0.0);
            *band = Band::default();
        }
    }

    /// Begins a block. `low`: whether the notes below A3 are computed; `driven`: whether the notes are driven and summed.
    pub(crate) fn begin_block(&mut self, now: &Smoothed, mix: Mix, low: bool, driven: bool) {
        let sound = &now.sound;
        self.constants = Constants::new(sound, self.sample_rate, mix.gains[1]);
        (self.mix, self.frame, self.driven) = (mix, 0, driven);
        for (tone, resonator) in self.resonators.iter_mut().enumerate() {
            let [frequency, ring] = [sound.frequency(tone), sound.ring(tone)];
            resonator.retune(Resonator::new(frequency, ring, self.sample_rate));
        }
        self.low = low;
        if sound.freeze {
            let amplitudes = self.resonators.map(|resonator| resonator.squared_amplitude());
            let then = *self.frozen.get_or_insert(amplitudes);
            for tone in 0..TONES {
                let ratio = then[tone] / amplitudes[tone].max(f64::MIN_POSITIVE);
                self.resonators[tone].scale(ratio.sqrt());
            }
        } else {
            self.frozen = None;
        }
    }

    /// Returns the wet sample for the next input sample; with stereo positions, the left one.
    pub fn next(&mut self, x: f64) -> f64 {
        self.next_placed(x)[0]
    }

    /// Returns the left and right wet samples for the next input sample. Without stereo positions they are equal.
    pub(crate) fn next_placed(&mut self, x: f64) -> [f64; 2] {
        let x = x.clamp(-LOUDEST, LOUDEST);
        self.frame += 1;
        let at = self.frame as f64 / BLOCK as f64;
        let line = |[from, to]: [f64; 2]| from + at * (to - from);
        let c = &self.constants;
        if self.frozen.is_none() {
            self.total_power += c.total_step * (x * x - self.total_power);
        }
        let gate = c.gate(self.total_power);
        let (mut sum, mut side) = (0.0, 0.0);
        for (tone, band) in self.bands.iter_mut().enumerate() {
            if tone >= 48 && !self.low {
                self.resonators[tone].rest(x);
                continue;
            }
            let y = self.resonators[tone].next(x);
            if self.frozen.is_none() {
                band.power += c.band_step * (gate.level(y * y) - band.power);
            }
            let rms = band.power.sqrt();
            let driven = c.drive * y / (rms + c.guard);
            band.output = rms * driven / (1.0 + driven.abs());
            let weights = self.mix.weights.each_ref().map(|end| end[tone]);
            sum += line(weights) * band.output;
            if let Some([from, to]) = &self.mix.pans {
                side += line([weights[0] * from[tone], weights[1] * to[tone]]) * band.output;
            }
        }
        if !self.driven {
            (self.low_pass, self.right) = (0.0, None);
            return [0.0; 2];
        }
        let gain = line(self.mix.gains);
        let clip = |low_pass: f64| 2.0 * low_pass / (1.0 + gain * (2.0 * low_pass).abs());
        let before = self.right.unwrap_or(self.low_pass);
        self.low_pass += c.low_pass_step * (sum + side - self.low_pass);
        let left = clip(self.low_pass);
        let right = before + c.low_pass_step * (sum - side - before);
        self.right = self.mix.pans.is_some().then_some(right);
        [left, self.right.map_or(left, clip)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    const RATES: [f64; 6] = [44_100.0, 48_000.0, 88_200.0, 96_000.0, 176_400.0, 192_000.0];
    const RING: f64 = 1.5663;

    /// Returns the factors of the last two outputs in the loop's difference equation.
    fn feedback(resonator: &Resonator) -> [f64; 2] {
        let Resonator { factor, damping, .. } = resonator;
        [2.0 - damping - factor * factor, damping - 1.0]
    }

    /// Returns magnitude and phase of a resonator's response at `w`, from its difference equation.
    fn response(resonator: &Resonator, w: f64) -> (f64, f64) {
        let [a1, a2] = feedback(resonator);
        let numerator = (1.0 - (2.0 * w).cos(), (2.0 * w).sin());
        let denominator =
            (1.0 - a1 * w.cos() - a2 * (2.0 * w).cos(), a1 * w.sin() + a2 * (2.0 * w).sin());
        let norm = denominator.0.powi(2) + denominator.1.powi(2);
        let re = numerator.0 * denominator.0 + numerator.1 * denominator.1;
        let im = numerator.1 * denominator.0 - numerator.0 * denominator.1;
        (resonator.gain * re.hypot(im) / norm, im.atan2(re))
    }

    #[test]
    fn a_resonator_passes_its_note_and_blocks_dc_and_nyquist() {
        for (rate, tone) in RATES.into_iter().flat_map(|rate| (0..TONES).map(move |n| (rate, n))) {
            let f = 440.0 * ((semitone(tone) - 12.0) / 12.0).exp2();
            // Constant Q below 220 Hz.
            let ring = RING * (220.0 / f).max(1.0);
            let resonator = Resonator::new(f, ring, rate);
            let w = TAU * f / rate;
            let (magnitude, phase) = response(&resonator, w);
            assert!((magnitude - 1.0).abs() < 1e-7, "{rate} {f}: {magnitude}");
            // The zeros do not quite cancel the phase of the poles: (1 - r) / (2 tan w) is left at first order.
            let radius = (-feedback(&resonator)[1]).sqrt();
            let expected = (1.0 - radius) / (2.0 * w.tan());
            assert!((phase - expected).abs() < 1e-4 && phase.abs() < 0.0017, "{rate} {f}: {phase}");
            // The decay rate s in 1/s of a T60 is a half width of s / 2 pi Hz, where the response is 3 dB down.
            let half_width = 1000f64.ln() / ring / TAU;
            for side in [-1.0, 1.0] {
                let (magnitude, _) = response(&resonator, TAU * (f + side * half_width) / rate);
                let db = 20.0 * magnitude.log10();
                assert!((db + 10.0 * 2f64.log10()).abs() < 0.02, "{rate} {f}: {db}");
            }
            assert!([0.0, PI].iter().all(|w| response(&resonator, *w).0 < 1e-10));
        }
    }

    #[test]
    fn a_steady_sine_below_the_ceiling_is_measured_at_its_power() {
        // Two distant tones share the power. With the ceiling out of the way and no gate, the tracked power of a steady sine is
        // its mean square.
        let sound = Sound {
            threshold: -60.0,
            ceiling: 0.0,
            floor: -90.0,
            ring: 0.5,
            low_range: true,
            ..Sound::published()
        };
        let rate = 48_000.0;
        let mut bank = Bank::new(&sound, rate);
        let (mut mean, mut count) = (0.0, 0.0);
        for t in 0..(6.0 * rate) as usize {
            let sine = |f: f64, a: f64| a * (TAU * f * t as f64 / rate).sin();
            bank.next(sine(440.0, 0.1) + sine(1760.0, 0.5));
            if t as f64 > 4.0 * rate {
                (mean, count) = (mean + bank.bands[12].power, count + 1.0);
            }
        }
        let db = 10.0 * (mean / count / (0.1f64.powi(2) / 2.0)).log10();
        assert!(db.abs() < 0.01, "{db}");
    }
}
