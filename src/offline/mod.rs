//! Files.

mod canvas;
pub mod plot;
