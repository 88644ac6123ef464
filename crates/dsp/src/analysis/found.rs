//! Key, tuning and tempo of the music. Each has a latest estimate, and a value that the settings follow, which changes less
//! often.

use super::{
    musical_key::{FoundKey, KeyFinder},
    tuning::TuningFinder,
};
use crate::settings::{Controls, DEFAULT_TEMPO, Scale, Settings};
use std::ops::Deref;
use tone_filter_listener::{Decisions, Deviation, Listener, beats::BeatTracker};
use tone_filter_simd::Kernel;

/// Time constant of the key finder in seconds.
const KEY_MEMORY: f64 = 30.0;
/// Time constant of the tuning finder in seconds.
const TUNING_MEMORY: f64 = 20.0;
/// Difference in cents between the estimated tuning and the bands' tuning at which the bands start to move.
const TOLERANCE: f64 = 2.5;
/// Difference in cents between both tunings at which moving bands stop.
const NEAR: f64 = 0.05;
/// Maximum speed of the bands' tuning in cents per second.
const SPEED: f64 = 40.0;
/// Hysteresis in cents. A tuning 50 cents high fits the same tones as one 50 cents low, so an estimate changes its sign only this
/// far beyond 50 cents.
const SIDE: f64 = 10.0;
/// Time constant in seconds of the mean tempo, and of its certainty.
const TEMPO_MEMORY: f64 = 8.0;
/// Maximum difference of a steady tempo from the mean, in octaves: 3 %.
const STEADY: f64 = 0.043;
/// Relative difference between the estimated and the followed tempo beyond which the synced times follow the estimate.
const TEMPO_TOLERANCE: f64 = 0.01;

/// Controls with the estimated key, tuning and tempo filled in. Only [`Found::resolve`] creates this type, so a function that
/// needs scale, tuning or times cannot get unresolved settings by mistake.
#[derive(Debug, Clone, Copy)]
pub struct Resolved(Controls);

impl Deref for Resolved {
    type Target = Controls;

    fn deref(&self) -> &Controls {
        &self.0
    }
}

/// Search for a property of the music.
#[derive(Debug, Clone, Copy, Default)]
struct Search {
    /// Whether the result is requested for display.
    wanted: bool,
    /// Whether the search runs in this block: the result is requested, or the settings follow it.
    active: bool,
    /// Whether the settings follow the result in this block.
    followed: bool,
}

impl Search {
    /// Begins a block; `follows` says whether the settings follow the result. Returns whether the search must restart because it
    /// starts, or because the settings begin to follow it: the sound must not depend on what was displayed before.
    fn begin_block(&mut self, follows: bool) -> bool {
        let before = *self;
        (self.active, self.followed) = (follows || self.wanted, follows);
        self.active && !before.active || self.followed && !before.followed
    }
}

/// Tempo estimate, and the tempo that the synced times use.
#[derive(Debug, Clone)]
struct Tempo {
    tracker: BeatTracker,
    search: Search,
    /// Tempo of the synced times in beats per minute; `None` before the first estimate.
    followed: Option<f64>,
    /// Tempo in beats per minute that the user expects. It decides the octave of the estimate.
    expected: Option<f64>,
    /// One-pole coefficient of `mean` and `certainty` per frame.
    share: f64,
    /// Mean of the tempo's binary logarithm; `None` before the first estimate.
    mean: Option<f64>,
    /// Fraction of the recent time in which the tempo was near the mean.
    certainty: f64,
}

impl Tempo {
    fn new(frame: f64) -> Self {
        Self {
            tracker: BeatTracker::new(frame),
            search: Search::default(),
            followed: None,
            expected: None,
            share: frame / TEMPO_MEMORY,
            mean: None,
            certainty: 0.0,
        }
    }

    fn reset(&mut self) {
        self.tracker.reset();
        (self.followed, self.mean, self.certainty) = (None, None, 0.0);
    }

    /// Returns the tracker's tempo in the octave that the user expects.
    fn tempo(&self) -> Option<f64> {
        let found = self.tracker.tempo()?;
        let octaves = |tempo: f64| libm::round(libm::log2(tempo / found));
        Some(self.expected.map_or(found, |tempo| found * libm::exp2(octaves(tempo))))
    }

    fn begin_block(&mut self, settings: &Settings) {
        if self.search.begin_block(settings.follows_tempo()) {
            self.reset();
        }
    }

    /// Evaluates a frame of decisions. Returns whether the followed tempo has changed.
    fn push(&mut self, kernel: Kernel, decisions: &Decisions, lookahead: bool) -> bool {
        if !self.search.active {
            return false;
        }
        self.tracker.push(kernel, decisions, lookahead);
        let Some(found) = self.tempo() else { return false };
        let octaves = libm::log2(found);
        let mean = self.mean.get_or_insert(octaves);
        let is_near = (octaves - *mean).abs() <= STEADY;
        *mean += self.share * (octaves - *mean);
        self.certainty += self.share * (f64::from(u8::from(is_near)) - self.certainty);
        let near = |followed: f64| (found / followed - 1.0).abs() <= TEMPO_TOLERANCE;
        let moved = !self.followed.is_some_and(near);
        if moved {
            self.followed = Some(found);
        }
        moved && self.search.followed
    }
}

/// Estimates key, tuning and tempo of the music, and holds the values that the settings follow.
#[derive(Debug, Clone)]
pub struct Found {
    key: KeyFinder,
    tuning: TuningFinder,
    search: Search,
    /// Key that [`Scale::Auto`] uses.
    followed: Option<FoundKey>,
    /// Offset of the bands' tuning from the `tuning` setting, in cents.
    cents: f64,
    /// Whether `cents` is moving to the estimate.
    moving: bool,
    /// Maximum change of `cents` per frame.
    step: f64,
    tempo: Tempo,
}

impl Found {
    /// Creates the state without estimates; `frame` is the length of a listener frame in seconds.
    pub fn new(frame: f64) -> Self {
        Self {
            key: KeyFinder::new(frame, KEY_MEMORY),
            tuning: TuningFinder::new(frame, TUNING_MEMORY),
            search: Search::default(),
            followed: None,
            cents: 0.0,
            moving: false,
            step: SPEED * frame,
            tempo: Tempo::new(frame),
        }
    }

    pub fn reset(&mut self) {
        self.reset_notes();
        self.tempo.reset();
    }

    fn reset_notes(&mut self) {
        self.key.reset();
        self.tuning.reset();
        (self.followed, self.cents, self.moving) = (None, 0.0, false);
    }

    pub fn want(&mut self, wanted: bool) {
        self.search.wanted = wanted;
    }

    pub fn want_tempo(&mut self, wanted: bool) {
        self.tempo.search.wanted = wanted;
    }

    /// Sets the tempo that the user expects, in beats per minute. The followed tempo changes with the next frame. A change
    /// restarts the mean.
    pub fn expect_tempo(&mut self, tempo: Option<f64>) {
        if tempo != self.tempo.expected {
            (self.tempo.expected, self.tempo.mean) = (tempo, None);
        }
    }

    /// Begins a block. A search restarts when it is enabled, or when `settings` begin to follow it.
    pub fn begin_block(&mut self, settings: &Settings) {
        if self.search.begin_block(settings.follows()) {
            self.reset_notes();
        }
        self.tempo.begin_block(settings);
    }

    pub fn is_active(&self) -> bool {
        self.search.active || self.tempo.search.active
    }

    /// Whether settings follow an estimate in this block.
    pub fn is_following(&self) -> bool {
        self.search.followed || self.tempo.search.followed
    }

    /// Evaluates a frame of the `listener`. Returns whether a value that `settings` follow has changed.
    pub fn push(&mut self, kernel: Kernel, listener: &Listener, settings: &Settings) -> bool {
        let decisions = listener.decisions();
        let timed = self.tempo.push(kernel, decisions, listener.lookahead() > 0);
        if !self.search.active {
            return timed;
        }
        let tuned = self.push_notes(decisions, listener.deviation(), settings);
        timed || tuned
    }

    fn push_notes(&mut self, decisions: &Decisions, tones: Deviation, settings: &Settings) -> bool {
        self.key.push(decisions);
        self.tuning.push(tones);
        let followed = self.follow_key();
        let moved = self.follow_tuning(settings);
        followed && settings.scale == Scale::Auto || moved && settings.auto_tuning
    }

    fn follow_key(&mut self) -> bool {
        let certain = self.key.key().filter(FoundKey::is_certain);
        let notes = |key: &FoundKey| (key.root, key.scale);
        let changed =
            certain.is_some() && self.followed.as_ref().map(notes) != certain.as_ref().map(notes);
        self.followed = certain.or(self.followed);
        changed
    }

    fn follow_tuning(&mut self, settings: &Settings) -> bool {
        let Some(a4) = self.a4(settings) else { return false };
        let off = 1200.0 * libm::log2(a4 / f64::from(settings.tuning)) - self.cents;
        self.moving = off.abs() > if self.moving { NEAR } else { TOLERANCE };
        if self.moving {
            self.cents += off.clamp(-self.step, self.step);
        }
        self.moving
    }

    pub fn key(&self) -> Option<FoundKey> {
        self.key.key().filter(|_| self.search.active)
    }

    /// Returns the estimated frequency of A4 in Hz, within 60 cents of the `tuning` setting; `None` while the search is off, or
    /// if too few tones agree.
    pub fn a4(&self, settings: &Settings) -> Option<f64> {
        let ratio = libm::exp2(self.cents.clamp(-SIDE, SIDE) / 1200.0);
        let near = f64::from(settings.tuning) * ratio;
        self.tuning.a4(near, f64::from(settings.transpose)).filter(|_| self.search.active)
    }

    pub fn tempo(&self) -> Option<f64> {
        self.tempo.tempo().filter(|_| self.tempo.search.active)
    }

    pub fn tempo_certainty(&self) -> f32 {
        self.tempo.certainty as f32
    }

    /// Returns `controls` in which key, tuning and times that follow the music have the values from the music.
    pub fn resolve(&self, controls: &Controls) -> Resolved {
        let tempo = self.tempo.followed.filter(|_| self.tempo.search.followed);
        let settings = controls.settings.synced(tempo.unwrap_or(DEFAULT_TEMPO));
        let mut resolved = Controls { settings, ..*controls };
        if !self.search.followed {
            return Resolved(resolved);
        }
        let settings = &mut resolved.settings;
        if settings.scale == Scale::Auto
            && let Some(key) = &self.followed
        {
            (settings.root, settings.scale) = (key.root, key.scale);
        }
        if settings.auto_tuning {
            settings.tuning *= libm::exp2(self.cents / 1200.0) as f32;
        }
        Resolved(resolved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tone_filter_listener::FRAME;
    use tone_filter_reference as reference;
    use tone_filter_testkit::Draws;

    /// Plays ten minutes of chords in changing keys, with both sevenths in minor, and tones whose deviation wanders around the
    /// circle. Each threshold must be crossed in the same frame as in the reference, which has constants of its own.
    #[test]
    fn key_and_tuning_are_the_references_in_every_frame() {
        let draws = &mut Draws::seeded(1);
        let settings = Settings {
            scale: Scale::Auto,
            auto_tuning: true,
            tuning: 442.0,
            transpose: 0.3,
            ..Settings::default()
        };
        let [tuning, transpose] = [settings.tuning, settings.transpose].map(f64::from);
        let (mut found, mut truth) = (Found::new(FRAME), reference::Found::new(FRAME));
        let (mut root, mut minor, mut raised) = (0, false, false);
        let (mut direction, mut pace, mut loudness) = (0.0, 0.0, 1.0);
        let mut decisions = Decisions::NONE;
        for frame in 0..(600.0 / FRAME) as usize {
            // New finders cross the thresholds of a first estimate again.
            if frame % 3500 == 0 {
                (found, truth) = (Found::new(FRAME), reference::Found::new(FRAME));
                found.begin_block(&settings);
            }
            if frame % 2000 == 0 {
                (root, minor) = (draws.below(12), draws.chance(0.7));
            }
            if frame % 700 == 0 {
                raised = draws.chance(0.5);
                pace = draws.between(-0.012, 0.012);
                loudness = draws.pick(&[0.0, 0.05, 0.3, 1.0]);
            }
            if frame % 60 == 0 {
                let seventh = if raised { 11 } else { 10 };
                let minor_scale = [0, 2, 3, 5, 7, 8, seventh];
                let scale = if minor { minor_scale } else { [0, 2, 4, 5, 7, 9, 11] };
                decisions = Decisions::NONE;
                for _ in 0..draws.below(4) {
                    decisions.on[(root + draws.pick(&scale)) % 12 + 12 * draws.below(5)] = true;
                }
            }
            // Tones of a common direction, with others in random directions.
            direction += pace;
            let stray = std::f64::consts::TAU * draws.share();
            let (common, random) = (loudness * draws.share(), 0.5 * draws.share());
            let tones = Deviation {
                re: common * direction.cos() + random * stray.cos(),
                im: common * direction.sin() + random * stray.sin(),
                weight: common + random,
            };
            found.push_notes(&decisions, tones, &settings);
            truth.push(&decisions.on, [tones.re, tones.im, tones.weight], tuning, transpose);

            let mode = |scale| match scale {
                Scale::Major => reference::Mode::Major,
                Scale::NaturalMinor => reference::Mode::Minor,
                _ => reference::Mode::HarmonicMinor,
            };
            let key = found.key().map(|key| (key.root.index(), mode(key.scale)));
            assert_eq!(key, truth.key.map(|key| (key.root, key.mode)), "frame {frame}");
            let certainties = [
                found.key().map(|key| f64::from(key.certainty)),
                truth.key.map(|key| key.certainty),
            ];
            let [actual, expected] = certainties.map(Option::unwrap_or_default);
            assert!((actual - expected).abs() < 1e-6, "frame {frame}: {actual}, not {expected}");
            let resolved = found.resolve(&settings.into()).settings;
            let in_use = (resolved.scale != Scale::Auto)
                .then(|| (resolved.root.index(), mode(resolved.scale)));
            assert_eq!(in_use, truth.followed.map(|key| (key.root, key.mode)), "frame {frame}");
            let cents = (found.cents, truth.cents);
            assert!((cents.0 - cents.1).abs() < 1e-9, "frame {frame}: {cents:?}");
        }
        assert!(found.cents != 0.0);
    }

    /// Plays a drift of the tuning. Bands within 0.05 cents of the tuning stop, so they do not follow a drift below 0.05 cents
    /// per frame.
    #[test]
    fn the_bands_stop_within_a_twentieth_of_a_cent() {
        let settings = Settings { auto_tuning: true, ..Settings::default() };
        for (step, follows) in [(0.0498, false), (0.0502, true)] {
            let mut found = Found::new(FRAME);
            found.begin_block(&settings);
            for frame in 0..30 {
                // Each frame outweighs all frames before it.
                let weight = 1e4f64.powi(frame + 1);
                let cents = 3.0 + step * f64::from(frame);
                let (im, re) = (std::f64::consts::TAU * cents / 100.0).sin_cos();
                let tones = Deviation { re: weight * re, im: weight * im, weight };
                found.push_notes(&Decisions::NONE, tones, &settings);
            }
            let tuning = f64::from(found.resolve(&settings.into()).settings.tuning);
            let cents = 1200.0 * (tuning / f64::from(settings.tuning)).log2();
            assert_eq!(cents > 4.4, follows, "{step}: {cents}");
        }
    }
}
