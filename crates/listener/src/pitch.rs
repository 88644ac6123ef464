//! Pitch of the tone at each note, from the phase of its detector in the fast bank.
//!
//! Within a frame, the detector's output turns by an angle and grows by a factor, which give the mean frequency and the mean
//! growth over the frame. The detector's two poles attenuate other notes, but they also smooth a vibrato. To undo this, the poles
//! are inverted by derivatives over a few frames: `docs/listening.md` has the formulas.

use crate::{
    NOTES,
    detectors::{
        BANK_GROUPS, Complex, Detectors, FIRST_NOTE, Group, LANES, LOWEST, decay, product,
    },
    features::Features,
};
use std::{array, f64::consts::TAU};

/// Number of frames that are kept.
const FRAMES: usize = 9;
/// Number of frames over which a pitch is averaged.
const SPAN: usize = 7;
/// Number of frames to which a polynomial is fitted.
const FIT: usize = 5;
/// Weights of the frames of a fit, and their divisor.
type Weights = ([f64; FIT], f64);
/// Weights for the value in the middle of a fitted parabola.
const VALUE: Weights = ([-3.0, 12.0, 17.0, 12.0, -3.0], 35.0);
/// Weights for the first and second derivative in the middle of a fitted parabola.
const PARABOLA: [Weights; 2] =
    [([-2.0, -1.0, 0.0, 1.0, 2.0], 10.0), ([2.0, -1.0, -2.0, -1.0, 2.0], 7.0)];
/// Weights for the first and second derivative in the middle of the polynomial through all frames of a fit.
const EXACT: [Weights; 2] =
    [([1.0, -8.0, 0.0, 8.0, -1.0], 12.0), ([-1.0, 16.0, -30.0, 16.0, -1.0], 12.0)];
/// Decay of a detector per frame below which [`PARABOLA`] gives the derivatives. Detectors up to G3 decay more slowly; for them,
/// [`EXACT`] would amplify remnants of other notes.
const SLOW: f64 = 0.35;
/// Weights of three neighbouring tones in their mean.
const SMOOTH: [f64; 3] = [1.0, 2.0, 1.0];
/// Frequency ratio of e in cents.
const CENTS: f64 = 1200.0 / std::f64::consts::LN_2;
/// Error of a tone in cents at which the mean over the frames has as much weight as the tone.
const ERROR: f64 = 25.0;
/// Error of a tone, as a fraction of its distance from the mean over the frames. No test fixes the value: by the formula of
/// `trust`, a value 1 % away moves no pitch by more than 1.1 cents.
const DISTANCE: f64 = 0.25;
/// Power of the input, relative to the detector's output, below which the tone has ended and the detector only rings.
const ENDED: f64 = 0.25;
/// Minimum sum of the frames' powers of a tone. It is far above 1e-20, the offset in [`Features::products`].
const QUIETEST: f64 = 1e-16;
/// Maximum distance of a tone from its detector in semitones. A tone further away belongs to another note.
const FARTHEST: f64 = 1.0;

/// Change of a detector's output in a frame.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Growth of the logarithm of the amplitude, in bandwidths: divided by decay rate and duration.
    growth: f32,
    /// Distance of the mean frequency from the detector's, in bandwidths.
    shift: f32,
    /// Power of the output, by which means over frames are weighted.
    weight: f32,
}

/// Changes of the notes' detectors in the last frames.
#[derive(Debug, Clone)]
pub struct Pitches {
    /// Duration of a frame in s.
    period: f64,
    /// Frequency of the detector of A4 in Hz in the last frame.
    a4: f64,
    /// Number of channels of the last frame.
    channels: usize,
    /// State `s2` of the fast bank at the end of the last frame, for each channel.
    states: [[[Group; 2]; BANK_GROUPS]; 2],
    /// `|s2|^2`, averaged over the channels, and `Im r` of each note at the end of the last frame.
    ends: [[f64; 2]; NOTES],
    /// Changes in the last frames, in a ring.
    steps: [[Step; NOTES]; FRAMES],
    newest: usize,
}

impl Pitches {
    /// Creates the state after silence, for frames of `period` s.
    pub const fn new(period: f64) -> Self {
        const NONE: Step = Step { growth: 0.0, shift: 0.0, weight: 0.0 };
        Self {
            period,
            a4: 440.0,
            channels: 1,
            states: [[[Group::ZERO; 2]; BANK_GROUPS]; 2],
            ends: [[f64::MIN_POSITIVE, 0.0]; NOTES],
            steps: [[NONE; NOTES]; FRAMES],
            newest: 0,
        }
    }

    /// Resets to the state after silence.
    pub fn reset(&mut self) {
        *self = Self::new(self.period);
    }

    /// Returns the frequency in Hz of the detector of `note`, and its decay in a frame.
    fn detector(&self, note: usize) -> (f64, f64) {
        let semitones = f64::from(LOWEST - 69) + (FIRST_NOTE + note) as f64;
        let hertz = self.a4 * libm::exp2(semitones / 12.0);
        (hertz, decay(0, hertz) * self.period)
    }

    /// Adds a frame of one or two `channels`. `detectors` and `features` have the state at its end. The detectors were tuned to
    /// `a4` Hz.
    pub fn push(&mut self, detectors: &Detectors, features: &Features, channels: usize, a4: f64) {
        self.a4 = a4;
        self.newest = (self.newest + 1) % FRAMES;
        for note in 0..NOTES {
            let [group, lane] = [(FIRST_NOTE + note) / LANES, (FIRST_NOTE + note) % LANES];
            let at = |[re, im]: [&Group; 2]| [re.0[lane], im.0[lane]].map(f64::from);
            let mut turned = [0.0; 2];
            for channel in 0..channels {
                let [_, _, re, im] = &detectors.states[channel][group];
                // A new second channel continues the first one.
                let last = &self.states[channel.min(self.channels - 1)][group];
                let [re_last, im_last] = at(last.each_ref());
                let turn = product(at([re, im]), [re_last, -im_last]);
                turned = [turned[0] + turn[0], turned[1] + turn[1]];
            }
            let [square, _, im] = features.products(0, FIRST_NOTE + note).map(f64::from);
            let [last_square, last_shift] = self.ends[note];
            self.ends[note] = [square, im / square];
            let (hertz, decay) = self.detector(note);
            let expected = 0.5 * decay * (im / square + last_shift);
            let off = libm::atan2(turned[1], turned[0]) - TAU * hertz * self.period - expected;
            self.steps[self.newest][note] = Step {
                growth: (0.5 * libm::log(square / last_square) / decay) as f32,
                shift: ((expected + off - TAU * (off / TAU).round()) / decay) as f32,
                weight: libm::hypot(turned[0], turned[1]) as f32,
            };
        }
        for (states, new) in self.states.iter_mut().zip(&detectors.states).take(channels) {
            for (state, [_, _, re, im]) in states.iter_mut().zip(new) {
                *state = [*re, *im];
            }
        }
        self.channels = channels;
    }

    /// Returns the distance of the tone at `note` from its detector in semitones, 3.5 frames (half of [`SPAN`]) before the end of
    /// the last frame. `None` without a tone within a semitone.
    pub fn offset(&self, note: usize) -> Option<f64> {
        let steps: [Step; FRAMES] =
            array::from_fn(|frame| self.steps[(self.newest + 1 + frame) % FRAMES][note]);
        let (hertz, decay) = self.detector(note);
        let span = &steps[FRAMES - SPAN..];
        let weight: f64 = span.iter().map(|step| f64::from(step.weight)).sum();
        let weighed = |step: &Step| f64::from(step.weight) * f64::from(step.shift);
        let mean = span.iter().map(weighed).sum::<f64>() / weight;
        let tones: [Tone; FRAMES - FIT + 1] =
            array::from_fn(|first| Tone::of(&steps[first..first + FIT], decay));
        let [before, last, now] = array::from_fn(|first| Tone::mean(&tones[first..]));
        if weight < QUIETEST || now.input < ENDED {
            return None;
        }
        let bend = |part: usize| before.change[part] - 2.0 * last.change[part] + now.change[part];
        let distance = now.change[1] - mean;
        let nepers = decay / (TAU * hertz * self.period);
        let doubt = |error: f64| libm::pow(error * nepers * CENTS / ERROR, 4.0);
        let bend = libm::hypot(bend(0), bend(1));
        let trust = 1.0 / (1.0 + doubt(bend) + doubt(DISTANCE * distance));
        // NaN after silence.
        let shift = if trust > 0.0 { mean + trust * distance } else { mean };
        let semitones = 12.0 * libm::log2(1.0 + shift * nepers);
        // The condition is also false for NaN.
        (semitones.abs() <= FARTHEST).then_some(semitones)
    }
}

/// Tone at the input of a detector, computed from the output.
#[derive(Debug, Clone, Copy)]
struct Tone {
    /// Growth, and distance from the detector, in bandwidths.
    change: Complex,
    /// Power of the detector's output.
    weight: f64,
    /// Power of the input, relative to the output.
    input: f64,
}

impl Tone {
    /// Computes the tone in the middle of [`FIT`] frames. `decay` is the detector's decay in a frame.
    fn of(steps: &[Step], decay: f64) -> Self {
        let fit = |(weights, divisor): &Weights| {
            let products = weights.iter().zip(steps);
            let sums = products.fold([0.0; 2], |[growth, shift], (weight, step)| {
                [growth + weight * f64::from(step.growth), shift + weight * f64::from(step.shift)]
            });
            sums.map(|sum| sum / divisor)
        };
        // `r - 1`, and the derivatives of `r` with respect to time in units of 1 / decay.
        let [growth, shift] = fit(&VALUE);
        let derivatives = if decay < SLOW { &PARABOLA } else { &EXACT };
        let [slope, curvature] = derivatives.each_ref().map(fit);
        let slope = slope.map(|part| part / decay);
        let curvature = curvature.map(|part| part / (decay * decay));
        let r = [1.0 + growth, shift];
        let (square, turn) = (product(r, r), product(r, slope));
        let ratio = [square[0] + slope[0], square[1] + slope[1]];
        let ratio_slope = [2.0 * turn[0] + curvature[0], 2.0 * turn[1] + curvature[1]];
        let input = ratio[0] * ratio[0] + ratio[1] * ratio[1];
        let [re, im] = product(ratio_slope, [ratio[0], -ratio[1]]);
        Self {
            change: [growth + re / input, shift + im / input],
            weight: f64::from(steps[FIT / 2].weight),
            input,
        }
    }

    /// Returns the mean of the first three `tones`, weighted by [`SMOOTH`] and by the power of the input.
    fn mean(tones: &[Self]) -> Self {
        let (mut change, mut weight, mut power) = ([0.0; 2], 0.0, 0.0);
        for (tone, share) in tones.iter().zip(SMOOTH) {
            let input_power = share * tone.weight * tone.input;
            change = [
                change[0] + input_power * tone.change[0],
                change[1] + input_power * tone.change[1],
            ];
            (weight, power) = (weight + share * tone.weight, power + input_power);
        }
        Self { change: change.map(|part| part / power), weight, input: power / weight }
    }
}
