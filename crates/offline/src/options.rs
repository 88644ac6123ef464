//! Options of a run over a file.

use crate::{score::MidiFile, wav::Depth};
use std::sync::Arc;
use tone_filter_dsp::{Kernel, Routing, Settings};

/// Length of the tail: the sound after the end of the input, while the resonators ring out.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Tail {
    /// No tail: the output is as long as the input.
    #[default]
    None,
    /// Tail of this duration in seconds.
    Seconds(f64),
    /// Tail until the output falls below half an LSB of 16 bits, at most 1.6 times `ToneFilter::tail`.
    Auto,
}

/// Section of the input that players will loop, so it must repeat without a seam.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Looped {
    /// Loop in the file's chunk `smpl`, if there is one.
    #[default]
    Own,
    /// Loop in the chunk `smpl`, or else the whole file.
    Whole,
    /// No loop, even if the file has one.
    Nothing,
}

/// Settings of a run over a file: filter, input and output.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Filter settings. Played keys need a mode in the setting `keys`, and a score needs a `focus` above 0.
    pub settings: Settings,
    /// Whether the input passes through unfiltered: the file is only converted.
    pub bypass: bool,
    /// MIDI file that plays the bands, if there is one; see the setting `keys`.
    pub keys: Option<Arc<MidiFile>>,
    /// Notes of the input; `None` if the listener detects them.
    pub score: Option<Arc<tone_filter_dsp::Score>>,
    /// Number format of the output's samples; `None` for the input's.
    pub depth: Option<Depth>,
    /// Sample rate of the output in Hz; `None` for the input's.
    pub rate: Option<u32>,
    /// Length of the output after the end of the input.
    pub tail: Tail,
    /// Section that repeats without a seam.
    pub looped: Looped,
    /// Peak to normalize the output to, in dB full scale; `None` leaves the level.
    pub normalize: Option<f32>,
    /// Whether samples are rounded without dither.
    pub no_dither: bool,
    /// Whether titles, covers, markers and other metadata are left out.
    pub strip_metadata: bool,
    /// Instruction set of the filter.
    pub kernel: Kernel,
    /// Whether an existing output is overwritten.
    pub force: bool,
    /// Whether the output gets the input's modification time.
    pub keep_mtime: bool,
    /// Whether the loudness of input and output is measured. This takes as long as the filter's bank of resonators.
    pub loudness: bool,
    /// Whether the listener of a long file runs on its own thread. A core should be free for it. The output is the same.
    pub ahead: bool,
    /// Whether to analyse the file a second time if no note sounds at a focus of 0 %, to find out why.
    pub explain: bool,
}

impl Options {
    /// Returns the default routing, with the bypass of these options.
    pub fn routing(&self) -> Routing {
        Routing { bypass: self.bypass, ..Routing::default() }
    }
}
