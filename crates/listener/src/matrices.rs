//! Lays out the matrices of a weight file in memory, each from the start of a cache line.

use std::{iter::Zip, slice::Iter};

/// Number of floats in a cache line.
const LINE: usize = 16;

/// Matrix with a row for each input and a column for each output.
pub type Matrix<const OUT: usize> = &'static [[f32; OUT]];

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; LINE]);

/// Reader of matrices. In the file and in memory, they are in the order of use.
pub struct Matrices<'a> {
    /// Unread weights as bfloat16, the upper half of an `f32`: lower and upper bytes.
    bytes: Zip<Iter<'a, u8>, Iter<'a, u8>>,
    free: &'static mut [Line],
}

impl<'a> Matrices<'a> {
    /// Maximum number of matrices in a network. Each may leave a cache line partly unused.
    const MOST: usize = 128;

    /// Creates a reader of `bytes`: the lower bytes of all weights, then the upper ones.
    pub fn new(bytes: &'a [u8]) -> Self {
        let (lower, upper) = bytes.split_at(bytes.len() / 2);
        let lines = vec![Line([0.0; LINE]); lower.len() / LINE + Self::MOST];
        Self { bytes: lower.iter().zip(upper), free: lines.leak() }
    }

    /// Returns whether all weights have been read.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == 0
    }

    fn weight(&mut self) -> f32 {
        let (lower, upper) = self.bytes.next().expect("the file has all weights");
        f32::from_le_bytes([0, 0, *lower, *upper])
    }

    /// Returns memory for `count` weights, from the start of a cache line.
    fn floats(&mut self, count: usize) -> &'static mut [f32] {
        let (own, free) = std::mem::take(&mut self.free).split_at_mut(count.div_ceil(LINE));
        self.free = free;
        // SAFETY: a `Line` is 16 floats without padding (64 bytes, aligned to 64), so `own` has `LINE * own.len()` contiguous
        // floats. Nothing else refers to `own`.
        let floats = unsafe {
            std::slice::from_raw_parts_mut(own.as_mut_ptr().cast::<f32>(), LINE * own.len())
        };
        &mut floats[..count]
    }

    pub fn matrix<const OUT: usize>(&mut self, rows: usize) -> Matrix<OUT> {
        let own = self.floats(rows * OUT);
        own.fill_with(|| self.weight());
        own.as_chunks().0
    }

    /// Reads `count` matrices and transposes them: one row for each output instead of each input.
    pub fn transposed<const IN: usize, const OUT: usize>(
        &mut self,
        count: usize,
    ) -> &'static [[[f32; IN]; OUT]] {
        let own = self.floats(count * IN * OUT).as_chunks_mut().0.as_chunks_mut().0;
        for matrix in &mut *own {
            for input in 0..IN {
                for row in &mut *matrix {
                    row[input] = self.weight();
                }
            }
        }
        own
    }

    pub fn row<const OUT: usize>(&mut self) -> &'static [f32; OUT] {
        &self.matrix(1)[0]
    }

    pub fn block<const OUT: usize, const C: usize>(&mut self) -> &'static [[f32; OUT]; C] {
        &self.matrix(C).as_chunks().0[0]
    }
}
