//! A multichannel delay line. For `lookahead`, it aligns the sound with the listener's decisions.

use std::ops::Range;

#[derive(Debug, Clone)]
pub struct Delay {
    rings: Vec<Vec<f32>>,
    pub length: usize,
    position: usize,
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

    /// Crossfades `range` of every channel with the delayed signal. `wet(frame)` is the weight of the delayed signal, 0..1; the
    /// range starts at frame 0. Channels beyond the number of the delay are left untouched.
    pub fn process(
        &mut self,
        channels: &mut [&mut [f32]],
        range: Range<usize>,
        wet: impl Fn(usize) -> f32,
    ) {
        let (length, frames) = (self.length, range.len());
        for (ring, channel) in self.rings.iter_mut().zip(channels) {
            let mut at = self.position;
            for (frame, sample) in channel[range.clone()].iter_mut().enumerate() {
                let delayed = std::mem::replace(&mut ring[at], *sample);
                let wet = wet(frame);
                *sample = (1.0 - wet) * *sample + wet * delayed;
                at = if at + 1 == length { 0 } else { at + 1 };
            }
        }
        self.position = (self.position + frames) % length.max(1);
    }
}
