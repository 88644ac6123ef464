//! Sound chip of an 8-bit console, the 2A03, that plays the detected notes: two pulses, a triangle, and noise for sound outside
//! the notes.
//!
//! `docs/dsp.md` has the formulas; the crate `tone-filter-reference` computes them in f64.

mod arrange;
mod noise;

pub use arrange::{Arrangement, Arranger};
use arrange::{BASS, LEAD, LOUDEST, OTHERS};
use noise::Noise;

use super::{
    block_positions,
    oscillators::{Oscillators, RenderJob},
    timbres::Timbre,
    waveform::{STEPS_RMS, Waveforms},
};
use crate::{
    bank::low_pass_pole,
    lanes::{BLOCK, Lanes},
    notes::TONES,
    ramp::Ramp,
    settings::{Duty, Voice},
};
use std::f32::consts::TAU;
use tone_filter_simd::Kernel;

/// Ratio between the wanted and the current [`Chip::unit`] beyond which the unit changes: 0.5 dB, up or down.
const DRIFT: f32 = 1.06;

/// Cutoff in Hz of the high-pass at the chip's output, as in the Famicom. The console's other model has stronger high-passes,
/// which would take 16 dB off the bass at 100 Hz.
const HIGH_PASS: f64 = 37.0;
/// Cutoff in Hz of the low-pass at the chip's output.
const LOW_PASS: f64 = 14_000.0;
/// Number of ticks per second. At each tick, the notes get their parts and volumes.
pub const TICKS: f64 = 60.0;

/// Registers of a pulse between two ticks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChipPulse {
    /// Frequency in Hz; 0 while the pulse is silent.
    pub frequency: f32,
    /// Half the peak-to-peak height; full scale is 1.
    pub amplitude: f32,
    /// Duty: the fraction of a period for which the pulse is high.
    pub duty: f32,
}

/// Registers of the noise between two ticks.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChipNoise {
    /// Half the peak-to-peak height; full scale is 1. 0 while the noise is silent.
    pub amplitude: f32,
    /// Index of the rate of the shift register among the chip's 16 rates; 0 is the fastest.
    pub rate: u8,
}

/// Registers of the voice Chip between two ticks of 60 Hz.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ChipTick {
    /// Number of the tick: 1 is the first one after the voice was chosen.
    pub number: u64,
    /// Lead, and the strongest of the other notes.
    pub pulses: [ChipPulse; 2],
    /// Frequency of the triangle in Hz; 0 while it is silent. The triangle has no volume.
    pub triangle: f32,
    /// Registers of the noise.
    pub noise: ChipNoise,
    /// Power of the input in the octave around 66 Hz, by which bass drums are told from others. Not a register.
    pub bass: f32,
}

/// Waveform of a part.
#[derive(Debug, Clone, Copy)]
struct Sound {
    voice: Voice,
    /// Mean of the waveform at a volume of 1.
    mean: f64,
    /// RMS of the waveform at a volume of 1, without its mean.
    rms: f64,
}

impl Sound {
    fn pulse(duty: Duty) -> Self {
        let mean = duty.share();
        Self { voice: duty.voice(), mean, rms: (mean * (1.0 - mean)).sqrt() }
    }

    /// Returns the sounds of lead, others and bass. The triangle's mean is 0 here: a silent triangle holds its output.
    fn of_parts(lead: Duty) -> [Self; 3] {
        let rms = STEPS_RMS / f64::from(LOUDEST);
        let bass = Self { voice: Voice::Chip, mean: 0.0, rms };
        [Self::pulse(lead), Self::pulse(Duty::Half), bass]
    }
}

/// One of the mixer's two curves, `a u / (b + c u)` for an input `u`.
#[derive(Debug, Clone, Copy)]
struct Curve {
    a: f64,
    b: f64,
    c: f64,
}

/// Mixer curve for the sum of the volumes of the pulses.
const PULSES: Curve = Curve { a: 95.88, b: 8128.0, c: 100.0 };
/// Mixer curve for `triangle / 8227 + noise / 12241`.
const REST: Curve = Curve { a: 159.79, b: 1.0, c: 100.0 };
/// Weights of triangle and noise in the input of [`REST`].
const SHARES: [f64; 2] = [1.0 / 8227.0, 1.0 / 12_241.0];

/// Returns the factor that normalises a square at full volume to RMS 1.
fn scale() -> f64 {
    let Curve { a, b, c } = PULSES;
    let volume = f64::from(LOUDEST);
    2.0 * (b + c * volume) / (a * volume)
}

impl Curve {
    /// Returns the output for `mean + low + high`, less the output for `mean`. `low` follows the curve, `high` its slope at
    /// `mean`. Products of components below a quarter of the sample rate stay below half of it, so nothing aliases.
    #[inline(always)]
    fn apply(self, mean: f32, low: f32, high: f32) -> f32 {
        let Self { a, b, c } = self;
        let (a, b, c) = (a as f32, b as f32, c as f32);
        let at_mean = b + c * mean;
        a * b / at_mean * (low / (at_mean + c * low) + high / at_mean)
    }
}

#[derive(Debug, Clone)]
pub struct Chip {
    sample_rate: f64,
    /// Samples until the next tick, times [`TICKS`]. The product is a whole number, so that a tick at the border of two blocks is
    /// exact.
    samples_left: f64,
    pub arranger: Arranger,
    /// Volumes of the notes in each part at the last tick.
    held: [Lanes; 3],
    /// Volumes of the notes in each part in the current block.
    volumes: [Ramp<Lanes>; 3],
    /// Amplitude of the volume [`LOUDEST`].
    unit: Ramp<f32>,
    noise: Noise,
    noise_volume: Ramp<f32>,
    /// Samples of the noise, -1..1, for the input that was read last.
    hiss: [f32; BLOCK],
    /// Poles of the high-pass and the low-pass at the output.
    poles: [f32; 2],
    filters: [f32; 2],
    /// Registers as of the last tick.
    pub latest: ChipTick,
}

/// Inputs of a block.
#[derive(Debug, Clone, Copy)]
pub struct ChipInput<'a> {
    pub oscillators: &'a Oscillators,
    /// Frequencies of the bands in radians a sample.
    pub angles: &'a Lanes,
    /// Maximum power of a note.
    pub high: f32,
    pub timbre: &'a Timbre,
    pub arrangement: &'a Arrangement,
}

impl Chip {
    pub fn new(sample_rate: f64) -> Self {
        let pole = |hertz| low_pass_pole(hertz, sample_rate) as f32;
        Self {
            sample_rate,
            samples_left: 0.0,
            arranger: Arranger::new(),
            held: [Lanes::ZERO; 3],
            volumes: [Ramp::rest(Lanes::ZERO); 3],
            unit: Ramp::rest(0.0),
            noise: Noise::new(sample_rate),
            noise_volume: Ramp::rest(0.0),
            hiss: [0.0; BLOCK],
            poles: [pole(HIGH_PASS), pole(LOW_PASS)],
            filters: [0.0; 2],
            latest: ChipTick::default(),
        }
    }

    /// Begins a block: sets the volumes. At a tick, also assigns the parts.
    pub fn begin_block(&mut self, input: ChipInput) {
        let amplitudes = &input.oscillators.gains.to;
        self.arranger.follow(amplitudes);
        if self.samples_left <= 0.0 {
            self.samples_left = (self.samples_left + self.sample_rate).max(0.0);
            self.tick(&input);
        } else {
            self.unit.stay();
            self.noise_volume.stay();
        }
        self.samples_left -= BLOCK as f64 * TICKS;
        // A silent band has no phase, so its note stops at once.
        for (volume, held) in self.volumes.iter_mut().zip(&self.held) {
            let sounding = |tone| if amplitudes.0[tone] > 0.0 { held.0[tone] } else { 0.0 };
            volume.next(Lanes::of(sounding));
        }
    }

    /// Sets part and volume of each note, and the volume of the noise.
    fn tick(&mut self, input: &ChipInput) {
        let (now, before) = (input.high.sqrt(), self.unit.to);
        let drifts = now > DRIFT * before || before > DRIFT * now;
        let unit = if drifts { now } else { before };
        self.unit.next(unit);
        self.held = self.arranger.tick(input.arrangement, &input.oscillators.gains.to, unit);
        let powers = input.oscillators.amplitudes.0.iter().zip(&input.angles.0);
        let noise = self.noise.tick(powers.map(|(a, angle)| (0.5 * a * a, *angle)));
        let exact = LOUDEST * noise / unit.max(f32::MIN_POSITIVE);
        self.noise_volume.next((exact + 0.5).floor().min(LOUDEST));
        self.latest = self.registers(input, unit / LOUDEST);
    }

    /// Returns the registers of the hardware; `step` is the amplitude of a volume of 1.
    fn registers(&self, input: &ChipInput, step: f32) -> ChipTick {
        let scale = self.sample_rate as f32 * libm::exp2f(input.timbre.octave as f32);
        // A strong neighbour may pull an oscillator away from its note.
        let limit = libm::exp2f(0.4 / 12.0);
        let frequency = |tone: usize| {
            let nominal = input.angles.0[tone] / TAU;
            let played = input.oscillators.frequency(tone).clamp(nominal / limit, nominal * limit);
            scale * played * input.oscillators.pitch.ratio(tone)
        };
        let amplitudes = &input.oscillators.gains.to;
        let loudest = |part: usize| {
            let sounding = (0..TONES).filter(|tone| self.held[part].0[*tone] > 0.0);
            sounding.max_by(|a, b| amplitudes.0[*a].total_cmp(&amplitudes.0[*b]))
        };
        let pulse = |part: usize, duty: Duty| {
            let duty = duty.share() as f32;
            loudest(part).map_or(ChipPulse { duty, ..ChipPulse::default() }, |tone| ChipPulse {
                frequency: frequency(tone),
                amplitude: step * self.held[part].0[tone],
                duty,
            })
        };
        ChipTick {
            number: self.latest.number + 1,
            pulses: [pulse(LEAD, input.timbre.duty), pulse(OTHERS, Duty::Half)],
            triangle: loudest(BASS).map_or(0.0, frequency),
            noise: ChipNoise { amplitude: step * self.noise_volume.to, rate: self.noise.rate },
            bass: self.noise.powers[2],
        }
    }

    /// Measures `input` for the noise, and renders as many samples of noise.
    pub fn read_noise(&mut self, input: &[f32]) {
        self.hiss = [0.0; BLOCK];
        self.noise.process(input, &mut self.hiss);
    }

    /// Adds the mixer's output to `sums`, which start at `position` in the block. [`Chip::read_noise`] must have read the input
    /// of these samples.
    pub fn mix(
        &self,
        kernel: Kernel,
        oscillators: &Oscillators,
        timbre: &Timbre,
        share: Ramp<f32>,
        position: usize,
        sums: &mut [f32],
    ) {
        let frames = sums.len();
        let waveforms = Waveforms::shared();
        let sounds = Sound::of_parts(timbre.duty);
        // Returns the sum of `parts` with all harmonics, and with the harmonics below a quarter of the sample rate.
        let render = |parts: &[usize]| {
            timbre.levels.each_ref().map(|levels| {
                let mut sum = [0.0; BLOCK];
                for &part in parts {
                    let Sound { voice, rms, .. } = sounds[part];
                    let job = RenderJob {
                        row: waveforms.row(voice),
                        levels,
                        octave: timbre.octave,
                        gains: &self.volumes[part],
                        share: Ramp::rest((rms / waveforms.rms) as f32),
                        pans: None,
                        position,
                        frames,
                    };
                    oscillators.render(kernel, job, &mut sum, &mut [0.0; BLOCK]);
                }
                sum
            })
        };
        let pulses = render(&[LEAD, OTHERS]);
        let triangle = render(&[BASS]);
        let mean = |part: usize| {
            let mean = sounds[part].mean as f32;
            self.volumes[part].map(|volumes| mean * volumes.0.iter().sum::<f32>())
        };
        let [lead, others] = [LEAD, OTHERS].map(mean);
        let mean = Ramp::between(lead.from + others.from, lead.to + others.to);
        let [triangle_share, noise_share] = SHARES.map(|share| share as f32);
        let scale = (waveforms.rms * scale()) as f32;
        let mut mixed = [0.0; BLOCK];
        // Computes a whole block, even if fewer samples are needed, because only a loop of a constant length is vectorised.
        kernel.vectorize(
            #[inline(always)]
            || {
                for (frame, (at, mixed)) in block_positions(position).zip(&mut mixed).enumerate() {
                    let [all, low] = pulses.each_ref().map(|sum| sum[frame]);
                    let pulses = PULSES.apply(mean.at(at), low, all - low);
                    let [all, low] = triangle.each_ref().map(|sum| triangle_share * sum[frame]);
                    let hiss = 0.5 * noise_share * self.noise_volume.at(at);
                    let mean = 0.5 * LOUDEST * triangle_share + hiss;
                    let rest = REST.apply(mean, low + hiss * self.hiss[frame], all - low);
                    *mixed = share.at(at) * scale * self.unit.at(at) * (pulses + rest);
                }
            },
        );
        sums.iter_mut().zip(mixed).for_each(|(sum, mixed)| *sum += mixed);
    }

    /// Filters the chip's `samples` as the output of the console does.
    pub fn filter(&mut self, samples: &mut [f32]) {
        // In each filter, only a product and a sum depend on the previous sample.
        let poles = self.poles;
        let steps = poles.map(|pole| 1.0 - pole);
        let [mut low, mut out] = self.filters;
        for sample in samples {
            low = poles[0] * low + steps[0] * *sample;
            out = poles[1] * out + steps[1] * (*sample - low);
            *sample = out;
        }
        self.filters = [low, out];
    }
}
