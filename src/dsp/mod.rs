//! The tone filter itself: no file, no plugin, no window, and no allocation once it is built.
//!
//! [`ToneFilter`] is all that most users need:
//!
//! ```
//! use tone_filter::dsp::{Settings, ToneFilter};
//!
//! let mut filter = ToneFilter::new(48_000.0, &Settings::default())?;
//! let (mut left, mut right) = (vec![0.0; 512], vec![0.0; 512]);
//! filter.process(&mut [&mut left, &mut right]);
//! let lit = filter.bands().bands.iter().filter(|band| band.level_db() > -20.0).count();
//! assert_eq!(lit, 0);
//! # Ok::<(), tone_filter::dsp::Error>(())
//! ```

mod bands;
mod bank;
mod denormals;
mod glide;
pub mod kernel;
pub mod listener;
mod mask;
pub mod notes;
pub mod reference;
pub mod resonator;
mod settings;
mod snapshot;
mod tracker;

pub use bands::{Band, BandState, Bands};
pub use mask::{BadPitchClass, BadSwitches, BandMask, PitchClass, PitchClasses, Scale, Switches};
pub use settings::{OutOfRange, SPECS, Settings, Spec, Stereo, Taper, spec};
pub use snapshot::{Ear, Snapshot, Tones};

use bank::{Bank, Voicing};
use denormals::FlushToZero;
use glide::{Glide, Moment};
use kernel::{BLOCK, Kernel};
use thiserror::Error;

/// Why a filter cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum Error {
    /// A setting is out of range.
    #[error(transparent)]
    Setting(#[from] OutOfRange),
    /// The sample rate is not one.
    #[error("{0} Hz is not a sample rate; use 1000 Hz to 1 GHz")]
    SampleRate(f64),
}

/// The tone filter for any number of channels.
///
/// The settings glide for 20 ms to where they are set, in steps of 64 samples counted from the last
/// reset; the output does not depend on how the signal is cut into blocks.
#[derive(Debug, Clone)]
pub struct ToneFilter {
    kernel: Kernel,
    settings: Settings,
    glide: Glide,
    voicing: Voicing,
    /// The mean of the channels or the left one; the right one.
    banks: [Bank; 2],
    /// What comes out of them in a block.
    wets: [[f32; BLOCK]; 2],
    /// How far the two banks are apart, and what is left of the input, at the start and at the end of
    /// the current block of 64.
    levels: [Levels; 2],
    /// Samples into the current block of 64.
    position: usize,
}

/// The settings that move sample by sample.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Levels {
    dry: f32,
    wet: f32,
    stereo: f32,
}

impl ToneFilter {
    /// A filter at rest, for signals of `sample_rate` Hz (1000 to 1e9).
    ///
    /// It uses the fastest kernel of this CPU, or the one that the environment variable
    /// [`kernel::VARIABLE`] names. A name that is no kernel's is passed over, because a plugin must not
    /// fail in a host for it; programs that can report it ask [`Kernel::from_environment`].
    ///
    /// # Errors
    /// When a setting is out of range or the sample rate is not one.
    pub fn new(sample_rate: f64, settings: &Settings) -> Result<Self, Error> {
        settings.validate()?;
        // Far beyond, an angle between two samples is nothing in single precision.
        if !(1000.0..=1e9).contains(&sample_rate) {
            return Err(Error::SampleRate(sample_rate));
        }
        let glide = Glide::new(settings, sample_rate);
        let moment = glide.moment();
        let voicing = Voicing::new(&moment, sample_rate);
        let levels = Levels::new(&voicing, &moment);
        Ok(Self {
            kernel: Kernel::from_environment().unwrap_or_else(|_| Kernel::best()),
            settings: *settings,
            glide,
            voicing,
            banks: [Bank::new(), Bank::new()],
            wets: [[0.0; BLOCK]; 2],
            levels: [levels; 2],
            position: 0,
        })
    }

    /// The same filter with its inner loop computed by `kernel`.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    /// What computes the inner loop.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Sets out for `settings`, from the next multiple of 64 samples on, without a click.
    ///
    /// Never allocates and may be called between any two blocks. Calling it with the settings it already
    /// has costs next to nothing.
    ///
    /// # Errors
    /// When a setting is out of range; then nothing changes.
    pub fn set_settings(&mut self, settings: &Settings) -> Result<(), OutOfRange> {
        if *settings != self.settings {
            settings.validate()?;
            self.settings = *settings;
            self.glide.aim(settings);
        }
        Ok(())
    }

    /// The settings it was last given.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Forgets all it has heard and arrives at its settings: a fresh filter, without allocating.
    pub fn reset(&mut self) {
        self.glide.arrive();
        let moment = self.glide.moment();
        self.voicing.update(&moment);
        self.banks = [Bank::new(), Bank::new()];
        self.levels = [Levels::new(&self.voicing, &moment); 2];
        self.position = 0;
    }

    /// Seconds after which the wet signal of a sound that has stopped is at least 60 dB down: the
    /// resonators' T60 and the trackers' one after the other.
    pub fn tail(settings: &Settings) -> f64 {
        let rms_t60 = 2.0 * 1000f64.ln() * f64::from(settings.release) / 1000.0;
        f64::from(settings.ring) + rms_t60
    }

    /// Replaces the samples of every channel (full scale is 1) by the filter's output.
    ///
    /// Any number of channels of any length will do; where lengths differ, the shortest counts.
    /// NaN and infinite samples are taken for silence.
    pub fn process(&mut self, channels: &mut [&mut [f32]]) {
        let _denormals = FlushToZero::new();
        let frames = channels.iter().map(|channel| channel.len()).min().unwrap_or(0);
        let mut start = 0;
        while start < frames {
            if self.position == 0 {
                self.step();
            }
            let end = frames.min(start + BLOCK - self.position);
            self.process_part(channels, start, end);
            self.position = (self.position + end - start) % BLOCK;
            start = end;
        }
    }

    /// Puts the filter's output for the channels of `input` into those of `output`.
    ///
    /// Where numbers or lengths of channels differ, the smaller counts.
    pub fn process_into(&mut self, input: &[&[f32]], output: &mut [&mut [f32]]) {
        let count = input.len().min(output.len());
        let (input, output) = (&input[..count], &mut output[..count]);
        let lengths = input.iter().map(|i| i.len()).chain(output.iter().map(|o| o.len()));
        let frames = lengths.min().unwrap_or(0);
        for (from, to) in input.iter().zip(output.iter_mut()) {
            to[..frames].copy_from_slice(&from[..frames]);
        }
        self.process(output);
    }

    /// What the filter hears now. In stereo, each band of the channel in which it is stronger.
    pub fn bands(&self) -> Bands {
        self.snapshot().read()
    }

    /// The same for later: a copy of what the bands hold, which takes a third of the time.
    pub fn snapshot(&self) -> Snapshot {
        let [first, second] = &self.banks;
        let second = (self.levels[1].stereo > 0.0).then_some(second);
        self.voicing.snapshot(first, second)
    }

    /// Moves the settings on at the start of a block of 64.
    fn step(&mut self) {
        self.levels[0] = self.levels[1];
        if self.glide.step() {
            let moment = self.glide.moment();
            self.voicing.update(&moment);
            self.levels[1] = Levels::new(&self.voicing, &moment);
            // A second bank that wakes up goes on from what the first one hears.
            if self.levels[0].stereo == 0.0 && self.levels[1].stereo > 0.0 {
                self.banks[1] = self.banks[0].clone();
            }
        }
    }

    /// Processes the samples `start..end`, which lie in one block of 64.
    fn process_part(&mut self, channels: &mut [&mut [f32]], start: usize, end: usize) {
        let frames = end - start;
        let [from, to] = self.levels;
        let level =
            |frame: usize| from.towards(to, (self.position + frame + 1) as f32 / BLOCK as f32);
        let two_banks = channels.len() == 2 && (from.stereo > 0.0 || to.stereo > 0.0);
        // Apart for good: what is computed otherwise, with a stereo of 1.
        let apart = two_banks && from.stereo == 1.0 && to.stereo == 1.0;

        for channel in channels.iter_mut() {
            channel[start..end].iter_mut().for_each(|sample| *sample = finite(*sample));
        }
        let wets = self.wets.each_mut().map(|wet| &mut wet[..frames]);
        if apart {
            let inputs = [0, 1].map(|index| &channels[index][start..end]);
            Bank::process_two(&mut self.banks, self.kernel, &self.voicing, inputs, wets);
        } else {
            let mut inputs = [[0.0; BLOCK]; 2];
            let share = 1.0 / channels.len() as f32;
            for channel in channels.iter() {
                for (mean, sample) in inputs[0].iter_mut().zip(&channel[start..end]) {
                    *mean += share * sample;
                }
            }
            if two_banks {
                inputs[1] = inputs[0];
                for (input, channel) in inputs.iter_mut().zip(channels.iter()) {
                    let samples = input.iter_mut().zip(&channel[start..end]);
                    for (frame, (mean, sample)) in samples.enumerate() {
                        let stereo = level(frame).stereo;
                        *mean = (1.0 - stereo) * *mean + stereo * sample;
                    }
                }
                let inputs = inputs.each_ref().map(|input| &input[..frames]);
                Bank::process_two(&mut self.banks, self.kernel, &self.voicing, inputs, wets);
                let [left, right] = &mut self.wets;
                for (frame, (left, right)) in left.iter().zip(right).enumerate().take(frames) {
                    let stereo = level(frame).stereo;
                    *right = (1.0 - stereo) * left + stereo * *right;
                }
            } else {
                let [wet, _] = wets;
                self.banks[0].process(self.kernel, &self.voicing, &inputs[0][..frames], wet);
            }
        }

        for (index, channel) in channels.iter_mut().enumerate() {
            let wet = &self.wets[if two_banks { index } else { 0 }];
            for (frame, (sample, wet)) in channel[start..end].iter_mut().zip(wet).enumerate() {
                let level = level(frame);
                *sample = level.dry * *sample + level.wet * wet;
            }
        }
    }
}

impl Levels {
    fn new(voicing: &Voicing, moment: &Moment) -> Self {
        let (dry, wet) = (voicing.constants.dry as f32, voicing.constants.wet as f32);
        Self {
            dry: (1.0 - moment.bypass) * dry + moment.bypass,
            wet: (1.0 - moment.bypass) * wet,
            stereo: moment.stereo,
        }
    }

    /// The levels at `share` (0..1) of the way to `to`.
    fn towards(self, to: Self, share: f32) -> Self {
        if self == to {
            return to;
        }
        let between = |from: f32, to: f32| from + share * (to - from);
        Self {
            dry: between(self.dry, to.dry),
            wet: between(self.wet, to.wet),
            stereo: between(self.stereo, to.stereo),
        }
    }
}

/// `x`, or silence for what is no number; bounded so that no gain makes it infinite.
fn finite(x: f32) -> f32 {
    if x.is_finite() { x.clamp(-1e30, 1e30) } else { 0.0 }
}
