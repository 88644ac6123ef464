//! Tone Filter as a CLAP and VST3 plugin, which gives an orchestra an 8-bit edge. Up to 77 sharp resonators, one per semitone
//! from E1 to G#7, pick the notes out of any music. A levelling stage keeps the notes that really sound, a voice turns them into
//! square-like or other waves, and the result is mixed with the dry signal.
//!
//! The filter itself is the crate `tone-filter-dsp`. [`WindowlessEditor`] is the editor for tests and benches.

#![cfg_attr(
    not(feature = "editor"),
    allow(dead_code, unused_imports, reason = "the editor uses the rest")
)]

#[cfg(feature = "editor")]
mod capture;
#[cfg_attr(not(feature = "editor"), path = "no_editor.rs")]
mod editor;
pub mod meters;
mod params;
mod plugin;
mod session;

#[cfg(feature = "editor")]
pub use editor::WindowlessEditor;
#[cfg(feature = "standalone")]
pub use plugin::run_standalone;
pub use plugin::{GetPluginFactory, clap_entry};
