//! Checks of the fuzz targets, which must hold for any input. `tests/hosts/seeds.rs` runs them on the seeds.

pub mod decode;
pub mod preset;
pub mod settings;
pub mod state;
