//! Network: computes the log odds of 80 notes from the detectors' features, frame by frame.
//!
//! ```text
//! features of some frames -> near -> harmonic -> first GRU -> mix ----> second GRU -> head
//!                                      |  |                   ^ ^ |                  ^  ^
//!                                      |  +-> global, one GRU |-+-|------------------+  |
//!                                      +-------- skip --------+   +------ direct -------+
//! ```
//!
//! The notes of a zone share the weights of a layer; each has biases of its own. Every note has a first and a second GRU, and the
//! GRUs of a zone share weights and biases. There is one global GRU. The work on a frame is done in steps of a few positions of a
//! layer, so that it can be spread over time. `docs/listening.md` has the formulas.

use crate::{
    NOTES,
    cells::{UNIT_COST, advance},
    dense::{ROWS, Term, add_dots, products},
    detectors::{DETECTORS, FIRST_NOTE},
    features::{FEATURES, Features, MARGIN as FEATURE_MARGIN},
    weights::{COLUMNS, DETECTORS_FROM, Head, Layer, NOTES_FROM, Near, Thresholds, Weights, zone},
};
use fearless_simd::{Simd, SimdBase};
use std::{array, iter::once};

/// Number of rows of zeros at each end. A window of [`ROWS`] rows may have a single row of data.
const MARGIN: usize = ROWS - 1;
/// Rows in a step of the layer `near`.
const NEAR_ROWS: usize = 2 * ROWS;
const NEAR_STEPS: usize = DETECTORS.div_ceil(NEAR_ROWS);
/// Steps of each other layer.
const STEPS_EACH: usize = NOTES / ROWS;
// Rows that are computed together share their weights, so they must be in one zone.
const _: () = {
    let ([a, b], [c, d]) = (NOTES_FROM, DETECTORS_FROM);
    assert!(a.is_multiple_of(ROWS) && b.is_multiple_of(ROWS));
    assert!(c.is_multiple_of(NEAR_ROWS) && d.is_multiple_of(NEAR_ROWS));
};
// First step of each layer and GRU after `near`.
const HARMONIC: usize = NEAR_STEPS;
const GLOBAL: usize = HARMONIC + STEPS_EACH;
const CELL: usize = GLOBAL + 1;
const MIX: usize = CELL + STEPS_EACH;
const SECOND: usize = MIX + STEPS_EACH;
const HEAD: usize = SECOND + STEPS_EACH;
/// Number of steps in a frame.
pub const STEPS: usize = HEAD + STEPS_EACH;

/// Rows with one unit per column, aligned to cache lines.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
struct Rows<const C: usize, const LENGTH: usize>([[f32; C]; LENGTH]);

impl<const C: usize, const LENGTH: usize> Rows<C, LENGTH> {
    const ZERO: Self = Self([[0.0; C]; LENGTH]);

    #[inline(always)]
    fn window(&self, row: usize) -> &[[f32; C]; ROWS] {
        window(&self.0, row)
    }

    #[inline(always)]
    fn window_mut<const R: usize>(&mut self, row: usize) -> &mut [[f32; C]; R] {
        &mut self.0[row..].as_chunks_mut().0[0]
    }

    /// Returns [`ROWS`] rows from `row + offset` on; row 0 is the first after the margin. `None` if all are margin or beyond.
    #[inline(always)]
    fn reach(&self, row: usize, offset: isize) -> Option<&[[f32; C]; ROWS]> {
        let first = (MARGIN + row).wrapping_add_signed(offset);
        (first < LENGTH - MARGIN).then(|| window(&self.0, first))
    }

    /// Returns the terms of a layer for [`ROWS`] notes from `note` on. Leaves out terms whose inputs are all beyond an end. At offset
    /// 0, the input of note 0 is row `base`.
    #[inline(always)]
    fn along<'a, const OUT: usize>(
        &'a self,
        layer: &'static Layer<OUT>,
        note: usize,
        base: usize,
    ) -> impl Iterator<Item = Term<'a, ROWS, C, OUT>> + Clone {
        let weights = layer.weights[zone(NOTES_FROM, note)].as_chunks::<C>().0;
        let terms = layer.offsets.iter().zip(weights);
        terms.filter_map(move |(offset, weights)| {
            Some(Term { inputs: self.reach(note + base, *offset)?, weights })
        })
    }
}

/// Returns `R` rows from `row` on, which must exist.
#[inline(always)]
fn window<const C: usize, const R: usize>(rows: &[[f32; C]], row: usize) -> &[[f32; C]; R] {
    &rows[row..].as_chunks().0[0]
}

/// Network with its state: `C1` units for each detector, `C` for each note and for the global GRU.
#[derive(Debug, Clone)]
pub struct Network<const C1: usize, const C: usize> {
    weights: &'static Weights<C1, C>,
    near: Rows<C1, { DETECTORS + 2 * MARGIN }>,
    /// Units of the notes after the layer `harmonic`.
    notes: Rows<C, NOTES>,
    /// Hidden state of the global GRU.
    global: [[f32; C]; 1],
    /// Global GRU's term in the inputs of the second GRUs.
    global_mix: [[f32; C]; 1],
    /// Global GRU's term in the log odds.
    global_out: [[f32; COLUMNS]; 1],
    first: Rows<C, { NOTES + 2 * MARGIN }>,
    /// Inputs of the second GRUs.
    mixed: Rows<C, NOTES>,
    second: Rows<C, { NOTES + 2 * MARGIN }>,
    logits: Rows<COLUMNS, NOTES>,
    /// Cost of each step in multiply-adds. Each unit of the notes' GRUs adds [`UNIT_COST`] for its nonlinear functions; those of
    /// the global GRU are left out.
    pub costs: [usize; STEPS],
    /// Sum of the costs: the cost of a frame.
    pub total: usize,
}

impl<const C1: usize, const C: usize> Network<C1, C> {
    /// Boxed and not inlined, to save the caller's stack.
    #[inline(never)]
    pub fn new(weights: &'static Weights<C1, C>) -> Box<Self> {
        let mut network = Box::new(Self {
            weights,
            near: Rows::ZERO,
            notes: Rows::ZERO,
            global: [[0.0; C]],
            global_mix: [[0.0; C]],
            global_out: [[0.0; COLUMNS]],
            first: Rows::ZERO,
            mixed: Rows::ZERO,
            second: Rows::ZERO,
            logits: Rows::ZERO,
            costs: [0; STEPS],
            total: 0,
        });
        network.costs = array::from_fn(|step| network.cost(step));
        network.total = network.costs.iter().sum();
        network
    }

    pub fn reset(&mut self) {
        self.global = [[0.0; C]];
        (self.first, self.second) = (Rows::ZERO, Rows::ZERO);
    }

    /// Returns all units of all GRUs.
    pub fn states(&self) -> impl Iterator<Item = f32> {
        let cells = self.first.0.as_flattened().iter().chain(self.second.0.as_flattened());
        cells.chain(&self.global[0]).copied()
    }

    /// Returns the log odds of all notes, valid after the last step, and their thresholds without and with lookahead.
    pub fn result(&self) -> (&[[f32; COLUMNS]; NOTES], &'static [Thresholds; 2]) {
        (&self.logits.0, &self.weights.thresholds)
    }

    fn cost(&self, step: usize) -> usize {
        let cells =
            if (CELL..MIX).contains(&step) || (SECOND..HEAD).contains(&step) { ROWS } else { 0 };
        self.multiply_adds(step) + UNIT_COST * C * cells
    }

    pub fn multiply_adds(&self, step: usize) -> usize {
        let w = self.weights;
        let row = |first: usize| (step - first) * ROWS;
        match step {
            ..HARMONIC => NEAR_ROWS * w.near.terms.len() * FEATURES * C1,
            HARMONIC..GLOBAL => {
                ROWS * C1 * C * self.near.along(&w.harmonic, row(HARMONIC), FIRST_NOTE).count()
            }
            GLOBAL..CELL => C * (2 * C + 6 * C + C + COLUMNS),
            CELL..MIX => ROWS * 6 * C * C,
            MIX..SECOND => ROWS * C * C * (self.first.along(&w.mix, row(MIX), 0).count() + 1),
            SECOND..HEAD => ROWS * 6 * C * C,
            _ => ROWS * C * COLUMNS * self.of_head(row(HEAD)).count(),
        }
    }

    /// Computes a step of a frame. Steps must run in order, from 0 to [`STEPS`] - 1, on unchanged `features`.
    pub fn step<S: Simd>(&mut self, simd: S, step: usize, features: &Features) {
        let row = |first: usize| (step - first) * ROWS;
        match step {
            // The rows of the last step overlap those of the step before.
            ..HARMONIC => self.near(simd, (step * NEAR_ROWS).min(DETECTORS - NEAR_ROWS), features),
            HARMONIC..GLOBAL => self.harmonic(simd, row(HARMONIC)),
            GLOBAL..CELL => self.advance_global(simd),
            CELL..MIX => {
                let row = row(CELL);
                let inputs = self.notes.window(row);
                let hidden = self.first.window_mut(MARGIN + row);
                advance(simd, &self.weights.first[zone(NOTES_FROM, row)], inputs, hidden);
            }
            MIX..SECOND => self.mix(simd, row(MIX)),
            SECOND..HEAD => {
                let row = row(SECOND);
                let inputs = self.mixed.window(row);
                let hidden = self.second.window_mut(MARGIN + row);
                advance(simd, &self.weights.second[zone(NOTES_FROM, row)], inputs, hidden);
            }
            _ => self.head(simd, row(HEAD)),
        }
    }

    fn near<S: Simd>(&mut self, simd: S, row: usize, features: &Features) {
        if const { C1 <= S::f32s::LEN } {
            self.near_rows::<S, NEAR_ROWS>(simd, row, features);
        } else {
            self.near_rows::<S, ROWS>(simd, row, features);
            self.near_rows::<S, ROWS>(simd, row + ROWS, features);
        }
    }

    fn near_rows<S: Simd, const R: usize>(&mut self, simd: S, row: usize, features: &Features) {
        let Near { terms, bias, weights } = &self.weights.near;
        let weights = weights[zone(DETECTORS_FROM, row)];
        let terms = terms.iter().zip(weights).map(|((offset, lag), weights)| {
            let first = (FEATURE_MARGIN + row).wrapping_add_signed(*offset);
            Term { inputs: window(features.rows(*lag), first), weights }
        });
        let out = self.near.window_mut::<R>(MARGIN + row);
        products(simd, (window(bias, row), &[0.0; C1]), terms, 0.0, out);
    }

    fn harmonic<S: Simd>(&mut self, simd: S, row: usize) {
        let layer = &self.weights.harmonic;
        let terms = self.near.along(layer, row, FIRST_NOTE);
        let out = self.notes.window_mut(row);
        products(simd, (window(layer.bias, row), &[0.0; C]), terms, 0.0, out);
    }

    /// Advances the global GRU by the mean and the maximum of the notes' units.
    fn advance_global<S: Simd>(&mut self, simd: S) {
        let w = self.weights;
        let [mut mean, mut peak] = [[[0.0; C]; 1]; 2];
        simd.vectorize(
            #[inline(always)]
            || {
                for first in (0..C).step_by(S::f32s::LEN) {
                    let at = first..first + S::f32s::LEN;
                    let [mut sum, mut greatest] = [S::f32s::splat(simd, 0.0); 2];
                    for row in &self.notes.0 {
                        let units = S::f32s::from_slice(simd, &row[at.clone()]);
                        (sum, greatest) = (sum + units, greatest.max(units));
                    }
                    (sum * (1.0 / NOTES as f32)).store_slice(&mut mean[0][at.clone()]);
                    greatest.store_slice(&mut peak[0][at]);
                }
            },
        );
        let [of_mean, of_peak] = w.global_in;
        let terms =
            [Term { inputs: &mean, weights: of_mean }, Term { inputs: &peak, weights: of_peak }];
        let mut input = [[0.0; C]];
        products(simd, (&[[0.0; C]], w.global_in_bias), terms.into_iter(), 0.0, &mut input);
        advance(simd, &w.global, &input, &mut self.global);
        let term = Term { inputs: &self.global, weights: w.global_mix };
        products(simd, (&[[0.0; C]], &[0.0; C]), once(term), f32::MIN, &mut self.global_mix);
        let term = Term { inputs: &self.global, weights: w.global_out };
        let zeros = (&[[0.0; COLUMNS]], &[0.0; COLUMNS]);
        products(simd, zeros, once(term), f32::MIN, &mut self.global_out);
    }

    fn mix<S: Simd>(&mut self, simd: S, row: usize) {
        let Weights { mix, skip, .. } = self.weights;
        let terms = self.first.along(mix, row, 0);
        let skip = Term { inputs: self.notes.window(row), weights: skip[zone(NOTES_FROM, row)] };
        let starts = (window(mix.bias, row), &self.global_mix[0]);
        let out = self.mixed.window_mut(row);
        products(simd, starts, terms.chain(once(skip)), 0.0, out);
    }

    fn head<S: Simd>(&mut self, simd: S, row: usize) {
        let sum = |bias: [f32; COLUMNS]| array::from_fn(|c| bias[c] + self.global_out[0][c]);
        let mut out = window(self.weights.head.bias, row).map(sum);
        add_dots(simd, self.of_head(row), &mut out);
        *self.logits.window_mut(row) = out;
    }

    /// Returns the terms of the head for the notes from `row` on.
    fn of_head(
        &self,
        row: usize,
    ) -> impl Iterator<Item = (&[[f32; C]; ROWS], &'static [[f32; C]; COLUMNS])> + Clone {
        let Head { offsets, weights, direct, .. } = &self.weights.head;
        let zone = zone(NOTES_FROM, row);
        let terms = offsets.iter().zip(weights[zone]);
        let terms = terms
            .filter_map(move |(offset, weights)| Some((self.second.reach(row, *offset)?, weights)));
        terms.chain(once((self.mixed.window(row), direct[zone])))
    }
}
