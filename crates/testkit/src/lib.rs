//! Settings, music and whole runs of the filter for tests, drawn at random from the tables of settings.
//!
//! [`Values`] are those of any setting, [`controls`] draws all, [`Scene`] is a run: controls that change, music, sidechain, keys and a
//! score at some sample rate. [`Automation`] is music during which settings change, for every way into the filter. Everything follows from the numbers of one [`Draws`], which are those of a seed or of a fuzzer.
//! [`signals`] are plain ones, and [`heap`] counts allocations.
//!
//! A new setting is drawn without a line here.

mod automation;
mod draws;
pub mod heap;
mod music;
mod scene;
mod settings;
pub mod signals;

pub use automation::{Automation, assert_same_bits};
pub use draws::Draws;
pub use music::{Music, Note, Signal, channels, events, music, rate};
pub use scene::Scene;
pub use settings::{Values, controls, parameters_alone, unlike_default};
