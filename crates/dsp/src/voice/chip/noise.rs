//! Noise: what is no note in a sound, and the shift register that plays it.

use super::tick::TICKS;
use crate::{bank::LOUDEST, lanes::BLOCK};
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// Clock of the console in Hz.
const CLOCK: f64 = 1_789_773.0;

/// Index of the rate of the brightest sound, among the console's 16 rates.
const BRIGHTEST: f32 = 4.0;
/// Index of the rate of the darkest sound.
const DARKEST: f32 = 10.0;

/// Cycles of the clock in a step of the register, at the rates from [`BRIGHTEST`] to [`DARKEST`].
const PERIODS: [u16; 7] = [64, 96, 128, 160, 202, 254, 380];

/// Seconds in which the power of the top octave is followed.
const FOLLOW: f64 = 0.005;

/// Seconds in which the share of the notes' overtones is given up, by a factor of e.
const FORGET: f64 = 0.3;

/// Initial and least share of the notes' overtones.
const SHARES: [f32; 2] = [0.01, 1e-6];

/// Factor by which the notes may have more than that share.
const MARGIN: f32 = 4.0;

/// Power of the noise against that of what is no note in the top octave. More would hide the notes, because the register's
/// noise is as strong among them as in that octave, and strokes mostly are not.
const LEVEL: f32 = 0.5;

/// A filter of two poles, `(b0 + b1/z + b2/z^2) / (1 + a1/z + a2/z^2)`, in its transposed direct form II.
#[derive(Debug, Clone, Copy)]
struct Biquad {
    b: [f32; 3],
    a: [f32; 2],
    state: [f32; 2],
}

impl Biquad {
    /// Filter with the coefficients of a design.
    fn new(b: [f64; 3], [a0, a1, a2]: [f64; 3]) -> Self {
        Self {
            b: b.map(|x| (x / a0) as f32),
            a: [(a1 / a0) as f32, (a2 / a0) as f32],
            state: [0.0; 2],
        }
    }

    /// A band of an octave around `angle` in radians a sample, with a gain of 1 in its middle: the bilinear transform
    /// of `(s/Q) / (s^2 + s/Q + 1)`.
    fn octave(angle: f64) -> Self {
        let (sin, cos) = libm::sincos(angle);
        let alpha = sin / (2.0 * SQRT_2);
        Self::new([alpha, 0.0, -alpha], [1.0 + alpha, -2.0 * cos, 1.0 - alpha])
    }

    /// Second-order Butterworth high-pass with its cutoff at `angle`: the bilinear transform of `s^2 / (s^2 + s/Q + 1)`.
    fn above(angle: f64) -> Self {
        let (sin, cos) = libm::sincos(angle);
        let alpha = sin / (2.0 * FRAC_1_SQRT_2);
        let half = (1.0 + cos) / 2.0;
        Self::new([half, -2.0 * half, half], [1.0 + alpha, -2.0 * cos, 1.0 - alpha])
    }

    /// The outputs inserted into the states' equations, so that a sample waits for little of the one before.
    #[inline(always)]
    fn next(&mut self, x: f32) -> f32 {
        let [s0, s1] = self.state;
        let [b0, b1, b2] = self.b;
        let [a1, a2] = self.a;
        self.state[0] = ((b1 - a1 * b0) * x + s1) - a1 * s0;
        self.state[1] = (b2 - a2 * b0) * x - a2 * s0;
        b0 * x + s0
    }
}

/// The noise of one bank.
#[derive(Debug, Clone)]
pub struct Noise {
    sample_rate: f64,
    /// The middle of the top octave in radians a sample.
    middle: f32,
    /// 4 to 8 kHz, and all above.
    filters: [Biquad; 2],
    /// Their power, and the share by which it is followed.
    powers: [f32; 2],
    step: f32,
    /// The share of the notes' power that their overtones have in the top octave.
    share: f32,
    forget: f32,
    /// Index of the register's rate.
    rate: usize,
    register: u16,
    /// Rest of the current clock, in clocks.
    left: f64,
}

impl Noise {
    /// At rest, for `sample_rate` in Hz.
    pub fn new(sample_rate: f64) -> Self {
        // Where the rate is too low for the top octave, the last one there is.
        let angle = |hertz: f64| (2.0 * PI * hertz / sample_rate).min(0.9 * PI);
        let middle = angle(4000.0 * SQRT_2);
        Self {
            sample_rate,
            middle: middle as f32,
            filters: [Biquad::octave(middle), Biquad::above(angle(8000.0))],
            powers: [0.0; 2],
            step: -libm::expm1(-1.0 / (FOLLOW * sample_rate)) as f32,
            share: SHARES[0],
            forget: libm::exp(1.0 / (FORGET * TICKS)) as f32,
            rate: DARKEST as usize,
            register: 1,
            left: 1.0,
        }
    }

    /// Index of the register's rate, 0..16.
    pub fn rate(&self) -> u8 {
        self.rate as u8
    }

    /// Chooses the rate by the sound's brightness. Returns the amplitude of what is no note. `notes` are the powers
    /// of the bands, and their frequencies in radians a sample.
    pub fn tick(&mut self, notes: impl Iterator<Item = (f32, f32)>) -> f32 {
        let [octave, above] = self.powers;
        if octave <= f32::MIN_POSITIVE {
            return 0.0;
        }
        let brightness = libm::log2f((above / octave).max(1e-3));
        let rate = 0.5 * (BRIGHTEST + DARKEST) - 1.5 * brightness + 0.5;
        self.rate = rate.clamp(BRIGHTEST, DARKEST) as usize;
        // The notes, and what the filter lets through of them.
        let (power, passed) = notes.fold((0.0, 0.0), |(power, passed), (own, angle)| {
            let ratio = angle / self.middle;
            (power + own, passed + own / (1.0 + 2.0 * (ratio - 1.0 / ratio).powi(2)))
        });
        let explained = MARGIN * (passed + self.share * power);
        let share = (octave - passed).max(0.0) / power.max(f32::MIN_POSITIVE);
        // A constant part comes from the notes; a stroke is soon over.
        self.share = (self.share * self.forget).min(share).clamp(SHARES[1], 1.0);
        (LEVEL * (octave - explained).max(0.0)).sqrt()
    }

    /// Analyses the samples `input`, and puts as many of the register's, -1..1, into `noise`: each is the mean of what it
    /// gives while the sample lasts.
    pub fn process(&mut self, input: &[f32], noise: &mut [f32; BLOCK]) {
        let Self { mut filters, mut powers, mut register, mut left, .. } = *self;
        let decay = 1.0 - self.step;
        let clocks =
            CLOCK / (f64::from(PERIODS[self.rate - BRIGHTEST as usize]) * self.sample_rate);
        for (x, noise) in input.iter().zip(noise) {
            let x = x.clamp(-LOUDEST, LOUDEST);
            for (filter, power) in filters.iter_mut().zip(&mut powers) {
                *power = decay * *power + self.step * filter.next(x).powi(2);
            }
            let level = |register: u16| if register & 1 == 0 { 1.0 } else { -1.0 };
            let (mut sum, mut rest) = (0.0, clocks);
            while rest > left {
                sum += left * level(register);
                rest -= left;
                left = 1.0;
                register = register >> 1 | ((register ^ register >> 1) & 1) << 14;
            }
            left -= rest;
            *noise = ((sum + rest * level(register)) / clocks) as f32;
        }
        (self.filters, self.powers, self.register, self.left) = (filters, powers, register, left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// The amplitude of what is no note in a sine of an effective value of 1, beside a `note` of
    /// the power 10 and so many Hz.
    fn response(hertz: f64, note: Option<f64>, seconds: f64) -> f32 {
        let mut noise = Noise::new(48_000.0);
        let mut amplitude = 0.0;
        for block in 0..(seconds * 750.0) as usize {
            let sample = |frame| {
                let t = (block * BLOCK + frame) as f64 / 48_000.0;
                (SQRT_2 * (TAU * hertz * t).sin()) as f32
            };
            noise.process(&std::array::from_fn::<_, BLOCK, _>(sample), &mut [0.0; BLOCK]);
            if block % 12 == 0 {
                let note = note.map(|hertz| (10.0, (TAU * hertz / 48_000.0) as f32));
                amplitude = noise.tick(note.into_iter());
            }
        }
        amplitude
    }

    #[test]
    fn the_top_octave_counts_unless_the_notes_explain_it() {
        let middle = response(5657.0, None, 0.5);
        assert!((middle - LEVEL.sqrt()).abs() < 0.02, "{middle}");
        for (hertz, most) in [(440.0, 0.2), (1000.0, 0.4)] {
            let low = response(hertz, None, 0.5);
            assert!(low < most * middle, "{hertz}: {low}");
        }
        let sudden = response(5657.0, Some(440.0), 0.1);
        assert!(sudden > 0.3, "louder than the overtones were: {sudden}");
        assert_eq!(response(5657.0, Some(3000.0), 0.1), 0.0, "the note itself goes so far");
        let steady = response(5657.0, Some(440.0), 3.0);
        assert_eq!(steady, 0.0, "what stays belongs to the notes");
    }

    #[test]
    fn the_register_goes_round_after_32767_clocks_at_each_rate() {
        let sequence = |rate: usize, clocks: usize| -> Vec<f32> {
            // One sample a clock.
            let sample_rate = CLOCK / f64::from(PERIODS[rate - BRIGHTEST as usize]);
            let mut noise = Noise { rate, ..Noise::new(sample_rate) };
            let mut samples = Vec::new();
            let mut block = [0.0; BLOCK];
            while samples.len() < clocks {
                noise.process(&[0.0; BLOCK], &mut block);
                samples.extend(block);
            }
            samples
        };
        let first = sequence(5, 2 * 32_767 + 40);
        assert!(first.iter().all(|x| x.abs() == 1.0), "clocks and samples agree");
        assert_eq!(first[..32_767], first[32_767..2 * 32_767]);
        let balance: f32 = first[..32_767].iter().sum();
        assert_eq!(balance.abs(), 1.0, "as many ones as zeros, but for one");
        assert_eq!(first, sequence(10, first.len()));
    }
}
