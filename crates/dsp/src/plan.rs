//! Plan of a block of 64 samples: analysis makes it, synthesis and output follow it.

use crate::{
    lanes::{BLOCK, Lanes},
    notes::TONES,
    ramp::Ramp,
    settings::smoother::SmoothedSettings,
};
use std::ops::Range;

/// Decisions for the current block.
#[derive(Debug, Clone)]
pub struct BlockPlan {
    /// The smoothed settings at the end of the block.
    pub settings: SmoothedSettings,
    /// Whether the settings differ from those of the block before.
    pub moved: bool,
    /// The bands' weights in the sum.
    pub weights: Ramp<Lanes>,
    /// The gain that brings the input to the nominal level.
    pub gains: Ramp<f32>,
    /// The notes' places, 1 for left and -1 for right; `None` if all are in the middle.
    pub places: Option<Ramp<Lanes>>,
    /// Gains and crossfades, which move sample by sample.
    pub levels: Ramp<Levels>,
    /// Whether the delay for lookahead records: some time before and after it has a part in the sound.
    pub delaying: bool,
    /// The output gain, as a factor; 1 while bypassed.
    pub output_gain: f32,
    /// The listener's power at the frequency of each note, which the voices follow; `None`: they follow the bands' own.
    pub powers: Option<Lanes>,
    /// Semitones from each band's own note to the one at which it sounds.
    pub offsets: [i8; TONES],
}

impl BlockPlan {
    /// Plan of a block at rest with these settings; weights and gains are still to be decided.
    pub fn new(settings: SmoothedSettings) -> Self {
        Self {
            settings,
            moved: true,
            weights: Ramp::rest(Lanes::ZERO),
            gains: Ramp::rest(1.0),
            places: None,
            levels: Ramp::rest(Levels::ZERO),
            delaying: settings.lookahead > 0.0,
            output_gain: 1.0,
            powers: None,
            offsets: [0; TONES],
        }
    }

    /// The levels of the sample at `position` in the block.
    #[inline(always)]
    pub fn level(&self, position: usize) -> Levels {
        self.levels.from.towards(self.levels.to, position)
    }

    /// Whether the sidechain has a part in the bands' input.
    pub fn sidechained(&self) -> bool {
        self.levels.from.sidechain > 0.0 || self.levels.to.sidechain > 0.0
    }

    /// Whether two banks have a part in the sound.
    pub fn stereo(&self) -> bool {
        self.levels.from.stereo > 0.0 || self.levels.to.stereo > 0.0
    }
}

/// The gains and crossfades that are interpolated sample by sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// Gain of the dry signal.
    pub dry: f32,
    /// Gain of the wet signal.
    pub wet: f32,
    /// 0 for one bank, 1 for two.
    pub stereo: f32,
    /// 0 for no delay, 1 for all of it.
    pub lookahead: f32,
    /// 0 for bands that process the main input, 1 for the sidechain.
    pub sidechain: f32,
}

impl Levels {
    /// All zero.
    pub const ZERO: Self = Self { dry: 0.0, wet: 0.0, stereo: 0.0, lookahead: 0.0, sidechain: 0.0 };

    /// The levels for `settings`, with the gains of dry and wet before the bypass.
    pub fn new(settings: &SmoothedSettings, (dry, wet): (f64, f64)) -> Self {
        let bypass = settings.bypass;
        Self {
            dry: (1.0 - bypass) * dry as f32 + bypass,
            wet: (1.0 - bypass) * wet as f32,
            stereo: settings.stereo,
            lookahead: settings.lookahead,
            sidechain: settings.sidechain,
        }
    }

    /// The levels `frame` samples (0..[`BLOCK`]) into a block, interpolated between `self` at its start and `to` at
    /// its end.
    #[inline(always)]
    fn towards(self, to: Self, frame: usize) -> Self {
        if self == to {
            return to;
        }
        let share = (frame + 1) as f32 / BLOCK as f32;
        let between = |from: f32, to: f32| from + share * (to - from);
        Self {
            dry: between(self.dry, to.dry),
            wet: between(self.wet, to.wet),
            stereo: between(self.stereo, to.stereo),
            lookahead: between(self.lookahead, to.lookahead),
            sidechain: between(self.sidechain, to.sidechain),
        }
    }
}

/// Samples of one call that lie in one block.
#[derive(Debug, Clone)]
pub struct Span {
    /// Their place in the call.
    pub range: Range<usize>,
    /// Position in the block of the span's first sample.
    pub position: usize,
}

impl Span {
    /// Their place in the block.
    pub fn part(&self) -> Range<usize> {
        self.position..self.position + self.range.len()
    }
}
