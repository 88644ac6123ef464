//! Fourier transform for the tables of waveforms.

use std::f64::consts::PI;

/// Fourier transform for all lengths that are powers of two, up to a maximum.
pub struct Fourier {
    /// Sines and cosines of `pi k / half` for `k < half`. For each power of two `half`, they begin at the index `half`.
    turns: Vec<(f64, f64)>,
}

impl Fourier {
    /// Creates a transform of up to `length` values, a power of two.
    pub fn new(length: usize) -> Self {
        let turn = |index: usize| {
            let half = 1 << index.max(1).ilog2();
            libm::sincos(PI * (index - half.min(index)) as f64 / half as f64)
        };
        Self { turns: (0..length).map(turn).collect() }
    }

    /// Returns the real part of the unscaled inverse Fourier transform of `length` values, a power of two. `given` has the first
    /// values; the remaining ones are 0. By Cooley and Tukey, radix 2, decimated in time.
    pub fn transform(&self, given: &[[f64; 2]], length: usize) -> Vec<f64> {
        let unused_bits = usize::BITS - length.trailing_zeros();
        let mut values = vec![[0.0; 2]; length];
        // The first steps would copy each given value over the zeros behind it.
        let mut half = length / given.len().next_power_of_two();
        for (n, value) in given.iter().enumerate() {
            let start = n.reverse_bits() >> unused_bits;
            values[start..start + half].fill(*value);
        }
        while half < length {
            let turns = &self.turns[half..2 * half];
            for pair in values.chunks_exact_mut(2 * half) {
                let (low, high) = pair.split_at_mut(half);
                for ((low, high), (sin, cos)) in low.iter_mut().zip(high).zip(turns) {
                    let ([a, b], [c, d]) = (*low, *high);
                    let [re, im] = [c * cos - d * sin, c * sin + d * cos];
                    (*low, *high) = ([a + re, b + im], [a - re, b - im]);
                }
            }
            half *= 2;
        }
        values.into_iter().map(|[re, _]| re).collect()
    }
}
