//! Tone Filter: 48 sharp resonators over four octaves pick the notes out of any music, each is driven
//! into a square-like wave, a levelling stage keeps the notes that really sound, and the result is mixed
//! back: an orchestra gains an 8-bit edge.
//!
//! * [`dsp`] is the filter itself. It needs nothing else; a game engine can embed it with
//!   `default-features = false`.
//! * `presets` turns settings into JSON and back (feature `presets`), and keeps them in files (features `plugin` and `cli`).
//! * `offline` reads, renders and draws files (feature `cli`).
//! * `kira` and `firewheel` are an effect and a node for the game audio engines of these names (features of these names).
//! * `plugin`, `params`, `meters` and `editor` are the CLAP and VST3 plugin (feature `plugin`);
//!   `WindowlessEditor` is its editor for tests and benches.

pub mod dsp;
#[cfg(feature = "plugin")]
mod editor;
#[cfg(feature = "firewheel")]
pub mod firewheel;
#[cfg(feature = "kira")]
pub mod kira;
#[cfg(feature = "plugin")]
pub mod meters;
#[cfg(feature = "cli")]
pub mod offline;
#[cfg(feature = "plugin")]
mod params;
#[cfg(feature = "plugin")]
mod plugin;
#[cfg(feature = "presets")]
pub mod presets;
#[cfg(any(test, feature = "cli"))]
mod xorshift;

#[cfg(feature = "plugin")]
pub use editor::WindowlessEditor;
#[cfg(feature = "plugin")]
pub use plugin::clap_entry;
#[cfg(feature = "app")]
pub use plugin::run_standalone;

#[cfg(all(feature = "au", target_os = "macos"))]
clap_wrapper::export_auv2!();

/// Compiles and runs the Rust in the README.
#[cfg(all(doctest, feature = "firewheel", feature = "kira", feature = "presets"))]
#[doc = include_str!("../README.md")]
struct Readme;
