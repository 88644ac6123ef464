//! Properties that the fuzz targets check for any input. `tests/hosts/seeds.rs` checks them for the seeds.

pub mod decode;
pub mod preset;
pub mod settings;
pub mod state;
