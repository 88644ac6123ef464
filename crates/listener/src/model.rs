//! The dimensions of the network, and its fitted weights.

use super::{detector::DETECTORS, weights};
use crate::TONES;

/// The reference power is at least this.
pub const QUIETEST: f64 = 1e-15;
/// A power of this share of the reference counts as a level of `ln 2`, one far below as 0.
pub const FLOOR: f64 = 1e-6;
/// Frames back to which levels are compared for rise and fall.
pub const LAG: usize = 3;
/// Time constants in s of the reference power, up and down.
pub const LOUDNESS: [f64; 2] = [0.05, 3.0];
/// The number of templates.
pub const TEMPLATES: usize = 8;
/// The detector of the lowest template, and how many positions the templates have: up to the last detector.
pub const FIRST_TEMPLATE: usize = 7;
/// See [`FIRST_TEMPLATE`].
pub const POSITIONS: usize = DETECTORS - FIRST_TEMPLATE;
/// Units with memory, per band.
pub const MEMORIES: usize = 2;
/// Units without memory, per band.
pub const DIRECT: usize = 4;
/// Outputs of the second layer, per band: the gates of the memories, their inputs, and the units without memory.
pub const COMBINED: usize = 2 * MEMORIES + DIRECT;
/// Bound of the memories' inputs, as a magnitude.
pub const CLIP: f32 = 4.0;
/// Features of the whole spectrum: the templates' means (current, and averaged over two times each), mean and greatest
/// level.
pub const WHOLE: usize = 3 * TEMPLATES + 2;

/// One input of a layer, and its weights in the `N` outputs.
#[derive(Debug)]
pub struct Tap<const N: usize> {
    /// The index of the input's row.
    pub row: u8,
    /// Semitones from the output's position up to the input's.
    pub offset: i8,
    /// One weight for each output.
    pub weights: [f32; N],
}

/// The fitted weights.
#[derive(Debug)]
pub struct Model {
    /// Frames from the time that the decision refers to, to the current one.
    pub lookahead: usize,
    /// A band goes on above these log odds.
    pub threshold: f32,
    /// A band goes off this much below the threshold.
    pub hysteresis: f32,
    /// Weights of the templates. Their inputs are the rows of levels, rises and falls.
    pub templates: &'static [Tap<TEMPLATES>],
    /// Biases of the templates.
    pub template_bias: [f32; TEMPLATES],
    /// Time constants of the templates' means, s.
    pub mean_seconds: [[f32; TEMPLATES]; 2],
    /// Weights of the features of the whole spectrum, for the second layer and for the log odds.
    pub whole: [[f32; COMBINED + 1]; WHOLE],
    /// Weights of the second layer. Its inputs are the templates.
    pub combine: &'static [Tap<COMBINED>],
    /// Biases of the second layer.
    pub combine_bias: [f32; COMBINED],
    /// Weights of the third layer. Its inputs are the memories, then the units without memory.
    pub out: &'static [Tap<1>],
    /// Bias of the log odds of each band.
    pub band_bias: [f32; TONES],
}

/// Greatest offset, up or down.
pub const MOST_OFFSET: usize = 48;

impl Model {
    /// The model for decisions with `lookahead` or without.
    pub fn fitted(lookahead: bool) -> &'static Self {
        if lookahead { &weights::lookahead::MODEL } else { &weights::causal::MODEL }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_stay_within_rows_and_margins() {
        fn are_within<const N: usize>(taps: &[Tap<N>], rows: usize) -> bool {
            taps.iter().all(|Tap { row, offset, .. }| {
                usize::from(*row) < rows && usize::from(offset.unsigned_abs()) <= MOST_OFFSET
            })
        }
        for lookahead in [false, true] {
            let model = Model::fitted(lookahead);
            assert_eq!(model.lookahead > 0, lookahead);
            assert!(are_within(model.templates, 3));
            assert!(are_within(model.combine, TEMPLATES));
            assert!(are_within(model.out, MEMORIES + DIRECT));
        }
    }
}
