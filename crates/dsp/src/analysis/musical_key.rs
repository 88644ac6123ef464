//! Key detection from the detected notes.
//!
//! The total durations of the pitch classes are correlated with profiles of all major and minor keys, as in C. L. Krumhansl,
//! "Cognitive Foundations of Musical Pitch" (1990), chapter 4. The profiles are from D. Temperley, "Music and Probability"
//! (2007), chapter 6. Each value is the fraction of the segments in a key that contain the degree of the scale, in the excerpts
//! of Kostka and Payne's textbook.

use crate::settings::{PitchClass, Scale};
use std::fmt;
use tone_filter_listener::{Decisions, LOWEST_NOTE};

/// Profiles of major and minor, from the root up.
const PROFILES: [[f64; 12]; 2] = [
    [0.748, 0.060, 0.488, 0.082, 0.670, 0.460, 0.096, 0.715, 0.104, 0.366, 0.057, 0.400],
    [0.712, 0.084, 0.474, 0.618, 0.049, 0.460, 0.105, 0.747, 0.404, 0.067, 0.133, 0.330],
];
const KEYS: usize = 12 * PROFILES.len();

/// Minimum sum of the durations of the notes, in seconds, at which there is a key. Durations fade with the memory of the
/// finder.
const LEAST: f64 = 1.0;
/// Sum of the durations in seconds at which the factor on the correlations is half of [`STEEPNESS`].
const HALF: f64 = 5.0;
/// Factor on the correlations in the softmax over all keys. The certainty is the softmax of the chosen key. Calibrated so that
/// the mean certainty equals the fraction of songs whose key is found correctly; `docs/dsp.md` lists the songs.
const STEEPNESS: f64 = 15.0;
/// Minimum advantage in correlation with which a new key replaces the current one.
const ADVANTAGE: f64 = 0.05;
/// Ratio between the durations of the minor and the raised seventh at which a minor key changes its seventh to the longer one.
const LEADING: f64 = 1.5;

const A: usize = 69;

/// Key that [`KeyFinder`] has detected, with its certainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundKey {
    /// Root as a pitch class of the bands' names, before `tuning` and `transpose`.
    pub root: PitchClass,
    /// [`Scale::Major`], [`Scale::NaturalMinor`], or [`Scale::HarmonicMinor`] where the raised seventh is held longer.
    pub scale: Scale,
    /// Estimated probability that the key is right, 0..1.
    pub certainty: f32,
}

impl FoundKey {
    /// Whether the certainty is 50 % or more; only then the settings follow the key.
    pub fn is_certain(&self) -> bool {
        self.certainty >= 0.5
    }
}

/// Format: `C minor 84 %`.
impl fmt::Display for FoundKey {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let scale = match self.scale {
            Scale::Major => "major",
            Scale::HarmonicMinor => "harmonic minor",
            _ => "minor",
        };
        write!(f, "{} {scale} {:.0} %", self.root.name(), 100.0 * self.certainty)
    }
}

/// Finds the key of the notes that a listener detects.
#[derive(Debug, Clone)]
pub struct KeyFinder {
    /// Decay factor of `held` per frame.
    keep: f64,
    /// Duration of a frame in seconds.
    frame: f64,
    /// Decayed duration of each pitch class in seconds, A first.
    held: [f64; 12],
    /// Current key: its index among the correlations (root, plus 12 for minor), and whether its seventh is raised.
    key: Option<(usize, bool)>,
    certainty: f64,
}

impl KeyFinder {
    /// Creates a finder for decisions every `frame` seconds. It forgets with a time constant of `memory` seconds, which may be
    /// infinite.
    pub fn new(frame: f64, memory: f64) -> Self {
        let keep = libm::exp(-frame / memory);
        Self { keep, frame, held: [0.0; 12], key: None, certainty: 0.0 }
    }

    /// Forgets all notes.
    pub fn reset(&mut self) {
        (self.held, self.key, self.certainty) = ([0.0; 12], None, 0.0);
    }

    /// Evaluates the decisions for the next frame.
    pub fn push(&mut self, decisions: &Decisions) {
        self.held.iter_mut().for_each(|held| *held *= self.keep);
        for (note, _) in decisions.on.iter().enumerate().filter(|(_, on)| **on) {
            self.held[(LOWEST_NOTE + note + 12 - A % 12) % 12] += self.frame;
        }
        self.find();
    }

    /// Returns the key of the notes so far, if there are enough.
    ///
    /// ```
    /// use tone_filter_dsp::{KeyFinder, Scale, listener::{Decisions, FRAME}};
    ///
    /// let mut finder = KeyFinder::new(FRAME, 30.0);
    /// let mut a_major = Decisions::NONE;
    /// // A2, C#3 and E3, counted from E1.
    /// [17, 21, 24].map(|note| a_major.on[note] = true);
    /// assert_eq!(finder.key(), None);
    /// (0..100).for_each(|_| finder.push(&a_major));
    /// let key = finder.key().ok_or("no key")?;
    /// assert_eq!((key.root.name(), key.scale), ("A", Scale::Major));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn key(&self) -> Option<FoundKey> {
        self.key.map(|(key, raised)| FoundKey {
            root: PitchClass::new(key % 12),
            scale: match (key < 12, raised) {
                (true, _) => Scale::Major,
                (false, false) => Scale::NaturalMinor,
                (false, true) => Scale::HarmonicMinor,
            },
            certainty: self.certainty as f32,
        })
    }

    fn find(&mut self) {
        let seconds: f64 = self.held.iter().sum();
        let held = self.held.map(|held| held - seconds / 12.0);
        let norm = held.iter().map(|x| x * x).sum::<f64>().sqrt();
        if seconds < LEAST || norm <= 1e-9 * seconds {
            (self.key, self.certainty) = (None, 0.0);
            return;
        }
        let correlations: [f64; KEYS] = std::array::from_fn(|key| {
            let profile = &PROFILES[key / 12];
            let mean = profile.iter().sum::<f64>() / 12.0;
            let [product, square] = profile.iter().enumerate().fold([0.0; 2], |sums, (step, x)| {
                let x = x - mean;
                [sums[0] + x * held[(key + step) % 12], sums[1] + x * x]
            });
            product / (norm * square.sqrt())
        });
        let mut best = 0;
        for (key, correlation) in correlations.iter().enumerate() {
            if *correlation > correlations[best] {
                best = key;
            }
        }
        let (key, raised) = match self.key {
            Some(last) if correlations[best] < correlations[last.0] + ADVANTAGE => last,
            _ => (best, false),
        };
        let [seventh, leading] = [10, 11].map(|step| self.held[(key + step) % 12]);
        let raised = if raised { LEADING * leading > seventh } else { leading > LEADING * seventh };
        self.key = Some((key, raised));
        let steepness = STEEPNESS * seconds / (seconds + HALF);
        let chosen = correlations[key];
        let sum: f64 = correlations.iter().map(|r| libm::exp(steepness * (r - chosen))).sum();
        self.certainty = 1.0 / sum;
    }
}
