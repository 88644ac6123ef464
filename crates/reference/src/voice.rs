//! The voices in which oscillators play the notes: each is locked to the phase of its resonator.
//!
//! Levels and phases are set once a block of 64 samples. Between two blocks, gains and phases are straight lines.

use crate::{Resonator, Sound, TONES, Voice, bank::Bank, chip::Chip, low_pass_step};
use std::f64::consts::{PI, SQRT_2, TAU};

/// Samples of a block.
pub(crate) const BLOCK: usize = 64;

/// Samples from one look at a resonator's oscillation to the next.
const LOOK: usize = 8;

/// Poles of the low-passes of phase, and of amplitude and total power, and the frequency of each in Hz.
const PHASE_POLES: usize = 4;
const AMPLITUDE_POLES: usize = 2;
const POLE: f64 = 28.0;

/// Seconds at which a note sounds in which the time constants of the poles grow by a block.
const OPENING: f64 = 0.012;

/// The oscillator of a note.
#[derive(Debug, Clone, Copy, Default)]
struct Oscillator {
    /// Phase of the detected note at the start of the block, and what a sample adds; radians.
    phase: f64,
    step: f64,
    /// The nominal frequency of the note and that of the resonator's oscillation as measured, radians a sample.
    nominal: f64,
    frequency: f64,
    /// Real and imaginary part of the sum of the looks at the resonator, turned to the end of the block.
    looks: [f64; 2],
    /// The phase that they gave at the start of the block.
    measured: f64,
    /// The turns beyond the nominal ones that each pole of the phase's low-pass has not yet passed on.
    lags: [f64; PHASE_POLES],
    /// The outputs of the poles of the amplitude's low-pass.
    amplitudes: [f64; AMPLITUDE_POLES],
    /// One over the step of the poles.
    span: f64,
    /// The power that is followed.
    power: f64,
    /// Amplitudes at the start and at the end of the block.
    gains: [f64; 2],
}

/// The wet signal of `input`.
pub(crate) fn process(sound: &Sound, sample_rate: f64, input: &[f64]) -> Vec<f64> {
    let mut bank = Bank::new(sound, sample_rate);
    let mut chip = Chip::new(sound, sample_rate);
    let mut oscillators = [Oscillator::default(); TONES];
    let nominal = |tone| TAU * sound.frequency(tone) / sample_rate;
    let octave = sound.octave.exp2();
    let clean = sound.voice == Voice::SoftClean;
    let (driven, driven_rms) = if clean { driven(sound.drive) } else { (Vec::new(), 0.0) };
    let series: [Vec<[f64; 2]>; TONES] = std::array::from_fn(|tone| {
        let count = harmonics(octave * sound.frequency(tone), sample_rate);
        match sound.voice {
            Voice::SoftClean => driven[..count].iter().map(|share| [*share, 0.0]).collect(),
            voice => (1..=count).map(|n| harmonic(voice, n)).collect(),
        }
    });
    // What the series are multiplied by, and the effective value that this makes.
    let (unit, rms) = if clean { (1.0, driven_rms) } else { (soft_rms(), soft_rms()) };
    let follow = 1.0 - (1.0 - bank.constants.band_step).powi(BLOCK as i32);
    let low_pass_step = low_pass_step(cutoff(sound.tone), sample_rate);
    let (mut low_pass, mut wet) = (0.0, Vec::with_capacity(input.len()));
    // The power of the input at each sample of the last block, and the gain in place of the second soft clip.
    let (mut total_powers, mut gains) = ([0.0; BLOCK], [2.0; 2]);
    let mut totals = [0.0; AMPLITUDE_POLES];
    let total_step = 1.0 - (-TAU * POLE * BLOCK as f64 / sample_rate).exp();

    for (block, samples) in input.chunks(BLOCK).enumerate() {
        let mut total = total_powers.iter().sum::<f64>() / BLOCK as f64;
        for own in &mut totals {
            *own += total_step * (total - *own);
            total = *own;
        }
        let gate = bank.constants.gate(total);
        // The notes' powers and nominal frequencies in radians a sample.
        let mut notes = Vec::new();
        for (tone, own) in
            oscillators.iter_mut().enumerate().filter(|(tone, _)| sound.sounding[*tone])
        {
            if block == 0 {
                (own.nominal, own.frequency) = (nominal(tone), nominal(tone));
            }
            own.lock(sample_rate, block == 0);
            let power = own.amplitudes[AMPLITUDE_POLES - 1].powi(2) / 2.0;
            own.power += follow * (gate.level(power) - own.power);
            own.gains = [own.gains[1], own.power.sqrt()];
            notes.push((power, nominal(tone)));
        }
        chip.begin_block(&oscillators.map(|own| own.gains[1]), gate.high, &notes);
        let power: f64 = oscillators.iter().map(|own| own.power).sum();
        gains = [gains[1], 2.0 / (1.0 + 2.0 * rms * power.sqrt())];

        for (frame, x) in samples.iter().enumerate() {
            let phases = oscillators.map(|own| octave * (own.phase + own.step * frame as f64));
            let played = if sound.voice == Voice::Chip {
                chip.next(frame, *x, &phases)
            } else {
                let notes = oscillators.iter().zip(&series).zip(phases);
                let played = notes.map(|((own, series), phase)| {
                    between(own.gains, frame) * waveform(series, phase)
                });
                played.sum()
            };
            low_pass += low_pass_step * (unit * played - low_pass);
            wet.push(between(gains, frame + 1) * low_pass);
            bank.next(*x);
            total_powers[frame] = bank.total_power();
            if (frame + 1) % LOOK == 0 {
                for (own, resonator) in oscillators.iter_mut().zip(&bank.resonators) {
                    own.look(resonator, BLOCK - frame - 1);
                }
            }
        }
    }
    wet
}

impl Oscillator {
    /// Looks at the oscillation of the `resonator`, `left` samples before the end of the block.
    fn look(&mut self, resonator: &Resonator, left: usize) {
        let quadrature = resonator.quadrature(self.frequency);
        let angle = quadrature.atan2(resonator.output()) + self.nominal * left as f64;
        let amplitude = quadrature.hypot(resonator.output());
        self.looks[0] += amplitude * angle.cos();
        self.looks[1] += amplitude * angle.sin();
    }

    /// Begins a block: the oscillator goes to the low-passed phase of the last block's looks. At the `first` one the
    /// resonators rest.
    fn lock(&mut self, sample_rate: f64, first: bool) {
        let wrapped = |angle: f64| angle - TAU * (angle / TAU).round();
        let block = BLOCK as f64;
        let [re, im] = std::mem::take(&mut self.looks);
        let phase = im.atan2(re);
        let amplitude = im.hypot(re) * LOOK as f64 / block;
        let mut turn = wrapped(phase - self.measured - block * self.nominal);
        if first || amplitude > 2.0 * self.amplitudes[AMPLITUDE_POLES - 1] {
            self.span = 1.0;
        } else {
            self.span += block / (OPENING * sample_rate);
        }
        let slowest = 1.0 / (1.0 - (-TAU * POLE * block / sample_rate).exp());
        self.span = self.span.min(slowest);
        if first {
            turn = 0.0;
        } else {
            self.phase += self.step * block;
        }
        for lag in &mut self.lags {
            let before = *lag;
            *lag = (before + turn) * (1.0 - 1.0 / self.span);
            turn += before - *lag;
        }
        let mut input = amplitude;
        for output in &mut self.amplitudes {
            *output += (input - *output) / self.span;
            input = *output;
        }
        let followed = phase - self.lags.iter().sum::<f64>();
        let within = |step: f64| step.clamp(self.nominal / 2.0, self.nominal * 2.0);
        self.step = within(self.nominal + wrapped(followed - self.phase) / block);
        self.frequency = within(self.nominal + turn / block);
        self.measured = phase;
    }
}

/// `from` at the start of a block and `to` at its end, before the sample `frame`.
pub(crate) fn between([from, to]: [f64; 2], frame: usize) -> f64 {
    from + (to - from) * frame as f64 / BLOCK as f64
}

/// The cutoff in Hz of the voices' low-pass, for a `tone` in Hz: infinite at the top of the range.
fn cutoff(tone: f64) -> f64 {
    tone / (1.0 - (tone / 20_000.0).powi(4))
}

/// The number of harmonics of a note of `frequency` Hz: 1, 2, 3 and so on in steps of 19 %, up to 400. They stay below
/// half the sample rate if the note is half a semitone sharp.
pub(crate) fn harmonics(frequency: f64, sample_rate: f64) -> usize {
    let most = sample_rate / 2.0 / (frequency * (0.5f64 / 12.0).exp2());
    let next = |n: &usize| Some((119 * n / 100).max(n + 1));
    let counts = std::iter::successors(Some(1), next).take_while(|n| *n <= 400);
    counts.take_while(|n| *n as f64 <= most).last().unwrap_or(0)
}

/// The sum of harmonics, as cosine and sine of each, at the phase of the first: the real part of a polynomial of
/// `e^(i phase)`, by Horner's rule.
pub(crate) fn waveform(series: &[[f64; 2]], phase: f64) -> f64 {
    let (sin, cos) = phase.sin_cos();
    let add = |(re, im): (f64, f64), [cosine, sine]: &[f64; 2]| {
        let (re, im) = (re + cosine, im - sine);
        (re * cos - im * sin, re * sin + im * cos)
    };
    series.iter().rev().fold((0.0, 0.0), add).0
}

/// The `n`th harmonic of a waveform with a mean square of 1, as cosine and sine.
pub(crate) fn harmonic(voice: Voice, n: usize) -> [f64; 2] {
    let (odd, turn) = (n % 2 == 1, PI * n as f64);
    // 1 for a share of the period, 0 for the rest: the series of the textbook over the standard deviation.
    let pulse = |duty: f64| 2.0 / turn * (turn * duty).sin() / (duty * (1.0 - duty)).sqrt();
    match voice {
        Voice::Sine if n == 1 => [SQRT_2, 0.0],
        Voice::Square => [pulse(1.0 / 2.0), 0.0],
        Voice::Pulse25 => [pulse(1.0 / 4.0), 0.0],
        Voice::Pulse12 => [pulse(1.0 / 8.0), 0.0],
        Voice::Triangle if odd => [3f64.sqrt() * 8.0 / turn.powi(2), 0.0],
        Voice::Saw => {
            let (sine, cosine) = (turn / 2.0).sin_cos();
            [sine, cosine].map(|part| 3f64.sqrt() * 2.0 / turn * part)
        }
        // From 15 to 0 and back in 32 steps, whose mean square is 85/4.
        Voice::Chip if odd => [2.0 / (turn * (turn / 32.0).tan()) / (85f64 / 4.0).sqrt(), 0.0],
        Voice::Soft | Voice::SoftClean | Voice::Sine | Voice::Triangle | Voice::Chip => [0.0; 2],
    }
}

/// The first 400 harmonics of a sine of the effective value 1 that is driven into the soft clip: those of the two nearest of seven drives at
/// equal ratios from 1 to 400, in a straight line of the logarithm of the drive; and so for
/// their effective values.
fn driven(drive: f64) -> (Vec<f64>, f64) {
    let place = 6.0 * drive.ln() / 400f64.ln();
    let below = place.floor().min(5.0);
    let series = |shape: f64| -> Vec<f64> {
        let gain = SQRT_2 * 400f64.powf(shape / 6.0);
        let steps = 32_768;
        let angle = |step: usize| 2.0 * PI * step as f64 / steps as f64;
        let clipped: Vec<f64> = (0..steps)
            .map(|step| gain * angle(step).cos())
            .map(|driven| driven / (1.0 + driven.abs()))
            .collect();
        let harmonic = |n: usize| {
            let turned = |(step, y): (usize, &f64)| y * angle(n * step % steps).cos();
            2.0 / steps as f64 * clipped.iter().enumerate().map(turned).sum::<f64>()
        };
        (1..=400).map(harmonic).collect()
    };
    let rms = |series: &[f64]| (series.iter().map(|x| x * x).sum::<f64>() / 2.0).sqrt();
    let mixed = |low: f64, high: f64| low + (place - below) * (high - low);
    let (low, high) = (series(below), series(below + 1.0));
    let rms = mixed(rms(&low), rms(&high));
    (low.iter().zip(high).map(|(low, high)| mixed(*low, high)).collect(), rms)
}

/// The effective value that the soft clip gives a sine of the effective value 1 at a drive of 40: all waveforms have it.
///
/// With `k = 40 sqrt 2`, it is the root of the mean of `(k cos t / (1 + k cos t))^2` over a quarter of a period.
pub(crate) fn soft_rms() -> f64 {
    let k = 40.0 * SQRT_2;
    let s = (k * k - 1.0).sqrt();
    (1.0 - 4.0 / PI * k.acosh() / s + 2.0 / PI * (k / (s * s) - k.acosh() / s.powi(3))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_has_a_mean_square_of_one() {
        use Voice::{Chip, Pulse12, Pulse25, Saw, Sine, Square, Triangle};
        for voice in [Sine, Square, Pulse25, Pulse12, Triangle, Saw, Chip] {
            let squares = (1..100_000).flat_map(|n| harmonic(voice, n)).map(|part| part * part);
            let mean = squares.sum::<f64>() / 2.0;
            // What is left of a sum of 1 / n^2.
            assert!((mean - 1.0).abs() < 2e-5, "{voice:?}: {mean}");
        }
    }

    #[test]
    fn the_soft_clip_s_effective_value_is_that_of_the_mean_over_a_period() {
        let steps = 1_000_000;
        let square = |step: usize| {
            let driven = 40.0 * SQRT_2 * (PI / 2.0 * (step as f64 + 0.5) / steps as f64).cos();
            (driven / (1.0 + driven)).powi(2)
        };
        let mean = (0..steps).map(square).sum::<f64>() / steps as f64;
        assert!((soft_rms() - mean.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn as_many_harmonics_as_fit_below_half_the_rate() {
        let spare = (0.5f64 / 12.0).exp2();
        for (most, expected) in [(0.9, 0), (1.1, 1), (11.5, 11), (12.9, 11), (13.1, 13), (1e4, 343)]
        {
            assert_eq!(harmonics(24_000.0 / (most * spare), 48_000.0), expected, "{most}");
        }
    }
}
