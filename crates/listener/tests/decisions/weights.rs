//! Reads the weight files for the reference, as `tools/fit/export.py` describes them.

use super::NOTES;
use tone_filter_reference::{Cell, Layer, Matrix, Weights};

const DETECTORS: usize = 87;
const ZONES: usize = 3;
/// Number of log odds of a note.
const COLUMNS: usize = 4;

/// Returns the weights in `file`.
pub fn read(file: &[u8]) -> Weights {
    // Magic, version and checksum come first.
    let mut header = file[16..].as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let mut number = || header.next().unwrap();
    let [banks, features, c1, c] = [(); 4].map(|()| number() as usize);
    let mut list = || -> Vec<isize> {
        let length = number();
        (0..length).map(|_| number() as i32 as isize).collect()
    };
    let lags: Vec<usize> = list().into_iter().map(|lag| lag as usize).collect();
    let [near, harmonic, mix, head] = [(); 4].map(|()| list());
    let thresholds = [(); 2].map(|()| [(); 3].map(|()| f32::from_bits(number()).into()));
    let count = number() as usize;
    let (low, high) = file[file.len() - 2 * count..].split_at(count);
    let values = low.iter().zip(high).map(|(low, high)| [0, 0, *low, *high]);
    let mut values = Values(values.map(|bytes| f32::from_le_bytes(bytes).into()));
    let depth = lags.len() * banks * features;
    let weights = Weights {
        lags,
        near: values.layer(near, DETECTORS, depth, c1),
        harmonic: values.layer(harmonic, NOTES, c1, c),
        global_in_bias: values.row(c),
        global_in: values.matrix(2 * c, c),
        global: values.cell(c),
        global_mix: values.matrix(c, c),
        global_out: values.matrix(c, COLUMNS),
        first: values.zones(|values| values.cell(c)),
        mix: values.layer(mix, NOTES, c, c),
        skip: values.zones(|values| values.matrix(c, c)),
        second: values.zones(|values| values.cell(c)),
        head: values.layer(head, NOTES, c, COLUMNS),
        direct: values.zones(|values| values.matrix(c, COLUMNS)),
        thresholds,
    };
    assert!(values.0.next().is_none());
    weights
}

struct Values<I>(I);

impl<I: Iterator<Item = f64>> Values<I> {
    fn row(&mut self, columns: usize) -> Vec<f64> {
        self.0.by_ref().take(columns).collect()
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Matrix {
        (0..rows).map(|_| self.row(columns)).collect()
    }

    fn zones<T>(&mut self, mut read: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..ZONES).map(|_| read(self)).collect()
    }

    /// Reads a layer with a matrix of `depth` rows for each offset.
    fn layer(&mut self, offsets: Vec<isize>, rows: usize, depth: usize, columns: usize) -> Layer {
        let bias = self.matrix(rows, columns);
        let matrices =
            |values: &mut Self| offsets.iter().map(|_| values.matrix(depth, columns)).collect();
        Layer { weights: self.zones(matrices), offsets, bias }
    }

    fn cell(&mut self, c: usize) -> Cell {
        let mut gate = || (self.row(c), self.matrix(c, c), self.matrix(c, c));
        let [reset, update] = [gate(), gate()];
        let (bias, input) = (self.row(c), self.matrix(c, c));
        let hidden_bias = self.row(c);
        Cell {
            bias: [reset.0, update.0, bias],
            input: [reset.1, update.1, input],
            hidden: [reset.2, update.2, self.matrix(c, c)],
            hidden_bias,
        }
    }
}
