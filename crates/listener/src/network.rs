//! The network that computes the log odds of the 48 notes from the powers of the detectors, frame by frame.
//!
//! It is a small convolutional network over the semitones: all weights are the same at every note, except for one bias
//! per band. The first layer (the templates) has the levels and their changes as inputs. The second layer combines the
//! templates and features of the whole spectrum to four units without memory and two gated memories per band; the third
//! adds these up. Each layer is a weighted sum of rows that are shifted by a number of semitones.

#![allow(clippy::needless_range_loop, reason = "several rows go side by side")]

use super::{
    detector::{DETECTORS, FIRST_BAND, LANES, Row},
    model::{
        CLIP, COMBINED, DIRECT, FIRST_TEMPLATE, FLOOR, LAG, LOUDNESS, MEMORIES, MOST_OFFSET, Model,
        POSITIONS, QUIETEST, TEMPLATES, Tap, WHOLE,
    },
};
use crate::{TONES, tracker_step};
use fearless_simd::{Simd, SimdBase, SimdFloat};
use tone_filter_simd::approx::{ln, logistic};

/// Zero padding at each end of a row, for offsets up to [`MOST_OFFSET`].
const MARGIN: usize = MOST_OFFSET;

/// Rows with one value per position, and a margin at each end.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
struct Rows<const ROWS: usize, const LENGTH: usize>([[f32; LENGTH]; ROWS]);

impl<const ROWS: usize, const LENGTH: usize> Rows<ROWS, LENGTH> {
    const ZERO: Self = Self([[0.0; LENGTH]; ROWS]);
}

/// Length of a row with one value per detector.
const DETECTED: usize = MARGIN + LANES + MARGIN;
/// Length of a row with one value per band.
const BANDED: usize = MARGIN + TONES + MARGIN;

/// The network and its state.
#[derive(Debug, Clone)]
pub struct Network {
    /// Duration of a frame in seconds.
    period: f64,
    model: &'static Model,
    /// Weights of the new value in the reference power when it rises and falls.
    loudness: [f32; 2],
    /// Weights of the old value in the means.
    keep: [[f32; TEMPLATES]; 2],
    /// The reference power: the tracked total power.
    reference: f32,
    /// The levels of the last frames, as a ring buffer.
    past: [Row; LAG],
    oldest: usize,
    /// Levels, rises and falls.
    seen: Rows<3, DETECTED>,
    templates: Rows<TEMPLATES, DETECTED>,
    means: [[f32; TEMPLATES]; 2],
    /// The memories, then the units without memory.
    units: Rows<{ MEMORIES + DIRECT }, BANDED>,
}

impl Network {
    /// At rest, for frames of `period` s.
    pub fn new(period: f64, model: &'static Model) -> Self {
        Self {
            period,
            model,
            loudness: LOUDNESS.map(|tau| tracker_step(tau, 1.0 / period) as f32),
            keep: keep(model, period),
            reference: QUIETEST as f32,
            past: [Row::ZERO; LAG],
            oldest: 0,
            seen: Rows::ZERO,
            templates: Rows::ZERO,
            means: [[0.0; TEMPLATES]; 2],
            units: Rows::ZERO,
        }
    }

    /// Sets the model, between two frames. Levels are kept, which all models share; means and memories start anew.
    pub fn set_model(&mut self, model: &'static Model) {
        if !std::ptr::eq(model, self.model) {
            self.model = model;
            self.keep = keep(model, self.period);
            self.means = [[0.0; TEMPLATES]; 2];
            self.units = Rows::ZERO;
        }
    }

    /// The model in use.
    pub fn model(&self) -> &'static Model {
        self.model
    }

    /// Resets it to the state after silence.
    pub fn reset(&mut self) {
        self.reference = QUIETEST as f32;
        self.past = [Row::ZERO; LAG];
        self.means = [[0.0; TEMPLATES]; 2];
        self.units = Rows::ZERO;
    }

    /// The first half of the work on a frame with these powers: the templates.
    pub fn match_templates<S: Simd>(&mut self, simd: S, power: &Row) {
        simd.vectorize(
            #[inline(always)]
            || {
                self.contrast(simd, power);
                let Model { templates, template_bias, .. } = self.model;
                let at = MARGIN + FIRST_TEMPLATE;
                let range = at..at + POSITIONS;
                let mut rows = self.templates.0.each_mut().map(|row| &mut row[range.clone()]);
                layer(simd, 0.0, template_bias, templates, &self.seen.0, at, &mut rows);
            },
        );
    }

    /// The second half: the log odds of each note.
    pub fn combine<S: Simd>(&mut self, simd: S) -> [f32; TONES] {
        simd.vectorize(
            #[inline(always)]
            || {
                let Model { combine, combine_bias, out, band_bias, .. } = self.model;
                let [whole @ .., whole_odds] = self.whole(simd);
                let mut bias = *combine_bias;
                bias.iter_mut().zip(whole).for_each(|(bias, whole)| *bias += whole);
                let mut combined = [[0.0; TONES]; COMBINED];
                let mut rows = combined.each_mut().map(|row| &mut row[..]);
                layer(
                    simd,
                    f32::MIN,
                    &bias,
                    combine,
                    &self.templates.0,
                    MARGIN + FIRST_BAND,
                    &mut rows,
                );
                self.remember(simd, &combined);

                let mut logits = [0.0; TONES];
                let rows = &mut [&mut logits[..]];
                layer_by::<S, 3, 1, 1, _>(
                    simd,
                    f32::MIN,
                    &[whole_odds],
                    out,
                    &self.units.0,
                    MARGIN,
                    rows,
                );
                logits.iter_mut().zip(band_bias).for_each(|(logit, bias)| *logit += bias);
                logits
            },
        )
    }

    /// Computes the levels relative to the reference power, and their rises and falls.
    #[inline(always)]
    fn contrast<S: Simd>(&mut self, simd: S, power: &Row) {
        let total = sum(simd, &power.0).max(QUIETEST as f32);
        let [up, down] = self.loudness;
        let step = if total > self.reference { up } else { down };
        self.reference += step * (total - self.reference);
        let scale = 1.0 / (FLOOR as f32 * self.reference);
        let [level, rise, fall] = &mut self.seen.0;
        let past = &mut self.past[self.oldest].0;
        for i in 0..LANES {
            let u = ln(1.0 + power.0[i] * scale);
            let change = u - past[i];
            past[i] = u;
            level[MARGIN + i] = u;
            rise[MARGIN + i] = if change > 0.0 { change } else { 0.0 };
            fall[MARGIN + i] = if change < 0.0 { change } else { 0.0 };
        }
        self.oldest = (self.oldest + 1) % LAG;
    }

    /// The contribution of the whole spectrum to each output of the second layer and to the log odds.
    #[inline(always)]
    fn whole<S: Simd>(&mut self, simd: S) -> [f32; COMBINED + 1] {
        const FIRST: usize = MARGIN + FIRST_TEMPLATE;
        let mut seen = [0.0; WHOLE];
        for (c, template) in self.templates.0.iter().enumerate() {
            let now = sum(simd, &template[FIRST..FIRST + POSITIONS]) / POSITIONS as f32;
            seen[c] = now;
            for (j, (mean, keep)) in self.means.iter_mut().zip(&self.keep).enumerate() {
                mean[c] = now + keep[c] * (mean[c] - now);
                seen[(j + 1) * TEMPLATES + c] = mean[c];
            }
        }
        let level = &self.seen.0[0][MARGIN..MARGIN + LANES];
        seen[WHOLE - 2] = sum(simd, level) / DETECTORS as f32;
        seen[WHOLE - 1] = greatest(simd, level);
        let mut sums = [0.0; COMBINED + 1];
        for (seen, weights) in seen.iter().zip(&self.model.whole) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += seen * weight;
            }
        }
        sums
    }

    /// Updates the memories and the units without memory with the outputs of the second layer.
    #[inline(always)]
    fn remember<S: Simd>(&mut self, simd: S, combined: &[[f32; TONES]; COMBINED]) {
        let (memories, direct) = self.units.0.split_at_mut(MEMORIES);
        for (g, memory) in memories.iter_mut().enumerate() {
            for band in 0..TONES {
                let memory = &mut memory[MARGIN + band];
                let new = combined[MEMORIES + g][band].clamp(-CLIP, CLIP);
                *memory += logistic(combined[g][band]) * (new - *memory);
            }
        }
        let silence = S::f32s::splat(simd, 0.0);
        for (unit, combined) in direct.iter_mut().zip(&combined[2 * MEMORIES..]) {
            let unit = unit[MARGIN..MARGIN + TONES].chunks_exact_mut(S::f32s::LEN);
            for (unit, combined) in unit.zip(combined.chunks_exact(S::f32s::LEN)) {
                S::f32s::from_slice(simd, combined).max(silence).store_slice(unit);
            }
        }
    }
}

/// The weights of the old values in the templates' means, for frames of `period` s.
fn keep(model: &Model, period: f64) -> [[f32; TEMPLATES]; 2] {
    let keep = |seconds| (1.0 - tracker_step(f64::from(seconds), 1.0 / period)) as f32;
    model.mean_seconds.map(|means| means.map(keep))
}

/// Computes a layer for as many positions as `rows` has, 48 or 80, from the position `at` of the inputs `seen` on.
/// Outputs are at least `least`.
#[inline(always)]
fn layer<S: Simd, const ALL: usize, const LENGTH: usize>(
    simd: S,
    least: f32,
    bias: &[f32; ALL],
    taps: &[Tap<ALL>],
    seen: &[[f32; LENGTH]],
    at: usize,
    rows: &mut [&mut [f32]; ALL],
) {
    // As many sums as hide the latency of each and fit into the registers.
    match (S::f32s::LEN, rows[0].len()) {
        (16, TONES) => layer_by::<S, 3, 8, ALL, LENGTH>(simd, least, bias, taps, seen, at, rows),
        (16, _) => layer_by::<S, 5, 4, ALL, LENGTH>(simd, least, bias, taps, seen, at, rows),
        _ => layer_by::<S, 2, 4, ALL, LENGTH>(simd, least, bias, taps, seen, at, rows),
    }
}

/// The same, with blocks of `V` vectors of neighbouring positions and `N` outputs.
#[inline(always)]
fn layer_by<S: Simd, const V: usize, const N: usize, const ALL: usize, const LENGTH: usize>(
    simd: S,
    least: f32,
    bias: &[f32; ALL],
    taps: &[Tap<ALL>],
    seen: &[[f32; LENGTH]],
    at: usize,
    rows: &mut [&mut [f32]; ALL],
) {
    let lanes = S::f32s::LEN;
    for first in (0..rows[0].len()).step_by(V * lanes) {
        for (part, rows) in rows.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            let sums =
                sum_up::<S, V, N, ALL, LENGTH>(simd, least, bias, taps, seen, part, at + first);
            for i in 0..N {
                for v in 0..V {
                    sums[i][v].store_slice(&mut rows[i][first + v * lanes..][..lanes]);
                }
            }
        }
    }
}

/// Computes `N` outputs of a layer, the `part`th group, for `V` vectors from the position `at` on.
///
/// Not inlined, so that all registers are free for the sums.
#[inline(never)]
fn sum_up<S: Simd, const V: usize, const N: usize, const ALL: usize, const LENGTH: usize>(
    simd: S,
    least: f32,
    bias: &[f32; ALL],
    taps: &[Tap<ALL>],
    seen: &[[f32; LENGTH]],
    part: usize,
    at: usize,
) -> [[S::f32s; V]; N] {
    simd.vectorize(
        #[inline(always)]
        || {
            let lanes = S::f32s::LEN;
            let bias: &[f32; N] = &bias.as_chunks().0[part];
            let mut sums = [[S::f32s::splat(simd, 0.0); V]; N];
            for i in 0..N {
                sums[i] = [S::f32s::splat(simd, bias[i]); V];
            }
            let seen = seen.as_flattened();
            for Tap { row, offset, weights } in taps {
                let start = usize::from(*row) * LENGTH + at.wrapping_add_signed((*offset).into());
                let seen = &seen[start..][..V * lanes];
                let weights: &[f32; N] = &weights.as_chunks().0[part];
                for i in 0..N {
                    let weight = S::f32s::splat(simd, weights[i]);
                    for v in 0..V {
                        let seen = S::f32s::from_slice(simd, &seen[v * lanes..][..lanes]);
                        sums[i][v] = seen.mul_add(weight, sums[i][v]);
                    }
                }
            }
            for sum in sums.as_flattened_mut() {
                *sum = sum.max(S::f32s::splat(simd, least));
            }
            sums
        },
    )
}

/// The sum of a row of whole vectors.
#[inline(always)]
fn sum<S: Simd>(simd: S, row: &[f32]) -> f32 {
    let mut sum = S::f32s::splat(simd, 0.0);
    for vector in row.chunks_exact(S::f32s::LEN) {
        sum += S::f32s::from_slice(simd, vector);
    }
    sum.reduce_sum()
}

/// The greatest value of a row of whole vectors.
#[inline(always)]
fn greatest<S: Simd>(simd: S, row: &[f32]) -> f32 {
    let mut most = S::f32s::splat(simd, f32::MIN);
    for vector in row.chunks_exact(S::f32s::LEN) {
        most = most.max(S::f32s::from_slice(simd, vector));
    }
    most.reduce_max()
}
