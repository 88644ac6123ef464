//! Fourier transforms. The `realfft` library is generic and slow to build, so it is built once here for all tests.

pub use realfft::{RealToComplex, num_complex::Complex64};

use realfft::RealFftPlanner;
use std::sync::Arc;

/// Plans the unscaled Fourier transform of `length` real samples.
pub fn plan(length: usize) -> Arc<dyn RealToComplex<f64>> {
    RealFftPlanner::new().plan_fft_forward(length)
}
