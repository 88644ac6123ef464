//! What the network is made of, and the numbers that were fitted.

use super::{detector::DETECTORS, weights};
use crate::dsp::notes::TONES;

/// The reference power is at least this.
pub const QUIETEST: f64 = 1e-15;
/// A power of this share of the reference counts as a level of `ln 2`, one far below as 0.
pub const FLOOR: f64 = 1e-6;
/// Frames back to which levels are compared for rise and fall.
pub const LAG: usize = 3;
/// Time constants in s of the reference power, up and down.
pub const LOUDNESS: [f64; 2] = [0.05, 3.0];
/// Templates.
pub const TEMPLATES: usize = 8;
/// The detector of the lowest template, and how many positions the templates have: up to the last detector.
pub const FIRST_TEMPLATE: usize = 7;
/// See [`FIRST_TEMPLATE`].
pub const POSITIONS: usize = DETECTORS - FIRST_TEMPLATE;
/// Memories of a band.
pub const MEMORIES: usize = 2;
/// Units of a band without memory.
pub const DIRECT: usize = 4;
/// Outputs of the second layer: what opens the memories, what goes in, and the units without memory.
pub const COMBINED: usize = 2 * MEMORIES + DIRECT;
/// What goes into a memory is within plus and minus this.
pub const CLIP: f32 = 4.0;
/// Numbers on the whole sound: the templates' means, now and over two times each; mean and greatest level.
pub const WHOLE: usize = 3 * TEMPLATES + 2;

/// What a layer looks at, and the weights of its `N` outputs.
#[derive(Debug)]
pub struct Tap<const N: usize> {
    /// Which row.
    pub row: u8,
    /// Semitones up from the output's position.
    pub offset: i8,
    /// One for each output.
    pub weights: [f32; N],
}

/// What was fitted.
#[derive(Debug)]
pub struct Model {
    /// How many frames back the decision is about.
    pub lookahead: usize,
    /// A band goes on above these log odds.
    pub threshold: f32,
    /// It goes off this much below.
    pub hysteresis: f32,
    /// The templates look at levels (row 0), rises and falls.
    pub templates: &'static [Tap<TEMPLATES>],
    /// Of the templates.
    pub template_bias: [f32; TEMPLATES],
    /// Over how long the templates' means are taken, in s.
    pub mean_seconds: [[f32; TEMPLATES]; 2],
    /// Weights of the numbers on the whole sound, for the second layer and for the log odds.
    pub whole: [[f32; COMBINED + 1]; WHOLE],
    /// The second layer looks at the templates.
    pub combine: &'static [Tap<COMBINED>],
    /// Of the second layer.
    pub combine_bias: [f32; COMBINED],
    /// The third layer looks at the memories, then at the units without.
    pub out: &'static [Tap<1>],
    /// Log odds of a note in each band, by themselves.
    pub band_bias: [f32; TONES],
}

/// Offsets are at most this far up or down.
pub const MOST_OFFSET: usize = 48;

impl Model {
    /// What was fitted for decisions with `lookahead` or without.
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
