//! The reference implementation of the listener, as `docs/listening.md` describes it: in f64, one sample at a time,
//! written for readability.

use crate::{
    TONES,
    decimator::low_pass,
    detector::{Complex, DETECTORS, FIRST_BAND, LEAST_POWER, LOWEST, design, product},
    frame,
    model::{
        CLIP, COMBINED, DIRECT, FIRST_TEMPLATE, FLOOR, LAG, LOUDNESS, MEMORIES, Model, POSITIONS,
        QUIETEST, TEMPLATES, Tap,
    },
    tracker_step,
};
use std::collections::VecDeque;

/// The decisions for one frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisions {
    /// Whether the note of each band is played.
    pub on: [bool; TONES],
    /// Log odds of it.
    pub logit: [f64; TONES],
    /// Power at each detector at the end of the frame.
    pub power: [f64; DETECTORS],
}

/// The listener for constant settings.
#[derive(Debug, Clone)]
pub struct Listener {
    decimation: usize,
    /// Samples in a frame.
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

/// Two complex one-poles in a row.
#[derive(Debug, Clone, Copy)]
struct Detector {
    /// Pole and gain; `None` for a detector beyond the frequency range.
    design: Option<(Complex, f64)>,
    s1: Complex,
    s2: Complex,
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

impl Listener {
    /// A listener for sound of `sample_rate` Hz, with the detector of A4 at `a4` Hz.
    pub fn new(sample_rate: f64, a4: f64, lookahead: bool) -> Self {
        let (decimation, samples) = frame(sample_rate);
        let frame = decimation * samples;
        let low_pass = low_pass(sample_rate);
        let detectors = (0..DETECTORS).map(|n| {
            let f = a4 * ((f64::from(LOWEST) + n as f64) / 12.0).exp2();
            let design = design(f, sample_rate / decimation as f64);
            Detector { design, s1: [0.0; 2], s2: [0.0; 2] }
        });
        Self {
            decimation,
            frame,
            samples: vec![0.0; low_pass.len()].into(),
            low_pass,
            time: 0,
            detectors: detectors.collect(),
            network: Network::new(frame as f64 / sample_rate, Model::fitted(lookahead)),
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
        let Model { threshold, hysteresis, .. } = *self.network.model;
        for (band, on) in self.on.iter_mut().enumerate() {
            let threshold = f64::from(if *on { threshold - hysteresis } else { threshold });
            *on = self.detectors[FIRST_BAND + band].design.is_some() && logit[band] > threshold;
        }
        Decisions { on: self.on, logit, power }
    }
}

/// From powers to log odds.
#[derive(Debug, Clone)]
struct Network {
    model: &'static Model,
    /// Seconds in a frame.
    period: f64,
    reference: f64,
    /// The levels of the last [`LAG`] frames, oldest first.
    past: VecDeque<[f64; DETECTORS]>,
    means: [[f64; TEMPLATES]; 2],
    memories: [[f64; TONES]; MEMORIES],
}

impl Network {
    fn new(period: f64, model: &'static Model) -> Self {
        Self {
            model,
            period,
            reference: QUIETEST,
            past: vec![[0.0; DETECTORS]; LAG].into(),
            means: [[0.0; TEMPLATES]; 2],
            memories: [[0.0; TONES]; MEMORIES],
        }
    }

    fn next(&mut self, power: &[f64; DETECTORS]) -> [f64; TONES] {
        let seen = self.contrast(power);
        let bias = self.model.template_bias.map(f64::from);
        let mut templates = [[0.0; DETECTORS]; TEMPLATES];
        for n in FIRST_TEMPLATE..DETECTORS {
            let mut sums = bias;
            add(self.model.templates, &seen, n, &mut sums);
            for (template, sum) in templates.iter_mut().zip(sums) {
                template[n] = sum.max(0.0);
            }
        }

        let whole = self.whole(&templates, &seen[0]);
        let mut units = [[0.0; TONES]; MEMORIES + DIRECT];
        for band in 0..TONES {
            let mut sums: [f64; COMBINED] =
                std::array::from_fn(|k| f64::from(self.model.combine_bias[k]) + whole[k]);
            add(self.model.combine, &templates, FIRST_BAND + band, &mut sums);
            let (open, rest) = sums.split_at(MEMORIES);
            let (new, direct) = rest.split_at(MEMORIES);
            for g in 0..MEMORIES {
                let open = 1.0 / (1.0 + (-open[g]).exp());
                let memory = &mut self.memories[g][band];
                *memory += open * (new[g].clamp(-f64::from(CLIP), f64::from(CLIP)) - *memory);
                units[g][band] = *memory;
            }
            for (unit, direct) in units[MEMORIES..].iter_mut().zip(direct) {
                unit[band] = direct.max(0.0);
            }
        }

        std::array::from_fn(|band| {
            let mut logit = [f64::from(self.model.band_bias[band]) + whole[COMBINED]];
            add(self.model.out, &units, band, &mut logit);
            logit[0]
        })
    }

    /// Levels, rises and falls.
    fn contrast(&mut self, power: &[f64; DETECTORS]) -> [[f64; DETECTORS]; 3] {
        let total = power.iter().sum::<f64>().max(QUIETEST);
        let [up, down] = LOUDNESS;
        let tau = if total > self.reference { up } else { down };
        self.reference += tracker_step(tau, 1.0 / self.period) * (total - self.reference);
        let level = power.map(|power| (power / self.reference + FLOOR).ln() - FLOOR.ln());
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
        let now = templates.map(|template| template.iter().sum::<f64>() / POSITIONS as f64);
        for (means, seconds) in self.means.iter_mut().zip(&self.model.mean_seconds) {
            for c in 0..TEMPLATES {
                let step = tracker_step(f64::from(seconds[c]), 1.0 / self.period);
                means[c] += step * (now[c] - means[c]);
            }
        }
        let mean = level.iter().sum::<f64>() / DETECTORS as f64;
        let greatest = level.iter().copied().fold(0.0, f64::max);
        let seen = now.iter().chain(self.means.as_flattened()).chain([&mean, &greatest]);
        let mut sums = [0.0; COMBINED + 1];
        for (seen, weights) in seen.zip(&self.model.whole) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += seen * f64::from(*weight);
            }
        }
        sums
    }
}

/// Adds what the rows give to each output at `position`; beyond its ends, a row is 0.
fn add<const N: usize, const LENGTH: usize>(
    taps: &[Tap<N>],
    rows: &[[f64; LENGTH]],
    position: usize,
    sums: &mut [f64; N],
) {
    for Tap { row, offset, weights } in taps {
        let at = position.checked_add_signed((*offset).into());
        let seen = at.and_then(|at| rows[usize::from(*row)].get(at)).copied().unwrap_or(0.0);
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += seen * f64::from(*weight);
        }
    }
}
