//! The oscillators, which are phase-locked to their resonators.

use crate::{BLOCK, Resonator};
use std::f64::consts::TAU;

/// Samples between two sampling instants of a resonator's oscillation.
pub(crate) const PHASE_INTERVAL: usize = 8;

/// Number of poles of the phase's low-pass.
const PHASE_POLES: usize = 4;
/// Number of poles of the low-passes of amplitude and total power.
pub(crate) const AMPLITUDE_POLES: usize = 2;
/// Frequency of each pole in Hz.
pub(crate) const POLE: f64 = 28.0;

/// Time in seconds in which `span`, the poles' time constant, grows by one block while a note sounds.
const OPENING: f64 = 0.012;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Oscillator {
    /// Phase of the detected note at the start of the block in radians.
    pub phase: f64,
    /// Phase step of a sample in radians.
    pub step: f64,
    /// Nominal frequency of the note in radians a sample.
    pub nominal: f64,
    /// Measured frequency of the resonator's oscillation in radians a sample.
    frequency: f64,
    /// Sum of the oscillation at the sampling instants, each turned to the end of the block: real and imaginary part.
    phase_sum: [f64; 2],
    /// Number of sampling instants in `phase_sum`.
    phase_count: f64,
    /// Whether the oscillator follows the measured phase.
    pub locked: bool,
    /// Measured phase at the start of the block in radians.
    measured: f64,
    /// Rotation beyond the nominal frequency, in radians, that each pole of the phase's low-pass still holds back.
    lags: [f64; PHASE_POLES],
    /// Outputs of the poles of the amplitude's low-pass.
    amplitudes: [f64; AMPLITUDE_POLES],
    /// Time constant of the poles in blocks: the inverse of their coefficient.
    span: f64,
}

impl Oscillator {
    /// Creates an oscillator at rest, for a resonator of `nominal` radians a sample.
    pub fn new(nominal: f64) -> Self {
        Self {
            phase: 0.0,
            step: nominal,
            nominal,
            frequency: nominal,
            phase_sum: [0.0; 2],
            phase_count: 0.0,
            locked: false,
            measured: 0.0,
            lags: [0.0; PHASE_POLES],
            amplitudes: [0.0; AMPLITUDE_POLES],
            span: 1.0,
        }
    }

    /// Returns the low-passed amplitude of the resonator's oscillation; 0 while the oscillator does not follow the phase.
    pub fn amplitude(&self) -> f64 {
        if self.locked { self.amplitudes[AMPLITUDE_POLES - 1] } else { 0.0 }
    }

    /// Samples the oscillation of the `resonator`, `samples_left` samples before the end of the block.
    pub fn sample_phase(&mut self, resonator: &Resonator, samples_left: usize) {
        let quadrature = resonator.quadrature(self.frequency);
        let angle = quadrature.atan2(resonator.bp) + self.nominal * samples_left as f64;
        let amplitude = quadrature.hypot(resonator.bp);
        self.phase_sum[0] += amplitude * angle.cos();
        self.phase_sum[1] += amplitude * angle.sin();
        self.phase_count += 1.0;
    }

    /// Discards the oscillation sampled so far.
    pub fn forget_phases(&mut self) {
        self.phase_sum = [0.0; 2];
    }

    /// Begins a block: the oscillator moves to the low-passed phase of the last block. It follows the phase only while `locked`,
    /// which means that the note sounds or has just sounded. When it is locked again, it starts at the phase of its resonator.
    pub fn lock(&mut self, sample_rate: f64, resonator: &Resonator, locked: bool) {
        if self.phase_count == 0.0 {
            self.sample_phase(resonator, 0);
        }
        let wrapped = |angle: f64| angle - TAU * (angle / TAU).round();
        let block = BLOCK as f64;
        let [re, im] = std::mem::take(&mut self.phase_sum);
        let phase = im.atan2(re);
        let amplitude = im.hypot(re) / std::mem::take(&mut self.phase_count);
        let mut turn = wrapped(phase - self.measured - block * self.nominal);
        if !self.locked || amplitude > 2.0 * self.amplitude() {
            self.span = 1.0;
        } else {
            self.span += block / (OPENING * sample_rate);
        }
        let slowest = 1.0 / (1.0 - (-TAU * POLE * block / sample_rate).exp());
        self.span = self.span.min(slowest);
        if !self.locked {
            (turn, self.lags) = (0.0, [0.0; PHASE_POLES]);
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
        let followed = wrapped(phase - self.lags.iter().sum::<f64>());
        self.phase = if self.locked { self.phase + self.step * block } else { followed };
        let within = |step: f64| step.clamp(self.nominal / 2.0, self.nominal * 2.0);
        self.step = within(self.nominal + wrapped(followed - self.phase) / block);
        self.frequency = within(self.nominal + turn / block);
        (self.measured, self.locked) = (phase, locked);
    }
}
