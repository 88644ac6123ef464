//! Key and tuning of the music, estimated from the notes and tones of each frame.

use crate::NOTES;
use std::f64::consts::TAU;

/// Profile of major: fraction of segments of music in which each degree of the key is heard, from the root up.
const MAJOR: [f64; 12] =
    [0.748, 0.060, 0.488, 0.082, 0.670, 0.460, 0.096, 0.715, 0.104, 0.366, 0.057, 0.400];
/// Profile of minor.
const MINOR: [f64; 12] =
    [0.712, 0.084, 0.474, 0.618, 0.049, 0.460, 0.105, 0.747, 0.404, 0.067, 0.133, 0.330];

/// Mode of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Major.
    Major,
    /// Natural minor.
    Minor,
    /// Minor with the raised seventh.
    HarmonicMinor,
}

/// Key of the music.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// Semitones from A up to the root.
    pub root: usize,
    /// Mode: major, or a kind of minor.
    pub mode: Mode,
    /// Certainty, 0..1.
    pub certainty: f64,
}

/// Estimator of the music's key and tuning.
#[derive(Debug, Clone)]
pub struct Found {
    /// Length of a frame in seconds.
    frame: f64,
    /// Seconds for which each pitch class was held, fading with a time constant of 30 s; A first.
    held: [f64; 12],
    /// Latest key; `None` after less than a second of notes, or if all pitch classes were held equally long.
    pub key: Option<Key>,
    /// Key that a scale follows: the last one whose certainty was at least a half.
    pub followed: Option<Key>,
    /// Sum of all tones, fading with a time constant of 20 s: real part, imaginary part and weight.
    tones: [f64; 3],
    /// Cents of the last frame with tones, unwrapped: at most 50 from those of the frame with tones before it.
    unwrapped: f64,
    /// Sums over the frames, fading with a time constant of 0.1 s: of the squared length of a frame's tones, and of this square
    /// times the frame's cents. The ratio of both is the mean cents over a vibrato.
    vibrato: [f64; 2],
    /// Sum of the frames' tones, fading with a time constant of 20 s: real and imaginary part. The tones of a frame are turned to
    /// the mean cents over a vibrato before they are added.
    middles: [f64; 2],
    /// Cents from the set tuning to the bands' tuning, which follows the music.
    pub cents: f64,
    /// Whether the bands' tuning is on its way to the detected one.
    moving: bool,
}

impl Found {
    /// Creates the state without notes, for frames of `frame` seconds.
    pub fn new(frame: f64) -> Self {
        let (held, tones) = ([0.0; 12], [0.0; 3]);
        Self {
            frame,
            held,
            key: None,
            followed: None,
            tones,
            unwrapped: 0.0,
            vibrato: [0.0; 2],
            middles: [0.0; 2],
            cents: 0.0,
            moving: false,
        }
    }

    /// Evaluates a frame. `played` has its notes. `tones` are three sums over its tones: real and imaginary part of the weight
    /// times `exp(2 pi i cents / 100)`, and the weight. `tuning` is the set frequency of A4 in Hz, `transpose` the transposition of
    /// the bands in semitones.
    pub fn push(&mut self, played: &[bool; NOTES], tones: [f64; 3], tuning: f64, transpose: f64) {
        for held in &mut self.held {
            *held *= (-self.frame / 30.0).exp();
        }
        for (note, _) in played.iter().enumerate().filter(|(_, played)| **played) {
            // The lowest note is an E.
            self.held[(note + 7) % 12] += self.frame;
        }
        self.find_key();
        for (sum, new) in self.tones.iter_mut().zip(tones) {
            *sum = *sum * (-self.frame / 20.0).exp() + new;
        }
        let ([re, im, _], fade) = (tones, (-self.frame / 0.1).exp());
        let length = re.hypot(im);
        self.vibrato = self.vibrato.map(|sum| fade * sum);
        if length > 0.0 {
            let now = 100.0 * im.atan2(re) / TAU;
            self.unwrapped = now + 100.0 * ((self.unwrapped - now) / 100.0).round();
            self.vibrato[0] += length.powi(2);
            self.vibrato[1] += length.powi(2) * self.unwrapped;
        }
        let middle = if length > 0.0 { self.vibrato[1] / self.vibrato[0] } else { 0.0 };
        let angle = TAU * middle / 100.0;
        for (sum, new) in self.middles.iter_mut().zip([angle.cos(), angle.sin()]) {
            *sum = *sum * (-self.frame / 20.0).exp() + length * new;
        }
        self.follow_tuning(tuning, transpose);
    }

    fn find_key(&mut self) {
        let seconds: f64 = self.held.iter().sum();
        let even = self.held.iter().all(|held| (held - seconds / 12.0).abs() < 1e-12 * seconds);
        if seconds < 1.0 || even {
            self.key = None;
            return;
        }
        let fit = |key: &(usize, bool)| {
            correlation(&self.held, key.0, if key.1 { &MINOR } else { &MAJOR })
        };
        let keys =
            [false, true].into_iter().flat_map(|minor| (0..12).map(move |root| (root, minor)));
        let keys: Vec<(usize, bool)> = keys.collect();
        // Of keys that fit equally well, the first one wins.
        let best = keys.iter().rev().max_by(|a, b| fit(a).total_cmp(&fit(b))).expect("keys");
        let last = self.key.map(|key| ((key.root, key.mode != Mode::Major), key.mode));
        let stays = last.filter(|(key, _)| fit(best) < fit(key) + 0.05);
        let (key, mode) = stays.unwrap_or((*best, Mode::Minor));
        let [seventh, raised] = [10, 11].map(|step| self.held[(key.0 + step) % 12]);
        let mode = match mode {
            _ if !key.1 => Mode::Major,
            // The other seventh replaces the current one if it was held 1.5 times as long.
            Mode::HarmonicMinor if seventh < 1.5 * raised => Mode::HarmonicMinor,
            Mode::Minor if raised > 1.5 * seventh => Mode::HarmonicMinor,
            _ => Mode::Minor,
        };
        let weight = |key: &(usize, bool)| (15.0 * seconds / (seconds + 5.0) * fit(key)).exp();
        let certainty = weight(&key) / keys.iter().map(weight).sum::<f64>();
        self.key = Some(Key { root: key.0, mode, certainty });
        // Compares in single precision, like the filter.
        if certainty as f32 >= 0.5 {
            self.followed = self.key;
        }
    }

    /// Returns the tuning of the music in Hz, at most half a semitone from `near`; `None` if the tones are too few or disagree.
    fn tuning(&self, near: f64, transpose: f64) -> Option<f64> {
        let [re, im, weight] = self.tones;
        let middles = self.middles[0].hypot(self.middles[1]);
        // The angle between both sums is at most 15 cents.
        let cosine = (re * self.middles[0] + im * self.middles[1]) / (re.hypot(im) * middles);
        let [re, im] = if cosine >= (TAU * 0.15).cos() && re.hypot(im) >= 0.1 * weight {
            [re, im]
        } else if middles > re.hypot(im) && middles >= 0.3 * weight {
            self.middles
        } else {
            return None;
        };
        if weight < 60.0 || re.hypot(im) < 0.1 * weight {
            return None;
        }
        // Cents above 440 Hz, up to a whole number of semitones.
        let cents = 100.0 * (im.atan2(re) / TAU - transpose);
        let off = cents - 1200.0 * (near / 440.0).log2();
        Some(near * ((off - 100.0 * (off / 100.0).round()) / 1200.0).exp2())
    }

    fn follow_tuning(&mut self, tuning: f64, transpose: f64) {
        let centre = self.cents.clamp(-10.0, 10.0);
        let Some(found) = self.tuning(tuning * (centre / 1200.0).exp2(), transpose) else {
            return;
        };
        let off = 1200.0 * (found / tuning).log2() - self.cents;
        self.moving = off.abs() > if self.moving { 0.05 } else { 2.5 };
        if self.moving {
            let limit = 40.0 * self.frame;
            self.cents += off.clamp(-limit, limit);
        }
    }
}

/// Returns the correlation of pitch classes with the profile of a key on `root`.
fn correlation(held: &[f64; 12], root: usize, profile: &[f64; 12]) -> f64 {
    let mean = |values: &[f64; 12]| values.iter().sum::<f64>() / 12.0;
    let pairs =
        (0..12).map(|step| (held[(root + step) % 12] - mean(held), profile[step] - mean(profile)));
    let sums = pairs.fold([0.0; 3], |[xy, xx, yy], (x, y)| [xy + x * y, xx + x * x, yy + y * y]);
    sums[0] / (sums[1] * sums[2]).sqrt()
}
