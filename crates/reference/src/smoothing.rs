//! Smoothing of settings: each number and each switch moves to its target in 20 ms, one step a block. The steps are equal
//! differences, or for some numbers equal ratios.

use crate::{BLOCK, Sound, Stereo, TONES, sound::NUMBERS};

/// Duration of a change in seconds.
const TIME: f64 = 0.02;

#[derive(Debug, Clone, Copy)]
struct Ramp {
    now: f64,
    target: f64,
    /// Number of steps to the target.
    steps_left: f64,
}

impl Ramp {
    fn at(value: f64) -> Self {
        Self { now: value, target: value, steps_left: 0.0 }
    }

    /// Starts a ramp to `target`. An unchanged target does not restart it.
    fn aim(&mut self, target: f64, steps: f64) {
        if target != self.target {
            *self =
                Self { target, steps_left: if self.now == target { 0.0 } else { steps }, ..*self };
        }
    }

    fn step(&mut self) {
        if self.steps_left > 1.0 {
            self.now += (self.target - self.now) / self.steps_left;
            self.steps_left -= 1.0;
        } else {
            *self = Self::at(self.target);
        }
    }
}

/// One value for each switch that is crossfaded; the constants below are the indexes.
pub(crate) type Switches<T> = [T; 6];

/// Index of the crossfade to two banks, one for each channel.
pub(crate) const STEREO: usize = 0;
/// Index of the crossfade to stereo positions of the notes.
pub(crate) const PLACE: usize = 1;
/// Index of the crossfade from the effect to the dry input.
pub(crate) const BYPASS: usize = 2;
/// Index of the crossfade to auto level.
pub(crate) const AUTO: usize = 3;
/// Index of the crossfade to the delayed sound.
pub(crate) const LOOKAHEAD: usize = 4;
/// Index of the crossfade to the sidechain as the bands' input.
pub(crate) const SIDECHAIN: usize = 5;

/// Returns which switches are on, in the order of their indexes.
pub(crate) fn switches(sound: &Sound) -> Switches<bool> {
    let &Sound { stereo, bypass, auto, lookahead, sidechain, .. } = sound;
    [stereo == Stereo::Stereo, stereo == Stereo::Place, bypass, auto, lookahead, sidechain]
}

/// Smoothed settings at one time.
#[derive(Debug, Clone)]
pub(crate) struct Smoothed {
    /// Smoothed numbers; all other settings as they were set, but `lookahead` changes when its crossfade starts.
    pub sound: Sound,
    /// Crossfade weights of the switches, 0..1.
    pub fades: Switches<f64>,
    /// Crossfade weight of the notes below A3, 0..1. It ramps to 1 if the range includes them, otherwise to 0.
    pub low_bands: f64,
    /// Crossfade weight of each note, 0..1. It ramps to 1 if the note may sound, otherwise to 0.
    pub bands: [f64; TONES],
}

#[derive(Debug, Clone)]
pub(crate) struct Smoothing {
    /// Number of blocks in a change.
    steps: f64,
    target: Sound,
    pub switches: Switches<bool>,
    numbers: [Ramp; NUMBERS.len()],
    fades: Switches<Ramp>,
    low_bands: Ramp,
    bands: [Ramp; TONES],
}

impl Smoothing {
    pub fn new(sound: &Sound, sample_rate: f64) -> Self {
        let switches = switches(sound);
        let share = |on| Ramp::at(f64::from(u8::from(on)));
        Self {
            steps: (TIME * sample_rate / BLOCK as f64).ceil().max(1.0),
            target: sound.clone(),
            switches,
            numbers: positions(sound).map(Ramp::at),
            fades: switches.map(share),
            low_bands: share(sound.low_range),
            bands: std::array::from_fn(|tone| share(sound.may_sound(tone))),
        }
    }

    /// Starts ramps to the numbers and bands of `sound`; the switches stay.
    pub fn aim(&mut self, sound: &Sound) {
        self.target = Sound { lookahead: self.switches[LOOKAHEAD], ..sound.clone() };
        let share = |on| f64::from(u8::from(on));
        for (ramp, target) in self.numbers.iter_mut().zip(positions(sound)) {
            ramp.aim(target, self.steps);
        }
        self.low_bands.aim(share(sound.low_range), self.steps);
        for (tone, ramp) in self.bands.iter_mut().enumerate() {
            ramp.aim(share(sound.may_sound(tone)), self.steps);
        }
    }

    /// Starts the crossfades to `switches`.
    pub fn fade(&mut self, switches: Switches<bool>) {
        self.switches = switches;
        self.target.lookahead = switches[LOOKAHEAD];
        for (ramp, on) in self.fades.iter_mut().zip(switches) {
            ramp.aim(f64::from(u8::from(on)), self.steps);
        }
    }

    /// Ends the sidechain's ramp at its target.
    pub fn arrive_at_sidechain(&mut self) {
        self.fades[SIDECHAIN] = Ramp::at(self.fades[SIDECHAIN].target);
    }

    pub fn step(&mut self) {
        self.numbers.iter_mut().for_each(Ramp::step);
        self.fades.iter_mut().for_each(Ramp::step);
        self.low_bands.step();
        self.bands.iter_mut().for_each(Ramp::step);
    }

    pub fn now(&self) -> Smoothed {
        let mut sound = self.target.clone();
        for ((_, by_ratio, field), ramp) in NUMBERS.iter().zip(self.numbers) {
            *field(&mut sound) = if *by_ratio { ramp.now.exp() } else { ramp.now };
        }
        Smoothed {
            sound,
            fades: self.fades.map(|ramp| ramp.now),
            low_bands: self.low_bands.now,
            bands: self.bands.map(|ramp| ramp.now),
        }
    }
}

/// Returns the numbers on their scales: logarithms for ramps of equal ratios.
fn positions(sound: &Sound) -> [f64; NUMBERS.len()] {
    let mut sound = sound.clone();
    NUMBERS.map(|(_, by_ratio, field)| {
        let value = *field(&mut sound);
        if by_ratio { value.ln() } else { value }
    })
}
