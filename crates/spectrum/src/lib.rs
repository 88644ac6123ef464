//! Fourier transforms for the editor and for tests.
//!
//! The library's code is generic, and takes 20 s of a CPU to build: it is built here, once, for all who use it.

pub use realfft::{RealToComplex, num_complex::Complex64};

use realfft::RealFftPlanner;
use std::sync::Arc;

/// The Fourier transform of real signals of `length` samples, not scaled.
pub fn plan(length: usize) -> Arc<dyn RealToComplex<f64>> {
    RealFftPlanner::new().plan_fft_forward(length)
}
