//! The voices in f64: the sums of their harmonics, sample by sample, for one channel that nobody listens to.

use super::{Bank, TONES, chip::Chip};
use crate::bank::resonator::Design;
use crate::{
    constants::{Constants, low_pass_pole, voice_cutoff},
    lanes::BLOCK,
    notes::frequency,
    settings::{Settings, Voice},
    voice::{harmonic, harmonics, soft_rms},
};
use std::f64::consts::TAU;

/// The share of an error that is corrected in a block.
const CORRECTION: f64 = 0.25;

/// One oscillator.
#[derive(Debug, Clone, Copy, Default)]
struct Oscillator {
    /// Radians, of the note that is heard: at the start of the block, and what a sample adds.
    phase: f64,
    step: f64,
    /// Radians a sample.
    frequency: f64,
    measured: f64,
    power: f64,
    /// At the start and at the end of the block.
    gains: [f64; 2],
}

/// What a band's resonator shows at the start of a block.
#[derive(Debug, Clone, Copy)]
struct Seen {
    design: Design,
    /// Its last output and the one before, and the last two inputs.
    y: [f64; 2],
    x: [f64; 2],
}

impl Seen {
    /// Its oscillation a quarter of a period before the last output, if it oscillates at `w` radians a sample: by the
    /// two-integrator form, in which `lo` is what makes the last output of the one before and the input.
    fn quadrature(&self, w: f64) -> f64 {
        let Self { design: Design { radius: r, angle, gain }, y, x } = self;
        let squared = 1.0 + r * r - 2.0 * r * angle.cos();
        let lo = (gain * (x[0] + x[1]) + r * r * y[1] - y[0]) / squared;
        (w / 2.0).tan() * (2.0 * lo + y[0])
    }
}

/// The wet signal of `signal` with a voice other than the soft clip and without focus and auto; `sample_rate` in Hz.
pub fn process(settings: &Settings, sample_rate: f64, signal: &[f32]) -> Vec<f64> {
    let constants = Constants::new(settings, sample_rate);
    let mut bank = Bank::from_settings(settings, sample_rate);
    let mut oscillators = [Oscillator::default(); TONES];
    let (mut last, mut inputs) = ([0.0; TONES], [0.0; 2]);
    let (mut totals, mut gains) = ([0.0; BLOCK], [2.0; 2]);
    let (mut low_pass, mut wet) = (0.0, Vec::with_capacity(signal.len()));
    let pole = low_pass_pole(voice_cutoff(f64::from(settings.tone)), sample_rate);
    let octave = f64::from(settings.octave).exp2();
    let hertz = |tone| frequency(tone, f64::from(settings.tuning), f64::from(settings.transpose));
    let low = (0..TONES).filter(|tone| *tone as f32 + settings.transpose < 15.0).count();
    let mut chip = Chip::new(sample_rate, std::array::from_fn(|tone| octave * hertz(tone)), low);
    let series = |tone: usize| -> Vec<[f64; 2]> {
        let count = harmonics(hertz(tone) * octave, sample_rate);
        (1..=count).map(|n| harmonic(settings.voice, n).map(|part| soft_rms() * part)).collect()
    };
    let series: [Vec<[f64; 2]>; TONES] = std::array::from_fn(series);
    for (block, samples) in signal.chunks(BLOCK).enumerate() {
        let total = totals.iter().sum::<f64>() / BLOCK as f64;
        let gate = ((constants.threshold * total).max(constants.floor), constants.ceiling * total);
        let (mut sum, mut notes) = (0.0, Vec::new());
        for (tone, own) in oscillators.iter_mut().enumerate() {
            own.gains[0] = own.gains[1];
            if !settings.sounding_bands().contains(tone) {
                continue;
            }
            let y = bank.bands()[tone].resonance;
            let design = Design::new(hertz(tone), f64::from(settings.ring), sample_rate);
            let seen = Seen { design, y: [y, last[tone]], x: inputs };
            let q = own.lock(seen, block == 0);
            let level = q.min(q.powi(4) / gate.0.powi(3)).min(gate.1);
            own.power +=
                (1.0 - (1.0 - constants.band_step).powi(BLOCK as i32)) * (level - own.power);
            own.gains[1] = own.power.sqrt();
            sum += own.power;
            notes.push((q, TAU * hertz(tone) / sample_rate));
        }
        chip.begin_block(&oscillators.map(|own| own.gains[1]), gate.1, &notes);
        gains = [gains[1], 2.0 / (1.0 + 2.0 * soft_rms() * sum.sqrt())];
        for (frame, sample) in samples.iter().enumerate() {
            let phases = oscillators.map(|own| octave * (own.phase + own.step * frame as f64));
            let mut mixed = 0.0;
            if settings.voice == Voice::Chip {
                mixed = chip.next(frame, f64::from(*sample), &phases);
            }
            for ((own, series), phase) in oscillators.iter().zip(&series).zip(phases) {
                let gain = between(own.gains, frame);
                if settings.voice != Voice::Chip && gain > 0.0 {
                    let harmonic = |(n, [cosine, sine]): (usize, &[f64; 2])| {
                        let angle = (n + 1) as f64 * phase;
                        cosine * angle.cos() + sine * angle.sin()
                    };
                    mixed += gain * series.iter().enumerate().map(harmonic).sum::<f64>();
                }
            }
            low_pass += (1.0 - pole) * (mixed - low_pass);
            wet.push(between(gains, frame + 1) * low_pass);
            last = bank.bands().map(|band| band.resonance);
            inputs = [f64::from(*sample), inputs[0]];
            bank.next(inputs[0]);
            totals[frame] = bank.total_power();
        }
    }
    wet
}

/// A straight line from the start of a block to its end.
fn between([from, to]: [f64; 2], frame: usize) -> f64 {
    from + (to - from) * frame as f64 / BLOCK as f64
}

impl Oscillator {
    /// Begins a block of a band that shows what is `seen`. Returns the power of its oscillation.
    fn lock(&mut self, seen: Seen, first: bool) -> f64 {
        let wrapped = |angle: f64| angle - TAU * (angle / TAU).round();
        if first {
            self.frequency = seen.design.angle;
        }
        let quadrature = seen.quadrature(self.frequency);
        let phase = quadrature.atan2(seen.y[0]);
        if first {
            self.phase = phase;
        } else {
            self.phase += self.step * BLOCK as f64;
            let turned = phase - self.measured - BLOCK as f64 * self.frequency;
            self.frequency += CORRECTION * wrapped(turned) / BLOCK as f64;
        }
        self.step = self.frequency + CORRECTION * wrapped(phase - self.phase) / BLOCK as f64;
        self.measured = phase;
        (seen.y[0].powi(2) + quadrature.powi(2)) / 2.0
    }
}
