//! A multichannel delay line. For `lookahead`, it aligns the sound with the listener's decisions.

use std::ops::Range;

#[derive(Debug, Clone)]
pub struct Delay {
    /// Last samples of each channel, in a ring.
    pub rings: Vec<Vec<f32>>,
    /// Delay in samples.
    pub length: usize,
    /// Index of the oldest sample in the rings.
    pub position: usize,
}

impl Delay {
    /// Creates a delay of `length` samples (one or more), filled with silence.
    pub fn new(length: usize, channels: usize) -> Self {
        Self { rings: vec![vec![0.0; length]; channels], length, position: 0 }
    }

    pub fn reset(&mut self) {
        self.rings.iter_mut().for_each(|ring| ring.fill(0.0));
        self.position = 0;
    }

    /// Crossfades `range` of every channel with the delayed signal. `delayed(frame)` returns the gain and the weight (0..1) of
    /// the delayed signal; the range starts at frame 0. Channels without a ring are left untouched, and rings without a channel
    /// get silence.
    pub fn process(
        &mut self,
        channels: &mut [&mut [f32]],
        range: Range<usize>,
        delayed: impl Fn(usize) -> (f32, f32),
    ) {
        let (length, frames, count) = (self.length, range.len(), channels.len());
        for (ring, channel) in self.rings.iter_mut().zip(channels) {
            let mut at = self.position;
            for (frame, sample) in channel[range.clone()].iter_mut().enumerate() {
                let (gain, share) = delayed(frame);
                let delayed = gain * std::mem::replace(&mut ring[at], *sample);
                *sample = (1.0 - share) * *sample + share * delayed;
                at = if at + 1 == length { 0 } else { at + 1 };
            }
        }
        for ring in self.rings.iter_mut().skip(count) {
            (0..frames.min(length)).for_each(|frame| ring[(self.position + frame) % length] = 0.0);
        }
        self.position = (self.position + frames) % length.max(1);
    }
}
