#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod analysis;
mod bank;
mod delay;
mod downmix;
mod early_bank;
mod lanes;
mod messages;
pub mod notes;
mod output;
mod plan;
mod process;
mod ramp;
mod score;
mod scout;
mod sent_notes;
mod settings;
mod synthesis;
mod timeline;
mod view;
mod voice;

pub use settings::{
    Arp, BadText, BandMask, BandRange, CHOICES, Choice, Controls, DEFAULT_TEMPO, Duty, Entry,
    Group, Keys, Listen, Map, NoteValue, OutOfRange, PitchClass, PitchClasses, Routing, SPECS,
    Scale, Setting, Settings, Spec, Stereo, Switches, SyncTo, TEXTS, Taper, Targets, Text, TextOf,
    Voice, choice, quantity, spec,
};
pub use tone_filter_listener as listener;
pub use view::{Band, BandState, Bands, BankSnapshot, Snapshot, roll};

pub use analysis::{FoundKey, KeyEvent, KeyFinder, Keyboard, TuningFinder};
pub use bank::Tones;
pub use lanes::BLOCK;
pub use messages::{Message, MessageQueue};
pub use score::{BadScore, Score, ScoreNote, SharedScores};
pub use scout::{Scout, ScoutDecisions};
pub use sent_notes::{KeyCounts, SentEvent, SentNotes};
pub use tone_filter_simd::{Kernel, UnknownKernel};
pub use voice::{ChipNoise, ChipPulse, ChipTick};

use analysis::{Analysis, Resolved};
use listener::{
    Decisions, Listener,
    beats::SLOWEST,
    notes::{Event, Notes},
};
use notes::of_listener;
use output::Output;
use plan::BlockPlan;
use settings::smoother::Smoother;
use std::{fmt, sync::Arc};
use synthesis::Synthesis;
use timeline::Timeline;

/// Latency of `lookahead` in seconds; limited to [`MOST_LATENCY`] samples.
const LOOKAHEAD: f64 = 2048.0 / 44_100.0;
/// Maximum latency in samples.
const MOST_LATENCY: f64 = 65_536.0;
/// Default number of channels; [`ToneFilter::with_channels`] sets another.
const CHANNELS: usize = 2;

/// Reason why a [`ToneFilter`] cannot be created.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Error {
    /// Setting with an invalid value.
    Setting(OutOfRange),
    /// Sample rate in Hz that is not in 1000..=1e9.
    SampleRate(f64),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Setting(error) => error.fmt(f),
            Self::SampleRate(rate) => {
                write!(f, "{rate} Hz is not a sample rate; use 1000 Hz to 1 GHz")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<OutOfRange> for Error {
    fn from(error: OutOfRange) -> Self {
        Self::Setting(error)
    }
}

/// The tone filter for any number of channels.
///
/// Changes of the settings are smoothed over 20 ms, in steps of 64 samples counted from the last reset. The output does not
/// depend on the sizes of the buffers that are passed to [`ToneFilter::process`].
#[derive(Debug, Clone)]
pub struct ToneFilter {
    sample_rate: f64,
    kernel: Kernel,
    controls: Controls,
    timeline: Timeline,
    /// Smoother of the controls of the delayed sound.
    smoother: Smoother,
    /// Smoother of the latest controls, for the undelayed sound. Listener and early bank use it while the delay records.
    heard: Smoother,
    /// Boxed to save stack: threads of macOS have 512 KiB.
    analysis: Box<Analysis>,
    synthesis: Box<Synthesis>,
    output: Output,
    /// Plan of the current block: `begin_block` writes its smoothed settings, `analysis` its weights and gains.
    plan: BlockPlan,
    /// Number of samples of the current block that have been processed.
    position: usize,
}

impl ToneFilter {
    /// Creates a filter at rest for a sample rate of 1000 to 1e9 Hz and for two channels; see [`ToneFilter::with_channels`].
    ///
    /// It uses the fastest kernel of this CPU; [`ToneFilter::with_kernel`] sets another.
    ///
    /// # Errors
    /// If a setting or the sample rate is out of range.
    pub fn new(sample_rate: f64, settings: &Settings) -> Result<Self, Error> {
        settings.validate()?;
        // At much higher rates, f32 cannot resolve the angle per sample.
        if !(1000.0..=1e9).contains(&sample_rate) {
            return Err(Error::SampleRate(sample_rate));
        }
        let latency = Self::lookahead(sample_rate);
        let controls = Controls::from(*settings);
        let smoother = Smoother::new(&settings.morphed(), controls.fades(), sample_rate);
        let plan = BlockPlan::new(smoother.now());
        let output = Output::new(sample_rate, CHANNELS, latency);
        let delay = output.delay.length;
        let analysis = Analysis::new(sample_rate, CHANNELS, delay);
        let resolved = analysis.found.resolve(&controls);
        let mut filter = Self {
            sample_rate,
            kernel: Kernel::best(),
            controls,
            timeline: Timeline::new(resolved, delay),
            heard: smoother.clone(),
            smoother,
            analysis,
            synthesis: Synthesis::new(&plan.smoothed.settings, sample_rate, delay),
            output,
            plan,
            position: 0,
        };
        filter.reset();
        Ok(filter)
    }

    /// Sets the kernel of the inner loop.
    ///
    /// ```
    /// use tone_filter_dsp::{Kernel, Settings, ToneFilter};
    ///
    /// let filter = ToneFilter::new(48_000.0, &Settings::default())?;
    /// assert_eq!(filter.kernel(), Kernel::best());
    /// let filter = filter.with_kernel("scalar".parse()?);
    /// assert_eq!(filter.kernel().name(), "scalar");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    /// Sets the number of channels (at least 1) that `lookahead` delays and whose loudness `auto` measures. Resets the filter.
    ///
    /// ```
    /// use tone_filter_dsp::{Settings, ToneFilter};
    ///
    /// let mut filter = ToneFilter::new(48_000.0, &Settings::default())?.with_channels(6);
    /// let mut surround = vec![vec![0.0; 512]; 6];
    /// let mut channels: Vec<&mut [f32]> = surround.iter_mut().map(|channel| &mut channel[..]).collect();
    /// filter.process(&mut channels);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_channels(self, channels: usize) -> Self {
        let channels = channels.max(1);
        let mut filter = Self {
            analysis: Box::new(self.analysis.with_channels(self.sample_rate, channels)),
            output: Output::new(self.sample_rate, channels, Self::lookahead(self.sample_rate)),
            ..self
        };
        filter.reset();
        filter
    }

    /// Returns the sample rate in Hz.
    pub fn sample_rate(&self) -> f64 {
        self.sample_rate
    }

    /// Returns the listener, which decides which notes are played unless a score or a scout does.
    pub fn listener(&self) -> &Listener {
        &self.analysis.source.listener
    }

    /// Returns the kernel of the inner loop.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Changes the settings. The sound moves to them smoothly, from the next multiple of 64 samples on. With `lookahead`, a
    /// change applies to the sound that is passed in from then on, so it reaches the output [`ToneFilter::latency`] later.
    ///
    /// Does not allocate, and may be called before every buffer. With unchanged settings it costs almost nothing.
    ///
    /// # Errors
    /// If a setting is out of range; then nothing changes.
    ///
    /// ```
    /// use tone_filter_dsp::{Settings, ToneFilter};
    ///
    /// let mut settings = Settings::default();
    /// let mut filter = ToneFilter::new(48_000.0, &settings)?;
    /// settings.mix = 20.0;
    /// filter.set_settings(&settings)?;
    /// settings.mix = 150.0;
    /// let error = filter.set_settings(&settings).unwrap_err();
    /// assert_eq!(error.to_string(), "mix = 150 is out of range; use 0 to 100 %");
    /// assert_eq!(filter.settings().mix, 20.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_settings(&mut self, settings: &Settings) -> Result<(), OutOfRange> {
        self.set_controls(&Controls { settings: *settings, ..self.controls })
    }

    /// Sets the connections. Changes of bypass and input are crossfaded, from the next multiple of 64 samples on. With
    /// `lookahead`, they reach the output later, as in [`ToneFilter::set_settings`]. Does not allocate.
    pub fn set_routing(&mut self, routing: Routing) {
        // The settings are those of the filter, which are valid.
        let _ = self.set_controls(&Controls { routing, ..self.controls });
    }

    /// Changes settings and connections as [`ToneFilter::set_settings`] and [`ToneFilter::set_routing`] do.
    ///
    /// # Errors
    /// If a setting is out of range; then nothing changes.
    pub fn set_controls(&mut self, controls: &Controls) -> Result<(), OutOfRange> {
        if *controls != self.controls {
            controls.settings.validate()?;
            self.controls = *controls;
            self.schedule();
        }
        let Routing { midi_out, mpe, .. } = controls.routing;
        self.analysis.source.listener.track_pitches(midi_out && mpe);
        Ok(())
    }

    /// Schedules the controls for the sound from now on: at once, or after the delay if it records already.
    fn schedule(&mut self) {
        let controls = self.resolved_controls();
        let is_delayed = self.output.delaying && self.analysis.connected.is_some();
        match self.bank_delay() {
            delay if is_delayed && delay > 0 => self.timeline.wait(controls, self.position + delay),
            _ => self.timeline.jump(controls),
        }
        self.aim();
    }

    /// Returns the latest controls, with the estimates of key, tuning and tempo.
    fn resolved_controls(&self) -> Resolved {
        self.analysis.found.resolve(&self.controls)
    }

    /// Sets the targets of the smoothers and of the timbre.
    fn aim(&mut self) {
        let [now, heard] = [&self.timeline.now, &self.resolved_controls()]
            .map(|controls| self.target(&controls.settings));
        self.synthesis.timbres.aim(&now);
        // The targets of the crossfades do not change here: `begin_block` sets them once they are ready.
        self.smoother.aim(&now, self.smoother.fades);
        if self.output.delaying {
            self.heard.aim(&heard, self.heard.fades);
        }
    }

    /// Returns `resolved` after morph and, unless keys are off, after pitch bend.
    fn target(&self, resolved: &Settings) -> Settings {
        let mut settings = resolved.morphed();
        if settings.keys != Keys::Off {
            settings.transpose += self.keyboard().bend;
        }
        settings
    }

    /// Returns the settings that were set last.
    pub fn settings(&self) -> &Settings {
        &self.controls.settings
    }

    /// Returns the settings and connections that were set last.
    pub fn controls(&self) -> &Controls {
        &self.controls
    }

    /// Sets whether the listener runs even at a focus of 0 %, for [`ToneFilter::report_notes`]. Takes effect from the next
    /// multiple of 64 samples on.
    pub fn detect_notes(&mut self, detect: bool) {
        if std::mem::replace(&mut self.analysis.source.wanted, detect) != detect {
            self.aim();
        }
    }

    /// Resets the filter to the state of a new one with the current settings and routing, without held keys. Score,
    /// requested searches (notes, key, tuning, tempo) and expected tempo stay; the score starts again at 0 s. Does not allocate.
    pub fn reset(&mut self) {
        self.analysis.keys.reset(self.controls.settings.keys);
        self.analysis.found.reset();
        self.analysis.found.begin_block(&self.controls.settings);
        self.timeline.jump(self.resolved_controls());
        self.aim();
        self.smoother.fade(self.controls.fades());
        self.smoother.arrive();
        self.heard = self.smoother.clone();
        self.plan = self.analysis.reset(&self.smoother.now(), &self.timeline.now);
        self.synthesis.reset(&self.plan);
        self.output.reset(self.controls.settings.lookahead);
        self.position = 0;
    }

    /// Returns the seconds from the end of the input until the wet signal is at least 60 dB down: the T60 of the lowest band's
    /// resonator plus the T60 of the RMS trackers. Latency and `freeze` do not count. With `sync`, the slowest tempo does.
    ///
    /// ```
    /// use tone_filter_dsp::{Settings, ToneFilter};
    ///
    /// // Resonators: 0.2 s at A3, 1.07 s at E1. Trackers: 0.28 s.
    /// assert!((ToneFilter::tail(&Settings::default()) - 1.344).abs() < 0.001);
    /// ```
    pub fn tail(settings: &Settings) -> f64 {
        // The slowest tempo gives the longest times.
        let settings = settings.synced(SLOWEST);
        let rms_t60 = 2.0 * libm::log(1000.0) * f64::from(settings.release) / 1000.0;
        let lowest = settings.range.by_pitch().map(notes::semitone).next().unwrap_or(0);
        bank::ring_of(lowest, f64::from(settings.ring)) + rms_t60
    }

    /// Returns the latency of `lookahead` in samples at `sample_rate` Hz.
    pub fn lookahead(sample_rate: f64) -> usize {
        (LOOKAHEAD * sample_rate).round().min(MOST_LATENCY) as usize
    }

    /// Returns the latency in samples: 46 ms with `lookahead`, otherwise 0.
    pub fn latency(&self) -> usize {
        if self.controls.settings.lookahead { self.output.latency() } else { 0 }
    }

    /// Returns the delay of the bands' input in samples: with `lookahead`, [`ToneFilter::latency`] less the delay of the limiter,
    /// otherwise 0. Key events that the caller delays by as much stay aligned with the input.
    pub fn bank_delay(&self) -> usize {
        if self.controls.settings.lookahead { self.output.delay.length } else { 0 }
    }

    /// Returns the current levels and states of the bands. In stereo, each band is taken from the channel in which it is
    /// stronger.
    ///
    /// ```
    /// use std::f32::consts::TAU;
    /// use tone_filter_dsp::{Settings, ToneFilter, notes};
    ///
    /// let mut filter = ToneFilter::new(48_000.0, &Settings::default())?;
    /// let mut a4: Vec<f32> = (0..48_000).map(|t| 0.2 * (TAU * 440.0 * t as f32 / 48_000.0).sin()).collect();
    /// filter.process(&mut [&mut a4]);
    /// let bands = filter.bands().bands;
    /// let strongest = (0..48).max_by(|a, b| bands[*a].level_db().total_cmp(&bands[*b].level_db()));
    /// assert_eq!(strongest, Some(notes::A4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bands(&self) -> Bands {
        self.snapshot().read()
    }

    /// Returns the registers of the voice [`Voice::Chip`] as of its last tick; in stereo, of the left channel's chip. `None`
    /// unless this voice sounds.
    pub fn chip(&self) -> Option<ChipTick> {
        self.synthesis.first_voices().chip()
    }

    /// Returns a copy of the bands' state, from which [`Snapshot::read`] computes the result of [`ToneFilter::bands`] later. The
    /// copy takes a third of the time of `bands`: the audio thread copies, and another thread computes.
    pub fn snapshot(&self) -> Snapshot {
        let controls = &self.timeline.now;
        let makeup = if controls.settings.auto { self.analysis.level.makeup() as f32 } else { 1.0 };
        let source = &self.analysis.source;
        let played = source.is_on().then_some(source.notes.played);
        let mut snapshot = Snapshot::new(&self.synthesis, controls, played, self.held(), makeup);
        (snapshot.key, snapshot.tuning) = (self.found_key(), self.found_tuning());
        (snapshot.tempo, snapshot.tempo_certainty) = (self.found_tempo(), self.tempo_certainty());
        snapshot
    }

    /// Applies an event of the player's keys from the next multiple of 64 samples on. With [`Keys::Off`], the filter keeps track
    /// of the keys, but they have no effect. [`ToneFilter::process_events`] takes events with sample offsets.
    pub fn play(&mut self, event: KeyEvent) {
        let before = self.keyboard().bend;
        self.analysis.keys.play(event);
        if self.keyboard().bend != before {
            self.aim();
        }
    }

    /// Replaces the state of the player's keys. Does not allocate.
    ///
    /// ```
    /// use tone_filter_dsp::{KeyEvent, Keyboard, Keys, Settings, ToneFilter};
    ///
    /// let settings = Settings { keys: Keys::Hold, ..Settings::default() };
    /// let mut filter = ToneFilter::new(48_000.0, &settings)?;
    /// // On the player's thread, which sends a copy:
    /// let mut keyboard = Keyboard::default();
    /// keyboard.play(KeyEvent::Key(69, 0.8));
    /// keyboard.play(KeyEvent::Sustain(true));
    /// // On the audio thread:
    /// filter.set_keyboard(&keyboard);
    /// assert_eq!(*filter.keyboard(), keyboard);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_keyboard(&mut self, keyboard: &Keyboard) {
        self.analysis.keys.set_keyboard(*keyboard);
        self.aim();
    }

    /// Returns the state of the player's keys.
    pub fn keyboard(&self) -> &Keyboard {
        &self.analysis.keys.keyboard
    }

    /// Returns the semitones by which the map moves the note of each band; see [`Settings::offsets`].
    pub fn offsets(&self) -> [i8; notes::TONES] {
        self.timeline.now.settings.offsets(self.analysis.keys.notes())
    }

    /// Returns the bands that may sound now; see [`Settings::bands_with_keys`].
    pub fn sounding_bands(&self) -> BandMask {
        self.timeline.now.settings.bands_with_keys(self.held())
    }

    /// Returns the bands that sound because their keys are held.
    pub(crate) fn held(&self) -> BandMask {
        let settings = &self.timeline.now.settings;
        self.analysis.keys.held(settings.keys, settings.transpose)
    }

    /// Sets a score, which replaces the listener's decisions; the listener then does not run. With `None`, the listener decides
    /// again, after some 100 ms. Takes effect from the next multiple of 64 samples on.
    ///
    /// A score needs a [focus](Settings::focus) above 0 %. [`ToneFilter::seek`] sets its time. The score is aligned with the
    /// output, with or without `lookahead`. The levels of the notes follow the input, not the score. [`ToneFilter::report_notes`]
    /// reports the notes of the score.
    ///
    /// Neither allocates nor frees. Returns the previous score, for another thread to drop.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tone_filter_dsp::{Score, Settings, ToneFilter};
    ///
    /// let score: Score = "tone-filter-score 1\n0.0 2.0 69".parse()?;
    /// let mut filter = ToneFilter::new(48_000.0, &Settings::default())?;
    /// assert!(filter.set_score(Some(Arc::new(score))).is_none());
    /// // The game's music goes on at 0.5 s, or has begun again.
    /// filter.seek(0.5);
    /// filter.process(&mut [&mut [0.0; 512]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_score(&mut self, score: Option<Arc<Score>>) -> Option<Arc<Score>> {
        self.analysis.source.set_score(score)
    }

    /// Returns the latest decisions: of the score if there is one, otherwise of the listener or the scout.
    pub fn decisions(&self) -> &Decisions {
        self.analysis.source.decisions()
    }

    /// Returns the score that decides which notes are played, if there is one.
    pub fn score(&self) -> Option<&Arc<Score>> {
        self.analysis.source.score()
    }

    /// Sets the time in the score, in seconds, of the next sample that is passed to the filter. From there on, the time
    /// advances with the samples. At a time without a note in the score, no note is played.
    pub fn seek(&mut self, seconds: f64) {
        self.analysis.source.score_time.seek(seconds - self.position as f64 / self.sample_rate);
    }

    /// Returns the time in the score, in seconds, of the next sample that is passed to the filter.
    pub fn score_time(&self) -> f64 {
        self.analysis.source.score_time.time() + self.position as f64 / self.sample_rate
    }

    /// Returns the settings that were set last, with the estimates for scale, tuning and times that follow the music.
    pub fn resolved(&self) -> Settings {
        self.resolved_controls().settings
    }

    /// Enables the search for key and tuning of the music even if no setting follows them, for [`ToneFilter::found_key`] and
    /// [`ToneFilter::found_tuning`]. Needs a running listener. Takes effect from the next multiple of 64 samples on.
    pub fn find_key_and_tuning(&mut self, find: bool) {
        self.analysis.found.want(find);
    }

    /// Returns the key of about the last 30 s; `None` while the search is off, or if too few notes were detected.
    pub fn found_key(&self) -> Option<FoundKey> {
        self.analysis.found.key()
    }

    /// Returns the frequency of A4 in Hz that best fits the tones of about the last 20 s, within 60 cents of `tuning`; `None`
    /// while the search is off, or if too few tones agree.
    pub fn found_tuning(&self) -> Option<f64> {
        self.analysis.found.a4(&self.controls.settings)
    }

    /// Enables the search for the tempo of the music even if no setting follows it, for [`ToneFilter::found_tempo`]. Needs a
    /// running listener. Takes effect from the next multiple of 64 samples on.
    pub fn find_tempo(&mut self, find: bool) {
        self.analysis.found.want_tempo(find);
    }

    /// Sets the tempo that the user knows the music to have, in beats per minute; `None` if it is unknown. The found tempo is
    /// then doubled or halved until it is nearest to this one. Settings follow the change with the listener's next frame.
    pub fn expect_tempo(&mut self, tempo: Option<f64>) {
        self.analysis.found.expect_tempo(tempo);
    }

    /// Returns the tempo of the music in beats per minute; `None` while the search is off, or if too few onsets were detected.
    pub fn found_tempo(&self) -> Option<f64> {
        self.analysis.found.tempo()
    }

    /// Returns the certainty of [`ToneFilter::found_tempo`], 0..1: the fraction of about the last 8 s in which the tempo was
    /// steady within 3 %.
    pub fn tempo_certainty(&self) -> f32 {
        self.analysis.found.tempo_certainty()
    }

    /// Reports the notes that began or ended in the last block, of bands that may sound. [`of_listener`] converts the notes to
    /// tones.
    ///
    /// Velocities are those of the score; without a score, they are relative to the level of the music (`auto`) or to full scale.
    /// Must be called after each block, with the same `notes`. Needs a focus above 0 % or [`ToneFilter::detect_notes`]. A frozen
    /// filter reports nothing.
    ///
    /// ```
    /// use std::f32::consts::TAU;
    /// use tone_filter_dsp::{Settings, ToneFilter, listener::notes::Notes, notes};
    ///
    /// let mut filter = ToneFilter::new(48_000.0, &Settings::default())?;
    /// let sine = |t| 0.2 * (TAU * 440.0 * t as f32 / 48_000.0).sin();
    /// let mut signal: Vec<f32> = (0..96_000).map(|t| if t < 48_000 { 0.0 } else { sine(t) }).collect();
    /// let (mut notes, mut begun) = (Notes::live(), Vec::new());
    /// filter.process_with(&mut [&mut signal], |_, filter| {
    ///     filter.report_notes(&mut notes, |note| {
    ///         if note.velocity.is_some() {
    ///             begun.extend(notes::of_listener(note.note));
    ///         }
    ///     });
    /// });
    /// assert_eq!(begun, [notes::A4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn report_notes(&self, notes: &mut Notes, report: impl FnMut(Event)) {
        if !self.plan.smoothed.settings.freeze {
            let sounding = self.sounding_bands();
            let sounds = |note| of_listener(note).is_some_and(|tone| sounding.contains(tone));
            let gain = if self.score().is_some() { 1.0 } else { self.plan.gains.to };
            notes.set_gain(gain * gain);
            notes.push(self.decisions(), sounds, report);
        }
    }

    /// Returns the bend in semitones from a band's MIDI key, tuned to an A4 of 440 Hz, to the band's pitch. [`SentNotes`] sends
    /// this key.
    pub(crate) fn nominal_bend(&self) -> f32 {
        let (set, now) = (&self.timeline.now.settings, &self.plan.smoothed.settings);
        let shift = set.pitch_shift();
        let tuning = 12.0 * libm::log2(f64::from(now.tuning) / 440.0);
        now.transpose - set.transpose + shift - shift.round() + tuning as f32
    }

    /// Returns the bend in semitones from the MIDI key of `band`, tuned to an A4 of 440 Hz, to the pitch of its note; `None`
    /// while no pitch is detected, or while the bands are frozen.
    pub(crate) fn bend(&self, band: usize) -> Option<f32> {
        let Settings { voice, vibrato, .. } = self.timeline.now.settings;
        let share = if voice == Voice::Soft { 1.0 } else { vibrato / 100.0 };
        let offset = self.analysis.source.pitch(band)?;
        (!self.plan.smoothed.settings.freeze).then(|| self.nominal_bend() + share * offset as f32)
    }

    /// Creates a listener that decides, on another thread, about the filter's input from the first sample on. The filter must
    /// be at rest, and its settings must not change afterwards. `None` if the listener is off, a score is set, or the sound
    /// depends on more than the main input: on keys, the sidechain, or the estimated key, tuning or tempo.
    pub fn scout(&self) -> Option<Scout> {
        let controls = self.controls();
        let alone = controls.settings.keys == Keys::Off
            && controls.routing.listen == Listen::Main
            && !controls.settings.follows()
            && !controls.settings.follows_tempo();
        let source = &self.analysis.source;
        (alone && source.is_on() && source.score().is_none())
            .then(|| Scout::new(source.clone(), self.kernel))
    }

    /// Queues a scout's decisions for the next blocks. From the first call on, they replace the filter's own listener, which no
    /// longer runs. Each block's decision must be queued before the block ends. The output stays the same bit for bit. Allocates,
    /// and the filter frees the decisions while it processes.
    pub fn follow_scout(&mut self, decided: ScoutDecisions) {
        self.analysis.source.follow_scout(decided.0);
    }
}
