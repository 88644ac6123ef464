//! The listener: decides on notes from a signal, as `docs/listening.md` describes.

use crate::network::{BANKS, DETECTORS, FIRST_NOTE, NOTES, Network, Seen, Weights};
use std::{collections::VecDeque, f64::consts::TAU};

/// Parameters of each bank: detuning in semitones, decay in 1/s as a multiple of the frequency in Hz, and minimum decay in 1/s.
const TUNINGS: [(f64, f64, f64); BANKS] =
    [(0.0, 0.15, 16.0), (-0.25, 0.05, 7.0), (0.25, 0.05, 7.0)];
/// Maximum frequency of a detector relative to its sample rate. Detectors above are off.
const HIGHEST: f64 = 0.45;
/// Delay of the decisions with lookahead, in frames.
const LOOKAHEAD: usize = 4;
/// Log odds with lookahead above which a note counts as a voice.
const SURE: f64 = 2.0;
/// Maximum distance in semitones between sure notes that count as one voice.
const APART: usize = 2;
/// Mean number of voices below which the music counts as a single voice.
const ONE: f64 = 1.4;
/// Initial mean number of voices.
const UNKNOWN: f64 = 1.45;
/// Steps of the mean per frame, up and down.
const STEPS: [f64; 2] = [0.02, 0.006];
/// Increase of the threshold while there is one voice, for a note that starts without a detected onset.
const RAISE: f64 = 1.0;

/// Decisions of one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// Whether each note is played.
    pub on: [bool; NOTES],
    /// Whether each note has just begun.
    pub begun: [bool; NOTES],
    /// Log odds of each note: that it is played now, that it was played four frames ago, and that it has begun, for the same two
    /// times.
    pub logits: Vec<[f64; 4]>,
    /// Power of the input at each note's frequency at the end of the frame: 0.5 for a full-scale sine.
    pub power: [f64; NOTES],
}

/// Listener with constant settings.
pub struct Listener {
    /// Decimation factor before the detectors.
    decimation: usize,
    /// Length of a frame in samples of the input.
    frame: usize,
    low_pass: Vec<f64>,
    /// Number of samples since the start.
    time: usize,
    channels: Vec<Channel>,
    network: Network,
    looks_ahead: bool,
    on: [bool; NOTES],
    /// Mean number of voices.
    voices: f64,
}

#[derive(Debug, Clone)]
struct Channel {
    /// Last samples, newest first.
    samples: VecDeque<f64>,
    detectors: Vec<Detector>,
}

impl Listener {
    /// Creates a listener at rest for `channels` channels at `sample_rate` Hz, with A4 at `a4` Hz.
    pub fn new(
        sample_rate: f64,
        a4: f64,
        channels: usize,
        looks_ahead: bool,
        weights: Weights,
    ) -> Self {
        let decimation = (sample_rate / 11_500.0).round().max(1.0);
        let rate = sample_rate / decimation;
        let frame = decimation * (512.0 / 44_100.0 * rate).round();
        let low_pass =
            low_pass(4700f64.min(0.45 * sample_rate) / sample_rate, 12 * decimation as usize);
        let bank = |(detuning, share, least): (f64, f64, f64)| {
            (0..DETECTORS).map(move |n| {
                let frequency = a4 * ((n as f64 - 45.0 + detuning) / 12.0).exp2();
                Detector::new(frequency, (share * frequency).max(least), rate)
            })
        };
        let channel = Channel {
            samples: vec![0.0; low_pass.len()].into(),
            detectors: TUNINGS.into_iter().flat_map(bank).collect(),
        };
        Self {
            decimation: decimation as usize,
            frame: frame as usize,
            low_pass,
            time: 0,
            channels: vec![channel; channels],
            network: Network::new(sample_rate / frame, weights),
            looks_ahead,
            on: [false; NOTES],
            voices: UNKNOWN,
        }
    }

    /// Processes a sample of each channel. Returns the decisions at the end of a frame.
    pub fn next(&mut self, samples: &[f64]) -> Option<Decisions> {
        for (channel, x) in self.channels.iter_mut().zip(samples) {
            channel.samples.pop_back();
            channel.samples.push_front(*x);
            if self.time.is_multiple_of(self.decimation) {
                let taps = self.low_pass.iter().zip(&channel.samples);
                let filtered = taps.map(|(tap, sample)| tap * sample).sum();
                channel.detectors.iter_mut().for_each(|detector| detector.next(filtered));
            }
        }
        self.time += 1;
        self.time.is_multiple_of(self.frame).then(|| self.decide())
    }

    fn decide(&mut self) -> Decisions {
        // Means over the channels of |s2|^2, and of s1 times the conjugate of s2.
        let count = self.channels.len() as f64;
        let mean = |n: usize, part: fn(&Detector) -> f64| {
            self.channels.iter().map(|channel| part(&channel.detectors[n])).sum::<f64>() / count
        };
        let all = 0..BANKS * DETECTORS;
        let seen: Vec<Seen> = all
            .map(|n| {
                let square = mean(n, Detector::square) + 1e-20;
                let re = mean(n, |d| d.s1[0] * d.s2[0] + d.s1[1] * d.s2[1]) / square;
                let im = mean(n, |d| d.s1[1] * d.s2[0] - d.s1[0] * d.s2[1]) / square;
                Seen { power: 2.0 * square, ratio: [re, im] }
            })
            .collect();
        let logits = self.network.next(&seen);
        let column = usize::from(self.looks_ahead);
        let [on, hysteresis, begun] = self.network.weights.thresholds[column];
        let is_on = |note: usize| self.channels[0].detectors[FIRST_NOTE + note].is_on;
        let sure: Vec<usize> = (0..NOTES).filter(|note| logits[*note][1] > SURE).collect();
        let apart = sure.windows(2).filter(|pair| pair[1] - pair[0] > APART).count();
        if !sure.is_empty() {
            let count = 1.0 + apart as f64;
            let step = if count > self.voices { STEPS[0] } else { STEPS[1] };
            self.voices += step * (count - self.voices);
        }
        for (note, held) in self.on.iter_mut().enumerate() {
            let threshold = if *held {
                on - hysteresis
            } else if self.voices < ONE && logits[note][2 + column] <= begun {
                on + RAISE
            } else {
                on
            };
            *held = is_on(note) && logits[note][column] > threshold;
        }
        Decisions {
            on: self.on,
            begun: std::array::from_fn(|note| is_on(note) && logits[note][2 + column] > begun),
            power: std::array::from_fn(|note| seen[FIRST_NOTE + note].power),
            logits,
        }
    }

    /// Returns the delay of the decisions in frames.
    pub fn lookahead(&self) -> usize {
        if self.looks_ahead { LOOKAHEAD } else { 0 }
    }
}

/// Returns `taps` taps (an even number) of a sinc under a Hamming window, with a sum of 1. `cutoff` is a fraction of the sample
/// rate.
fn low_pass(cutoff: f64, taps: usize) -> Vec<f64> {
    let last = (taps - 1) as f64;
    let tap = |n: usize| {
        let x = TAU * cutoff * (n as f64 - last / 2.0);
        let window = 0.54 - 0.46 * (TAU * n as f64 / last).cos();
        window * x.sin() / x
    };
    let taps: Vec<f64> = (0..taps).map(tap).collect();
    let sum: f64 = taps.iter().sum();
    taps.iter().map(|tap| tap / sum).collect()
}

/// Detector: two complex one-poles in series.
#[derive(Debug, Clone, Copy)]
struct Detector {
    is_on: bool,
    radius: f64,
    angle: f64,
    s1: [f64; 2],
    s2: [f64; 2],
}

impl Detector {
    /// Creates a detector at rest for `frequency` at `rate`, both in Hz, with the decay rate `decay` in 1/s.
    fn new(frequency: f64, decay: f64, rate: f64) -> Self {
        Self {
            is_on: frequency <= HIGHEST * rate,
            radius: (-decay / rate).exp(),
            angle: TAU * frequency / rate,
            s1: [0.0; 2],
            s2: [0.0; 2],
        }
    }

    fn next(&mut self, x: f64) {
        if self.is_on {
            self.s1 = self.one_pole(self.s1, [x, 0.0]);
            self.s2 = self.one_pole(self.s2, self.s1);
        }
    }

    /// Returns `p s + (1 - r) x` with `p = r e^jw`.
    fn one_pole(&self, [re, im]: [f64; 2], x: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.angle.sin_cos();
        let turned = [re * cos - im * sin, re * sin + im * cos];
        [0, 1].map(|part| self.radius * turned[part] + (1.0 - self.radius) * x[part])
    }

    fn square(&self) -> f64 {
        let [re, im] = self.s2;
        re * re + im * im
    }
}
