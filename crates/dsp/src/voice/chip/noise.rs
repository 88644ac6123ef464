//! Noise of the chip: measures the sound outside the notes, and plays it by a shift register.

use super::TICKS;
use crate::{bank::LOUDEST, lanes::BLOCK};
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// Clock rate of the console's CPU in Hz (NTSC).
const CLOCK: f64 = 1_789_773.0;
/// Rate of the brightest noise that is played, as an index among the console's 16 rates.
const BRIGHTEST: f32 = 4.0;
/// Rate of the darkest noise that is played, as an index among the console's 16 rates.
const DARKEST: f32 = 10.0;
/// Clock cycles per step of the register, at the rates from [`BRIGHTEST`] to [`DARKEST`].
const PERIODS: [u16; 7] = [64, 96, 128, 160, 202, 254, 380];
/// Middle in Hz of the octave in which bass drums are strong.
const BASS: f64 = 66.0;
/// Time constant in seconds of the measured powers.
const FOLLOW: f64 = 0.005;
/// Seconds in which [`Noise::share`] may grow by a factor of e.
const SHARE_GROWTH: f64 = 0.3;
/// Initial value and minimum of [`Noise::share`].
const SHARES: [f32; 2] = [0.01, 1e-6];
/// Safety factor on the estimated power of the notes in the top octave, which is not noise.
const MARGIN: f32 = 4.0;

/// Power of the noise, relative to the power in the top octave that the notes do not explain. More would mask the notes: the
/// register's noise is as strong at their frequencies as in the top octave, unlike most drum hits.
const LEVEL: f32 = 0.5;

/// Filter of two poles, `(b0 + b1/z + b2/z^2) / (1 + a1/z + a2/z^2)`, in transposed direct form II.
#[derive(Debug, Clone, Copy)]
struct Biquad {
    b: [f32; 3],
    a: [f32; 2],
    state: [f32; 2],
}

impl Biquad {
    /// Creates a filter at rest from numerator and denominator.
    fn new(b: [f64; 3], [a0, a1, a2]: [f64; 3]) -> Self {
        Self {
            b: b.map(|x| (x / a0) as f32),
            a: [(a1 / a0) as f32, (a2 / a0) as f32],
            state: [0.0; 2],
        }
    }

    /// Creates a band-pass of an octave around `angle` in radians a sample, with a gain of 1 there: the bilinear transform of
    /// `(s/Q) / (s^2 + s/Q + 1)`.
    fn octave(angle: f64) -> Self {
        let (sin, cos) = libm::sincos(angle);
        let alpha = sin / (2.0 * SQRT_2);
        Self::new([alpha, 0.0, -alpha], [1.0 + alpha, -2.0 * cos, 1.0 - alpha])
    }

    /// Creates a Butterworth high-pass with its cutoff at `angle`: the bilinear transform of `s^2 / (s^2 + s/Q + 1)`.
    fn above(angle: f64) -> Self {
        let (sin, cos) = libm::sincos(angle);
        let alpha = sin / (2.0 * FRAC_1_SQRT_2);
        let half = (1.0 + cos) / 2.0;
        Self::new([half, -2.0 * half, half], [1.0 + alpha, -2.0 * cos, 1.0 - alpha])
    }

    /// Filters a sample. The output is substituted into the equations of the states, which shortens the dependency on the
    /// previous sample.
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

#[derive(Debug, Clone)]
pub struct Noise {
    sample_rate: f64,
    /// Middle of the top octave (4 to 8 kHz) in radians a sample.
    middle: f32,
    /// Band-pass from 4 to 8 kHz, high-pass above 8 kHz, and band-pass around [`BASS`].
    filters: [Biquad; 3],
    /// Smoothed power of the output of each filter.
    pub powers: [f32; 3],
    step: f32,
    /// Power of the notes' overtones in the top octave, relative to the power of the notes.
    share: f32,
    /// Factor by which `share` may grow in a tick.
    share_growth: f32,
    /// Index of the rate of the register among the console's 16 rates.
    pub rate: u8,
    register: u16,
    /// Remaining fraction of the register's current step.
    step_left: f64,
}

impl Noise {
    pub fn new(sample_rate: f64) -> Self {
        // At low sample rates, the filters' frequencies are limited to 0.45 of the rate.
        let angle = |hertz: f64| (2.0 * PI * hertz / sample_rate).min(0.9 * PI);
        let middle = angle(4000.0 * SQRT_2);
        Self {
            sample_rate,
            middle: middle as f32,
            filters: [
                Biquad::octave(middle),
                Biquad::above(angle(8000.0)),
                Biquad::octave(angle(BASS)),
            ],
            powers: [0.0; _],
            step: -libm::expm1(-1.0 / (FOLLOW * sample_rate)) as f32,
            share: SHARES[0],
            share_growth: libm::exp(1.0 / (SHARE_GROWTH * TICKS)) as f32,
            rate: DARKEST as u8,
            register: 1,
            step_left: 1.0,
        }
    }

    /// Chooses the rate by the brightness of the sound. Returns the amplitude of the noise. `notes` has power and frequency (in
    /// radians a sample) of each band.
    pub fn tick(&mut self, notes: impl Iterator<Item = (f32, f32)>) -> f32 {
        let [octave, above, _] = self.powers;
        if octave <= f32::MIN_POSITIVE {
            return 0.0;
        }
        let brightness = libm::log2f((above / octave).max(1e-3));
        let rate = 0.5 * (BRIGHTEST + DARKEST) - 1.5 * brightness + 0.5;
        self.rate = rate.clamp(BRIGHTEST, DARKEST) as u8;
        // Power of the notes, and their power after the band-pass.
        let (power, passed) = notes.fold((0.0, 0.0), |(power, passed), (note, angle)| {
            let ratio = angle / self.middle;
            (power + note, passed + note / (1.0 + 2.0 * (ratio - 1.0 / ratio).powi(2)))
        });
        let explained = MARGIN * (passed + self.share * power);
        let share = (octave - passed).max(0.0) / power.max(f32::MIN_POSITIVE);
        // A steady power in the top octave comes from the notes' overtones; a drum hit is soon over.
        self.share = (self.share * self.share_growth).min(share).clamp(SHARES[1], 1.0);
        (LEVEL * (octave - explained).max(0.0)).sqrt()
    }

    /// Measures `input`, and writes as many samples of the register's output (-1..1) to `noise`. Each one is the mean over the
    /// duration of a sample.
    pub fn process(&mut self, input: &[f32], noise: &mut [f32; BLOCK]) {
        let Self { mut filters, mut powers, mut register, mut step_left, .. } = *self;
        let decay = 1.0 - self.step;
        let clocks = CLOCK
            / (f64::from(PERIODS[usize::from(self.rate) - BRIGHTEST as usize]) * self.sample_rate);
        for (x, noise) in input.iter().zip(noise) {
            let x = x.clamp(-LOUDEST, LOUDEST);
            for (filter, power) in filters.iter_mut().zip(&mut powers) {
                *power = decay * *power + self.step * filter.next(x).powi(2);
            }
            let level = |register: u16| if register & 1 == 0 { 1.0 } else { -1.0 };
            let (mut sum, mut rest) = (0.0, clocks);
            while rest > step_left {
                sum += step_left * level(register);
                rest -= step_left;
                step_left = 1.0;
                register = register >> 1 | ((register ^ register >> 1) & 1) << 14;
            }
            step_left -= rest;
            *noise = ((sum + rest * level(register)) / clocks) as f32;
        }
        (self.filters, self.powers, self.register, self.step_left) =
            (filters, powers, register, step_left);
    }
}
