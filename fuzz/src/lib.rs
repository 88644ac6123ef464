//! The properties that the fuzz targets check for any input. `tests/fuzz_seeds.rs` checks them for the seeds.

#[path = "../../tests/hosting/mod.rs"]
mod hosting;

pub mod preset;
pub mod settings;
pub mod state;
