//! Downmix of a signal's channels to the inputs of the listener and the banks, and limit of samples ([`finite`]).

use std::ops::Range;

/// Writes the mean of all channels to `to`, for the samples `range`.
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

/// Writes `range` of channel `index` to `to`. If there are not exactly `count` channels, writes the mean of all instead.
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

/// Returns `x`, limited to a magnitude of 1e30, so that no gain makes it infinite; 0 for NaN and infinity.
#[inline(always)]
pub fn finite(x: f32) -> f32 {
    if x.is_finite() { x.clamp(-1e30, 1e30) } else { 0.0 }
}
