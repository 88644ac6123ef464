//! The built plugin in hosts of both formats: equal settings and input must give the library's output.

mod buffers;
mod corpus;
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
mod timing;
#[cfg(any(target_os = "linux", windows))]
mod vst3;
#[cfg(any(target_os = "linux", windows))]
mod vst3_latency;
