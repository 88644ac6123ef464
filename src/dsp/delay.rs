//! A delay of many channels, for sound that waits for a decision.

/// Samples of each channel, as long ago as the delay is long.
#[derive(Debug, Clone)]
pub(super) struct Delay {
    /// A ring for each channel that there is room for.
    rings: Vec<Vec<f32>>,
    position: usize,
}

impl Delay {
    /// Silence of `length` samples (one or more) in each of `channels`.
    pub fn new(length: usize, channels: usize) -> Self {
        Self { rings: vec![vec![0.0; length]; channels], position: 0 }
    }

    /// Samples from a sound to its return.
    pub fn length(&self) -> usize {
        self.rings.first().map_or(0, Vec::len)
    }

    /// Replaces all that is under way by silence.
    pub fn clear(&mut self) {
        self.rings.iter_mut().for_each(|ring| ring.fill(0.0));
        self.position = 0;
    }

    /// Takes the samples `range` of every channel and puts those in their place that come out of the delay, in the
    /// proportion `share(frame)`, 0 for none to 1 for nothing else; frames count from the start of the range.
    /// Channels beyond the room there is are left alone.
    pub fn process(
        &mut self,
        channels: &mut [&mut [f32]],
        range: std::ops::Range<usize>,
        share: impl Fn(usize) -> f32,
    ) {
        let (length, frames) = (self.length(), range.len());
        for (ring, channel) in self.rings.iter_mut().zip(channels) {
            let mut at = self.position;
            for (frame, sample) in channel[range.clone()].iter_mut().enumerate() {
                let late = std::mem::replace(&mut ring[at], *sample);
                let share = share(frame);
                *sample = (1.0 - share) * *sample + share * late;
                at = if at + 1 == length { 0 } else { at + 1 };
            }
        }
        self.position = (self.position + frames) % length.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_comes_out_later_however_it_is_cut() {
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
}
