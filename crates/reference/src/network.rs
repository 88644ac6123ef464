//! The listener's network: log odds from the states of the detectors.

use crate::step;
use std::collections::VecDeque;

/// Number of notes, from MIDI note 28 up.
pub const NOTES: usize = 80;
pub const BANKS: usize = 3;
/// Number of detectors of a bank, one a semitone, from MIDI note 24 up.
pub const DETECTORS: usize = 87;
/// Index of the detector of the lowest note.
pub const FIRST_NOTE: usize = 4;

/// First note of each zone above the lowest zone. The notes of a zone have common weights.
const NOTE_ZONES: [usize; 2] = [20, 45];
/// First detector of each zone above the lowest zone, in the layer `near`.
const DETECTOR_ZONES: [usize; 2] = [20, 50];

/// Maximum lag of the features in frames.
const MOST_LAG: usize = 7;

/// Rows of numbers. As weights: a row for each input. As values of a layer: a row for each note or detector, and a column for
/// each unit.
pub type Matrix = Vec<Vec<f64>>;

/// Fitted weights of the network.
#[derive(Debug, Clone)]
pub struct Weights {
    /// Lags of the features that `near` gets, in frames.
    pub lags: Vec<usize>,
    /// Weights from the features of all lags to the units of the detectors.
    pub near: Layer,
    /// Weights from the detectors' units to the notes' units.
    pub harmonic: Layer,
    /// Weights from the mean and the maximum of the notes' units to the inputs of the global GRU.
    pub global_in: Matrix,
    /// Biases of the inputs of the global GRU.
    pub global_in_bias: Vec<f64>,
    /// One GRU for all notes together. Its inputs come from the mean and the maximum of the notes' units.
    pub global: Cell,
    /// Weights from the global GRU to the inputs of the second GRUs.
    pub global_mix: Matrix,
    /// Weights from the global GRU to the log odds.
    pub global_out: Matrix,
    /// First GRU of every note, for each zone.
    pub first: Vec<Cell>,
    /// Weights from the first GRUs to the inputs of the second ones.
    pub mix: Layer,
    /// Weights from the notes' units to the inputs of the second GRUs, for each zone.
    pub skip: Vec<Matrix>,
    /// Second GRU of every note, for each zone.
    pub second: Vec<Cell>,
    /// Weights from the second GRUs to the log odds.
    pub head: Layer,
    /// Weights from the inputs of the second GRUs to the log odds, for each zone.
    pub direct: Vec<Matrix>,
    /// Thresholds of the log odds, without and with lookahead. A note starts above the first number, ends below the first number
    /// less the second, and counts as begun above the third.
    pub thresholds: [[f64; 3]; 2],
}

/// Layer with the same weights at every position of a zone.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Offsets in semitones from an output's position to an input's.
    pub offsets: Vec<isize>,
    /// Matrix of each offset, for each zone.
    pub weights: Vec<Vec<Matrix>>,
    /// Bias of each position.
    pub bias: Matrix,
}

/// Gated recurrent unit (GRU), with the gates reset, update and candidate.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Matrix of each gate for the inputs.
    pub input: [Matrix; 3],
    /// Bias of each gate.
    pub bias: [Vec<f64>; 3],
    /// Matrix of each gate for the hidden state.
    pub hidden: [Matrix; 3],
    /// Bias of the candidate's product with the hidden state.
    pub hidden_bias: Vec<f64>,
}

/// Input of the network from a detector: its power, and the ratio `s1 / s2`, both averaged over the channels.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub power: f64,
    pub ratio: [f64; 2],
}

pub struct Network {
    pub weights: Weights,
    /// Rate of the frames in Hz.
    rate: f64,
    /// Reference power: the smoothed sum of the powers of the first bank's detectors.
    reference: f64,
    /// Features of the last frames, newest first.
    past: VecDeque<Matrix>,
    global: Vec<f64>,
    first: Matrix,
    second: Matrix,
}

impl Network {
    pub fn new(rate: f64, weights: Weights) -> Self {
        let zeros = |cell: &Cell| vec![0.0; cell.hidden_bias.len()];
        Self {
            rate,
            reference: 1e-15,
            past: vec![vec![vec![0.0; 3 * BANKS]; DETECTORS]; MOST_LAG + 1].into(),
            global: zeros(&weights.global),
            first: vec![zeros(&weights.first[0]); NOTES],
            second: vec![zeros(&weights.second[0]); NOTES],
            weights,
        }
    }

    /// Returns the log odds of all notes for the next frame.
    pub fn next(&mut self, seen: &[Seen]) -> Vec<[f64; 4]> {
        let now = self.features(seen);
        self.past.push_front(now);
        self.past.pop_back();
        let w = &self.weights;
        let inputs: Matrix = (0..DETECTORS)
            .map(|n| w.lags.iter().flat_map(|lag| &self.past[*lag][n]).copied().collect())
            .collect();
        let near = relu(w.near.apply(&inputs, 0, DETECTOR_ZONES));
        let notes = relu(w.harmonic.apply(&near, FIRST_NOTE, NOTE_ZONES));

        let columns = 0..notes[0].len();
        let mean =
            columns.clone().map(|c| notes.iter().map(|row| row[c]).sum::<f64>() / NOTES as f64);
        let maximum = columns.map(|c| notes.iter().map(|row| row[c]).fold(0.0, f64::max));
        let pooled: Vec<f64> = mean.chain(maximum).collect();
        let global_in = relu(vec![sum(&w.global_in_bias, &times(&pooled, &w.global_in))]);
        self.global = w.global.next(&global_in[0], &self.global);

        let zone = |note| zone(note, NOTE_ZONES);
        self.first = (0..NOTES).map(|n| w.first[zone(n)].next(&notes[n], &self.first[n])).collect();
        let mut mixed = w.mix.apply(&self.first, 0, NOTE_ZONES);
        for n in 0..NOTES {
            let skip = times(&notes[n], &w.skip[zone(n)]);
            mixed[n] = sum(&mixed[n], &sum(&skip, &times(&self.global, &w.global_mix)));
        }
        let mixed = relu(mixed);
        self.second =
            (0..NOTES).map(|n| w.second[zone(n)].next(&mixed[n], &self.second[n])).collect();
        let head = w.head.apply(&self.second, 0, NOTE_ZONES);
        let logits = (0..NOTES).map(|n| {
            let direct = times(&mixed[n], &w.direct[zone(n)]);
            let row = sum(&head[n], &sum(&direct, &times(&self.global, &w.global_out)));
            [row[0], row[1], row[2], row[3]]
        });
        logits.collect()
    }

    /// Returns the features at each position: level, shift and growth of each bank.
    fn features(&mut self, seen: &[Seen]) -> Matrix {
        let total = seen[..DETECTORS].iter().map(|seen| seen.power).sum::<f64>().max(1e-15);
        let seconds = if total > self.reference { 0.05 } else { 3.0 };
        self.reference += step(seconds, self.rate) * (total - self.reference);
        let feature = |Seen { power, ratio: [re, im] }: Seen| {
            let level = ((power / self.reference + 1e-6).ln() - 1e-6f64.ln()) / 4.0;
            let sure = level.min(1.0);
            [level, im.clamp(-2.0, 2.0) * sure, (re - 1.0).clamp(-2.0, 2.0) * sure]
        };
        let row = |n: usize| (0..BANKS).flat_map(|b| feature(seen[b * DETECTORS + n])).collect();
        (0..DETECTORS).map(row).collect()
    }
}

impl Layer {
    /// Returns the outputs at all positions. Position 0 without an offset reads the input `base`. Beyond the ends, inputs are 0.
    fn apply(&self, inputs: &Matrix, base: usize, zones: [usize; 2]) -> Matrix {
        let output = |(position, bias): (usize, &Vec<f64>)| {
            let mut out = bias.clone();
            for (offset, weights) in self.offsets.iter().zip(&self.weights[zone(position, zones)]) {
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
    /// Returns the hidden state of the next frame.
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

/// Returns the zone of a position, 0 to 2. `second` and `third` are the first positions of these zones.
fn zone(position: usize, [second, third]: [usize; 2]) -> usize {
    usize::from(position >= second) + usize::from(position >= third)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

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

fn relu(mut rows: Matrix) -> Matrix {
    rows.iter_mut().flatten().for_each(|x| *x = x.max(0.0));
    rows
}
