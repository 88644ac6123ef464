//! Analysis: decides which notes should sound, and how loud. It writes weights, pans and gains into each [`BlockPlan`].

mod focus;
mod found;
mod gates;
mod held_keys;
mod k_weighting;
mod keyboard;
mod level;
mod musical_key;
mod note_source;
mod polyphony;
mod score_time;
mod sidechain;
mod tuning;

pub use found::Resolved;
pub use keyboard::{KeyEvent, Keyboard};
pub use musical_key::{FoundKey, KeyFinder};
pub use note_source::NoteSource;
pub use tuning::TuningFinder;

use crate::{
    lanes::{BLOCK, Lanes},
    notes::{PUBLISHED, TONES},
    plan::{BlockPlan, MixGains, Span},
    ramp::Ramp,
    settings::{
        Arp, Keys, Map, Settings, Voice,
        smoother::{Fade, SmoothedSettings},
    },
};
use focus::Focus;
use found::Found;
use held_keys::HeldKeys;
use level::Level;
use polyphony::Polyphony;
use sidechain::Sidechain;
use tone_filter_simd::Kernel;

#[derive(Debug, Clone)]
pub struct Analysis {
    pub source: NoteSource,
    focus: Focus,
    pub found: Found,
    pub keys: HeldKeys,
    /// Settings and held keys from which `offsets` were computed.
    mapped: Option<(Settings, u128)>,
    offsets: [i8; TONES],
    pub level: Level,
    polyphony: Polyphony,
    sidechain: Sidechain,
    /// Whether the sidechain was connected in the last block; `None` before the first block.
    pub connected: Option<bool>,
    /// Whether auto level has an effect, so that levels are measured.
    measuring: bool,
    /// Gains of dry and wet, without bypass and output gain.
    mix: (f64, f64),
}

impl Analysis {
    /// Creates the analysis at rest. `latency` is the delay of the bands' input with `lookahead`, in samples. Boxed and not inlined, to
    /// save the caller's stack.
    #[inline(never)]
    pub fn new(sample_rate: f64, channels: usize, latency: usize) -> Box<Self> {
        let source = NoteSource::new(sample_rate, latency);
        Box::new(Self {
            found: Found::new(source.listener.frame() as f64 / sample_rate),
            source,
            focus: Focus::new(sample_rate),
            keys: HeldKeys::new(sample_rate),
            mapped: None,
            offsets: [0; TONES],
            level: Level::new(sample_rate, channels),
            polyphony: Polyphony::new(sample_rate),
            sidechain: Sidechain::new(latency),
            connected: None,
            measuring: false,
            mix: (0.0, 0.0),
        })
    }

    pub fn with_channels(self, sample_rate: f64, channels: usize) -> Self {
        Self { level: Level::new(sample_rate, channels), ..self }
    }

    /// Resets to the state after silence. Returns the plan of the first block.
    pub fn reset(&mut self, now: &SmoothedSettings, controls: &Resolved) -> BlockPlan {
        let settings = &controls.settings;
        self.level.reset();
        self.source.reset(now, self.found.is_following());
        self.focus.reset(self.source.notes.played, now.settings.focus);
        self.polyphony.reset(most_notes(controls));
        self.sidechain.reset();
        (self.connected, self.measuring) = (None, now.fades[Fade::Auto] > 0.0);
        let mut plan = BlockPlan::new(*now);
        plan.offsets = self.offsets(controls);
        plan.weights = Ramp::rest(self.weights(now, settings.keys));
        plan.gains = Ramp::rest(self.gain(now));
        plan.mix_gains = Ramp::rest(self.mix(&mut plan));
        plan
    }

    /// Begins a block with or without a connected sidechain. Returns whether it is the first block.
    pub fn connect(&mut self, connected: bool) -> bool {
        let before = self.connected.replace(connected);
        if connected && before == Some(false) {
            self.sidechain.reset();
        }
        before.is_none()
    }

    /// Plans a block. On entry, `plan` is the previous plan with the new smoothed settings. `powers` returns the tracked powers
    /// of the bands.
    pub fn plan(
        &mut self,
        controls: &Resolved,
        powers: impl FnOnce() -> Lanes,
        plan: &mut BlockPlan,
    ) {
        let settings = &controls.settings;
        let auto = plan.smoothed.fades[Fade::Auto] > 0.0;
        if auto && !self.measuring {
            self.level.activate();
        }
        self.measuring = auto;
        let Settings { focus, freeze, .. } = plan.smoothed.settings;
        if plan.moved || plan.heard_moved {
            self.source.tune(&plan.heard, focus > 0.0 || self.found.is_following());
        }
        let sounding = self.source.begin_block(freeze);
        let limit = most_notes(controls);
        let limits = self.polyphony.limits(limit);
        let keys = self.keys.act(settings.keys);
        plan.offsets = self.offsets(controls);
        // The weights change only with settings, focus, keys or the limit of notes.
        let mut moves = plan.moved | self.focus.follow(sounding, focus);
        if keys {
            let offsets = settings.snaps_to_keys().then_some(&plan.offsets);
            moves |= self.keys.follow(settings.keys, settings.transpose, offsets);
        }
        if limits {
            moves |= self.limit_notes(&plan.smoothed, limit, &powers());
        }
        if moves {
            plan.weights.next(self.weights(&plan.smoothed, settings.keys));
        } else {
            plan.weights.stay();
        }
        if plan.moved || auto {
            plan.gains.next(self.gain(&plan.smoothed));
            let mix_gains = self.mix(plan);
            plan.mix_gains.next(mix_gains);
        } else {
            plan.gains.stay();
            plan.mix_gains.stay();
        }
        let share = plan.smoothed.fades[Fade::Place];
        plan.pans = (share > 0.0 && self.source.is_on()).then(|| {
            let mut pans = plan.pans.unwrap_or(Ramp::rest(Lanes::ZERO));
            let aims = self.focus.pan(&self.source.notes.pans);
            pans.next(Lanes::of(|tone| share * aims.0[tone]));
            pans
        });
        plan.powers = self.source.levels().filter(|_| focus > 0.0).copied();
    }

    /// Returns [`Settings::offsets`] for the held keys, computed only after a change.
    fn offsets(&mut self, controls: &Resolved) -> [i8; TONES] {
        let settings = &controls.settings;
        if settings.map == Map::Mute {
            return [0; TONES];
        }
        let mapped = Some((*settings, self.keys.notes()));
        if self.mapped != mapped {
            self.offsets = settings.offsets(self.keys.notes());
            self.mapped = mapped;
        }
        self.offsets
    }

    /// Returns the weights of the bands in the sum. Mask, scale and focus set them, and held keys while these have an effect.
    /// The limit of notes reduces them.
    fn weights(&self, now: &SmoothedSettings, keys: Keys) -> Lanes {
        let (focus, polyphony) = (&self.focus.weights.now.0, &self.polyphony.weights.now.0);
        let mut weights = Lanes::of(|tone| now.weights[tone] * focus[tone]);
        if self.keys.act(keys) {
            weights = Lanes::of(|tone| self.keys.weight(tone, weights.0[tone]));
        }
        weights = Lanes::of(|tone| weights.0[tone] * polyphony[tone]);
        weights.0[PUBLISHED..].iter_mut().for_each(|weight| *weight *= now.fades[Fade::LowBands]);
        weights
    }

    /// Returns the gain of the banks' input. The smoothed `auto` fades it in, on a scale in dB.
    fn gain(&self, now: &SmoothedSettings) -> f32 {
        match now.fades[Fade::Auto] {
            0.0 => 1.0,
            1.0 => self.level.gain() as f32,
            auto => libm::powf(self.level.gain() as f32, auto),
        }
    }

    /// Returns the gains of the mix at the end of the block. Sets the output gain of the `plan`.
    fn mix(&mut self, plan: &mut BlockPlan) -> MixGains {
        let now = &plan.smoothed;
        let output = libm::exp10(f64::from(now.settings.output) / 20.0);
        let mix = f64::from(now.settings.mix) / 100.0;
        let (mut dry, mut wet) = ((1.0 - mix) * output, mix * output);
        if now.fades[Fade::Auto] > 0.0 {
            let auto = f64::from(now.fades[Fade::Auto]);
            let (auto_dry, auto_wet) = self.level.mix(mix);
            dry += auto * (output * auto_dry - dry);
            wet += auto * (output * auto_wet - wet);
        }
        self.mix = (dry / output, wet / output);
        plan.output_gain =
            (1.0 - now.fades[Fade::Bypass]) * output as f32 + now.fades[Fade::Bypass];
        MixGains::new(&plan.smoothed, (dry, wet))
    }

    /// Limits the sounding notes to the `limit` strongest ones. Returns whether a weight has moved.
    fn limit_notes(&mut self, now: &SmoothedSettings, limit: usize, powers: &Lanes) -> bool {
        let focus = &self.focus.weights.now.0;
        let power = |tone: usize| {
            let weight = now.weights[tone] * focus[tone];
            powers.0[tone] * self.keys.weight(tone, weight).powi(2)
        };
        self.polyphony.follow(limit, &Lanes::of(power))
    }

    /// Passes the undelayed inputs of `span` to the listener. Returns the listener's input, which the early bank gets, too;
    /// `None` if it is `channels`.
    pub fn push(
        &mut self,
        plan: &BlockPlan,
        channels: &[&mut [f32]],
        sidechain: &[&[f32]],
        span: &Span,
    ) -> Option<&[[f32; BLOCK]]> {
        let Span { range, position } = span.clone();
        let in_block = span.in_block();
        let hears = !plan.heard_sidechain.is(0.0);
        if hears || plan.sidechained() || plan.delaying && !sidechain.is_empty() {
            self.sidechain.push(channels.len(), sidechain, range.clone(), position);
        }
        if !hears {
            self.source.push(position, channels, range);
            return None;
        }
        let share = |frame| plan.heard_sidechain.at((position + frame + 1) as f32 / BLOCK as f32);
        self.sidechain.mix(channels, range, position, share);
        self.source.push(position, self.sidechain.rows(), in_block);
        Some(self.sidechain.rows())
    }

    /// Returns the banks' input for `span`, crossfaded with the sidechain; `None` if it is `channels`, which are already delayed.
    pub fn bank_input(
        &mut self,
        plan: &BlockPlan,
        channels: &[&mut [f32]],
        connected: bool,
        span: &Span,
    ) -> Option<&[[f32; BLOCK]]> {
        let Span { range, position } = span.clone();
        if plan.delaying && (connected || plan.sidechained()) {
            self.sidechain
                .delay(span.in_block(), |frame| plan.mix_gains_at(position + frame).lookahead);
        }
        plan.sidechained().then(|| {
            let share = |frame| plan.mix_gains_at(position + frame).sidechain;
            self.sidechain.mix(channels, range, position, share);
            self.sidechain.rows()
        })
    }

    /// Ends a whole block: runs the listener. With auto level, also measures the banks' `inputs`, the sidechain or else the `dry`
    /// signal, and the `wet` signal of each channel. Returns whether an estimate that `settings` follow has changed.
    pub fn end_block<'a>(
        &mut self,
        kernel: Kernel,
        (settings, plan): (&Settings, &BlockPlan),
        inputs: &[[f32; BLOCK]],
        dry: &[[f32; BLOCK]],
        wet: impl Iterator<Item = &'a [f32; BLOCK]>,
    ) -> bool {
        let frozen = plan.smoothed.settings.freeze;
        let begun = self.source.end_block(kernel, frozen);
        if let Some(begun) = begun {
            self.focus.restart(begun);
        }
        let found = begun.is_some() && self.found.is_active() && {
            self.found.push(kernel, &self.source.listener, settings)
        };
        if self.measuring && !frozen {
            // The mix matches the loudness of the bands' input: a sidechain may play while the main input is silent.
            let input = if plan.sidechained() { self.sidechain.rows() } else { dry };
            self.level.measure(kernel, inputs, input.iter().zip(wet), self.mix);
        }
        found
    }
}

/// Returns the maximum number of notes that may sound at a time. With arpeggios, the voice Chip limits the notes itself.
fn most_notes(controls: &Resolved) -> usize {
    let settings = &controls.settings;
    if settings.voice == Voice::Chip && settings.arp != Arp::Off {
        return TONES;
    }
    let voices = settings.voices.round() as usize;
    if voices < PUBLISHED { voices } else { TONES }
}
