//! Plan of a block of 64 samples: `begin_block` and analysis write it, synthesis and output follow it.

use crate::{
    lanes::{BLOCK, Lanes},
    notes::TONES,
    ramp::Ramp,
    settings::smoother::{Fade, SmoothedSettings},
};
use std::ops::Range;

/// Settings, weights and gains of the current block.
#[derive(Debug, Clone)]
pub struct BlockPlan {
    /// Smoothed settings at the end of the block.
    pub smoothed: SmoothedSettings,
    /// Whether `smoothed` may have changed since the last block.
    pub moved: bool,
    /// Smoothed settings of the undelayed sound, for listener and early bank. They can differ from `smoothed` only while the
    /// delay records.
    pub heard: SmoothedSettings,
    /// Whether `heard` may have changed since the last block.
    pub heard_moved: bool,
    /// Crossfade of the undelayed sound from the main input (0) to the sidechain (1).
    pub heard_sidechain: Ramp<f32>,
    /// Weights of the bands in the sum.
    pub weights: Ramp<Lanes>,
    /// Gain that brings the input to the nominal level.
    pub gains: Ramp<f32>,
    /// Stereo positions of the notes, 1 for left and -1 for right; `None` if all are in the centre.
    pub pans: Option<Ramp<Lanes>>,
    /// Gains and crossfades, interpolated sample by sample.
    pub mix_gains: Ramp<MixGains>,
    /// Whether the delay of `lookahead` records. It starts before its fade-in, and stops after its fade-out.
    pub delaying: bool,
    /// Output gain as a factor; 1 while bypassed.
    pub output_gain: f32,
    /// Power at the frequency of each note, as the listener measures it. The voices follow these powers; with `None`, they
    /// follow the powers of the bands.
    pub powers: Option<Lanes>,
    /// Semitones by which the map moves the note of each band, without transposition and octave.
    pub offsets: [i8; TONES],
}

impl BlockPlan {
    /// Creates the plan of a block at rest at `smoothed`; the caller sets weights and gains.
    pub fn new(smoothed: SmoothedSettings) -> Self {
        Self {
            smoothed,
            moved: true,
            heard: smoothed,
            heard_moved: true,
            heard_sidechain: Ramp::rest(smoothed.fades[Fade::Sidechain]),
            weights: Ramp::rest(Lanes::ZERO),
            gains: Ramp::rest(1.0),
            pans: None,
            mix_gains: Ramp::rest(MixGains::ZERO),
            delaying: smoothed.fades[Fade::Lookahead] > 0.0,
            output_gain: 1.0,
            powers: None,
            offsets: [0; TONES],
        }
    }

    #[inline(always)]
    pub fn mix_gains_at(&self, position: usize) -> MixGains {
        self.mix_gains.from.towards(self.mix_gains.to, position)
    }

    /// Whether the sidechain contributes to the input of the bands.
    pub fn sidechained(&self) -> bool {
        self.mix_gains.from.sidechain > 0.0 || self.mix_gains.to.sidechain > 0.0
    }

    pub fn stereo(&self) -> bool {
        self.mix_gains.from.stereo > 0.0 || self.mix_gains.to.stereo > 0.0
    }
}

/// Gains and crossfades, interpolated sample by sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixGains {
    pub dry: f32,
    pub wet: f32,
    /// Crossfade from one bank (0) to two (1).
    pub stereo: f32,
    /// Crossfade from the undelayed signal (0) to the delayed one (1).
    pub lookahead: f32,
    /// Crossfade of the bands' input from the main input (0) to the sidechain (1).
    pub sidechain: f32,
}

impl MixGains {
    pub const ZERO: Self = Self { dry: 0.0, wet: 0.0, stereo: 0.0, lookahead: 0.0, sidechain: 0.0 };

    /// Computes the gains at the end of a block. `dry` and `wet` are the gains without bypass.
    pub fn new(settings: &SmoothedSettings, (dry, wet): (f64, f64)) -> Self {
        let fades = &settings.fades;
        let bypass = fades[Fade::Bypass];
        Self {
            dry: (1.0 - bypass) * dry as f32 + bypass,
            wet: (1.0 - bypass) * wet as f32,
            stereo: fades[Fade::Stereo],
            lookahead: fades[Fade::Lookahead],
            sidechain: fades[Fade::Sidechain],
        }
    }

    /// Returns the gains at sample `frame` of a block that starts at `self` and ends at `to`.
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
    /// Range in the call.
    pub range: Range<usize>,
    /// Position of the first sample in the block.
    pub position: usize,
}

impl Span {
    pub fn in_block(&self) -> Range<usize> {
        self.position..self.position + self.range.len()
    }
}
