//! WAV files, read and written a block at a time: RIFF, and RF64 beyond 4 GiB.
//!
//! The code is our own: `hound` neither preserves chunks nor supports RF64, RIFX or 64-bit floats, and decodes sample by sample,
//! which would take as long as the filter. The tests use `hound` as a second implementation.

mod chunks;
mod codec;
mod coded_samples;
mod read;
mod write;

pub use crate::formats::{Depth, Format};
pub(crate) use chunks::Chunk;
pub(crate) use codec::{Dither, clipped, encode};
pub(crate) use coded_samples::CodedSamples;
pub(crate) use read::{Content, Reader};
pub(crate) use write::{Writer, fits};
