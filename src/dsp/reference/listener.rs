//! The listener in f64, one sample at a time, written to be read: what `docs/listening.md` says.

use crate::dsp::{
    constants::tracker_step,
    listener::{
        decimator::{decimation, low_pass},
        detector::{Complex, DETECTORS, FIRST_BAND, LEAST_POWER, LOWEST, design, product},
        frame,
        templates::{
            COUNT, FEATURES, FLOOR, Feature, HISTORY, LAG, LOGIT_RANGE, LOUDNESS, Model, OVERALL,
            QUIETEST, Stage,
        },
        weights,
    },
    notes::TONES,
};
use std::collections::VecDeque;

/// What was decided about a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// Whether the note of each band is played.
    pub on: [bool; TONES],
    /// Log odds of it.
    pub logit: [f64; TONES],
    /// Power at each detector at the end of the frame.
    pub power: [f64; DETECTORS],
}

/// The listener for settings that do not move.
#[derive(Debug, Clone)]
pub struct Listener {
    model: &'static Model,
    decimation: usize,
    /// Samples in a frame.
    frame: usize,
    low_pass: Vec<f64>,
    /// The last samples, newest first.
    samples: VecDeque<f64>,
    /// Samples since the start.
    time: usize,
    detectors: Vec<Detector>,
    reference: Follower,
    /// The levels of the last [`LAG`] frames, oldest first.
    past: VecDeque<[f64; DETECTORS]>,
    history: [Vec<Follower>; HISTORY.len()],
    loudest: Follower,
    count: Follower,
    surest: Follower,
    on: [bool; TONES],
}

/// Two complex one-poles in a row.
#[derive(Debug, Clone, Copy)]
struct Detector {
    /// Nothing for a detector that hears nothing.
    design: Option<(Complex, f64)>,
    s1: Complex,
    s2: Complex,
}

/// A one-pole average that takes its first value as it is.
#[derive(Debug, Clone, Copy)]
struct Follower {
    up: f64,
    down: f64,
    value: Option<f64>,
}

impl Follower {
    /// With these time constants in s, for values that come every `period` s.
    fn new([up, down]: [f64; 2], period: f64) -> Self {
        let step = |tau| tracker_step(tau, 1.0 / period);
        Self { up: step(up), down: step(down), value: None }
    }

    fn next(&mut self, x: f64) -> f64 {
        let value = self.value.unwrap_or(x);
        let value = value + if x > value { self.up } else { self.down } * (x - value);
        self.value = Some(value);
        value
    }
}

impl Detector {
    fn next(&mut self, x: f64) {
        let Some((pole, gain)) = self.design else { return };
        let add = |a: Complex, b: Complex, scale: f64| [a[0] + scale * b[0], a[1] + scale * b[1]];
        self.s1 = add(product(pole, self.s1), [x, 0.0], gain);
        self.s2 = add(product(pole, self.s2), self.s1, gain);
    }

    /// A sine of amplitude `A` gives `A^2 / 2`.
    fn power(&self) -> f64 {
        let [re, im] = self.s2;
        self.design.map_or(0.0, |_| 2.0 * (re * re + im * im) + LEAST_POWER)
    }
}

/// What the templates see: every feature of every detector, and the numbers on the whole sound.
type Seen = ([[f64; DETECTORS]; FEATURES], [f64; OVERALL]);

impl Listener {
    /// A listener for sound of `sample_rate` Hz, with the detector of A4 at `a4` Hz.
    pub fn new(sample_rate: f64, a4: f64, lookahead: bool) -> Self {
        let model = if lookahead { &weights::lookahead::MODEL } else { &weights::causal::MODEL };
        let decimation = decimation(sample_rate);
        let [_, frame] = frame(sample_rate);
        let period = frame as f64 / sample_rate;
        let low_pass = low_pass(sample_rate);
        let detectors = (0..DETECTORS).map(|n| {
            let f = a4 * ((f64::from(LOWEST) + n as f64) / 12.0).exp2();
            let design = design(f, sample_rate / decimation as f64);
            Detector { design, s1: [0.0; 2], s2: [0.0; 2] }
        });
        let loudness = Follower::new(LOUDNESS, period);
        let mut listener = Self {
            model,
            decimation,
            frame,
            samples: vec![0.0; low_pass.len()].into(),
            low_pass,
            time: 0,
            detectors: detectors.collect(),
            reference: Follower { value: Some(QUIETEST), ..loudness },
            past: vec![[FLOOR.ln(); DETECTORS]; LAG].into(),
            history: HISTORY.map(|(_, times)| vec![Follower::new(times, period); DETECTORS]),
            loudest: loudness,
            count: Follower::new(COUNT, period),
            surest: loudness,
            on: [false; TONES],
        };
        // All averages start from a frame of silence.
        listener.decide();
        listener
    }

    /// Hears a sample. At the end of a frame, returns what it decides.
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
        let power: [f64; DETECTORS] = std::array::from_fn(|n| self.detectors[n].power());
        let mut seen: Seen = ([[0.0; DETECTORS]; FEATURES], [0.0; OVERALL]);

        let reference = self.reference.next(power.iter().sum::<f64>().max(QUIETEST));
        let level = power.map(|power| (power / reference + FLOOR).ln());
        self.past.push_back(level);
        let before = self.past.pop_front().unwrap_or(level);
        let features = &mut seen.0;
        features[Feature::Level as usize] = level;
        for n in 0..DETECTORS {
            features[Feature::Rise as usize][n] = (level[n] - before[n]).max(0.0);
            features[Feature::Fall as usize][n] = (level[n] - before[n]).min(0.0);
        }

        let logits: [f64; DETECTORS] = std::array::from_fn(|n| logit(&self.model.first, &seen, n));
        let features = &mut seen.0;
        let [low, high] = LOGIT_RANGE.map(f64::from);
        for n in 0..DETECTORS {
            let clipped = logits[n].clamp(low, high);
            features[Feature::Probability as usize][n] = 1.0 / (1.0 + (-logits[n]).exp());
            features[Feature::Logit as usize][n] = clipped;
            for ((feature, _), followers) in HISTORY.iter().zip(&mut self.history) {
                features[*feature as usize][n] = followers[n].next(clipped);
            }
        }
        let bands = FIRST_BAND..FIRST_BAND + TONES;
        let greatest = |of: &[f64]| of.iter().copied().fold(f64::MIN, f64::max);
        let loudest = greatest(&level[bands.clone()]);
        let count: f64 = features[Feature::Probability as usize][bands.clone()].iter().sum();
        let rise: f64 = features[Feature::Rise as usize].iter().sum();
        seen.1 = [
            loudest,
            self.loudest.next(loudest),
            self.count.next(count),
            (0.05 + count).ln(),
            rise / DETECTORS as f64,
            self.surest.next(greatest(&logits[bands])),
        ];

        let logit = std::array::from_fn(|band| logit(&self.model.second, &seen, FIRST_BAND + band));
        for (band, on) in self.on.iter_mut().enumerate() {
            let Model { threshold, hysteresis, .. } = *self.model;
            let threshold = f64::from(if *on { threshold - hysteresis } else { threshold });
            *on = self.detectors[FIRST_BAND + band].design.is_some() && logit[band] > threshold;
        }
        Decisions { on: self.on, logit, power }
    }
}

/// The logit of detector `n` in a stage.
fn logit(stage: &Stage, (features, overall): &Seen, n: usize) -> f64 {
    let mut sum = f64::from(stage.bias);
    for group in stage.groups {
        for (offset, weight) in group.offsets.iter().zip(group.weights) {
            let seen = n
                .checked_add_signed((*offset).into())
                .and_then(|n| features[group.feature as usize].get(n).copied())
                .unwrap_or_else(|| f64::from(group.feature.outside()));
            sum += f64::from(*weight) * seen;
        }
    }
    for (value, weight) in overall.iter().zip(&stage.overall) {
        sum += f64::from(*weight) * value;
    }
    sum
}
