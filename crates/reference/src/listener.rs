//! The listener: from a signal to decisions on notes, as `docs/listening.md` describes it.

use crate::{TONES, step};
use std::{collections::VecDeque, f64::consts::TAU};

/// Detectors, one for each semitone from C1 on, and that of the lowest note, A3.
const DETECTORS: usize = 87;
const FIRST_NOTE: usize = 33;
/// Detectors above this share of their rate are off.
const HIGHEST: f64 = 0.45;
/// Frames over which a level rises or falls.
const LAG: usize = 3;
/// Rows of the network: the templates, the outputs of the second layer, and the memories. A template's first position.
const TEMPLATES: usize = 8;
const COMBINED: usize = 8;
const MEMORIES: usize = 2;
const FIRST_TEMPLATE: usize = 7;

/// The fitted weights of the network.
#[derive(Debug, Clone)]
pub struct Weights {
    /// Log odds above which a note goes on.
    pub threshold: f64,
    /// How far below the threshold it goes off.
    pub hysteresis: f64,
    /// From the rows of levels, rises and falls to the templates.
    pub templates: Vec<Tap<TEMPLATES>>,
    /// The templates' biases.
    pub template_bias: [f64; TEMPLATES],
    /// The shorter and the longer time constants of the templates' means, s.
    pub mean_seconds: [[f64; TEMPLATES]; 2],
    /// From the features of the whole spectrum to the second layer and, last, to the log odds.
    pub whole: Vec<[f64; COMBINED + 1]>,
    /// From the templates to the second layer.
    pub combine: Vec<Tap<COMBINED>>,
    /// The second layer's biases.
    pub combine_bias: [f64; COMBINED],
    /// From the memories and the rows without memory to the log odds.
    pub out: Vec<Tap<1>>,
    /// The notes' biases.
    pub note_bias: [f64; TONES],
}

/// The weights of one input of a layer in its `N` outputs.
#[derive(Debug, Clone)]
pub struct Tap<const N: usize> {
    /// The row of the input.
    pub row: usize,
    /// Semitones from the output's position up to the input's.
    pub offset: isize,
    /// A weight for each output.
    pub weights: [f64; N],
}

/// The decisions for one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// Whether each note is played.
    pub on: [bool; TONES],
    /// Log odds of it.
    pub logit: [f64; TONES],
    /// Power of the input at each note at the end of the frame: 0.5 for a sine at full scale.
    pub power: [f64; TONES],
}

/// The listener, for constant settings.
#[derive(Debug, Clone)]
pub struct Listener {
    /// Of so many samples, one goes to the detectors, and so many make a frame.
    decimation: usize,
    frame: usize,
    low_pass: Vec<f64>,
    /// The last samples, newest first.
    samples: VecDeque<f64>,
    /// Samples since the start.
    time: usize,
    detectors: Vec<Detector>,
    network: Network,
    on: [bool; TONES],
}

impl Listener {
    /// A listener at rest for signals of `sample_rate` Hz, with A4 at `a4` Hz.
    pub fn new(sample_rate: f64, a4: f64, weights: Weights) -> Self {
        let decimation = (sample_rate / 11_500.0).round().max(1.0);
        let rate = sample_rate / decimation;
        let frame = decimation * (512.0 / 44_100.0 * rate).round();
        let low_pass =
            low_pass(4700f64.min(0.45 * sample_rate) / sample_rate, 12 * decimation as usize);
        let detector = |n| Detector::new(a4 * ((n as f64 - 45.0) / 12.0).exp2(), rate);
        Self {
            decimation: decimation as usize,
            frame: frame as usize,
            samples: vec![0.0; low_pass.len()].into(),
            low_pass,
            time: 0,
            detectors: (0..DETECTORS).map(detector).collect(),
            network: Network::new(sample_rate / frame, weights),
            on: [false; TONES],
        }
    }

    /// Processes a sample. At the end of a frame, returns the decisions.
    pub fn next(&mut self, x: f64) -> Option<Decisions> {
        self.samples.pop_back();
        self.samples.push_front(x);
        if self.time.is_multiple_of(self.decimation) {
            let taps = self.low_pass.iter().zip(&self.samples);
            let filtered = taps.map(|(tap, sample)| tap * sample).sum();
            self.detectors.iter_mut().for_each(|detector| detector.next(filtered));
        }
        self.time += 1;
        self.time.is_multiple_of(self.frame).then(|| self.decide())
    }

    fn decide(&mut self) -> Decisions {
        let power = std::array::from_fn(|n| self.detectors[n].power());
        let logit = self.network.next(&power);
        let Weights { threshold, hysteresis, .. } = self.network.weights;
        for (note, on) in self.on.iter_mut().enumerate() {
            let threshold = if *on { threshold - hysteresis } else { threshold };
            *on = self.detectors[FIRST_NOTE + note].is_on && logit[note] > threshold;
        }
        Decisions { on: self.on, logit, power: std::array::from_fn(|n| power[FIRST_NOTE + n]) }
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
    /// For a note of `frequency` at `rate`, both in Hz.
    fn new(frequency: f64, rate: f64) -> Self {
        let decay = (0.15 * frequency).max(16.0);
        Self {
            is_on: frequency <= HIGHEST * rate,
            radius: (-decay / rate).exp(),
            angle: TAU * frequency / rate,
            s1: [0.0; 2],
            s2: [0.0; 2],
        }
    }

    fn next(&mut self, x: f64) {
        self.s1 = self.one_pole(self.s1, [x, 0.0]);
        self.s2 = self.one_pole(self.s2, self.s1);
    }

    /// `p s + (1 - r) x` with `p = r e^jw`.
    fn one_pole(&self, [re, im]: [f64; 2], x: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.angle.sin_cos();
        let turned = [re * cos - im * sin, re * sin + im * cos];
        [0, 1].map(|part| self.radius * turned[part] + (1.0 - self.radius) * x[part])
    }

    /// A sine of amplitude `A` gives `A^2 / 2`.
    fn power(&self) -> f64 {
        let [re, im] = self.s2;
        if self.is_on { 2.0 * (re * re + im * im) + 1e-20 } else { 0.0 }
    }
}

/// From powers to log odds.
#[derive(Debug, Clone)]
struct Network {
    weights: Weights,
    /// Frames a second.
    rate: f64,
    reference: f64,
    /// The levels of the last [`LAG`] frames, oldest first.
    past: VecDeque<[f64; DETECTORS]>,
    means: [[f64; TEMPLATES]; 2],
    memories: [[f64; TONES]; MEMORIES],
}

impl Network {
    fn new(rate: f64, weights: Weights) -> Self {
        Self {
            weights,
            rate,
            reference: 1e-15,
            past: vec![[0.0; DETECTORS]; LAG].into(),
            means: [[0.0; TEMPLATES]; 2],
            memories: [[0.0; TONES]; MEMORIES],
        }
    }

    fn next(&mut self, power: &[f64; DETECTORS]) -> [f64; TONES] {
        let contrast = self.contrast(power);
        let mut templates = [[0.0; DETECTORS]; TEMPLATES];
        for n in FIRST_TEMPLATE..DETECTORS {
            let sums = layer(self.weights.template_bias, &self.weights.templates, &contrast, n);
            for (template, sum) in templates.iter_mut().zip(sums) {
                template[n] = sum.max(0.0);
            }
        }

        let whole = self.whole(&templates, &contrast[0]);
        let bias = std::array::from_fn(|k| self.weights.combine_bias[k] + whole[k]);
        let mut rows = [[0.0; TONES]; COMBINED - MEMORIES];
        for note in 0..TONES {
            let sums = layer(bias, &self.weights.combine, &templates, FIRST_NOTE + note);
            for g in 0..MEMORIES {
                let gate = 1.0 / (1.0 + (-sums[g]).exp());
                let memory = &mut self.memories[g][note];
                *memory += gate * (sums[MEMORIES + g].clamp(-4.0, 4.0) - *memory);
                rows[g][note] = *memory;
            }
            for k in MEMORIES..rows.len() {
                rows[k][note] = sums[MEMORIES + k].max(0.0);
            }
        }

        std::array::from_fn(|note| {
            let bias = self.weights.note_bias[note] + whole[COMBINED];
            layer([bias], &self.weights.out, &rows, note)[0]
        })
    }

    /// Levels, rises and falls.
    fn contrast(&mut self, power: &[f64; DETECTORS]) -> [[f64; DETECTORS]; 3] {
        let total = power.iter().sum::<f64>().max(1e-15);
        let seconds = if total > self.reference { 0.05 } else { 3.0 };
        self.reference += step(seconds, self.rate) * (total - self.reference);
        let level = power.map(|power| (power / self.reference + 1e-6).ln() - 1e-6f64.ln());
        self.past.push_back(level);
        let before = self.past.pop_front().unwrap_or(level);
        let change: [f64; DETECTORS] = std::array::from_fn(|n| level[n] - before[n]);
        [level, change.map(|change| change.max(0.0)), change.map(|change| change.min(0.0))]
    }

    /// The contribution of the whole spectrum to the second layer and to the log odds.
    fn whole(
        &mut self,
        templates: &[[f64; DETECTORS]; TEMPLATES],
        level: &[f64; DETECTORS],
    ) -> [f64; COMBINED + 1] {
        let positions = (DETECTORS - FIRST_TEMPLATE) as f64;
        let now = templates.map(|template| template.iter().sum::<f64>() / positions);
        for (means, seconds) in self.means.iter_mut().zip(&self.weights.mean_seconds) {
            for c in 0..TEMPLATES {
                means[c] += step(seconds[c], self.rate) * (now[c] - means[c]);
            }
        }
        let mean = level.iter().sum::<f64>() / DETECTORS as f64;
        let greatest = level.iter().copied().fold(0.0, f64::max);
        let features = now.iter().chain(self.means.as_flattened()).chain([&mean, &greatest]);
        let mut sums = [0.0; COMBINED + 1];
        for (feature, weights) in features.zip(&self.weights.whole) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += feature * weight;
            }
        }
        sums
    }
}

/// The outputs of a layer at `position`; beyond its ends, a row is 0.
fn layer<const N: usize, const LENGTH: usize>(
    bias: [f64; N],
    taps: &[Tap<N>],
    rows: &[[f64; LENGTH]],
    position: usize,
) -> [f64; N] {
    let mut sums = bias;
    for Tap { row, offset, weights } in taps {
        let at = position.checked_add_signed(*offset);
        let input = at.and_then(|at| rows[*row].get(at)).copied().unwrap_or(0.0);
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += input * weight;
        }
    }
    sums
}
