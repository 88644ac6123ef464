//! The listener: from a signal to decisions on notes, as `docs/listening.md` describes it.

use crate::step;
use std::{collections::VecDeque, f64::consts::TAU};

/// The listener's notes, from MIDI note 28 on.
pub const NOTES: usize = 80;
/// Detectors of a bank, from MIDI note 24 on, and that of the lowest note.
const DETECTORS: usize = 87;
const FIRST_NOTE: usize = 4;
/// Of each bank: the detuning in semitones, and the decay in 1/s as a multiple of the frequency in Hz, at least the last.
const BANKS: [(f64, f64, f64); 3] = [(0.0, 0.15, 16.0), (-0.25, 0.05, 7.0), (0.25, 0.05, 7.0)];
/// Detectors above this share of their rate are off.
const HIGHEST: f64 = 0.45;
/// The most frames that features go back.
const MOST_LAG: usize = 7;
/// Frames that decisions with lookahead refer back.
const LOOKAHEAD: usize = 4;

/// A matrix, one row for each input.
pub type Matrix = Vec<Vec<f64>>;
/// Rows of units, one for each position.
type Rows = Vec<Vec<f64>>;

/// The fitted weights of the network.
#[derive(Debug, Clone)]
pub struct Weights {
    /// The ages in frames of the features that `near` receives.
    pub lags: Vec<usize>,
    /// From the features of all lags to the detectors' units.
    pub near: Layer,
    /// From these to the notes' units.
    pub harmonic: Layer,
    /// From the notes' mean and greatest units to the whole's, and their biases.
    pub whole_in: Matrix,
    /// See `whole_in`.
    pub whole_in_bias: Vec<f64>,
    /// The memory of the whole.
    pub whole: Cell,
    /// From it to the inputs of the second memories.
    pub whole_mix: Matrix,
    /// From it to the log odds.
    pub whole_out: Matrix,
    /// The first memories of the notes.
    pub first: Cell,
    /// From them to the inputs of the second ones.
    pub mix: Layer,
    /// From the notes' units to these inputs.
    pub skip: Matrix,
    /// The second memories of the notes.
    pub second: Cell,
    /// From them to the log odds.
    pub head: Layer,
    /// From their inputs to the log odds.
    pub direct: Matrix,
    /// Without and with lookahead: the log odds above which a note goes on, how far below that it goes off, and those above
    /// which it begins.
    pub thresholds: [[f64; 3]; 2],
}

/// A layer with the same weights at every position.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Semitones from the output's position to the input's.
    pub offsets: Vec<isize>,
    /// For each offset.
    pub weights: Vec<Matrix>,
    /// For each position.
    pub bias: Matrix,
}

/// A gated recurrent unit: the gates reset, update and candidate.
#[derive(Debug, Clone)]
pub struct Cell {
    /// For the inputs.
    pub input: [Matrix; 3],
    /// Their biases.
    pub bias: [Vec<f64>; 3],
    /// For the hidden state.
    pub hidden: [Matrix; 3],
    /// Added to the candidate's product with the hidden state.
    pub hidden_bias: Vec<f64>,
}

/// The decisions for one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// Whether each note is played.
    pub on: [bool; NOTES],
    /// Whether it begins.
    pub begun: [bool; NOTES],
    /// Log odds: played now, played before, begun now, begun before.
    pub logits: Vec<[f64; 4]>,
    /// Power of the input at each note at the end of the frame: 0.5 for a sine at full scale.
    pub power: [f64; NOTES],
}

/// The listener, for constant settings.
#[derive(Debug, Clone)]
pub struct Listener {
    /// Of so many samples, one goes to the detectors, and so many make a frame.
    decimation: usize,
    frame: usize,
    low_pass: Vec<f64>,
    /// Samples since the start.
    time: usize,
    channels: Vec<Channel>,
    network: Network,
    looks_ahead: bool,
    on: [bool; NOTES],
}

/// A channel of the input.
#[derive(Debug, Clone)]
struct Channel {
    /// The last samples, newest first.
    samples: VecDeque<f64>,
    detectors: Vec<Detector>,
}

impl Listener {
    /// A listener at rest for `channels` of `sample_rate` Hz, with A4 at `a4` Hz.
    pub fn new(sample_rate: f64, a4: f64, channels: usize, looks_ahead: bool, weights: Weights) -> Self {
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
            detectors: BANKS.into_iter().flat_map(bank).collect(),
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
        }
    }

    /// Processes a sample of each channel. At the end of a frame, returns the decisions.
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
        // Mean over the channels of |s2|^2 and of s1 times the conjugate of s2.
        let count = self.channels.len() as f64;
        let mean = |n: usize, part: fn(&Detector) -> f64| {
            self.channels.iter().map(|channel| part(&channel.detectors[n])).sum::<f64>() / count
        };
        let all = 0..BANKS.len() * DETECTORS;
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
        for (note, held) in self.on.iter_mut().enumerate() {
            let threshold = if *held { on - hysteresis } else { on };
            *held = is_on(note) && logits[note][column] > threshold;
        }
        Decisions {
            on: self.on,
            begun: std::array::from_fn(|note| is_on(note) && logits[note][2 + column] > begun),
            power: std::array::from_fn(|note| seen[FIRST_NOTE + note].power),
            logits,
        }
    }

    /// Frames that the decisions refer back.
    pub fn lookahead(&self) -> usize {
        if self.looks_ahead { LOOKAHEAD } else { 0 }
    }
}

/// An even number of `taps` of a sinc with its cutoff at a share of the sample rate, under a Hamming window, with a sum
/// of 1.
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

/// Two complex one-poles in a row.
#[derive(Debug, Clone, Copy)]
struct Detector {
    is_on: bool,
    radius: f64,
    angle: f64,
    s1: [f64; 2],
    s2: [f64; 2],
}

impl Detector {
    /// For a note of `frequency` at `rate`, both in Hz, which decays by `decay` in 1/s.
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

    /// `p s + (1 - r) x` with `p = r e^jw`.
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

/// What the network receives of a detector: its power, and `s1 / s2`.
#[derive(Debug, Clone, Copy)]
struct Seen {
    power: f64,
    ratio: [f64; 2],
}

/// From the detectors to log odds.
#[derive(Debug, Clone)]
struct Network {
    weights: Weights,
    /// Frames a second.
    rate: f64,
    reference: f64,
    /// The features of the last frames, newest first.
    past: VecDeque<Rows>,
    whole: Vec<f64>,
    first: Rows,
    second: Rows,
}

impl Network {
    fn new(rate: f64, weights: Weights) -> Self {
        let zeros = |cell: &Cell| vec![0.0; cell.hidden_bias.len()];
        Self {
            rate,
            reference: 1e-15,
            past: vec![vec![vec![0.0; 3 * BANKS.len()]; DETECTORS]; MOST_LAG + 1].into(),
            whole: zeros(&weights.whole),
            first: vec![zeros(&weights.first); NOTES],
            second: vec![zeros(&weights.second); NOTES],
            weights,
        }
    }

    /// The log odds of all notes.
    fn next(&mut self, seen: &[Seen]) -> Vec<[f64; 4]> {
        let now = self.features(seen);
        self.past.push_front(now);
        self.past.pop_back();
        let w = &self.weights;
        let inputs: Rows = (0..DETECTORS)
            .map(|n| w.lags.iter().flat_map(|lag| &self.past[*lag][n]).copied().collect())
            .collect();
        let near = relu(w.near.apply(&inputs, 0));
        let notes = relu(w.harmonic.apply(&near, FIRST_NOTE));

        let columns = 0..notes[0].len();
        let mean = columns.clone().map(|c| notes.iter().map(|row| row[c]).sum::<f64>() / NOTES as f64);
        let most = columns.map(|c| notes.iter().map(|row| row[c]).fold(0.0, f64::max));
        let pooled: Vec<f64> = mean.chain(most).collect();
        let whole_in = relu(vec![sum(&w.whole_in_bias, &times(&pooled, &w.whole_in))]);
        self.whole = w.whole.next(&whole_in[0], &self.whole);

        self.first = notes.iter().zip(&self.first).map(|(x, h)| w.first.next(x, h)).collect();
        let mut mixed = w.mix.apply(&self.first, 0);
        for (row, note) in mixed.iter_mut().zip(&notes) {
            *row = sum(row, &sum(&times(note, &w.skip), &times(&self.whole, &w.whole_mix)));
        }
        let mixed = relu(mixed);
        self.second = mixed.iter().zip(&self.second).map(|(x, h)| w.second.next(x, h)).collect();
        let head = w.head.apply(&self.second, 0);
        let logits = head.iter().zip(&mixed).map(|(row, mixed)| {
            let row = sum(row, &sum(&times(mixed, &w.direct), &times(&self.whole, &w.whole_out)));
            [row[0], row[1], row[2], row[3]]
        });
        logits.collect()
    }

    /// Level, shift and growth of each bank, for each position.
    fn features(&mut self, seen: &[Seen]) -> Rows {
        let total = seen[..DETECTORS].iter().map(|seen| seen.power).sum::<f64>().max(1e-15);
        let seconds = if total > self.reference { 0.05 } else { 3.0 };
        self.reference += step(seconds, self.rate) * (total - self.reference);
        let feature = |Seen { power, ratio: [re, im] }: Seen| {
            let level = ((power / self.reference + 1e-6).ln() - 1e-6f64.ln()) / 4.0;
            let sure = level.min(1.0);
            [level, im.clamp(-2.0, 2.0) * sure, (re - 1.0).clamp(-2.0, 2.0) * sure]
        };
        let row = |n: usize| (0..BANKS.len()).flat_map(|b| feature(seen[b * DETECTORS + n])).collect();
        (0..DETECTORS).map(row).collect()
    }
}

impl Layer {
    /// The outputs at all positions; that of position 0 without offset is at `base`. Beyond the ends, inputs are 0.
    fn apply(&self, inputs: &Rows, base: usize) -> Rows {
        let output = |(position, bias): (usize, &Vec<f64>)| {
            let mut out = bias.clone();
            for (offset, weights) in self.offsets.iter().zip(&self.weights) {
                let at = (position + base).checked_add_signed(*offset);
                if let Some(input) = at.and_then(|at| inputs.get(at)) {
                    out = sum(&out, &times(input, weights));
                }
            }
            out
        };
        self.bias.iter().enumerate().map(output).collect()
    }
}

impl Cell {
    /// The hidden state of the next frame.
    fn next(&self, x: &[f64], h: &[f64]) -> Vec<f64> {
        let input = [0, 1, 2].map(|gate| sum(&self.bias[gate], &times(x, &self.input[gate])));
        let hidden = [0, 1, 2].map(|gate| times(h, &self.hidden[gate]));
        let unit = |n: usize| {
            let reset = logistic(input[0][n] + hidden[0][n]);
            let update = logistic(input[1][n] + hidden[1][n]);
            let candidate = (input[2][n] + reset * (hidden[2][n] + self.hidden_bias[n])).tanh();
            (1.0 - update) * candidate + update * h[n]
        };
        (0..h.len()).map(unit).collect()
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A row times a matrix.
fn times(row: &[f64], matrix: &Matrix) -> Vec<f64> {
    let mut out = vec![0.0; matrix[0].len()];
    for (x, weights) in row.iter().zip(matrix) {
        out.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += x * weight);
    }
    out
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn relu(mut rows: Rows) -> Rows {
    rows.iter_mut().flatten().for_each(|x| *x = x.max(0.0));
    rows
}
