//! Fitted weights: a binary file for each network, parsed once for all listeners.
//!
//! `tools/fit/export.py` writes the files and describes them.

use crate::{
    NOTES,
    detectors::{BANKS, DETECTORS},
    features::{FEATURES, FRAMES, MARGIN as FEATURE_MARGIN},
};
use std::{iter::Zip, slice::Iter, sync::LazyLock};

/// Number of log odds of each note: that it is held now, that it was held four frames ago, and that it has begun, for the same
/// two times.
pub const COLUMNS: usize = 4;

const MAGIC: &[u8; 8] = b"TFLISTEN";
const VERSION: u32 = 3;

/// Number of zones: ranges of notes, or of detectors, with weights of their own.
pub const ZONES: usize = 3;
/// Index of the first note of each zone except the lowest: MIDI 48 and 73.
pub const NOTES_FROM: [usize; ZONES - 1] = [20, 45];
/// Index of the first detector of each zone except the lowest: MIDI 44 and 74.
pub const DETECTORS_FROM: [usize; ZONES - 1] = [20, 50];

/// Weights of the network `full`, which `docs/listening.md` describes.
pub static FULL: LazyLock<Weights<16, 32>> =
    LazyLock::new(|| Weights::parse(include_bytes!("../weights/full.bin")));
/// Weights of the network `light`.
pub static LIGHT: LazyLock<Weights<8, 16>> =
    LazyLock::new(|| Weights::parse(include_bytes!("../weights/light.bin")));

/// Weights of a network with `C1` units for each detector, and `C` for each note and for the global GRU.
#[derive(Debug)]
pub struct Weights<const C1: usize, const C: usize> {
    /// Layer from the features of some frames to the units of the detectors.
    pub near: Near<C1>,
    /// Layer from the detectors' units to the notes' units.
    pub harmonic: Layer<C>,
    /// Bias of the inputs of the global GRU.
    pub global_in_bias: &'static [f32; C],
    /// Matrices from the mean and from the maximum of the notes' units to the inputs of the global GRU.
    pub global_in: [&'static [[f32; C]; C]; 2],
    pub global: Cell<C>,
    /// Matrix from the global GRU to the inputs of every note's second GRU.
    pub global_mix: &'static [[f32; C]; C],
    /// Matrix from the global GRU to the log odds of every note.
    pub global_out: &'static [[f32; COLUMNS]; C],
    pub first: [Cell<C>; ZONES],
    /// Layer from the first GRUs to the inputs of the second GRUs.
    pub mix: Layer<C>,
    /// Matrices from a note's units to the inputs of its second GRU.
    pub skip: [&'static [[f32; C]; C]; ZONES],
    pub second: [Cell<C>; ZONES],
    /// Layer from the second GRUs and their inputs to the log odds.
    pub head: Head<C>,
    /// Thresholds without and with lookahead.
    pub thresholds: [Thresholds; 2],
}

/// Returns the zone of the note or detector `index`. `starts` is [`NOTES_FROM`] or [`DETECTORS_FROM`].
pub fn zone(starts: [usize; ZONES - 1], index: usize) -> usize {
    starts.iter().filter(|first| index >= **first).count()
}

/// Layer with the same weights at every position of a zone.
#[derive(Debug)]
pub struct Layer<const OUT: usize> {
    /// Offsets in semitones from an output's position to an input's.
    pub offsets: Vec<isize>,
    /// Bias of each position.
    pub bias: Matrix<OUT>,
    /// For each zone, the matrices of all offsets, one below the other. A matrix has a row for each input.
    pub weights: [Matrix<OUT>; ZONES],
}

/// First layer: from the features of nearby semitones and recent frames.
#[derive(Debug)]
pub struct Near<const OUT: usize> {
    /// Offset (as in a [`Layer`]) and lag in frames of each matrix, grouped by offset.
    pub terms: Vec<(isize, usize)>,
    pub bias: Matrix<OUT>,
    pub weights: [&'static [[[f32; OUT]; FEATURES]]; ZONES],
}

/// Layer of the log odds.
#[derive(Debug)]
pub struct Head<const C: usize> {
    /// Offsets as in a [`Layer`].
    pub offsets: Vec<isize>,
    pub bias: Matrix<COLUMNS>,
    /// Matrix for each offset, with a row for each output.
    pub weights: [&'static [[[f32; C]; COLUMNS]]; ZONES],
    /// Weights of the second GRU's inputs at the same position.
    pub direct: [&'static [[f32; C]; COLUMNS]; ZONES],
}

/// Gated recurrent unit (GRU).
#[derive(Debug)]
pub struct Cell<const C: usize> {
    pub reset: Gate<C>,
    pub update: Gate<C>,
    pub candidate: Gate<C>,
    /// Bias of the candidate's product with the hidden state.
    pub hidden_bias: &'static [f32; C],
}

#[derive(Debug)]
pub struct Gate<const C: usize> {
    pub bias: &'static [f32; C],
    pub input: &'static [[f32; C]; C],
    pub hidden: &'static [[f32; C]; C],
}

/// Thresholds of the log odds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Log odds above which a note starts.
    pub on: f32,
    /// Distance below `on` at which a note ends.
    pub hysteresis: f32,
    /// Log odds of a beginning above which a note begins.
    pub begun: f32,
}

impl<const C1: usize, const C: usize> Weights<C1, C> {
    /// Parses a weight file of this crate. Panics if header or length are invalid; a test parses all files. Leaks the matrices.
    fn parse(file: &[u8]) -> Self {
        assert!(file.starts_with(MAGIC));
        let mut header = file[MAGIC.len()..].as_chunks().0.iter().copied().map(u32::from_le_bytes);
        let mut number = || header.next().expect("the header is complete");
        assert_eq!(number(), VERSION);
        let _checksum = number();
        let sizes = [(); 4].map(|()| number() as usize);
        assert_eq!(sizes, [BANKS, FEATURES / BANKS, C1, C], "another network");
        let mut list = || -> Vec<isize> {
            let length = number();
            (0..length).map(|_| number() as i32 as isize).collect()
        };
        let [lags, near, harmonic, mix, head] = [(); 5].map(|()| list());
        assert!(near.iter().all(|offset| offset.unsigned_abs() <= FEATURE_MARGIN));
        assert!(lags.iter().all(|lag| (0..FRAMES.cast_signed()).contains(lag)));
        let thresholds = [(); 2].map(|()| {
            let [on, hysteresis, begun] = [(); 3].map(|()| f32::from_bits(number()));
            Thresholds { on, hysteresis, begun }
        });
        let count = number() as usize;

        let mut m = Matrices::new(&file[file.len() - 2 * count..]);
        let lags = lags.iter().map(|lag| lag.cast_unsigned());
        let terms = near.iter().flat_map(|offset| lags.clone().map(|lag| (*offset, lag)));
        let weights = Self {
            near: m.near(terms.collect()),
            harmonic: m.layer(harmonic, C1),
            global_in_bias: m.row(),
            global_in: [m.block(), m.block()],
            global: m.cell(),
            global_mix: m.block(),
            global_out: m.block(),
            first: zones(|| m.cell()),
            mix: m.layer(mix, C),
            skip: zones(|| m.block()),
            second: zones(|| m.cell()),
            head: m.head(head),
            thresholds,
        };
        assert_eq!(m.bytes.len(), 0, "more weights than the network has");
        weights
    }
}

/// Number of floats in a cache line.
const LINE: usize = 16;

/// Matrix with a row for each input and a column for each output.
pub type Matrix<const OUT: usize> = &'static [[f32; OUT]];

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; LINE]);

/// Reader that lays matrices out in memory, each from the start of a cache line. In the file and in memory, they are in the order
/// of use.
struct Matrices<'a> {
    /// Unread weights as bfloat16, the upper half of an `f32`: lower and upper bytes.
    bytes: Zip<Iter<'a, u8>, Iter<'a, u8>>,
    free: &'static mut [Line],
}

impl<'a> Matrices<'a> {
    /// Maximum number of matrices in a network. Each may leave a cache line partly unused.
    const MOST: usize = 128;

    /// Creates a reader of `bytes`: the lower bytes of all weights, then the upper ones.
    fn new(bytes: &'a [u8]) -> Self {
        let (lower, upper) = bytes.split_at(bytes.len() / 2);
        let lines = vec![Line([0.0; LINE]); lower.len() / LINE + Self::MOST];
        Self { bytes: lower.iter().zip(upper), free: lines.leak() }
    }

    fn weight(&mut self) -> f32 {
        let (lower, upper) = self.bytes.next().expect("the file has all weights");
        f32::from_le_bytes([0, 0, *lower, *upper])
    }

    /// Returns memory for `count` weights, from the start of a cache line.
    fn floats(&mut self, count: usize) -> &'static mut [f32] {
        let (lines, free) = std::mem::take(&mut self.free).split_at_mut(count.div_ceil(LINE));
        self.free = free;
        // SAFETY: a `Line` is 16 floats without padding (64 bytes, aligned to 64), so `lines` has `LINE * lines.len()` contiguous
        // floats. Nothing else refers to `lines`.
        let floats = unsafe {
            std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<f32>(), LINE * lines.len())
        };
        &mut floats[..count]
    }

    fn matrix<const OUT: usize>(&mut self, rows: usize) -> Matrix<OUT> {
        let floats = self.floats(rows * OUT);
        floats.fill_with(|| self.weight());
        floats.as_chunks().0
    }

    /// Reads `count` matrices and transposes them: one row for each output instead of each input.
    fn transposed<const IN: usize, const OUT: usize>(
        &mut self,
        count: usize,
    ) -> &'static [[[f32; IN]; OUT]] {
        let matrices = self.floats(count * IN * OUT).as_chunks_mut().0.as_chunks_mut().0;
        for matrix in &mut *matrices {
            for input in 0..IN {
                for row in &mut *matrix {
                    row[input] = self.weight();
                }
            }
        }
        matrices
    }

    fn row<const OUT: usize>(&mut self) -> &'static [f32; OUT] {
        &self.matrix(1)[0]
    }

    fn block<const OUT: usize, const C: usize>(&mut self) -> &'static [[f32; OUT]; C] {
        &self.matrix(C).as_chunks().0[0]
    }

    fn near<const OUT: usize>(&mut self, terms: Vec<(isize, usize)>) -> Near<OUT> {
        let bias = self.matrix(DETECTORS);
        let weights = zones(|| self.matrix(terms.len() * FEATURES).as_chunks().0);
        Near { terms, bias, weights }
    }

    /// Reads a layer with a matrix of `depth` rows for each offset.
    fn layer<const OUT: usize>(&mut self, offsets: Vec<isize>, depth: usize) -> Layer<OUT> {
        let bias = self.matrix(NOTES);
        let weights = zones(|| self.matrix(offsets.len() * depth));
        Layer { offsets, bias, weights }
    }

    fn head<const C: usize>(&mut self, offsets: Vec<isize>) -> Head<C> {
        let bias = self.matrix(NOTES);
        let weights = zones(|| self.transposed(offsets.len()));
        let direct = zones(|| &self.transposed(1)[0]);
        Head { offsets, bias, weights, direct }
    }

    fn gate<const C: usize>(&mut self) -> Gate<C> {
        Gate { bias: self.row(), input: self.block(), hidden: self.block() }
    }

    fn cell<const C: usize>(&mut self) -> Cell<C> {
        let [reset, update] = [self.gate(), self.gate()];
        let (bias, input) = (self.row(), self.block());
        let hidden_bias = self.row();
        let candidate = Gate { bias, input, hidden: self.block() };
        Cell { reset, update, candidate, hidden_bias }
    }
}

/// Reads the weights of each zone.
fn zones<T>(mut read: impl FnMut() -> T) -> [T; ZONES] {
    [(); ZONES].map(|()| read())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_small_and_aligned_in_memory() {
        let files: [&[u8]; 2] =
            [include_bytes!("../weights/full.bin"), include_bytes!("../weights/light.bin")];
        let bytes: usize = files.iter().map(|file| file.len()).sum();
        assert!(bytes <= 350_000, "{bytes}");
        let weights = [FULL.near.weights[1].as_ptr().addr(), LIGHT.near.weights[1].as_ptr().addr()];
        assert!(weights.into_iter().all(|matrix| matrix.is_multiple_of(64)));
    }
}
