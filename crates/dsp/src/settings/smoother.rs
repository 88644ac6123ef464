//! Smoothing of the settings, so that changes do not click.
//!
//! Smoothing is part of the DSP, so plugin, renderer and game engines sound the same and pass plain settings.

use super::{BandRange, SPECS, Settings, Taper};
use crate::{lanes::BLOCK, notes::TONES};

/// Duration of a change in seconds.
const TIME: f64 = 0.02;

/// Number of smoothed values: first the numeric settings, then the crossfades with the indices below (0..1), of which
/// `LOW_BANDS` switches the bands below A3, then the weight of each band (0..1).
const VALUES: usize = BANDS + TONES;
const STEREO: usize = SPECS.len();
const BYPASS: usize = STEREO + 1;
const AUTO: usize = BYPASS + 1;
const LOOKAHEAD: usize = AUTO + 1;
const SIDECHAIN: usize = LOOKAHEAD + 1;
const LOW_BANDS: usize = SIDECHAIN + 1;
const PLACE: usize = LOW_BANDS + 1;
const BANDS: usize = PLACE + 1;

/// Targets of the crossfades: on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fades {
    /// Two banks, for left and right.
    pub stereo: bool,
    /// Stereo positions of the notes.
    pub place: bool,
    /// Input in place of the effect.
    pub bypass: bool,
    /// Auto level.
    pub auto: bool,
    /// Delayed signal.
    pub lookahead: bool,
    /// Sidechain as the bands' input.
    pub sidechain: bool,
}

/// Moves every value to its target in a straight line, on a logarithmic scale for [`Taper::Logarithmic`]. Each value has its own
/// countdown.
#[derive(Debug, Clone)]
pub struct Smoother {
    now: [f64; VALUES],
    target: [f64; VALUES],
    /// Target settings.
    settings: Settings,
    /// Targets of the crossfades.
    fades: Fades,
    /// Steps left until each value reaches its target.
    left: [u32; VALUES],
    /// Whether the settings have changed since the last step, or any value has steps left.
    moving: bool,
    /// Steps of a change.
    steps: u32,
}

/// Smoothed settings in one block. Switches that are crossfaded are numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothedSettings {
    /// The numeric settings as smoothed, all others as set. `lookahead` is the target of its crossfade.
    pub settings: Settings,
    /// 0 for one bank, 1 for two.
    pub stereo: f32,
    /// 0 for notes in the middle, 1 for notes at their stereo positions.
    pub place: f32,
    /// 0 for the effect, 1 for the input.
    pub bypass: f32,
    /// 0 without auto level, 1 with it.
    pub auto: f32,
    /// 0 for the undelayed signal, 1 for the delayed signal.
    pub lookahead: f32,
    /// 0 for the main input as the bands' input, 1 for the sidechain.
    pub sidechain: f32,
    /// 0 without the bands below A3, 1 with them.
    pub low_bands: f32,
    /// 0 for a muted band, 1 for a band that may sound.
    pub weights: [f32; TONES],
}

impl Smoother {
    /// Creates a smoother at rest at `settings`; `sample_rate` is in Hz.
    pub fn new(settings: &Settings, fades: Fades, sample_rate: f64) -> Self {
        let values = positions(settings, fades);
        let steps = (TIME * sample_rate / BLOCK as f64).ceil().max(1.0) as u32;
        Self {
            now: values,
            target: values,
            settings: Settings { lookahead: fades.lookahead, ..*settings },
            fades,
            left: [0; VALUES],
            moving: false,
            steps,
        }
    }

    /// Sets the targets to `settings`. The countdown of a value whose target does not change is not restarted.
    pub fn aim(&mut self, settings: &Settings, fades: Fades) {
        self.moving = true;
        self.settings = Settings { lookahead: fades.lookahead, ..*settings };
        self.fades = fades;
        for (index, target) in positions(settings, fades).into_iter().enumerate() {
            if target != self.target[index] {
                self.target[index] = target;
                self.left[index] = if self.now[index] == target { 0 } else { self.steps };
            }
        }
    }

    /// Returns the targets of the crossfades.
    pub fn fades(&self) -> Fades {
        self.fades
    }

    /// Sets the targets of the crossfades.
    pub fn fade(&mut self, fades: Fades) {
        if fades != self.fades {
            let settings = self.settings;
            self.aim(&settings, fades);
        }
    }

    /// Sets the crossfade to the sidechain to its target at once.
    pub fn arrive_at_sidechain(&mut self) {
        (self.now[SIDECHAIN], self.left[SIDECHAIN]) = (self.target[SIDECHAIN], 0);
    }

    /// Sets all values to their targets at once.
    pub fn arrive(&mut self) {
        self.now = self.target;
        self.left = [0; VALUES];
        self.moving = false;
    }

    /// Moves all values by a step; must be called every [`BLOCK`] samples. Returns whether anything has changed.
    pub fn step(&mut self) -> bool {
        if !std::mem::take(&mut self.moving) {
            return false;
        }
        let values = self.now.iter_mut().zip(self.target).zip(&mut self.left);
        for ((now, target), left) in values.filter(|(_, left)| **left > 0) {
            *now += (target - *now) / f64::from(*left);
            *left -= 1;
            if *left == 0 {
                *now = target;
            }
            self.moving |= *left > 0;
        }
        true
    }

    /// Returns the current values.
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
            stereo: self.now[STEREO] as f32,
            place: self.now[PLACE] as f32,
            bypass: self.now[BYPASS] as f32,
            auto: self.now[AUTO] as f32,
            lookahead: self.now[LOOKAHEAD] as f32,
            sidechain: self.now[SIDECHAIN] as f32,
            low_bands: self.now[LOW_BANDS] as f32,
            weights: std::array::from_fn(|tone| self.now[BANDS + tone] as f32),
        }
    }
}

/// Returns `settings` and `fades` as values that are interpolated linearly.
fn positions(settings: &Settings, fades: Fades) -> [f64; VALUES] {
    let mut positions = [0.0; VALUES];
    for (position, spec) in positions.iter_mut().zip(&SPECS) {
        let value = f64::from(spec.get(settings));
        *position = match spec.taper {
            Taper::Linear | Taper::Whole => value,
            Taper::Logarithmic => libm::log(value),
        };
    }
    positions[STEREO] = f64::from(fades.stereo);
    positions[PLACE] = f64::from(fades.place);
    positions[BYPASS] = f64::from(fades.bypass);
    positions[AUTO] = f64::from(fades.auto);
    positions[LOOKAHEAD] = f64::from(fades.lookahead);
    positions[SIDECHAIN] = f64::from(fades.sidechain);
    positions[LOW_BANDS] = f64::from(settings.range == BandRange::Whole);
    let bands = settings.sounding_bands();
    for (tone, position) in positions[BANDS..].iter_mut().enumerate() {
        *position = f64::from(bands.contains(tone));
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFF: Fades = Fades {
        stereo: false,
        place: false,
        bypass: false,
        auto: false,
        lookahead: false,
        sidechain: false,
    };

    #[test]
    fn a_change_is_monotonic_and_arrives_exactly() {
        let from = Settings::default();
        let to = Settings { drive: 400.0, mix: 0.0, ..from };
        let stereo = Fades { stereo: true, ..OFF };
        let mut smoother = Smoother::new(&from, OFF, 48_000.0);
        assert!(!smoother.step(), "nothing to move yet");
        smoother.aim(&to, stereo);
        let mut last = smoother.now();
        let mut steps = 0;
        while smoother.step() {
            let now = smoother.now();
            assert!(now.settings.drive > last.settings.drive);
            assert!(now.settings.mix < last.settings.mix);
            assert!(now.stereo > last.stereo);
            last = now;
            steps += 1;
        }
        assert_eq!(steps, 15, "20 ms at 48 kHz in blocks of 64 samples");
        assert_eq!(last, Smoother::new(&to, stereo, 48_000.0).now());
    }

    #[test]
    fn continuous_automation_of_one_setting_does_not_delay_another() {
        let from = Settings::default();
        let mut smoother = Smoother::new(&from, OFF, 48_000.0);
        for step in 1..=15 {
            let bypass = Fades { bypass: true, ..OFF };
            smoother.aim(&Settings { tone: 1000.0 + step as f32, ..from }, bypass);
            assert!(smoother.step());
            assert_eq!(smoother.now().bypass == 1.0, step == 15, "step {step}");
        }
    }

    #[test]
    fn a_smoother_at_rest_gives_the_settings_back() {
        let settings = Settings { drive: 3.0, tone: 777.7, ring: 0.05, ..Settings::REFERENCE };
        assert_eq!(Smoother::new(&settings, OFF, 44_100.0).now().settings, settings);
    }
}
