//! What CLAP hosts and their validators may ask of a plugin, asked of ours: of a debug build, with overflow
//! checks and debug assertions, and of the bundle that users get. How it sounds is `clap_host.rs`'s.

#[path = "../common/mod.rs"]
mod common;
#[path = "../hosting/mod.rs"]
mod hosting;

mod buffers;
mod corpus;
mod events;
mod lifecycle;
mod parameters;
#[cfg(target_os = "linux")]
mod scan;
mod state;
mod threads;
