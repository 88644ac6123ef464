//! Makes songs from a filter's notes. Recorders are called after each block of the filter; writers make files of their results.
//!
//! ```text
//! ToneFilter -> Transcriber, BeatRecorder, Finder -> Timeline, Layout -> MIDI, score
//!            -> console::Recorder -> Song -> VGM, NSF
//!            -> TakeRecorder -> Take -> all of these; Arrangement -> MIDI in parts; Module -> Furnace, FamiTracker, VGM
//! ```
//!
//! Writers return bytes. The crate uses neither files nor threads, so it runs in a browser.

pub mod arrangement;
pub mod beats;
pub mod console;
pub mod found;
pub mod take;
pub mod timeline;
pub mod tracker;
pub mod transcribe;

/// Compiles and runs the Rust in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
