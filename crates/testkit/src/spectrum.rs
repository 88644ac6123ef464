//! Fourier transforms. The library's code is generic and slow to build: it is built here, once for all tests.

pub use realfft::{RealToComplex, num_complex::Complex64};

use realfft::RealFftPlanner;
use std::sync::Arc;

/// The Fourier transform of real signals of `length` samples, not scaled.
pub fn plan(length: usize) -> Arc<dyn RealToComplex<f64>> {
    RealFftPlanner::new().plan_fft_forward(length)
}
