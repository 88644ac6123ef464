//! A multichannel delay line. For `lookahead`, it aligns the sound with the listener's decisions.

use std::ops::Range;

/// A delay line of a fixed number of channels.
#[derive(Debug, Clone)]
pub struct Delay {
    rings: Vec<Vec<f32>>,
    position: usize,
    /// Samples that count as recorded, at most the length.
    filled: usize,
}

impl Delay {
    /// Creates a delay of `length` samples (one or more) for `channels`, filled with silence.
    pub fn new(length: usize, channels: usize) -> Self {
        Self { rings: vec![vec![0.0; length]; channels], position: 0, filled: length }
    }

    /// Returns the delay in samples.
    pub fn length(&self) -> usize {
        self.rings.first().map_or(0, Vec::len)
    }

    /// Resets to the state before the first sample. The line is full: silence counts as recorded sound.
    pub fn reset(&mut self) {
        self.rings.iter_mut().for_each(|ring| ring.fill(0.0));
        (self.position, self.filled) = (0, self.length());
    }

    /// Starts to record. The line is filled with silence, which does not count as recorded sound.
    pub fn activate(&mut self) {
        self.reset();
        self.filled = 0;
    }

    /// Whether the output is recorded sound, not the silence of [`Delay::activate`].
    pub fn is_full(&self) -> bool {
        self.filled == self.length()
    }

    /// Crossfades the samples `range` of every channel with the delayed signal. `wet(frame)` is the weight of the delayed signal,
    /// 0..1, with frames counted from the start of the range. Channels beyond the number given to [`Delay::new`] are not changed.
    pub fn process(
        &mut self,
        channels: &mut [&mut [f32]],
        range: Range<usize>,
        wet: impl Fn(usize) -> f32,
    ) {
        let (length, frames) = (self.length(), range.len());
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
        self.filled = (self.filled + frames).min(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_does_not_depend_on_the_block_sizes() {
        let mut delay = Delay::new(5, 2);
        let input: Vec<f32> = (1..=20).map(|x| x as f32).collect();
        let (mut left, mut right) = (input.clone(), input.clone());
        for (start, end) in [(0, 1), (1, 9), (9, 20)] {
            delay.process(&mut [&mut left, &mut right], start..end, |_| 1.0);
        }
        assert_eq!(left[5..], input[..15]);
        assert_eq!(left[..5], [0.0; 5]);
        assert_eq!(left, right);
        let mut none = input.clone();
        delay.process(&mut [&mut none], 0..20, |_| 0.0);
        assert_eq!(none, input);
    }

    #[test]
    fn it_is_full_when_it_has_recorded_its_length() {
        let mut delay = Delay::new(5, 1);
        assert!(delay.is_full(), "before the first sample, there was silence");
        delay.activate();
        for full in [false, false, true, true] {
            delay.process(&mut [&mut [0.0; 2]], 0..2, |_| 0.0);
            assert_eq!(delay.is_full(), full);
        }
    }
}
