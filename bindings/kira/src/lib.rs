#![doc = include_str!("../README.md")]

use kira::{
    Frame, command_writers_and_readers,
    effect::{Effect, EffectBuilder},
    info::Info,
};
use std::sync::Arc;
use tone_filter_dsp::{
    Bands, Keyboard, OutOfRange, Score, Settings, SharedScores, Snapshot, ToneFilter,
};
use triple_buffer::{Input, Output, triple_buffer};

const CHUNK: usize = 64;

/// Builder of the effect. The effect starts with the builder's settings, by default [`Settings::default`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ToneFilterBuilder {
    settings: Settings,
}

impl ToneFilterBuilder {
    /// Creates a builder with these settings.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: &Settings) -> Result<Self, OutOfRange> {
        settings.validate()?;
        Ok(Self { settings: *settings })
    }
}

impl EffectBuilder for ToneFilterBuilder {
    type Handle = ToneFilterHandle;

    fn build(self) -> (Box<dyn Effect>, ToneFilterHandle) {
        let (writers, readers) = command_writers_and_readers();
        let (snapshots, bands) = triple_buffer(&Snapshot::default());
        let (settings, keyboard) = (self.settings, Keyboard::default());
        let (score_state, kept_scores) = (ScoreState::default(), SharedScores::default());
        let (score_sender, scores) = triple_buffer(&score_state);
        let filter = None;
        let effect = ToneFilterEffect { readers, settings, keyboard, scores, filter, snapshots };
        let handle = ToneFilterHandle { writers, bands, score_state, score_sender, kept_scores };
        (Box::new(effect), handle)
    }
}

/// Handle with which the game's thread controls the effect, without locks. The effect reads changes when the device requests
/// its next block, and applies them within the next 64 frames. Of several values sent before that, the last counts.
pub struct ToneFilterHandle {
    writers: CommandWriters,
    bands: Output<Snapshot>,
    /// The last message of [`Self::score_sender`].
    score_state: ScoreState,
    score_sender: Input<ScoreState>,
    kept_scores: SharedScores,
}

/// Message to the effect: a score and the position in it, in seconds. Sent together, so that a seek cannot overtake a score.
#[derive(Debug, Clone, Default)]
struct ScoreState {
    score: Option<Arc<Score>>,
    seconds: f64,
}

impl ToneFilterHandle {
    /// Moves to `settings` within 20 ms; see [`ToneFilter::set_settings`].
    ///
    /// # Errors
    /// If a setting is out of range. Then nothing changes.
    pub fn set_settings(&mut self, settings: &Settings) -> Result<(), OutOfRange> {
        settings.validate()?;
        self.writers.set_settings.write(*settings);
        Ok(())
    }

    /// Replaces the state of the player's keys, sustain pedal and pitch bend included, by `keyboard`; see [`Settings::keys`].
    pub fn set_keyboard(&mut self, keyboard: &Keyboard) {
        self.writers.set_keyboard.write(*keyboard);
    }

    /// Sets or removes the score, a list of notes that replaces the listener's decisions; see [`ToneFilter::set_score`]. A new
    /// score starts at 0 s; [`ToneFilterHandle::seek`] sets another position.
    pub fn set_score(&mut self, score: Option<Arc<Score>>) {
        self.kept_scores.keep(score.as_ref());
        self.score_state.score = score;
        self.seek(0.0);
    }

    /// Sets the position in the score, in seconds. Call it when the music begins, jumps, repeats or goes on after a pause.
    pub fn seek(&mut self, seconds: f64) {
        self.score_state.seconds = seconds;
        self.score_sender.write(self.score_state.clone());
    }

    /// Returns the bands at the end of the last block.
    pub fn bands(&mut self) -> Bands {
        self.bands.read().read()
    }
}

command_writers_and_readers! {
    set_settings: Settings,
    set_keyboard: Keyboard,
}

struct ToneFilterEffect {
    readers: CommandReaders,
    settings: Settings,
    keyboard: Keyboard,
    scores: Output<ScoreState>,
    /// `None` before the sample rate is known, and at a rate out of range. The sound then passes through unfiltered.
    filter: Option<ToneFilter>,
    snapshots: Input<Snapshot>,
}

impl Effect for ToneFilterEffect {
    fn init(&mut self, sample_rate: u32, _: usize) {
        self.on_change_sample_rate(sample_rate);
    }

    /// Replaces the filter by one for the new rate. The new filter continues the score where the old one was. Allocates, which
    /// kira permits here.
    fn on_change_sample_rate(&mut self, sample_rate: u32) {
        let ScoreState { score, seconds } = self.scores.output_buffer_mut();
        *seconds = self.filter.as_ref().map_or(*seconds, ToneFilter::score_time);
        self.filter = ToneFilter::new(sample_rate.into(), &self.settings).ok();
        if let Some(filter) = &mut self.filter {
            filter.set_keyboard(&self.keyboard);
            filter.set_score(score.clone());
            filter.seek(*seconds);
        }
    }

    fn on_start_processing(&mut self) {
        let (settings, keyboard) =
            (self.readers.set_settings.read(), self.readers.set_keyboard.read());
        self.settings = settings.unwrap_or(self.settings);
        self.keyboard = keyboard.unwrap_or(self.keyboard);
        let has_score = self.scores.update();
        let Some(filter) = &mut self.filter else { return };
        if has_score {
            let ScoreState { score, seconds } = self.scores.output_buffer_mut();
            filter.set_score(score.clone());
            filter.seek(*seconds);
        }
        if settings.is_some() {
            // The handle has validated the settings.
            let _ = filter.set_settings(&self.settings);
        }
        if keyboard.is_some() {
            filter.set_keyboard(&self.keyboard);
        }
    }

    fn process(&mut self, input: &mut [Frame], _: f64, _: &Info) {
        let Some(filter) = &mut self.filter else { return };
        for frames in input.chunks_mut(CHUNK) {
            let (mut left, mut right) = ([0.0; CHUNK], [0.0; CHUNK]);
            for (i, frame) in frames.iter().enumerate() {
                (left[i], right[i]) = (frame.left, frame.right);
            }
            filter.process(&mut [&mut left[..frames.len()], &mut right[..frames.len()]]);
            for (i, frame) in frames.iter_mut().enumerate() {
                *frame = Frame::new(left[i], right[i]);
            }
        }
        self.snapshots.write(filter.snapshot());
    }
}
