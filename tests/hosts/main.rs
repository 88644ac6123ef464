//! Tests of the built plugin in CLAP and VST3 hosts: for the same settings and input, its output must equal the library's.

mod buffers;
mod events;
mod juce;
mod keys;
mod notes;
mod notifications;
mod parameters;
mod seeds;
mod sound;
mod state;
mod threads;
#[cfg(any(target_os = "linux", windows))]
mod vst3;
#[cfg(any(target_os = "linux", windows))]
mod vst3_latency;
