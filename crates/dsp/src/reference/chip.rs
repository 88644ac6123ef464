//! The chip in f64: sums of harmonics, sample by sample.

use super::TONES;
use crate::{
    constants::low_pass_pole,
    lanes::BLOCK,
    settings::Voice,
    voice::{harmonic, harmonics, soft_rms},
};
use std::f64::consts::{PI, SQRT_2, TAU};

const RATES: [f64; 16] = [
    4.0, 8.0, 16.0, 32.0, 64.0, 96.0, 128.0, 160.0, 202.0, 254.0, 380.0, 508.0, 762.0, 1016.0,
    2034.0, 4068.0,
];

/// Volumes: of the pulse of 25 %, of the squares, of the triangle.
type Volumes = [[f64; TONES]; 3];

/// The waveforms of the three parts with an effective value of 1, times `rms`, around `mean`.
const PARTS: [(Voice, f64, f64); 3] = [
    (Voice::Pulse25, 0.433_012_701_892_219_3, 0.25),
    (Voice::Square, 0.5, 0.5),
    (Voice::Chip, 4.609_772_228_646_444 / 15.0, 0.0),
];

/// The chip of one bank.
#[derive(Debug)]
pub(crate) struct Chip {
    sample_rate: f64,
    /// Frequencies of the notes that sound, in Hz.
    hertz: [f64; TONES],
    /// How many of them lie below C5.
    low: usize,
    left: f64,
    volume: [f64; TONES],
    held: Volumes,
    volumes: [Volumes; 2],
    noise_volumes: [f64; 2],
    units: [f64; 2],
    octave: Section,
    above: Section,
    powers: [f64; 2],
    share: f64,
    rate: f64,
    register: u32,
    clock: f64,
    filters: [f64; 3],
}

impl Chip {
    /// At rest, for notes of `hertz`.
    pub(crate) fn new(sample_rate: f64, hertz: [f64; TONES], low: usize) -> Self {
        let angle = |hertz: f64| (TAU * hertz / sample_rate).min(0.9 * PI);
        Self {
            sample_rate,
            hertz,
            low,
            left: 0.0,
            volume: [0.0; TONES],
            held: [[0.0; TONES]; 3],
            volumes: [[[0.0; TONES]; 3]; 2],
            noise_volumes: [0.0; 2],
            units: [0.0; 2],
            octave: Section::octave(angle(4000.0 * SQRT_2)),
            above: Section::above(angle(8000.0)),
            powers: [0.0; 2],
            share: 0.01,
            rate: RATES[10],
            register: 1,
            clock: 1.0,
            filters: [0.0; 3],
        }
    }

    /// Begins a block in which the notes sound with the amplitudes `gains`, at most with the power `high`, while the
    /// bands hear `notes`: their powers, and their frequencies in radians a sample.
    pub(crate) fn begin_block(&mut self, gains: &[f64; TONES], high: f64, notes: &[(f64, f64)]) {
        self.volumes[0] = self.volumes[1];
        self.noise_volumes[0] = self.noise_volumes[1];
        self.units[0] = self.units[1];
        if self.left <= 0.0 {
            self.left = (self.left + self.sample_rate / 60.0).max(0.0);
            self.tick(gains, high.sqrt(), notes);
        }
        self.left -= BLOCK as f64;
        for (now, held) in self.volumes[1].iter_mut().zip(&self.held) {
            for tone in 0..TONES {
                now[tone] = if gains[tone] > 0.0 { held[tone] } else { 0.0 };
            }
        }
    }

    fn tick(&mut self, gains: &[f64; TONES], unit: f64, notes: &[(f64, f64)]) {
        if unit > 1.06 * self.units[1] || self.units[1] > 1.06 * unit {
            self.units[1] = unit;
        }
        let unit = self.units[1].max(1e-38);
        let volume = |gain: f64| (15.0 * gain / unit).min(15.0);
        for (held, gain) in self.volume.iter_mut().zip(gains) {
            if (volume(*gain) - *held).abs() > 0.75 {
                *held = volume(*gain).round();
            }
        }
        let volumes = self.volume;
        let sounding: Vec<usize> = (0..TONES).filter(|tone| volumes[*tone] > 0.0).collect();
        let bass = sounding.first().copied().filter(|tone| *tone < self.low);
        let strength = |tone: &usize| {
            gains[*tone] * if self.held[0][*tone] > 0.0 { 10f64.powf(3.0 / 20.0) } else { 1.0 }
        };
        let above = || sounding.iter().copied().filter(|tone| Some(*tone) != bass);
        let lead = above().rev().max_by(|a, b| strength(a).total_cmp(&strength(b)));
        self.held = [[0.0; TONES]; 3];
        for tone in above() {
            self.held[usize::from(Some(tone) != lead)][tone] = volumes[tone];
        }
        if let Some(bass) = bass {
            self.held[2][bass] = 15.0;
        }

        let [octave, above] = self.powers;
        self.noise_volumes[1] = 0.0;
        if octave > f64::from(f32::MIN_POSITIVE) {
            let brightness = (above / octave).max(1e-3).log2();
            self.rate = RATES[(7.0 - 1.5 * brightness).round().clamp(4.0, 10.0) as usize];
            let passed = |(power, angle): &(f64, f64)| {
                let ratio = angle / (TAU * 4000.0 * SQRT_2 / self.sample_rate);
                power / (1.0 + 2.0 * (ratio - 1.0 / ratio).powi(2))
            };
            let passed: f64 = notes.iter().map(passed).sum();
            let notes: f64 = notes.iter().map(|(power, _)| power).sum();
            let explained = 4.0 * (passed + self.share * notes);
            self.noise_volumes[1] = volume((0.5 * (octave - explained).max(0.0)).sqrt()).round();
            let grown = self.share * (1f64 / 18.0).exp();
            self.share = grown.min((octave - passed).max(0.0) / notes.max(1e-38)).clamp(1e-6, 1.0);
        }
    }

    /// The sample `frame` of the block, while the bank hears `x`. `phases` are those of the notes that sound, in
    /// radians.
    pub(crate) fn next(&mut self, frame: usize, x: f64, phases: &[f64; TONES]) -> f64 {
        let at = (frame + 1) as f64 / BLOCK as f64;
        let line = |[from, to]: [f64; 2]| from + at * (to - from);
        let early = |from: f64, to: f64| from + (to - from) * frame as f64 / BLOCK as f64;
        // All harmonics, and those below a quarter of the rate.
        let mut sums = [[0.0; 3]; 2];
        let mut means = [0.0; 2];
        for (part, (voice, rms, mean)) in PARTS.into_iter().enumerate() {
            for (tone, phase) in phases.iter().enumerate() {
                let [from, to] = [0, 1].map(|end| self.volumes[end][part][tone]);
                means[0] += mean * from;
                means[1] += mean * to;
                if from == 0.0 && to == 0.0 {
                    continue;
                }
                for (sum, rate) in sums.iter_mut().zip([self.sample_rate, 0.5 * self.sample_rate]) {
                    let series = (1..=harmonics(self.hertz[tone], rate)).map(|n| {
                        let [cosine, sine] = harmonic(voice, n);
                        let angle = n as f64 * phase;
                        cosine * angle.cos() + sine * angle.sin()
                    });
                    sum[part] += early(from, to) * rms * series.sum::<f64>();
                }
            }
        }
        let [all, low] = sums.map(|[lead, others, triangle]| [lead + others, triangle / 8227.0]);
        // Slopes by a small difference.
        let bend = |curve: &dyn Fn(f64) -> f64, mean: f64, low: f64, high: f64, by: f64| {
            let slope = (curve(mean + by) - curve(mean - by)) / (2.0 * by);
            curve(mean + low) - curve(mean) + slope * high
        };
        let pulses = |sum: f64| 95.88 * sum / (8128.0 + 100.0 * sum);
        let rest = |sum: f64| 159.79 / (1.0 / sum + 100.0);
        let hiss = line(self.noise_volumes) / 2.0 / 12_241.0;
        let noise = self.noise(x);
        let mixed = bend(&pulses, line(means), low[0], all[0] - low[0], 1e-3)
            + bend(&rest, 7.5 / 8227.0 + hiss, low[1] + hiss * noise, all[1] - low[1], 1e-6);
        let mut sample = mixed;
        for (filter, hertz) in self.filters.iter_mut().zip([90.0, 440.0, 14_000.0]) {
            *filter += (1.0 - low_pass_pole(hertz, self.sample_rate)) * (sample - *filter);
            sample = if hertz < 1000.0 { sample - *filter } else { *filter };
        }
        // A square of volume 15 alone is as loud as the waveforms.
        let square = pulses(15.0) / 2.0;
        soft_rms() / square * line(self.units) * sample
    }

    /// Hears `x`; what the register gives meanwhile.
    fn noise(&mut self, x: f64) -> f64 {
        let step = 1.0 - (-1.0 / (0.005 * self.sample_rate)).exp();
        for (power, y) in self.powers.iter_mut().zip([self.octave.next(x), self.above.next(x)]) {
            *power += step * (y * y - *power);
        }
        let clocks = 1_789_773.0 / self.rate / self.sample_rate;
        let (mut sum, mut rest) = (0.0, clocks);
        while rest > 0.0 {
            let part = rest.min(self.clock);
            sum += if self.register.is_multiple_of(2) { part } else { -part };
            rest -= part;
            self.clock -= part;
            if self.clock <= 0.0 && rest > 0.0 {
                self.clock = 1.0;
                let feedback = (self.register ^ (self.register >> 1)) % 2;
                self.register = self.register / 2 + feedback * 0x4000;
            }
        }
        sum / clocks
    }
}

/// A filter of two poles, by its difference equation.
#[derive(Debug)]
struct Section {
    b: [f64; 3],
    a: [f64; 3],
    x: [f64; 2],
    y: [f64; 2],
}

impl Section {
    fn octave(angle: f64) -> Self {
        let alpha = angle.sin() / (2.0 * SQRT_2);
        Self::new([alpha, 0.0, -alpha], angle, alpha)
    }

    fn above(angle: f64) -> Self {
        let half = (1.0 + angle.cos()) / 2.0;
        Self::new([half, -2.0 * half, half], angle, angle.sin() / SQRT_2)
    }

    fn new(b: [f64; 3], angle: f64, alpha: f64) -> Self {
        let a = [1.0 + alpha, -2.0 * angle.cos(), 1.0 - alpha];
        Self { b, a, x: [0.0; 2], y: [0.0; 2] }
    }

    fn next(&mut self, x: f64) -> f64 {
        let Self { b, a, x: [x1, x2], y: [y1, y2] } = *self;
        let y = (b[0] * x + b[1] * x1 + b[2] * x2 - a[1] * y1 - a[2] * y2) / a[0];
        (self.x, self.y) = ([x, x1], [y, y1]);
        y
    }
}
