//! Timbres: a voice in an octave with the tables that its notes read, and the way from one to another.

use super::{chip::Arrangement, driven, waveform::Waveforms};
use crate::{
    lanes::BLOCK,
    notes::{PUBLISHED, frequency_above_a3, semitone},
    ramp::Ramp,
    settings::{Duty, Settings, Voice},
};

/// Seconds in which one voice gives way to another.
const FADE: f64 = 0.01;

/// The table in which a waveform has all its harmonics, for each semitone from E1 up, if there is one.
pub type TableLevels = [Option<u8>; PITCHES];

/// The pitches at which notes sound: E1 to G9, the highest key.
pub const PITCHES: usize = 100;

/// A voice in an octave, with the tables that its notes read.
#[derive(Debug, Clone)]
pub struct Timbre {
    pub voice: Voice,
    pub octave: i32,
    /// With all harmonics that there may be, and with those below a quarter of the sample rate.
    pub levels: [TableLevels; 2],
    /// The lead's waveform of the chip.
    pub duty: Duty,
}

impl Timbre {
    fn of(settings: &Settings, sample_rate: f64) -> Self {
        let &Settings { voice, duty, tuning, transpose, .. } = settings;
        let octave = if voice == Voice::Soft { 0 } else { settings.octave.round() as i32 };
        let levels = [sample_rate, 0.5 * sample_rate].map(|rate| {
            std::array::from_fn(|pitch| {
                let above_a3 = pitch as i32 + semitone(PUBLISHED);
                let f = frequency_above_a3(above_a3, f64::from(tuning), f64::from(transpose));
                Waveforms::shared().level(f * libm::exp2(f64::from(octave)), rate)
            })
        });
        Self { voice, octave, levels, duty }
    }

    fn sounds_like(&self, other: &Self) -> bool {
        (self.voice, self.octave, self.duty) == (other.voice, other.octave, other.duty)
    }
}

/// The timbre of all notes, on its way from one to another.
#[derive(Debug, Clone)]
pub struct Timbres {
    sample_rate: f64,
    /// Settings of the last target.
    aimed: (Voice, Duty, f32, f32, f32),
    /// How the chip plays.
    arrangement: Arrangement,
    /// Source of the fade.
    from: Timbre,
    /// Target of the fade.
    to: Timbre,
    /// Next target, if it differs from `to`.
    next: Option<Timbre>,
    /// Share of `to`.
    share: Ramp<f32>,
    /// Change of the share within a block.
    step: f32,
}

impl Timbres {
    /// At rest at `settings`, for `sample_rate` in Hz.
    pub fn new(settings: &Settings, sample_rate: f64) -> Self {
        let timbre = Timbre::of(settings, sample_rate);
        Self {
            sample_rate,
            aimed: Self::parts(settings),
            arrangement: Arrangement::of(settings),
            from: timbre.clone(),
            to: timbre,
            next: None,
            share: Ramp::rest(1.0),
            step: (BLOCK as f64 / (FADE * sample_rate)) as f32,
        }
    }

    /// What a timbre is made of: voice, duty, octave, tuning, transposition.
    fn parts(settings: &Settings) -> (Voice, Duty, f32, f32, f32) {
        (settings.voice, settings.duty, settings.octave, settings.tuning, settings.transpose)
    }

    /// Sets out for `settings`, from the next block on. What only moves its pitch is there at once.
    pub fn aim(&mut self, settings: &Settings) {
        self.arrangement = Arrangement::of(settings);
        // Selecting the tables takes time, and most changes do not need it.
        if Self::parts(settings) == self.aimed {
            return;
        }
        self.aimed = Self::parts(settings);
        self.next = Some(Timbre::of(settings, self.sample_rate));
    }

    /// Arrives at the settings.
    pub fn arrive(&mut self) {
        if let Some(next) = self.next.take() {
            self.to = next;
        }
        (self.from, self.share) = (self.to.clone(), Ramp::rest(1.0));
    }

    /// Moves on by a block.
    pub fn step(&mut self) {
        let mut start = self.share.to;
        if let Some(next) = self.next.take_if(|next| next.sounds_like(&self.to) || start == 1.0) {
            let fades = !next.sounds_like(&self.to);
            let before = std::mem::replace(&mut self.to, next);
            if fades {
                (self.from, start) = (before, 0.0);
            }
        }
        self.share = Ramp::between(start, (start + self.step).min(1.0));
    }

    /// Timbres that sound in the current block, and their shares.
    pub fn sounding(&self) -> impl Iterator<Item = (&Timbre, Ramp<f32>)> {
        let from = (&self.from, self.share.map(|share| 1.0 - share));
        [from, (&self.to, self.share)].into_iter().filter(|(_, share)| !share.is(0.0))
    }

    /// Share of the soft clip.
    pub fn soft(&self) -> Ramp<f32> {
        let share = |timbre: &Timbre| f32::from(u8::from(timbre.voice == Voice::Soft));
        let (from, to) = (share(&self.from), share(&self.to));
        self.share.map(|share| from + share * (to - from))
    }

    /// The timbre of the chip, if it sounds.
    pub fn chip(&self) -> Option<&Timbre> {
        self.sounding().map(|(timbre, _)| timbre).find(|timbre| timbre.voice == Voice::Chip)
    }

    /// The effective value of a waveform for a note of an effective value of 1, with the drive at a `place`.
    pub fn rms(&self, place: f32) -> f32 {
        let waveforms = Waveforms::shared();
        let of = |timbre: &Timbre| match timbre.voice {
            Voice::SoftClean => (0..driven::SHAPES)
                .map(|shape| driven::share(shape, place) * waveforms.driven(shape).1 as f32)
                .sum(),
            _ => waveforms.rms() as f32,
        };
        let (from, to) = (of(&self.from), of(&self.to));
        Ramp::between(from, to).at(self.share.to)
    }

    /// How the chip plays.
    pub fn arrangement(&self) -> &Arrangement {
        &self.arrangement
    }

    /// Whether anything else sounds.
    pub fn oscillates(&self) -> bool {
        !self.soft().is(1.0)
    }
}
