//! Peak and RMS of samples.

/// Peak and mean power of a signal, over all of its channels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Level {
    /// Maximum magnitude, 1 at full scale.
    pub peak: f32,
    squares: f64,
    samples: u64,
}

impl Level {
    /// Adds the samples of one channel.
    pub fn add(&mut self, samples: &[f32]) {
        // Eight sums and eight maxima in parallel fill a vector unit. A block is short, so f32 is precise enough for its sums.
        // The bits of positive floats are ordered like the floats.
        let (mut peaks, mut squares) = ([0i32; 8], [0f32; 8]);
        let (blocks, rest) = samples.as_chunks::<8>();
        let mut padded = [0.0; 8];
        padded[..rest.len()].copy_from_slice(rest);
        for block in blocks.iter().chain([&padded]) {
            for ((peak, square), sample) in peaks.iter_mut().zip(&mut squares).zip(block) {
                *peak = (*peak).max(sample.abs().to_bits() as i32);
                *square += sample * sample;
            }
        }
        let peak = peaks.into_iter().max().unwrap_or(0);
        self.peak = self.peak.max(f32::from_bits(peak as u32));
        self.squares += squares.iter().map(|square| f64::from(*square)).sum::<f64>();
        self.samples += samples.len() as u64;
    }

    /// Returns the peak in dB full scale; negative infinity for silence.
    pub fn peak_db(&self) -> f32 {
        20.0 * self.peak.log10()
    }

    /// Returns the RMS in dB full scale, -3 for a full-scale sine; negative infinity for silence.
    pub fn rms_db(&self) -> f32 {
        (10.0 * (self.squares / self.samples.max(1) as f64).log10()) as f32
    }
}
