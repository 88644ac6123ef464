//! Loops stay loops: a part of a file that players repeat without a seam has none in the output either.
//!
//! The filter goes through the loop several times, until its state at the end is the one at the start, and the last time is kept.
//! What leads into the start, before the loop and at its end, is faded into what came before the last time.

use std::{collections::VecDeque, ops::Range};

/// Seconds in which levels and the listener settle, beside the filter's own tail.
const SETTLING: f64 = 3.0;

/// Seconds of the fade into the start of the loop.
const FADE: f64 = 0.01;

/// A loop on its way through the filter.
#[derive(Debug)]
pub struct Rounds {
    /// The loop in frames of the source; its end is the largest number until the source has ended.
    own: Range<u64>,
    /// Frames within which the filter settles, at least.
    settling: u64,
    /// Frames of the fade.
    fade: u64,
    /// Position in the source, and the largest one so far.
    position: u64,
    furthest: u64,
    /// Rounds to be read again; `None` before the first end.
    left: Option<u64>,
    /// Frames of the filter's output so far.
    out: u64,
    /// Output frame from which on the loop is kept.
    kept_from: u64,
    channels: Vec<Channel>,
}

#[derive(Debug, Default, Clone)]
struct Channel {
    /// The last frames before the loop.
    before: Vec<f32>,
    /// The latest frames of the rounds that are not kept.
    latest: VecDeque<f32>,
}

impl Rounds {
    /// Repeats the frames `own` of a source with so many channels at `rate` Hz, for a filter that sounds on for `tail` seconds.
    pub fn new(own: Range<u64>, channels: usize, rate: f64, tail: f64) -> Self {
        Self {
            settling: ((tail + SETTLING) * rate) as u64,
            fade: ((FADE * rate) as u64).min(own.end - own.start).max(1),
            position: 0,
            furthest: 0,
            left: None,
            out: 0,
            kept_from: u64::MAX,
            channels: vec![Channel::default(); channels],
            own,
        }
    }

    /// Returns the number of frames to be read next, at most `frames`; `None` where the source goes back to the start of the loop.
    pub fn room(&self, frames: usize) -> Option<usize> {
        if self.left == Some(0) {
            return Some(frames);
        }
        let here = self.own.end.saturating_sub(self.position);
        (here > 0).then(|| frames.min(usize::try_from(here).unwrap_or(usize::MAX)))
    }

    /// Returns whether the source goes back at its end.
    pub fn goes_on(&self) -> bool {
        self.left != Some(0) && self.position > self.own.start
    }

    /// Counts frames that have been read, and returns whether they are read for the first time.
    pub fn advance(&mut self, frames: usize) -> bool {
        self.position += frames as u64;
        let is_new = self.position > self.furthest;
        self.furthest = self.furthest.max(self.position);
        is_new
    }

    /// Ends a round, and returns the frame to go on from.
    pub fn restart(&mut self) -> u64 {
        self.own.end = self.own.end.min(self.position);
        let len = (self.own.end - self.own.start).max(1);
        let left = match self.left {
            None => {
                let rounds = self.settling.div_ceil(len).max(1);
                self.fade = self.fade.min(len);
                self.kept_from = self.own.start + rounds * len;
                rounds
            }
            Some(left) => left,
        };
        self.left = Some(left - 1);
        self.position = self.own.start;
        self.own.start
    }

    /// Leaves of `block`, the filter's output, what is kept.
    pub fn keep(&mut self, block: &mut [Vec<f32>]) {
        let Self { fade, kept_from, out: first, .. } = *self;
        let Range { start, end } = self.own;
        self.out += block[0].len() as u64;
        let blended = |from: f32, to: f32, place: u64| {
            let part = (place + 1) as f32 / fade as f32;
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
                    if channel.latest.len() as u64 == fade {
                        channel.latest.pop_front();
                    }
                    channel.latest.push_back(sample);
                } else {
                    if at == kept_from {
                        let skipped = fade - channel.before.len() as u64;
                        let before = (skipped..).zip(channel.before.drain(..));
                        let latest = &channel.latest;
                        samples.extend(
                            before.map(|(place, own)| blended(own, latest[place as usize], place)),
                        );
                    }
                    samples.push(match fade_out.contains(&at) {
                        true => {
                            let place = at - fade_out.start;
                            blended(sample, channel.latest[place as usize], place)
                        }
                        false => sample,
                    });
                }
            }
        }
    }
}
