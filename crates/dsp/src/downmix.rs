//! From the channels of a signal to the inputs of the listener and the banks.

use std::ops::Range;

/// Puts the mean of the samples `range` of all channels into `to`.
pub fn mean(channels: &[impl AsRef<[f32]>], range: Range<usize>, to: &mut [f32]) {
    if let [only] = channels {
        return to.copy_from_slice(&only.as_ref()[range]);
    }
    let share = 1.0 / channels.len() as f32;
    to.fill(0.0);
    for channel in channels {
        for (mean, sample) in to.iter_mut().zip(&channel.as_ref()[range.clone()]) {
            *mean += share * sample;
        }
    }
}

/// Puts the samples `range` of channel `index` of `count` into `to`, or the mean of all channels if there are more or
/// fewer.
pub fn channel(
    count: usize,
    channels: &[impl AsRef<[f32]>],
    index: usize,
    range: Range<usize>,
    to: &mut [f32],
) {
    let channels = if channels.len() == count { &channels[index..=index] } else { channels };
    mean(channels, range, to);
}

/// `x`, or 0 for NaN and infinity; bounded so that no gain makes it infinite.
#[inline(always)]
pub fn finite(x: f32) -> f32 {
    if x.is_finite() { x.clamp(-1e30, 1e30) } else { 0.0 }
}
