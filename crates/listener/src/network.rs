//! The network: from the features of the detectors to the log odds of 80 notes, frame by frame.
//!
//! ```text
//! features of some frames -> near -> harmonic -> first GRU -> mix -> second GRU -> head
//!                                      |  |                   ^ ^                  ^  ^
//!                                      |  +-> whole, one GRU -|-+------------------+  |
//!                                      +----- skip -----------+ ------ direct --------+
//! ```
//!
//! All weights but the biases are the same at every position. A frame is computed in steps of [`ROWS`] positions of a layer,
//! so that the work can be spread over time. `docs/listening.md` has the formulas.

use crate::{
    NOTES,
    dense::{ROWS, Term, add_product, add_products},
    detectors::DETECTORS,
    features::{FEATURES, Features, MARGIN as FEATURE_MARGIN},
    weights::{Cell, Layer, Weights},
};
use fearless_simd::Simd;
use tone_filter_simd::approx::{logistic, tanh};

/// Log odds of a note: held now, held before (with lookahead), begun, begun before.
pub const COLUMNS: usize = 4;
/// The detector of the lowest note.
pub const FIRST: usize = 4;
/// Rows of zeros at both ends of the detectors' units, and of the cells.
pub const NEAR_MARGIN: usize = 36;
pub const HIDDEN_MARGIN: usize = 24;
/// A unit of a cell nearer to 0 than this becomes 0, so that none is ever denormal.
const LEAST: f32 = 1e-20;

/// Multiply-adds that take as long as the three functions of a cell's unit.
const UNIT_COST: usize = 100;

/// Steps of the layer of the detectors, and of the others.
const NEAR_STEPS: usize = DETECTORS.div_ceil(ROWS);
const STEPS_EACH: usize = NOTES / ROWS;
/// The first step of each part.
const HARMONIC: usize = NEAR_STEPS;
const WHOLE: usize = HARMONIC + STEPS_EACH;
const CELL: usize = WHOLE + 1;
const MIX: usize = CELL + STEPS_EACH;
const SECOND: usize = MIX + STEPS_EACH;
const HEAD: usize = SECOND + STEPS_EACH;
/// Steps of a frame.
pub const STEPS: usize = HEAD + STEPS_EACH;

/// Rows with one unit per column, on whole cache lines.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
struct Rows<const C: usize, const LENGTH: usize>([[f32; C]; LENGTH]);

impl<const C: usize, const LENGTH: usize> Rows<C, LENGTH> {
    const ZERO: Self = Self([[0.0; C]; LENGTH]);

    /// The inputs of [`ROWS`] outputs of which the first one is at `row`.
    #[inline(always)]
    fn window(&self, row: usize) -> &[[f32; C]; ROWS] {
        window(&self.0, row)
    }

    #[inline(always)]
    fn window_mut(&mut self, row: usize) -> &mut [[f32; C]; ROWS] {
        &mut self.0[row..].as_chunks_mut().0[0]
    }
}

/// [`ROWS`] rows from `row` on, of which there are enough: offsets and lags are checked when the weights are read.
#[inline(always)]
fn window<const C: usize>(rows: &[[f32; C]], row: usize) -> &[[f32; C]; ROWS] {
    &rows[row..].as_chunks().0[0]
}

/// The network and its state: `C1` units for each detector, `C` for each note and for the whole.
#[derive(Debug, Clone)]
pub struct Network<const C1: usize, const C: usize> {
    weights: &'static Weights<C1, C>,
    near: Rows<C1, { DETECTORS + 2 * NEAR_MARGIN }>,
    /// The notes' units.
    notes: Rows<C, NOTES>,
    /// The hidden state of the cell of the whole, and its share in the inputs of the second cells and in the log odds.
    whole: [f32; C],
    whole_mix: [f32; C],
    whole_out: [f32; COLUMNS],
    first: Rows<C, { NOTES + 2 * HIDDEN_MARGIN }>,
    /// The inputs of the second cells.
    mixed: Rows<C, NOTES>,
    second: Rows<C, { NOTES + 2 * HIDDEN_MARGIN }>,
    logits: Rows<COLUMNS, NOTES>,
}

impl<const C1: usize, const C: usize> Network<C1, C> {
    /// At rest.
    pub fn new(weights: &'static Weights<C1, C>) -> Self {
        Self {
            weights,
            near: Rows::ZERO,
            notes: Rows::ZERO,
            whole: [0.0; C],
            whole_mix: [0.0; C],
            whole_out: [0.0; COLUMNS],
            first: Rows::ZERO,
            mixed: Rows::ZERO,
            second: Rows::ZERO,
            logits: Rows::ZERO,
        }
    }

    /// Returns to the state after silence.
    pub fn reset(&mut self) {
        self.whole = [0.0; C];
        (self.first, self.second) = (Rows::ZERO, Rows::ZERO);
    }

    /// The weights.
    pub fn weights(&self) -> &'static Weights<C1, C> {
        self.weights
    }

    /// The log odds of all notes, after the last step.
    pub fn logits(&self) -> &[[f32; COLUMNS]; NOTES] {
        &self.logits.0
    }

    /// The cost of a frame.
    pub fn total(&self) -> usize {
        (0..STEPS).map(|step| self.cost(step)).sum()
    }

    /// The cost of a step: its multiply-adds, and as many as take as long as the functions of its cells.
    pub fn cost(&self, step: usize) -> usize {
        let cells =
            if (CELL..MIX).contains(&step) || (SECOND..HEAD).contains(&step) { ROWS } else { 0 };
        self.multiply_adds(step) + UNIT_COST * C * cells
    }

    /// Multiply-adds of a step.
    pub fn multiply_adds(&self, step: usize) -> usize {
        let w = self.weights;
        match step {
            ..HARMONIC => ROWS * w.near.weights.len() * C1,
            HARMONIC..WHOLE => ROWS * w.harmonic.weights.len() * C,
            WHOLE..CELL => C * (2 * C + 6 * C + C + COLUMNS),
            CELL..MIX => ROWS * 6 * C * C,
            MIX..SECOND => ROWS * (w.mix.weights.len() + C) * C,
            SECOND..HEAD => ROWS * 6 * C * C,
            _ => ROWS * (w.head.weights.len() + C) * COLUMNS,
        }
    }

    /// Computes a step of a frame. Steps follow each other from 0 to [`STEPS`], exclusive; meanwhile the features stay as
    /// they are.
    pub fn step<S: Simd>(&mut self, simd: S, step: usize, features: &Features) {
        let row = |first: usize| (step - first) * ROWS;
        match step {
            // The last rows of the detectors overlap with those before.
            ..HARMONIC => self.near(simd, (step * ROWS).min(DETECTORS - ROWS), features),
            HARMONIC..WHOLE => self.harmonic(simd, row(HARMONIC)),
            WHOLE..CELL => simd.vectorize(
                #[inline(always)]
                || self.whole(),
            ),
            CELL..MIX => {
                let inputs = self.notes.window(row(CELL));
                let hidden = self.first.window_mut(HIDDEN_MARGIN + row(CELL));
                advance(simd, &self.weights.first, inputs, hidden);
            }
            MIX..SECOND => self.mix(simd, row(MIX)),
            SECOND..HEAD => {
                let inputs = self.mixed.window(row(SECOND));
                let hidden = self.second.window_mut(HIDDEN_MARGIN + row(SECOND));
                advance(simd, &self.weights.second, inputs, hidden);
            }
            _ => self.head(simd, row(HEAD)),
        }
    }

    fn near<S: Simd>(&mut self, simd: S, row: usize, features: &Features) {
        let Weights { lags, near: Layer { offsets, bias, weights }, .. } = self.weights;
        let terms = weights.as_chunks::<FEATURES>().0.iter().enumerate().map(|(index, weights)| {
            let (offset, lag) = (offsets[index / lags.len()], lags[index % lags.len()]);
            Term {
                inputs: window(features.rows(lag), shifted(FEATURE_MARGIN + row, offset)),
                weights,
            }
        });
        let out = self.near.window_mut(NEAR_MARGIN + row);
        *out = *window(bias, row);
        add_products(simd, terms, 0.0, out);
    }

    fn harmonic<S: Simd>(&mut self, simd: S, row: usize) {
        let Layer { bias, .. } = &self.weights.harmonic;
        let terms = along(&self.near.0, &self.weights.harmonic, NEAR_MARGIN + FIRST + row);
        let out = self.notes.window_mut(row);
        *out = *window(bias, row);
        add_products(simd, terms, 0.0, out);
    }

    /// The cell of the whole, from the notes' mean and greatest units.
    #[inline(always)]
    fn whole(&mut self) {
        let w = self.weights;
        let [mut mean, mut most] = [[0.0; C]; 2];
        for row in &self.notes.0 {
            for c in 0..C {
                mean[c] += row[c];
                most[c] = row[c].max(most[c]);
            }
        }
        let mean = mean.map(|sum| sum / NOTES as f32);
        let (of_mean, of_most) = w.whole_in.split_at(C);
        let mut input = *w.whole_in_bias;
        add_product(&mean, of_mean, &mut input);
        add_product(&most, of_most, &mut input);
        let input = input.map(|x| x.max(0.0));

        let cell = &w.whole;
        let (mut reset, mut update) = (*cell.reset.bias, *cell.update.bias);
        let (mut candidate, mut own) = (*cell.candidate.bias, *cell.hidden_bias);
        for (gate, sums) in [(&cell.reset, &mut reset), (&cell.update, &mut update)] {
            add_product(&input, gate.input, sums);
            add_product(&self.whole, gate.hidden, sums);
        }
        add_product(&input, cell.candidate.input, &mut candidate);
        add_product(&self.whole, cell.candidate.hidden, &mut own);
        update_hidden([&reset, &update, &candidate, &own], &mut self.whole);

        self.whole_mix = [0.0; C];
        add_product(&self.whole, w.whole_mix, &mut self.whole_mix);
        self.whole_out = [0.0; COLUMNS];
        add_product(&self.whole, w.whole_out, &mut self.whole_out);
    }

    fn mix<S: Simd>(&mut self, simd: S, row: usize) {
        let Weights { mix, skip, .. } = self.weights;
        let terms = along(&self.first.0, mix, HIDDEN_MARGIN + row);
        let skip = Term { inputs: self.notes.window(row), weights: skip };
        let out = self.mixed.window_mut(row);
        *out = window(mix.bias, row).map(|bias| sum(bias, &self.whole_mix));
        add_products(simd, terms.chain(std::iter::once(skip)), 0.0, out);
    }

    fn head<S: Simd>(&mut self, simd: S, row: usize) {
        let Weights { head, direct, .. } = self.weights;
        let terms = along(&self.second.0, head, HIDDEN_MARGIN + row);
        let direct = Term { inputs: self.mixed.window(row), weights: direct };
        let out = self.logits.window_mut(row);
        *out = window(head.bias, row).map(|bias| sum(bias, &self.whole_out));
        add_products(simd, terms.chain(std::iter::once(direct)), f32::MIN, out);
    }
}

#[cfg(test)]
impl<const C1: usize, const C: usize> Network<C1, C> {
    /// All units of all cells.
    pub fn states(&self) -> impl Iterator<Item = f32> {
        let cells = self.first.0.as_flattened().iter().chain(self.second.0.as_flattened());
        cells.chain(&self.whole).copied()
    }
}

/// The terms of a layer for [`ROWS`] outputs; without offset, those of the first one would be at `row`.
#[inline(always)]
fn along<'a, const IN: usize, const OUT: usize>(
    rows: &'a [[f32; IN]],
    layer: &'static Layer<OUT>,
    row: usize,
) -> impl Iterator<Item = Term<'a, IN, OUT>> + Clone {
    let weights = layer.weights.as_chunks::<IN>().0;
    layer
        .offsets
        .iter()
        .zip(weights)
        .map(move |(offset, weights)| Term { inputs: window(rows, shifted(row, *offset)), weights })
}

#[inline(always)]
fn shifted(row: usize, offset: isize) -> usize {
    row.wrapping_add_signed(offset)
}

/// `a + b`, element by element.
#[inline(always)]
fn sum<const C: usize>(a: [f32; C], b: &[f32; C]) -> [f32; C] {
    std::array::from_fn(|c| a[c] + b[c])
}

/// Advances the cells of [`ROWS`] notes by a frame.
#[inline(never)]
fn advance<S: Simd, const C: usize>(
    simd: S,
    cell: &Cell<C>,
    inputs: &[[f32; C]; ROWS],
    hidden: &mut [[f32; C]; ROWS],
) {
    let (mut reset, mut update) = ([*cell.reset.bias; ROWS], [*cell.update.bias; ROWS]);
    let (mut candidate, mut own) = ([*cell.candidate.bias; ROWS], [*cell.hidden_bias; ROWS]);
    for (gate, sums) in [(&cell.reset, &mut reset), (&cell.update, &mut update)] {
        let terms =
            [Term { inputs, weights: gate.input }, Term { inputs: hidden, weights: gate.hidden }];
        add_products(simd, terms.into_iter(), f32::MIN, sums);
    }
    for (inputs, weights, sums) in [
        (inputs, cell.candidate.input, &mut candidate),
        (&*hidden, cell.candidate.hidden, &mut own),
    ] {
        add_products(simd, std::iter::once(Term { inputs, weights }), f32::MIN, sums);
    }
    simd.vectorize(
        #[inline(always)]
        || {
            for (row, hidden) in hidden.iter_mut().enumerate() {
                update_hidden([&reset[row], &update[row], &candidate[row], &own[row]], hidden);
            }
        },
    );
}

/// The new hidden state, by the sums of reset, update, candidate and the candidate's product with the `hidden` state.
#[inline(always)]
fn update_hidden<const C: usize>(sums: [&[f32; C]; 4], hidden: &mut [f32; C]) {
    let [reset, update, candidate, own] = sums;
    for c in 0..C {
        let candidate = tanh(candidate[c] + logistic(reset[c]) * own[c]);
        let kept = logistic(update[c]);
        let new = candidate + kept * (hidden[c] - candidate);
        hidden[c] = if new.abs() < LEAST { 0.0 } else { new };
    }
}
