//! What the bands hear where it is not the signal that they are mixed with.

use super::{delay::Delay, lanes::BLOCK, mix::mean};
use std::ops::Range;

/// The bands' own input for the current block, and its delay for `lookahead`.
#[derive(Debug, Clone)]
pub(super) struct Sidechain {
    /// One row for the mean of all channels, or one each for left and right.
    rows: [[f32; BLOCK]; 2],
    count: usize,
    delay: Delay,
}

impl Sidechain {
    /// Silence, to be delayed by `latency` samples (one or more).
    pub fn new(latency: usize) -> Self {
        Self { rows: [[0.0; BLOCK]; 2], count: 1, delay: Delay::new(latency, 2) }
    }

    /// Fills the delay with silence.
    pub fn clear(&mut self) {
        self.delay.clear();
    }

    /// Crossfades the samples `range` of the main `channels` with those of the `sidechain`, and puts the result at
    /// `position` in the current block: `share(frame)` is the part of the sidechain, 0..1, with frames counted from
    /// the start of the range.
    pub fn hear(
        &mut self,
        channels: &[&mut [f32]],
        sidechain: &[&[f32]],
        range: Range<usize>,
        position: usize,
        share: impl Fn(usize) -> f32,
    ) {
        self.count = if channels.len() == 2 { 2 } else { 1 };
        let mut own = [0.0; BLOCK];
        let own = &mut own[..range.len()];
        for (index, row) in self.rows.iter_mut().take(self.count).enumerate() {
            let row = &mut row[position..position + range.len()];
            one_of(self.count, channels, index, range.clone(), row);
            one_of(self.count, sidechain, index, range.clone(), own);
            for (frame, (heard, own)) in row.iter_mut().zip(own.iter()).enumerate() {
                let share = share(frame);
                *heard = (1.0 - share) * *heard + share * finite(*own);
            }
        }
    }

    /// The rows of the current block: one, or left and right.
    pub fn rows(&self) -> &[[f32; BLOCK]] {
        &self.rows[..self.count]
    }

    /// Crossfades the samples `part` of the rows with the delayed ones; see [`Delay::process`].
    pub fn delay(&mut self, part: Range<usize>, wet: impl Fn(usize) -> f32) {
        let [one, other] = self.rows.each_mut().map(|row| &mut row[..]);
        self.delay.process(&mut [one, other][..self.count], part, wet);
    }
}

/// Channel `index` of `count`, or the mean of all if there are more or fewer.
fn one_of(
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
pub(super) fn finite(x: f32) -> f32 {
    if x.is_finite() { x.clamp(-1e30, 1e30) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use crate::{
        dsp::{Listen, Settings, Stereo, ToneFilter},
        xorshift::xorshift,
    };

    const RATE: f64 = 48_000.0;

    type Signal = Vec<Vec<f32>>;

    /// A second of noise, and of tones that differ from channel to channel.
    fn noise(channels: usize) -> Signal {
        let mut state = 5;
        let mut next = || (xorshift(&mut state) as i64 as f64 / 2f64.powi(65)) as f32;
        (0..channels).map(|_| (0..48_000).map(|_| next()).collect()).collect()
    }

    fn tones(channels: usize) -> Signal {
        let tone = |hertz: f64, t: usize| (std::f64::consts::TAU * hertz / RATE * t as f64).sin();
        let sample = |channel: usize, t| 0.2 * (tone(440.0, t) + tone([659.26, 880.0][channel], t));
        (0..channels).map(|c| (0..48_000).map(|t| sample(c, t) as f32).collect()).collect()
    }

    /// The output for `main` and a `sidechain`, in blocks of `size`.
    fn run(settings: &Settings, main: &Signal, sidechain: &Signal, size: usize) -> Signal {
        let mut filter = ToneFilter::new(RATE, settings).unwrap();
        let mut output = main.clone();
        for start in (0..48_000).step_by(size) {
            let range = start..(start + size).min(48_000);
            let mut main: Vec<_> = output.iter_mut().map(|c| &mut c[range.clone()]).collect();
            let sidechain: Vec<_> = sidechain.iter().map(|c| &c[range.clone()]).collect();
            filter.process_sidechained(&mut main, &sidechain, |_, _| ());
        }
        output
    }

    fn sounds() -> Vec<Settings> {
        let sound = Settings { mix: 100.0, listen: Listen::Sidechain, ..Settings::REFERENCE };
        vec![
            sound,
            Settings { stereo: Stereo::Stereo, ..sound },
            Settings { focus: 100.0, ring: 0.2, ..sound },
            Settings { stereo: Stereo::Stereo, focus: 50.0, lookahead: true, ..sound },
        ]
    }

    #[test]
    fn the_bands_hear_nothing_but_the_sidechain() {
        for settings in sounds() {
            for channels in [1, 2] {
                let (main, side) = (noise(channels), tones(channels));
                let expected = run(&settings, &side, &Vec::new(), 48_000);
                assert!(expected.iter().flatten().any(|x| x.abs() > 0.01));
                assert_eq!(run(&settings, &main, &side, 48_000), expected);
                assert_eq!(run(&settings, &main, &side, 37), expected, "in short blocks");
            }
            // The mean of a stereo sidechain for one channel, and a mono one for both channels.
            let tones = tones(2);
            let mean = [&tones[0], &tones[1]].map(|c| c.iter().map(|x| 0.5 * x));
            let [left, right] = mean;
            let mean: Signal = vec![left.zip(right).map(|(l, r)| l + r).collect()];
            let of_mean = run(&settings, &mean, &Vec::new(), 48_000);
            assert_eq!(run(&settings, &noise(1), &tones, 48_000), of_mean);
            let both = run(&settings, &vec![mean[0].clone(); 2], &Vec::new(), 48_000);
            assert_eq!(run(&settings, &noise(2), &mean, 48_000), both);
        }
    }

    #[test]
    fn their_sound_is_mixed_with_the_main_input() {
        let settings = Settings { mix: 50.0, listen: Listen::Sidechain, ..Settings::REFERENCE };
        let silence = vec![vec![0.0; 48_000]; 2];
        let wet = run(&settings, &silence, &tones(2), 48_000);
        let dry = run(&settings, &noise(2), &silence, 48_000);
        let both = run(&settings, &noise(2), &tones(2), 48_000);
        for (channel, both) in both.iter().enumerate() {
            for (frame, both) in both.iter().enumerate() {
                let sum = wet[channel][frame] + dry[channel][frame];
                assert!((both - sum).abs() < 1e-6, "{both} at {frame}, not {sum}");
            }
        }
    }

    #[test]
    fn without_a_sidechain_and_without_the_setting_they_hear_the_main_input() {
        for settings in sounds() {
            let main = Settings { listen: Listen::Main, ..settings };
            let expected = run(&main, &tones(2), &Vec::new(), 48_000);
            assert_eq!(run(&settings, &tones(2), &Vec::new(), 48_000), expected);
            assert_eq!(run(&main, &tones(2), &noise(2), 48_000), expected);
        }
    }

    #[test]
    fn auto_level_makes_them_as_loud_as_what_they_hear() {
        let settings = Settings { mix: 100.0, listen: Listen::Sidechain, ..Settings::default() };
        let power = |signal: &Signal| {
            signal.iter().map(|c| c[24_000..].iter().map(|x| x * x).sum::<f32>()).sum::<f32>()
        };
        let silence = vec![vec![0.0; 48_000]; 2];
        for gain in [0.01, 1.0] {
            let side: Signal =
                tones(2).iter().map(|c| c.iter().map(|x| gain * x).collect()).collect();
            let heard = run(&settings, &silence, &side, 480);
            let db = 10.0 * (power(&heard) / power(&side)).log10();
            assert!(db.abs() < 6.0, "{db} dB at {gain}");
        }
    }
}
