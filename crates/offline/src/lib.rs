//! Reading, rendering and writing of sound files.
//!
//! After a failure, no output is left behind. The message of an [`struct@Error`] is one line that names the file and a remedy.

mod ahead;
pub mod analyse;
pub mod batch;
mod chunks_kept;
pub mod container;
mod decoders;
mod error;
mod flac_writer;
mod formats;
mod level;
mod loop_passes;
mod metadata;
pub mod options;
mod output;
pub mod pass;
pub mod render;
mod resample;
pub mod score;
mod shared_file;
pub mod silence_reasons;
mod source;
pub mod table;
pub mod wav;
pub mod xorshift;

pub use decoders::is_decoding;
pub use error::{Error, Fault};
pub use formats::{extensions, readable};
pub use level::Level;
pub use output::{Output, clean_up_on_interrupt};
pub use source::{Input, Source};
pub use tone_filter_song::{
    arrangement, beats, console, found, take, timeline, tracker, transcribe,
};

/// Path that stands for standard input or output.
pub const STDIO: &str = "-";

/// Compiles and runs the Rust in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
