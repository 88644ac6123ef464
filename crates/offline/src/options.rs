//! Options of a run over a file.

use super::{score::Score, wav::Depth};
use std::sync::Arc;
use tone_filter_dsp::{Kernel, Routing, Settings};

/// Length of the sound after the end of the input, while the resonators still ring.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Tail {
    /// No tail: the output is as long as the input.
    #[default]
    None,
    /// A number of seconds.
    Seconds(f64),
    /// As long as the tail is audible.
    Auto,
}

/// The part of an input that whoever plays the output repeats, which must have no seam.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Looped {
    /// The loop that the file has in a chunk `smpl`, if it has one.
    #[default]
    Own,
    /// The same, or else the whole file.
    Whole,
    /// None: the file is played once, from its start to its end.
    Nothing,
}

/// Settings of a run over a file, and of its output.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Sound.
    pub settings: Settings,
    /// Passes the input through: the file is only converted.
    pub bypass: bool,
    /// Keys, for the setting `keys`.
    pub keys: Score,
    /// Notes that the input plays; without a score, the listener finds them.
    pub score: Option<Arc<tone_filter_dsp::Score>>,
    /// Depth of the output; `None` for the input's.
    pub depth: Option<Depth>,
    /// Sample rate of the output in Hz; `None` for the input's.
    pub rate: Option<u32>,
    /// Sound after the end of the input.
    pub tail: Tail,
    /// The part of the input that repeats.
    pub looped: Looped,
    /// Peak of the output in dB full scale; `None` leaves the level.
    pub normalize: Option<f32>,
    /// Rounds without dither.
    pub no_dither: bool,
    /// Writes no titles, covers, markers and the like.
    pub strip_metadata: bool,
    /// Instruction set.
    pub kernel: Kernel,
    /// Overwrites an output that exists.
    pub force: bool,
    /// Copies the input's time of modification to the output.
    pub keep_mtime: bool,
    /// Measures the loudness, which takes as long as the filter's bank.
    pub loudness: bool,
    /// Listens to a long file on a thread of its own, where a core is free. The output does not change.
    pub ahead: bool,
    /// Finds out why no note sounds even at a focus of 0 %, by a second run over the file.
    pub explain: bool,
}

impl Options {
    /// Returns the filter's routing.
    pub fn routing(&self) -> Routing {
        Routing { bypass: self.bypass, ..Routing::default() }
    }
}
