//! Moving settings: each number and each switch goes to its target in a straight line of 20 ms, one step a block.

use crate::{BLOCK, Sound, Stereo, TONES, sound::NUMBERS};

/// Seconds of a change.
const TIME: f64 = 0.02;

/// A value on its way.
#[derive(Debug, Clone, Copy)]
struct Ramp {
    now: f64,
    target: f64,
    /// Steps until it arrives.
    left: f64,
}

impl Ramp {
    fn at(value: f64) -> Self {
        Self { now: value, target: value, left: 0.0 }
    }

    /// Sets out for `target`. A target that stays does not begin anew.
    fn aim(&mut self, target: f64, steps: f64) {
        if target != self.target {
            *self = Self { target, left: if self.now == target { 0.0 } else { steps }, ..*self };
        }
    }

    fn step(&mut self) {
        if self.left > 1.0 {
            self.now += (self.target - self.now) / self.left;
            self.left -= 1.0;
        } else {
            *self = Self::at(self.target);
        }
    }
}

/// Switches that are crossfaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Switches<T> {
    /// Two banks.
    pub stereo: T,
    /// Places of the notes.
    pub place: T,
    /// Input in place of the effect.
    pub bypass: T,
    /// Level adaptation.
    pub auto: T,
    /// Delay.
    pub lookahead: T,
    /// Second input of the bands.
    pub sidechain: T,
}

impl Switches<bool> {
    /// The switches as `sound` has them.
    pub fn of(sound: &Sound) -> Self {
        Self {
            stereo: sound.stereo == Stereo::Stereo,
            place: sound.stereo == Stereo::Place,
            bypass: sound.bypass,
            auto: sound.auto,
            lookahead: sound.lookahead,
            sidechain: sound.sidechain,
        }
    }
}

impl<T: Copy> Switches<T> {
    fn map<U>(self, of: impl Fn(T) -> U) -> Switches<U> {
        let Self { stereo, place, bypass, auto, lookahead, sidechain } = self;
        Switches {
            stereo: of(stereo),
            place: of(place),
            bypass: of(bypass),
            auto: of(auto),
            lookahead: of(lookahead),
            sidechain: of(sidechain),
        }
    }

    fn each(&mut self) -> [&mut T; 6] {
        let Self { stereo, place, bypass, auto, lookahead, sidechain } = self;
        [stereo, place, bypass, auto, lookahead, sidechain]
    }
}

/// The settings at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    /// The numbers on their way, and the choices as they are set.
    pub sound: Sound,
    /// Shares, 0..1.
    pub shares: Switches<f64>,
    /// Share of the notes below A3, 0..1.
    pub whole: f64,
    /// Share of each note that may sound, 0..1.
    pub bands: [f64; TONES],
}

/// The settings on their way.
#[derive(Debug, Clone)]
pub(crate) struct Smoothing {
    steps: f64,
    target: Sound,
    pub switches: Switches<bool>,
    numbers: [Ramp; NUMBERS.len()],
    shares: Switches<Ramp>,
    whole: Ramp,
    bands: [Ramp; TONES],
}

impl Smoothing {
    /// At rest at `sound`.
    pub fn new(sound: &Sound, sample_rate: f64) -> Self {
        let switches = Switches::of(sound);
        let share = |on| Ramp::at(f64::from(u8::from(on)));
        Self {
            steps: (TIME * sample_rate / BLOCK as f64).ceil().max(1.0),
            target: sound.clone(),
            switches,
            numbers: positions(sound).map(Ramp::at),
            shares: switches.map(share),
            whole: share(sound.whole),
            bands: std::array::from_fn(|tone| share(sound.may_sound(tone))),
        }
    }

    /// Sets out for `sound`; the switches stay.
    pub fn aim(&mut self, sound: &Sound) {
        self.target = Sound { lookahead: self.switches.lookahead, ..sound.clone() };
        let share = |on| f64::from(u8::from(on));
        for (ramp, target) in self.numbers.iter_mut().zip(positions(sound)) {
            ramp.aim(target, self.steps);
        }
        self.whole.aim(share(sound.whole), self.steps);
        for (tone, ramp) in self.bands.iter_mut().enumerate() {
            ramp.aim(share(sound.may_sound(tone)), self.steps);
        }
    }

    /// Sets out for `switches`.
    pub fn fade(&mut self, mut switches: Switches<bool>) {
        self.switches = switches;
        self.target.lookahead = switches.lookahead;
        for (ramp, on) in self.shares.each().into_iter().zip(switches.each()) {
            ramp.aim(f64::from(u8::from(*on)), self.steps);
        }
    }

    /// Arrives at the sidechain's target.
    pub fn arrive_at_sidechain(&mut self) {
        self.shares.sidechain = Ramp::at(self.shares.sidechain.target);
    }

    /// Takes the step of a block.
    pub fn step(&mut self) {
        self.numbers.iter_mut().for_each(Ramp::step);
        self.shares.each().into_iter().for_each(Ramp::step);
        self.whole.step();
        self.bands.iter_mut().for_each(Ramp::step);
    }

    /// The settings now.
    pub fn now(&self) -> Moment {
        let mut sound = self.target.clone();
        for (number, ramp) in NUMBERS.iter().zip(self.numbers) {
            *(number.field)(&mut sound) = if number.by_ratio { ramp.now.exp() } else { ramp.now };
        }
        Moment {
            sound,
            shares: self.shares.map(|ramp| ramp.now),
            whole: self.whole.now,
            bands: self.bands.map(|ramp| ramp.now),
        }
    }
}

/// The numbers as they move in straight lines.
fn positions(sound: &Sound) -> [f64; NUMBERS.len()] {
    let mut sound = sound.clone();
    NUMBERS.each_ref().map(|number| {
        let value = *(number.field)(&mut sound);
        if number.by_ratio { value.ln() } else { value }
    })
}
