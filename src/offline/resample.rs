//! Another sample rate, by `rubato`.

use rubato::{
    Fft, FixedSync, Indexing, Resampler as _, WindowFunction,
    audioadapter_buffers::direct::SequentialSliceOfVecs,
};

/// The FFT's input takes at least so many frames, which makes its filter sharp.
const LEAST_STEP: usize = 2048;

/// More frames a step would cost more memory than a file's worth.
const LONGEST_STEP: usize = 1 << 19;

/// Turns a stream of one sample rate into one of another that starts at the same time.
pub struct Resampler {
    fft: Fft<f32>,
    /// Samples that do not make a full step yet.
    pending: Vec<Vec<f32>>,
    step: Vec<Vec<f32>>,
    rates: [u64; 2],
    /// Frames taken so far, frames given so far.
    frames: [u64; 2],
    /// Frames of the filter's delay that are still to be dropped.
    late: usize,
}

impl Resampler {
    /// From the rate `from` to the rate `to`, in Hz; both are more than 0.
    ///
    /// # Errors
    /// What `rubato` says of rates that it cannot relate.
    pub fn new(from: u32, to: u32, channels: u16) -> Result<Self, String> {
        let channels = usize::from(channels);
        let [input, output] = [from as usize, to as usize];
        let common = gcd(input, output);
        // The delay is half of the output's step, and has to be a whole number of frames.
        let unit = 2 * input / common;
        let step = unit * LEAST_STEP.div_ceil(unit);
        if step.max(step * output / input) > LONGEST_STEP {
            return Err("their ratio is not simple enough".into());
        }
        let window = WindowFunction::BlackmanHarris2;
        let fft = Fft::new_custom(input, output, step, 1, channels, window, FixedSync::Input)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            late: fft.output_delay(),
            step: vec![vec![0.0; fft.output_frames_max()]; channels],
            fft,
            pending: vec![Vec::new(); channels],
            rates: [from.into(), to.into()],
            frames: [0; 2],
        })
    }

    /// How many frames come out for `frames`.
    pub fn output_frames(&self, frames: u64) -> u64 {
        (u128::from(frames) * u128::from(self.rates[1])).div_ceil(self.rates[0].into()) as u64
    }

    /// Takes `channels` and replaces them by what can be told so far.
    pub fn process(&mut self, channels: &mut [Vec<f32>]) {
        self.frames[0] += channels[0].len() as u64;
        for (pending, channel) in self.pending.iter_mut().zip(channels.iter_mut()) {
            pending.append(channel);
        }
        while self.pending[0].len() >= self.fft.input_frames_next() {
            self.step(channels);
        }
    }

    /// Replaces `channels` by all that is left.
    pub fn finish(&mut self, channels: &mut [Vec<f32>]) {
        channels.iter_mut().for_each(Vec::clear);
        let wanted = (self.output_frames(self.frames[0]) - self.frames[1]) as usize;
        while channels[0].len() < wanted {
            let silence = self.fft.input_frames_next();
            self.pending.iter_mut().for_each(|pending| pending.resize(silence, 0.0));
            self.step(channels);
        }
        channels.iter_mut().for_each(|channel| channel.truncate(wanted));
    }

    /// Appends what a full step gives to `channels`.
    fn step(&mut self, channels: &mut [Vec<f32>]) {
        let (count, room) = (self.step.len(), self.step[0].len());
        let input = SequentialSliceOfVecs::new(&self.pending, count, self.pending[0].len());
        let output = SequentialSliceOfVecs::new_mut(&mut self.step, count, room);
        let (input, mut output) =
            (input.expect("as long as it says"), output.expect("as long as it says"));
        let done = self.fft.process_into_buffer(&input, &mut output, None::<&Indexing>);
        let (taken, given) = done.expect("both sides have room for a step");
        let late = self.late.min(given);
        self.late -= late;
        for (channel, step) in channels.iter_mut().zip(&self.step) {
            channel.extend_from_slice(&step[late..given]);
        }
        self.frames[1] += (given - late) as u64;
        for pending in &mut self.pending {
            pending.drain(..taken);
        }
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn a_sine_keeps_its_pitch_phase_and_length_at_any_rate_and_block_size() {
        const FRAMES: usize = 30_000;
        for (from, to) in [(44_100, 48_000), (48_000, 44_100), (96_000, 44_100), (8000, 44_100)] {
            let sine =
                |rate: u32, t: usize| (TAU * 1000.0 * t as f64 / f64::from(rate)).sin() as f32;
            let input: Vec<f32> = (0..FRAMES).map(|t| sine(from, t)).collect();
            for block in [1, 777, FRAMES] {
                let mut resampler = Resampler::new(from, to, 1).unwrap();
                let mut output = Vec::new();
                for part in input.chunks(block) {
                    let mut channels = vec![part.to_vec()];
                    resampler.process(&mut channels);
                    output.append(&mut channels[0]);
                }
                let mut rest = vec![Vec::new()];
                resampler.finish(&mut rest);
                output.append(&mut rest[0]);
                let wanted = (FRAMES as f64 * f64::from(to) / f64::from(from)).ceil() as usize;
                assert_eq!(output.len(), wanted);
                // The ends ring, for the sine begins and ends there.
                let ends = 1000 * to as usize / from as usize;
                for (t, output) in output.iter().enumerate().take(wanted - ends).skip(ends) {
                    let error = (output - sine(to, t)).abs();
                    assert!(error < 1e-4, "{from} to {to}, sample {t}: {error}");
                }
            }
        }
    }
}
