//! Onsets of notes and drums, frame by frame: strengths, and their likelihood at each place in a beat.
//!
//! `tools/fit/beats.py` counts onsets in scores and writes the file of likelihoods: a signed byte for each pattern (beats in halves
//! and quarters; beats in thirds), type of beat (strong, weak), kind of onset, place and class of strength, in this order. A byte
//! is the logarithm of a ratio, in units of 1 / [`UNIT`]: the frequency of the class at this place to its frequency at all places.

use super::{UNIT, class};
use crate::{
    Decisions, LOWEST_NOTE, NOTES,
    notes::{Event, Notes},
    tracker_step,
};
use std::array;

/// Time constants of the reference power in s: while it rises, and while it falls.
const REFERENCE: [f64; 2] = [0.05, 3.0];
/// Added to a level, relative to the reference, before the logarithm. No test fixes the value: a value 1 % away moves no logarithm
/// by more than 0.01, which is 0.04 dB.
const FLOOR: f32 = 1e-4;
/// Lower limit of the total power, so that the reference is never 0.
const QUIETEST: f32 = 1e-15;
/// Number of frames over which the rise of a level is measured.
const SPAN: usize = 2;
/// Limits of the low, middle and high band, as indices of notes.
const EDGES: [usize; 4] = [0, 20, 56, NOTES];
/// Index of E3, the first note above the bass.
const BASS: usize = 52 - LOWEST_NOTE;
/// Time constant in s of the mean strengths.
const MEAN: f64 = 5.0;
/// Limits between the classes of strength, relative to the mean strength.
const THRESHOLDS: [f32; CLASSES - 1] = [0.25, 1.0, 2.5, 5.0];

/// Number of patterns: straight beats (halves and quarters) and triplets (thirds).
pub const PATTERNS: usize = 2;
/// Number of types of beats: strong (first and third of four) and weak.
pub const TYPES: usize = 2;
/// Number of kinds of onsets; see [`Strengths`].
pub const KINDS: usize = 5;
/// Number of places in a beat; the first one is centred on the beat.
pub const PLACES: usize = 24;
/// Number of classes of strength; class 0 is the weakest.
const CLASSES: usize = 5;

const FILE: &[u8; PATTERNS * TYPES * KINDS * PLACES * CLASSES] =
    include_bytes!("../../weights/beats.bin");

/// Log likelihoods at all places in a beat, for each type of beat.
pub type Row = [[f32; ROW]; TYPES];
/// Length of a [`Row`]: [`PLACES`], rounded up to a power of two, so that an index is limited cheaply.
pub const ROW: usize = PLACES.next_power_of_two();
/// Class of strength of each kind of onset.
pub type Classes = [u8; KINDS];

/// Frames from an onset to the decision that completes its strengths, without and with lookahead.
pub const DELAY: [usize; 2] = [5, 8];
/// Number of frames by which each of the [`Strengths`] is known sooner, without and with lookahead. Without it, levels are known
/// sooner, but beginnings of notes no sooner.
const EARLIER: [[usize; KINDS]; 2] = [[1, 2, 3, 0, 0], [0, 1, 2, 3, 3]];
/// Maximum of [`EARLIER`], plus 1.
const HISTORY: usize = 4;

/// Strengths of the onsets in one frame: rise of the low, middle and high levels, beginnings of notes, beginnings of bass notes.
pub type Strengths = [f32; KINDS];
/// Index of the beginnings of notes among the [`Strengths`].
pub const NOTES_BEGIN: usize = 3;

/// Measures the strengths of onsets from decisions.
///
/// The rise of a note's level is its logarithm, minus the highest logarithm of the note and its two neighbours two frames
/// earlier; it is at least 0. This suppresses vibrato: S. Böck, G. Widmer, "Maximum filter vibrato suppression for onset
/// detection" (DAFx 2013).
#[derive(Debug, Clone)]
pub struct Onsets {
    /// One-pole coefficients of the reference per frame, rising and falling.
    steps: [f32; 2],
    /// Reference power: the smoothed sum of all levels.
    reference: f32,
    /// Logarithmic levels of the last frames, newest first.
    levels: [[f32; NOTES]; SPAN + 1],
    notes: Notes,
    /// Sums of the velocities (0..1) of all notes and of the bass notes that began in each of the last frames, newest first.
    begun: [[f32; 2]; 3],
    /// Strengths of the last frames, newest first.
    past: [Strengths; HISTORY],
    /// One-pole mean of the strengths, from 0 on. Divided by `weight`, it is a mean of the frames so far.
    mean: Strengths,
    /// Sum of the frames' weights in `mean`, from 0 up to 1.
    weight: f32,
    /// One-pole coefficient of the mean per frame.
    coefficient: f32,
}

impl Onsets {
    /// Creates the state after silence, for frames of `frame` seconds.
    pub fn new(frame: f64) -> Self {
        Self {
            steps: REFERENCE.map(|tau| tracker_step(tau, 1.0 / frame) as f32),
            reference: QUIETEST,
            levels: [[0.0; NOTES]; SPAN + 1],
            notes: Notes::every(),
            begun: [[0.0; 2]; 3],
            past: [[0.0; KINDS]; HISTORY],
            mean: [0.0; KINDS],
            weight: 0.0,
            coefficient: tracker_step(MEAN, 1.0 / frame) as f32,
        }
    }

    /// Evaluates the next frame's `decisions`, made with or without `lookahead`. Returns the strengths [`DELAY`] frames before the
    /// end of this frame, and their classes.
    pub fn push(&mut self, decisions: &Decisions, lookahead: bool) -> (Strengths, Classes) {
        let total = decisions.level.iter().sum::<f32>().max(QUIETEST);
        self.reference +=
            self.steps[usize::from(total < self.reference)] * (total - self.reference);
        self.levels.rotate_right(1);
        let scale = 1.0 / self.reference;
        for (log, level) in self.levels[0].iter_mut().zip(&decisions.level) {
            *log = tone_filter_simd::approx::ln(level * scale + FLOOR);
        }
        let [new, .., old] = &self.levels;
        let rise = |note: usize| {
            let before = &old[note.saturating_sub(1)..(note + 2).min(NOTES)];
            (new[note] - before.iter().fold(f32::MIN, |most, log| most.max(*log))).max(0.0)
        };
        let band = |band: usize| {
            let notes = EDGES[band]..EDGES[band + 1];
            notes.clone().map(rise).sum::<f32>() / notes.len() as f32
        };

        let [mut all, mut bass] = [0.0; 2];
        let add = |Event { note, velocity, .. }| {
            let strength = f32::from(velocity.unwrap_or(0)) / 127.0;
            all += strength;
            bass += if note < BASS { strength } else { 0.0 };
        };
        self.notes.push(decisions, |_| true, add);
        self.begun.rotate_right(1);
        self.begun[0] = [all, bass];
        let begun =
            |kind: usize| self.begun.iter().fold(0.0, |most: f32, frame| most.max(frame[kind]));

        self.past.rotate_right(1);
        self.past[0] = [band(0), band(1), band(2), begun(0), begun(1)];
        let earlier = &EARLIER[usize::from(lookahead)];
        let strengths: Strengths = array::from_fn(|kind| self.past[earlier[kind]][kind]);

        self.weight += self.coefficient * (1.0 - self.weight);
        for (mean, own) in self.mean.iter_mut().zip(&strengths) {
            *mean += self.coefficient * (own - *mean);
        }
        let class = |kind| class(strengths[kind], self.mean[kind] / self.weight, &THRESHOLDS) as u8;
        (strengths, array::from_fn(class))
    }
}

/// Adds the log likelihood of a frame's onsets under `pattern` to `row`.
pub fn add(row: &mut Row, pattern: usize, classes: &Classes) {
    for (of_type, row) in row.iter_mut().enumerate() {
        for (kind, class) in classes.iter().enumerate() {
            let table = ((pattern * TYPES + of_type) * KINDS + kind) * PLACES;
            let places = FILE.as_chunks::<CLASSES>().0[table..].iter();
            for (sum, classes) in row.iter_mut().zip(places) {
                *sum += f32::from(classes[usize::from(*class)].cast_signed()) / UNIT;
            }
        }
    }
}
