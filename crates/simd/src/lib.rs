//! Vector arithmetic for real-time audio: choice of the instruction set at run time ([`Kernel`]), elementary functions that
//! vectorise ([`approx`]), and denormal numbers off ([`denormals`]).

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod approx;
pub mod denormals;
mod kernel;

pub use kernel::{Kernel, UnknownKernel, Work};

/// Compiles and runs the Rust in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
