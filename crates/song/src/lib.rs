//! Songs of what a filter plays: recorders that are called after each of the filter's blocks, and writers of their results.
//!
//! ```text
//! ToneFilter -> Transcriber, BeatRecorder, Finder -> Timeline, Layout -> MIDI, score
//!            -> console::Recorder -> Song -> VGM, NSF
//!            -> Arranger -> Arrangement -> MIDI in parts; Module -> Furnace, FamiTracker
//! ```
//!
//! There are no files and no threads here, so that the crate works in a browser.

pub mod arrangement;
pub mod beats;
pub mod console;
pub mod found;
pub mod timeline;
pub mod tracker;
pub mod transcribe;
#[cfg(test)]
mod vgm_reader;

/// Compiles and runs the Rust in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
