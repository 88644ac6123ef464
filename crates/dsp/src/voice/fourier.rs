//! Fourier transform for the tables of waveforms.

use std::f64::consts::PI;

/// Returns the real part of the inverse Fourier transform of `length` values, without a factor. `length` must be a power of two;
/// `given` has indices and values, and the remaining values are 0. Cooley and Tukey's algorithm, radix 2, decimated in time.
pub fn transform(given: impl Iterator<Item = (usize, [f64; 2])>, length: usize) -> Vec<f64> {
    let unused_bits = usize::BITS - length.trailing_zeros();
    let mut values = vec![[0.0; 2]; length];
    for (n, value) in given {
        values[n.reverse_bits() >> unused_bits] = value;
    }
    let turn = |k| libm::sincos(PI * k as f64 / (length / 2) as f64);
    let turns: Vec<_> = (0..length / 2).map(turn).collect();
    let mut half = 1;
    while half < length {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            let turns = turns.iter().step_by(length / (2 * half));
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
