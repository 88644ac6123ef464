//! Tone Filter: 48 sharp resonators over four octaves pick the notes out of any music, each is driven
//! into a square-like wave, a levelling stage keeps the notes that really sound, and the result is mixed
//! back: an orchestra gains an 8-bit edge.
//!
//! * [`dsp`] is the filter itself. It needs nothing else; a game engine can embed it with
//!   `default-features = false`.

pub mod dsp;
