//! Tone Filter for C. `cbindgen` generates `include/tone_filter.h` from this crate. The header's first comment, with the rules
//! for pointers and threads, is in `cbindgen.toml`.

#![allow(
    clippy::missing_safety_doc,
    reason = "the header's first comment has it for all functions"
)]

mod filter;
mod play;
mod pointers;
mod settings;
mod status;
mod tables;
#[cfg(test)]
mod tests;

pub use filter::*;
pub use play::*;
pub use settings::*;
pub use status::{Status, tf_error_message, tf_last_error};
pub use tables::*;

/// Number of bands: the 48 semitones from A3 up, the range of the published filter, then the 29 from E1 to G#3.
pub const TF_BANDS: usize = 77;

/// Maximum number of channels of a filter.
pub const TF_MAX_CHANNELS: usize = 64;

/// Buffer size in bytes that is enough for tf_get_text() and tf_get_json().
pub const TF_TEXT_SIZE: usize = 2048;

const _: () = assert!(TF_BANDS == tone_filter_dsp::notes::TONES);
