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

mod approx;
mod bank;
pub mod constants;
mod delay;
mod focus;
mod lanes;
mod level;
mod limiter;
pub mod listener;
mod mix;
pub mod notes;
mod one_pole;
mod picture;
pub mod reference;
mod settings;
mod voice;

pub use bank::{kernel, resonator};
pub use picture::{Band, BandState, Bands, BankSnapshot, Snapshot, Tones};
pub use settings::{
    BadPitchClass, BadSwitches, BandMask, CHOICES, Choice, Entry, OutOfRange, PitchClass,
    PitchClasses, SPECS, Scale, Settings, Spec, Stereo, Switches, Taper, Voice, choice, spec,
};

use bank::{Bank, Voicing, denormals::FlushToZero};
use delay::Delay;
use focus::Focus;
use kernel::Kernel;
use lanes::{BLOCK, Lanes};
use level::Level;
use limiter::Limiter;
use listener::Listener;
use mix::{Levels, mean};
use settings::smoother::{SmoothedSettings, Smoother};
use thiserror::Error;
use voice::{Polyphony, Timbres, Voices};

/// Seconds by which `lookahead` delays the sound, but no more than [`MOST_LATENCY`].
const LOOKAHEAD: f64 = 2048.0 / 44_100.0;

/// Samples by which the sound is delayed at most.
const MOST_LATENCY: f64 = 65_536.0;

/// Channels that there is room for where nothing else is said.
const CHANNELS: usize = 2;

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
    smoother: Smoother,
    /// What it gives now.
    now: SmoothedSettings,
    voicing: Voicing,
    /// The mean of the channels or the left one; the right one.
    banks: [Bank; 2],
    /// What the current block of 64 brings: the dry signal of each channel that there is room for, what the
    /// banks hear, and what comes out of them.
    dries: Vec<[f32; BLOCK]>,
    heard: [[f32; BLOCK]; 2],
    wets: [[f32; BLOCK]; 2],
    /// Holds the sound back while the decisions about it are made.
    delay: Delay,
    level: Level,
    limiter: Limiter,
    focus: Focus,
    polyphony: Polyphony,
    /// What sounds for a note, and a set of oscillators for each bank.
    timbres: Timbres,
    voices: [Voices; 2],
    /// The bands' shares in the sum, the gain to the nominal level, and what moves sample by sample, at the start
    /// and at the end of the current block.
    weights: [Lanes; 2],
    gains: [f32; 2],
    levels: [Levels; 2],
    /// The gains of dry and wet at the end of the current block, but for a bypass.
    mixed: (f64, f64),
    /// Whether the weights or the gains move within the current block.
    following: bool,
    /// Whether the last call gave each of two channels a bank of its own.
    apart: bool,
    /// Whether the mix must be limited in the current block.
    limiting: bool,
    /// Samples into the current block.
    position: usize,
}

impl ToneFilter {
    /// A filter at rest, for signals of `sample_rate` Hz (1000 to 1e9), with room for two channels; see
    /// [`ToneFilter::with_channels`].
    ///
    /// It uses the fastest kernel of this CPU; [`ToneFilter::with_kernel`] takes another.
    ///
    /// # Errors
    /// When a setting is out of range or the sample rate is not one.
    pub fn new(sample_rate: f64, settings: &Settings) -> Result<Self, Error> {
        settings.validate()?;
        // Far beyond, an angle between two samples is nothing in single precision.
        if !(1000.0..=1e9).contains(&sample_rate) {
            return Err(Error::SampleRate(sample_rate));
        }
        let smoother = Smoother::new(settings, sample_rate);
        let now = smoother.now();
        let voicing = Voicing::new(&now, sample_rate);
        let level = Level::new(sample_rate, CHANNELS);
        let mixed = mix::gains(&now, &voicing.constants, &level);
        let latency = (LOOKAHEAD * sample_rate).round().min(MOST_LATENCY) as usize;
        let mut filter = Self {
            kernel: Kernel::best(),
            settings: *settings,
            smoother,
            voicing,
            banks: [Bank::new(), Bank::new()],
            dries: vec![[0.0; BLOCK]; CHANNELS],
            heard: [[0.0; BLOCK]; 2],
            wets: [[0.0; BLOCK]; 2],
            delay: Delay::new(latency, CHANNELS),
            level,
            limiter: Limiter::new(sample_rate),
            focus: Focus::new(sample_rate),
            polyphony: Polyphony::new(sample_rate),
            timbres: Timbres::new(settings, sample_rate),
            voices: std::array::from_fn(|_| Voices::new(sample_rate)),
            weights: [Lanes::ZERO; 2],
            gains: [1.0; 2],
            levels: [Levels::new(&now, mixed); 2],
            mixed,
            now,
            following: false,
            apart: false,
            limiting: false,
            position: 0,
        };
        filter.reset();
        Ok(filter)
    }

    /// The same filter with its inner loop computed by `kernel`.
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    /// The same filter, at rest, with room for `channels`: `lookahead` delays no more of them, and `auto` measures
    /// the loudness of no more.
    #[must_use]
    pub fn with_channels(self, channels: usize) -> Self {
        let mut filter = Self {
            dries: vec![[0.0; BLOCK]; channels],
            delay: Delay::new(self.delay.length(), channels),
            level: Level::new(self.sample_rate(), channels),
            ..self
        };
        filter.reset();
        filter
    }

    /// The same filter, at rest, which decides what is played even where there is no focus.
    #[must_use]
    pub fn always_listening(mut self) -> Self {
        self.focus.listen_always();
        self.reset();
        self
    }

    /// Hz.
    pub fn sample_rate(&self) -> f64 {
        self.voicing.sample_rate
    }

    /// What decides which notes are played.
    pub fn listener(&self) -> &Listener {
        self.focus.listener()
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
            let timbre = |s: &Settings| (s.voice, s.octave, s.tuning, s.transpose);
            // To choose the waveforms' tables takes a while; most changes are of something else.
            if timbre(settings) != timbre(&self.settings) {
                self.timbres.aim(settings);
            }
            self.settings = *settings;
            self.smoother.aim(settings);
        }
        Ok(())
    }

    /// The settings it was last given.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Forgets all it has heard and arrives at its settings: a fresh filter, without allocating.
    pub fn reset(&mut self) {
        self.smoother.arrive();
        self.now = self.smoother.now();
        self.voicing.update(&self.now);
        self.banks = [Bank::new(), Bank::new()];
        self.delay.clear();
        self.level.reset();
        self.limiter.reset();
        self.focus.reset(&self.now, self.settings.lookahead);
        self.polyphony.reset(self.most_notes());
        self.timbres.arrive();
        self.voices = std::array::from_fn(|_| Voices::new(self.voicing.sample_rate));
        self.weights = [self.shares(); 2];
        self.gains = [self.gain(); 2];
        self.voicing.begin_block(self.weights, self.gains);
        self.mixed = mix::gains(&self.now, &self.voicing.constants, &self.level);
        self.levels = [Levels::new(&self.now, self.mixed); 2];
        self.following = false;
        self.position = 0;
    }

    /// Seconds after which the wet signal of a sound that has stopped is at least 60 dB down: the
    /// resonators' T60 and the trackers' one after the other.
    pub fn tail(settings: &Settings) -> f64 {
        let rms_t60 = 2.0 * 1000f64.ln() * f64::from(settings.release) / 1000.0;
        f64::from(settings.ring) + rms_t60
    }

    /// Samples by which the output is late: some 46 ms with `lookahead`, none without.
    pub fn latency(&self) -> usize {
        if self.settings.lookahead { self.delay.length() } else { 0 }
    }

    /// Replaces the samples of every channel (full scale is 1) by the filter's output.
    ///
    /// Any number of channels of any length will do; where lengths differ, the shortest counts.
    /// NaN and infinite samples are taken for silence.
    pub fn process(&mut self, channels: &mut [&mut [f32]]) {
        self.process_with(channels, |_, _| ());
    }

    /// [`ToneFilter::process`], which shows itself to `each` at the end of every block of 64, with the number of
    /// samples of this call until then.
    pub fn process_with(
        &mut self,
        channels: &mut [&mut [f32]],
        mut each: impl FnMut(usize, &Self),
    ) {
        let _denormals = FlushToZero::new();
        let frames = channels.iter().map(|channel| channel.len()).min().unwrap_or(0);
        let mut start = 0;
        while start < frames {
            if self.position == 0 {
                self.begin_block();
            }
            let end = frames.min(start + BLOCK - self.position);
            self.process_part(channels, start, end);
            self.position += end - start;
            start = end;
            if self.position == BLOCK {
                self.position = 0;
                self.end_block(channels.len());
                each(end, self);
            }
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
        let second = self.apart.then_some(second);
        let makeup = if self.settings.auto { self.level.makeup() as f32 } else { 1.0 };
        self.voicing.snapshot(first, second, &self.settings, self.focus.played(), makeup)
    }

    /// What brings the input to the nominal level, as far as `auto` is on.
    fn gain(&self) -> f32 {
        if self.now.auto == 0.0 { 1.0 } else { (self.level.gain() as f32).powf(self.now.auto) }
    }

    /// The bands' shares in the sum, by the switches, the scale, the focus and the number of notes.
    fn shares(&self) -> Lanes {
        let (focus, polyphony) = (&self.focus.shares().0, &self.polyphony.shares().0);
        Lanes(std::array::from_fn(|tone| self.now.weights[tone] * focus[tone] * polyphony[tone]))
    }

    /// How many notes may sound at a time.
    fn most_notes(&self) -> usize {
        self.settings.voices.round() as usize
    }

    /// Lets the strongest notes sound.
    fn limit_notes(&mut self) {
        let focus = &self.focus.shares().0;
        let power = |tone: usize| {
            let own = self.banks.iter().map(|bank| bank.state().power.0[tone]).fold(0.0, f32::max);
            own * (self.now.weights[tone] * focus[tone]).powi(2)
        };
        self.polyphony.follow(self.most_notes(), &Lanes(std::array::from_fn(power)));
    }

    /// Moves on what stands still within a block of 64.
    fn begin_block(&mut self) {
        self.levels[0] = self.levels[1];
        let was_auto = self.now.auto > 0.0;
        let moved = self.smoother.step();
        if moved {
            self.now = self.smoother.now();
            self.voicing.update(&self.now);
            self.focus.tune(&self.now, self.settings.lookahead);
        }
        self.timbres.step();
        let limits = self.polyphony.limits(self.most_notes());
        let focuses = self.now.settings.focus > 0.0;
        // At rest, without focus, auto and a limit, there is nothing to follow.
        if moved || self.following || focuses || self.now.auto > 0.0 || limits {
            self.focus.follow(self.now.settings.focus);
            if limits {
                self.limit_notes();
            }
            self.weights = [self.weights[1], self.shares()];
            self.gains = [self.gains[1], self.gain()];
            self.voicing.begin_block(self.weights, self.gains);
            self.following = self.weights[0] != self.weights[1] || self.gains[0] != self.gains[1];
        }
        if moved || self.now.auto > 0.0 {
            self.mixed = mix::gains(&self.now, &self.voicing.constants, &self.level);
            self.levels[1] = Levels::new(&self.now, self.mixed);
        }
        // The soft clip needs none. What was limited goes on: a gain that is let go at once would click.
        let unclipped = self.timbres.oscillates() || was_auto || self.now.auto > 0.0;
        let limiting = unclipped || !self.limiter.rests();
        if limiting && !self.limiting {
            // It has not followed the input meanwhile.
            self.limiter.reset();
        }
        self.limiting = limiting;
        let [from, to] = self.levels;
        self.voicing.set_driven(self.timbres.soft() != [0.0; 2]);
        if self.timbres.oscillates() {
            let banks = 1 + usize::from(self.apart);
            let (voices, banks) = (&mut self.voices[..banks], &self.banks[..banks]);
            let levels = self.focus.levels(self.now.settings.focus);
            Voices::begin_block(
                voices,
                banks,
                self.kernel,
                &self.voicing,
                &self.timbres,
                &self.weights[1],
                levels,
            );
        }
        // A second bank that wakes up goes on from what the first one hears.
        if from.stereo == 0.0 && to.stereo > 0.0 {
            self.banks[1] = self.banks[0].clone();
        }
        if from.lookahead == 0.0 && to.lookahead > 0.0 {
            self.delay.clear();
        }
    }

    /// Learns from what the block that has just ended brought, in a call with `channels`.
    fn end_block(&mut self, channels: usize) {
        self.focus.decide(self.kernel);
        if self.now.auto > 0.0 {
            let banks = 1 + usize::from(self.two_banks(channels));
            let wets = (0..channels).map(|channel| &self.wets[channel.min(banks - 1)]);
            // Without the gain after the mix, which is the user's; and in a bypass what would be mixed, so that
            // the effect comes back as if there had been none.
            let output = self.voicing.constants.output;
            let gains = (self.mixed.0 / output, self.mixed.1 / output);
            self.level.measure(&self.heard[..banks], self.dries.iter().zip(wets), gains);
        }
    }

    /// Whether each of so many channels has a bank of its own in this block.
    fn two_banks(&self, channels: usize) -> bool {
        channels == 2 && self.levels.iter().any(|level| level.stereo > 0.0)
    }

    /// Processes the samples `start..end`, which lie in one block of 64.
    fn process_part(&mut self, channels: &mut [&mut [f32]], start: usize, end: usize) {
        let (frames, position) = (end - start, self.position);
        let part = position..position + frames;
        let [from, to] = self.levels;
        let level = |frame: usize| from.towards(to, position + frame);
        let two_banks = self.two_banks(channels.len());
        self.apart = two_banks;

        for channel in channels.iter_mut() {
            channel[start..end].iter_mut().for_each(|sample| *sample = finite(*sample));
        }
        self.focus.hear(channels, start..end, position);
        if from.lookahead > 0.0 || to.lookahead > 0.0 {
            self.delay.process(channels, start..end, |frame| level(frame).lookahead);
        }
        if self.limiting {
            for (dry, channel) in self.dries.iter_mut().zip(channels.iter()) {
                dry[part.clone()].copy_from_slice(&channel[start..end]);
            }
        }

        // Apart for good: what is computed otherwise, with a stereo of 1.
        let apart = two_banks && from.stereo == 1.0 && to.stereo == 1.0;
        let [one, other] = self.heard.each_mut().map(|heard| &mut heard[part.clone()]);
        if apart {
            one.copy_from_slice(&channels[0][start..end]);
            other.copy_from_slice(&channels[1][start..end]);
        } else {
            mean(channels, start..end, one);
            if two_banks {
                other.copy_from_slice(one);
                for (input, channel) in [one, other].into_iter().zip(channels.iter()) {
                    let samples = input.iter_mut().zip(&channel[start..end]);
                    for (frame, (mean, sample)) in samples.enumerate() {
                        let stereo = level(frame).stereo;
                        *mean = (1.0 - stereo) * *mean + stereo * sample;
                    }
                }
            }
        }

        let heard = self.heard.each_ref().map(|heard| &heard[part.clone()]);
        let [left, right] = self.wets.each_mut().map(|wet| &mut wet[part.clone()]);
        if two_banks {
            let wets = [&mut *left, &mut *right];
            Bank::process_two(&mut self.banks, self.kernel, &self.voicing, position, heard, wets);
        } else {
            self.banks[0].process(self.kernel, &self.voicing, position, heard[0], left);
        }
        if self.timbres.oscillates() {
            let wets = [&mut *left, &mut *right];
            let banks = self.voices.iter_mut().zip(&self.banks).take(1 + usize::from(two_banks));
            for (((voices, bank), heard), wet) in banks.zip(heard).zip(wets) {
                let source = (bank, &self.voicing);
                voices.process(self.kernel, &self.timbres, source, position, heard, wet);
            }
        }
        if two_banks && !apart {
            for (frame, (left, right)) in left.iter().zip(right).enumerate() {
                let stereo = level(frame).stereo;
                *right = (1.0 - stereo) * left + stereo * *right;
            }
        }

        for (index, channel) in channels.iter_mut().enumerate() {
            let wet = &self.wets[if two_banks { index } else { 0 }][part.clone()];
            for (frame, (sample, wet)) in channel[start..end].iter_mut().zip(wet).enumerate() {
                let level = level(frame);
                *sample = level.dry * *sample + level.wet * wet;
            }
        }
        if self.limiting {
            let (output, bypass) = (self.voicing.constants.output as f32, self.now.bypass);
            let scale = (1.0 - bypass) * output + bypass;
            let dries = &self.dries[..self.dries.len().min(channels.len())];
            self.limiter.process(dries, channels, position, start..end, scale);
        }
    }
}

/// `x`, or silence for what is no number; bounded so that no gain makes it infinite.
fn finite(x: f32) -> f32 {
    if x.is_finite() { x.clamp(-1e30, 1e30) } else { 0.0 }
}
