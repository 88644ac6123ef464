//! Smoothing of the settings, so that changes do not click.
//!
//! Smoothing is part of the DSP, so plugin, renderer and game engines sound the same and pass plain settings.

use super::{BandRange, SPECS, Settings, Taper};
use crate::{lanes::BLOCK, notes::TONES};
use std::ops::{Index, IndexMut};

/// Duration of a change in seconds.
const TIME: f64 = 0.02;
/// Number of smoothed values. Their order: the numeric settings, the crossfades (0..1), and the weights of the bands (0..1).
const VALUES: usize = BANDS + TONES;
const FADES: usize = SPECS.len();
const BANDS: usize = FADES + Fade::COUNT;

/// Crossfades, each from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub enum Fade {
    /// Crossfade from one bank to two, for left and right.
    Stereo,
    /// Crossfade from notes in the centre to notes at their stereo positions.
    Place,
    /// Crossfade from the effect to the input.
    Bypass,
    /// Crossfade from no level adaptation to auto level.
    Auto,
    /// Crossfade from the undelayed to the delayed signal.
    Lookahead,
    /// Crossfade of the bands' input from the main input to the sidechain.
    Sidechain,
    /// Fade-in of the bands below A3; its target follows [`Settings::range`].
    LowBands,
}

impl Fade {
    const COUNT: usize = Self::LowBands as usize + 1;
}

/// One value for each crossfade. A `bool` is its target, on or off; an `f32` is its current position, 0..1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fades<T>([T; Fade::COUNT]);

impl Fades<bool> {
    /// All crossfades at 0.
    pub const OFF: Self = Self([false; Fade::COUNT]);

    fn with_low_bands(mut self, settings: &Settings) -> Self {
        self[Fade::LowBands] = settings.range == BandRange::Whole;
        self
    }
}

impl<T> Index<Fade> for Fades<T> {
    type Output = T;

    fn index(&self, fade: Fade) -> &T {
        &self.0[fade as usize]
    }
}

impl<T> IndexMut<Fade> for Fades<T> {
    fn index_mut(&mut self, fade: Fade) -> &mut T {
        &mut self.0[fade as usize]
    }
}

/// Smoother of all values. Each one moves linearly to its target, on a logarithmic scale for [`Taper::Logarithmic`], and has its
/// own countdown.
#[derive(Debug, Clone)]
pub struct Smoother {
    now: [f64; VALUES],
    target: [f64; VALUES],
    settings: Settings,
    /// Targets of the crossfades.
    pub fades: Fades<bool>,
    /// Steps left until each value reaches its target.
    steps_left: [u32; VALUES],
    /// Whether the targets were set since the last step, or any value has steps left.
    moving: bool,
    /// Number of steps of a change.
    steps: u32,
}

/// Smoothed settings in one block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothedSettings {
    /// Smoothed numbers; all other settings as they were set. `lookahead` is the target of its crossfade.
    pub settings: Settings,
    /// Current positions of the crossfades.
    pub fades: Fades<f32>,
    /// Weight of each band: 0 if it is muted, 1 if it may sound, in between during a change.
    pub weights: [f32; TONES],
}

impl Smoother {
    /// Creates a smoother at rest at `settings`; `sample_rate` is in Hz.
    pub fn new(settings: &Settings, fades: Fades<bool>, sample_rate: f64) -> Self {
        let mut smoother = Self {
            now: [0.0; VALUES],
            target: [0.0; VALUES],
            settings: *settings,
            fades,
            steps_left: [0; VALUES],
            moving: false,
            steps: (TIME * sample_rate / BLOCK as f64).ceil().max(1.0) as u32,
        };
        smoother.aim(settings, fades);
        smoother.arrive();
        smoother
    }

    /// Sets the targets. A value whose target does not change keeps its countdown.
    pub fn aim(&mut self, settings: &Settings, fades: Fades<bool>) {
        let fades = fades.with_low_bands(settings);
        self.moving = true;
        self.settings = Settings { lookahead: fades[Fade::Lookahead], ..*settings };
        self.fades = fades;
        for (index, target) in positions(settings, fades).into_iter().enumerate() {
            if target != self.target[index] {
                self.target[index] = target;
                self.steps_left[index] = if self.now[index] == target { 0 } else { self.steps };
            }
        }
    }

    pub fn fade(&mut self, fades: Fades<bool>) {
        let settings = self.settings;
        if fades.with_low_bands(&settings) != self.fades {
            self.aim(&settings, fades);
        }
    }

    /// Ends the crossfade to the sidechain at its target.
    pub fn arrive_at_sidechain(&mut self) {
        let index = FADES + Fade::Sidechain as usize;
        (self.now[index], self.steps_left[index]) = (self.target[index], 0);
    }

    /// Ends all changes: sets all values to their targets.
    pub fn arrive(&mut self) {
        self.now = self.target;
        self.steps_left = [0; VALUES];
        self.moving = false;
    }

    /// Moves all values by a step; must be called every [`BLOCK`] samples. Returns whether anything may have changed.
    pub fn step(&mut self) -> bool {
        if !std::mem::take(&mut self.moving) {
            return false;
        }
        let values = self.now.iter_mut().zip(self.target).zip(&mut self.steps_left);
        for ((now, target), steps_left) in values.filter(|(_, steps_left)| **steps_left > 0) {
            *now += (target - *now) / f64::from(*steps_left);
            *steps_left -= 1;
            if *steps_left == 0 {
                *now = target;
            }
            self.moving |= *steps_left > 0;
        }
        true
    }

    pub fn now(&self) -> SmoothedSettings {
        let mut settings = self.settings;
        for (spec, position) in SPECS.iter().zip(self.now) {
            let value = match spec.taper {
                Taper::Linear | Taper::Whole => position,
                Taper::Logarithmic => libm::exp(position),
            };
            spec.set(&mut settings, value as f32);
        }
        SmoothedSettings {
            settings,
            fades: Fades(std::array::from_fn(|fade| self.now[FADES + fade] as f32)),
            weights: std::array::from_fn(|tone| self.now[BANDS + tone] as f32),
        }
    }
}

/// Returns the targets of all values by `settings` and `fades`, on the scales on which they are smoothed.
fn positions(settings: &Settings, fades: Fades<bool>) -> [f64; VALUES] {
    let mut positions = [0.0; VALUES];
    for (position, spec) in positions.iter_mut().zip(&SPECS) {
        let value = f64::from(spec.get(settings));
        *position = match spec.taper {
            Taper::Linear | Taper::Whole => value,
            Taper::Logarithmic => libm::log(value),
        };
    }
    for (position, target) in positions[FADES..].iter_mut().zip(fades.0) {
        *position = f64::from(target);
    }
    let bands = settings.sounding_bands();
    for (tone, position) in positions[BANDS..].iter_mut().enumerate() {
        *position = f64::from(bands.contains(tone));
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automation_does_not_delay_other_settings() {
        let from = Settings::default();
        let mut smoother = Smoother::new(&from, Fades::OFF, 48_000.0);
        for step in 1..=15 {
            let mut bypass = Fades::OFF;
            bypass[Fade::Bypass] = true;
            smoother.aim(&Settings { tone: 1000.0 + step as f32, ..from }, bypass);
            assert!(smoother.step());
            assert_eq!(smoother.now().fades[Fade::Bypass] == 1.0, step == 15, "step {step}");
        }
    }

    #[test]
    fn a_smoother_at_rest_gives_the_settings_back() {
        let settings = Settings { drive: 3.0, tone: 777.7, ring: 0.05, ..Settings::REFERENCE };
        assert_eq!(Smoother::new(&settings, Fades::OFF, 44_100.0).now().settings, settings);
    }
}
