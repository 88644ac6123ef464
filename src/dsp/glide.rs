//! Settings on their way from one value to the next, so that no change is heard as a click.

use super::{
    kernel::BLOCK,
    notes::TONES,
    settings::{SPECS, Settings, Stereo, Taper},
};

/// How long a change takes, in seconds.
const TIME: f64 = 0.02;

/// One value a numeric setting, then stereo (0..1), bypass (0..1) and the weight of each band (0..1).
const VALUES: usize = BANDS + TONES;
const STEREO: usize = SPECS.len();
const BYPASS: usize = STEREO + 1;
const BANDS: usize = BYPASS + 1;

/// Moves every setting in a straight line of its own [`Taper`] to where it was last aimed.
#[derive(Debug, Clone)]
pub struct Glide {
    now: [f64; VALUES],
    target: [f64; VALUES],
    steps_left: u32,
    steps: u32,
}

/// The settings at one moment of a glide, with what can be between its states as numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// The numeric settings; the others have no meaning here.
    pub settings: Settings,
    /// 0 for one bank, 1 for two.
    pub stereo: f32,
    /// 0 for the effect, 1 for the input.
    pub bypass: f32,
    /// 0 for a band that is switched off, 1 for one that may sound.
    pub weights: [f32; TONES],
}

impl Glide {
    /// At rest at `settings`.
    pub fn new(settings: &Settings, sample_rate: f64) -> Self {
        let values = positions(settings);
        let steps = (TIME * sample_rate / BLOCK as f64).ceil().max(1.0) as u32;
        Self { now: values, target: values, steps_left: 0, steps }
    }

    /// Sets out for `settings`, from wherever it is now.
    pub fn aim(&mut self, settings: &Settings) {
        self.target = positions(settings);
        self.steps_left = if self.now == self.target { 0 } else { self.steps };
    }

    /// Arrives at once.
    pub fn arrive(&mut self) {
        self.now = self.target;
        self.steps_left = 0;
    }

    /// Takes one step; one is due every [`BLOCK`] samples. False if there was nothing to move.
    pub fn step(&mut self) -> bool {
        if self.steps_left == 0 {
            return false;
        }
        for (now, target) in self.now.iter_mut().zip(self.target) {
            *now += (target - *now) / f64::from(self.steps_left);
        }
        self.steps_left -= 1;
        if self.steps_left == 0 {
            self.arrive();
        }
        true
    }

    /// Where it is now.
    pub fn moment(&self) -> Moment {
        let mut settings = Settings::default();
        for (spec, position) in SPECS.iter().zip(self.now) {
            let value = match spec.taper {
                Taper::Linear => position,
                Taper::Logarithmic => position.exp(),
            };
            spec.set(&mut settings, value as f32);
        }
        Moment {
            settings,
            stereo: self.now[STEREO] as f32,
            bypass: self.now[BYPASS] as f32,
            weights: std::array::from_fn(|tone| self.now[BANDS + tone] as f32),
        }
    }
}

/// `settings` as places on straight lines.
fn positions(settings: &Settings) -> [f64; VALUES] {
    let mut positions = [0.0; VALUES];
    for (position, spec) in positions.iter_mut().zip(&SPECS) {
        let value = f64::from(spec.get(settings));
        *position = match spec.taper {
            Taper::Linear => value,
            Taper::Logarithmic => value.ln(),
        };
    }
    positions[STEREO] = f64::from(settings.stereo == Stereo::Stereo);
    positions[BYPASS] = f64::from(settings.bypass);
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
    fn a_glide_is_monotonic_and_arrives_exactly() {
        let from = Settings::default();
        let to = Settings { drive: 400.0, mix: 0.0, stereo: Stereo::Stereo, ..from };
        let mut glide = Glide::new(&from, 48_000.0);
        assert!(!glide.step(), "nothing to move yet");
        glide.aim(&to);
        let mut last = glide.moment();
        let mut steps = 0;
        while glide.step() {
            let moment = glide.moment();
            assert!(moment.settings.drive > last.settings.drive);
            assert!(moment.settings.mix < last.settings.mix);
            assert!(moment.stereo > last.stereo);
            last = moment;
            steps += 1;
        }
        assert_eq!(steps, 15, "20 ms at 48 kHz in blocks of 64 samples");
        assert_eq!(last, Glide::new(&to, 48_000.0).moment());
    }

    #[test]
    fn a_glide_at_rest_gives_the_settings_back() {
        let settings = Settings { drive: 3.0, tone: 777.7, ring: 0.05, ..Settings::default() };
        assert_eq!(Glide::new(&settings, 44_100.0).moment().settings, settings);
    }
}
