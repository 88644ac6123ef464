//! What the fuzz targets hold of any bytes. `tests/fuzz_seeds.rs` holds the same of the seeds.

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/hosting/mod.rs"]
mod hosting;

pub mod preset;
pub mod settings;
pub mod state;
