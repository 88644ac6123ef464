//! The downmix of the channels for the bank, and the gains of dry and wet.

use crate::{
    analysis::Level, constants::Constants, lanes::BLOCK, settings::smoother::SmoothedSettings,
};

/// The settings that are interpolated sample by sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Levels {
    /// Gain of the dry signal.
    pub dry: f32,
    /// Gain of the wet signal.
    pub wet: f32,
    /// 0 for one bank, 1 for two.
    pub stereo: f32,
    /// 0 for no delay, 1 for all of it.
    pub lookahead: f32,
    /// 0 for bands that hear the main input, 1 for the sidechain.
    pub sidechain: f32,
}

/// The gains of the dry and the wet signal for `settings` and the measured `level`, without the bypass.
pub(crate) fn gains(
    settings: &SmoothedSettings,
    constants: &Constants,
    level: &Level,
) -> (f64, f64) {
    let (mut dry, mut wet) = (constants.dry, constants.wet);
    if settings.auto > 0.0 {
        let auto = f64::from(settings.auto);
        let (own_dry, own_wet) = level.mix(f64::from(settings.settings.mix) / 100.0);
        dry += auto * (constants.output * own_dry - dry);
        wet += auto * (constants.output * own_wet - wet);
    }
    (dry, wet)
}

impl Levels {
    /// The levels for `settings`, with the [`gains`] of dry and wet.
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
    pub fn towards(self, to: Self, frame: usize) -> Self {
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

/// Puts the samples `range` of what the bands hear, `heard`, into the inputs of the banks: the mean of all channels; with
/// `two` banks, crossfaded by `stereo(frame)` with left and right, of which there must be two; without `stereo`, just
/// these.
pub(crate) fn bank_inputs(
    heard: &[impl AsRef<[f32]>],
    range: std::ops::Range<usize>,
    [one, other]: [&mut [f32]; 2],
    two: bool,
    stereo: Option<impl Fn(usize) -> f32>,
) {
    let Some(stereo) = stereo else {
        one.copy_from_slice(&heard[0].as_ref()[range.clone()]);
        other.copy_from_slice(&heard[1].as_ref()[range]);
        return;
    };
    mean(heard, range.clone(), one);
    if two {
        other.copy_from_slice(one);
        for (input, channel) in [one, other].into_iter().zip(heard) {
            let samples = input.iter_mut().zip(&channel.as_ref()[range.clone()]);
            for (frame, (mean, sample)) in samples.enumerate() {
                let stereo = stereo(frame);
                *mean = (1.0 - stereo) * *mean + stereo * sample;
            }
        }
    }
}

/// Puts the mean of the samples `range` of all channels into `to`.
pub(crate) fn mean(channels: &[impl AsRef<[f32]>], range: std::ops::Range<usize>, to: &mut [f32]) {
    let share = 1.0 / channels.len() as f32;
    to.fill(0.0);
    for channel in channels {
        for (mean, sample) in to.iter_mut().zip(&channel.as_ref()[range.clone()]) {
            *mean += share * sample;
        }
    }
}
