//! Fourier transforms. The crate `realfft` is generic and takes many seconds to compile wherever it is used, so it is used here
//! only.

pub use realfft::{RealToComplex, num_complex::Complex64};

use realfft::RealFftPlanner;
use std::sync::Arc;

/// Plans the unscaled Fourier transform of `length` real samples.
pub fn plan(length: usize) -> Arc<dyn RealToComplex<f64>> {
    RealFftPlanner::new().plan_fft_forward(length)
}
