//! Strengths of the onsets of notes and drums, frame by frame.

use super::{
    class,
    patterns::{CLASSES, Classes, KINDS, Row, table_row},
};
use crate::{
    Decisions, LOWEST_NOTE, NOTES,
    notes::{Event, Notes},
    tracker_step,
};
use std::array;

/// Time constants of the reference power in s: while it rises, and while it falls.
const REFERENCE: [f64; 2] = [0.05, 3.0];
/// Added to a level, relative to the reference, before the logarithm.
const FLOOR: f32 = 1e-4;
/// Lower limit of the total power, so that the reference is never 0.
const QUIETEST: f32 = 1e-15;
/// Number of frames over which the rise of a level is measured.
const SPAN: usize = 2;
/// Limits of the low, middle and high band, as indices of notes.
const EDGES: [usize; 4] = [0, 20, 56, NOTES];
/// Index of E3, the first note above the bass.
const BASS: usize = 52 - LOWEST_NOTE;
/// Limits between the classes of strength, relative to the mean strength.
const THRESHOLDS: [f32; CLASSES - 1] = [0.25, 1.0, 2.5, 5.0];

/// Frames from an onset to the decision with lookahead that completes its strengths.
pub const DELAY: usize = 8;
/// [`DELAY`] for decisions without lookahead.
pub const LIVE_DELAY: usize = 5;
/// Number of frames by which each of the [`Strengths`] is known sooner than [`DELAY`] after the onset.
const EARLIER: [usize; KINDS] = [0, 1, 2, 3, 3];
/// [`EARLIER`] without lookahead, relative to [`LIVE_DELAY`]. Levels are then known sooner, but beginnings of notes no sooner.
const LIVE_EARLIER: [usize; KINDS] = [1, 2, 3, 0, 0];
/// Maximum of [`EARLIER`] and [`LIVE_EARLIER`], plus 1.
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
        }
    }

    /// Evaluates the next frame's `decisions`, made with or without `lookahead`. Returns the strengths [`DELAY`] (without
    /// lookahead, [`LIVE_DELAY`]) frames before the end of this frame.
    pub fn push(&mut self, decisions: &Decisions, lookahead: bool) -> Strengths {
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
        let earlier = if lookahead { &EARLIER } else { &LIVE_EARLIER };
        array::from_fn(|kind| self.past[earlier[kind]][kind])
    }
}

/// Returns the log likelihood of `strengths` at each place in a beat, given their `means`.
pub fn row(strengths: &Strengths, means: &Strengths) -> Row {
    table_row(classes(strengths, means))
}

/// Returns the classes of `strengths` relative to their `means`.
pub fn classes(strengths: &Strengths, means: &Strengths) -> Classes {
    array::from_fn(|kind| class(strengths[kind], means[kind], &THRESHOLDS) as u8)
}
