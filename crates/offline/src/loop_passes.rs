//! Seamless loops: a section that players repeat must have no seam in the output either.
//!
//! The filter processes the loop several times, until its state at the end of the loop equals its state at the start. Only the
//! last pass is kept. A player reaches the start of the loop from two sides: from the section before the loop, and from the end
//! of the loop. So the end of either section is crossfaded to the samples that directly precede the last pass.
//!
//! Nor may resampling make a seam. For the resampler, a loop at the start of the source is preceded by the samples that directly
//! precede the last pass, and a loop at the end of the source is followed by its own start.

use std::{collections::VecDeque, ops::Range};

/// Time in seconds in which levels and the listener settle. It is added to the filter's tail.
const SETTLING: f64 = 3.0;

/// Length in seconds of the crossfades to the start of the loop.
const FADE: f64 = 0.01;

/// State of a loop during its passes through the filter.
#[derive(Debug)]
pub struct LoopPasses {
    /// Loop in source frames. If its length is unknown, the end is `u64::MAX` until the source has ended.
    frames: Range<u64>,
    /// Minimum number of frames that are filtered before the pass that is kept.
    settling: u64,
    /// Length of the crossfades in frames.
    fade: u64,
    /// Number of frames beyond either end of the sound on which the resampler depends.
    reach: usize,
    /// Source frame that is read next.
    position: u64,
    /// Maximum of `position` so far.
    furthest: u64,
    /// Number of passes after the current one; `None` in the first pass, whose length may be unknown.
    passes_left: Option<u64>,
    /// Number of the filter's output frames so far.
    output_frames: u64,
    /// First output frame of the pass that is kept; `u64::MAX` until it is known.
    kept_from: u64,
    channels: Vec<Channel>,
}

#[derive(Debug, Default, Clone)]
struct Channel {
    /// Output frames that directly precede the loop, at most `fade`.
    before: Vec<f32>,
    /// Latest output frames of the passes that are not kept, at most `fade` or `reach`, whichever is more.
    latest: VecDeque<f32>,
    /// First output frames of the pass that is kept, at most `reach`.
    first: Vec<f32>,
}

impl LoopPasses {
    /// Creates the state for the loop `frames` at `rate` Hz. `tail` is the filter's tail in seconds. `reach` is
    /// [`Resampler::reach`](crate::resample::Resampler::reach), 0 without a resampler.
    pub fn new(frames: Range<u64>, channels: usize, rate: f64, tail: f64, reach: usize) -> Self {
        Self {
            settling: (((tail + SETTLING) * rate) as u64).max(reach as u64),
            fade: ((FADE * rate) as u64).min(frames.end - frames.start).max(1),
            reach,
            position: 0,
            furthest: 0,
            passes_left: None,
            output_frames: 0,
            kept_from: u64::MAX,
            channels: vec![Channel::default(); channels],
            frames,
        }
    }

    /// Returns how many frames to read next, at most `frames`. Returns `None` at the end of the loop, where the source must
    /// jump back.
    pub fn room(&self, frames: usize) -> Option<usize> {
        if self.passes_left == Some(0) {
            return Some(frames);
        }
        let remaining = self.frames.end.saturating_sub(self.position);
        (remaining > 0).then(|| frames.min(usize::try_from(remaining).unwrap_or(usize::MAX)))
    }

    /// Returns whether another pass follows, so that the source must jump back where it ends.
    pub fn has_next_pass(&self) -> bool {
        self.passes_left != Some(0) && self.position > self.frames.start
    }

    /// Returns the loop's first frame.
    pub fn start(&self) -> u64 {
        self.frames.start
    }

    /// Returns whether the source has ended at the end of the loop, so that a player continues with the loop's start.
    pub fn is_at_end(&self) -> bool {
        self.passes_left == Some(0) && self.position == self.frames.end
    }

    /// Replaces the content of `block` by the output with which a player continues after the loop, `reach` frames.
    pub fn repeat_start(&self, block: &mut [Vec<f32>]) {
        for (channel, samples) in self.channels.iter().zip(block) {
            // A loop may be shorter.
            *samples = channel.first.iter().copied().cycle().take(self.reach).collect();
        }
    }

    /// Adds `frames` to the position. Returns whether these frames were read for the first time.
    pub fn advance(&mut self, frames: usize) -> bool {
        self.position += frames as u64;
        let is_new = self.position > self.furthest;
        self.furthest = self.furthest.max(self.position);
        is_new
    }

    /// Ends a pass. Returns the source frame at which the next pass begins.
    pub fn restart(&mut self) -> u64 {
        self.frames.end = self.frames.end.min(self.position);
        let len = (self.frames.end - self.frames.start).max(1);
        let remaining = match self.passes_left {
            None => {
                let passes = self.settling.div_ceil(len).max(1);
                self.fade = self.fade.min(len);
                self.kept_from = self.frames.start + passes * len;
                passes
            }
            Some(remaining) => remaining,
        };
        self.passes_left = Some(remaining - 1);
        self.position = self.frames.start;
        self.frames.start
    }

    /// Removes the passes that are not kept from `block`, the filter's output. Also applies the crossfades. Keeps
    /// `reach - 1` frames more, for the resampler, if the loop starts at the source's first frame.
    pub fn keep_last_pass(&mut self, block: &mut [Vec<f32>]) {
        let Self { fade, reach, kept_from, output_frames: first, .. } = *self;
        let Range { start, end } = self.frames;
        self.output_frames += block[0].len() as u64;
        let crossfaded = |from: f32, latest: &VecDeque<f32>, position: u64| {
            let part = (position + 1) as f32 / fade as f32;
            let to = latest[latest.len() - (fade - position) as usize];
            from + part * (to - from)
        };
        let fade_in = start.saturating_sub(fade)..start;
        let end = kept_from.saturating_add(end - start);
        let fade_out = end.saturating_sub(fade)..end;
        for (channel, samples) in self.channels.iter_mut().zip(block) {
            let all = std::mem::take(samples);
            for (at, sample) in (first..).zip(all) {
                if at < fade_in.start {
                    samples.push(sample);
                } else if at < start {
                    channel.before.push(sample);
                } else if at < kept_from {
                    if channel.latest.len() == reach.max(fade as usize) {
                        channel.latest.pop_front();
                    }
                    channel.latest.push_back(sample);
                } else {
                    if at == kept_from {
                        let latest = &channel.latest;
                        if start == 0 {
                            samples.extend(latest.iter().skip(latest.len() + 1 - reach));
                        }
                        let skipped = fade - channel.before.len() as u64;
                        let before = (skipped..).zip(channel.before.drain(..));
                        samples.extend(
                            before.map(|(position, sample)| crossfaded(sample, latest, position)),
                        );
                    }
                    let sample = if fade_out.contains(&at) {
                        crossfaded(sample, &channel.latest, at - fade_out.start)
                    } else {
                        sample
                    };
                    samples.push(sample);
                    if channel.first.len() < reach {
                        channel.first.push(sample);
                    }
                }
            }
        }
    }
}
