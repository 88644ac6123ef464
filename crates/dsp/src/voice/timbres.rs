//! Timbres: a voice and an octave, with the tables that its notes read, and the crossfade from one timbre to another.

use super::{
    chip::Arrangement,
    waveform::{SHAPES, Waveforms, shape_weight},
};
use crate::{
    lanes::BLOCK,
    notes::{PUBLISHED, frequency_above_a3, semitone},
    ramp::Ramp,
    settings::{Duty, Settings, Voice},
};

/// Duration of a crossfade in seconds.
const FADE: f64 = 0.01;

/// Index of the table for each semitone from E1 up; `None` if the pitch is too high for any harmonic.
pub type TableLevels = [Option<u8>; PITCHES];

/// Number of pitches at which notes sound: E1 to G9, the highest MIDI key.
pub const PITCHES: usize = 100;

/// Voice, octave and duty, with the tables that the notes read.
#[derive(Debug, Clone)]
pub struct Timbre {
    pub voice: Voice,
    /// Octaves from the detected note to the note that sounds.
    pub octave: i32,
    /// Tables for each pitch: first with the harmonics below half the sample rate, then with those below a quarter of it.
    pub levels: [TableLevels; 2],
    pub duty: Duty,
}

impl Timbre {
    pub fn of(settings: &Settings, sample_rate: f64) -> Self {
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

    /// Whether both timbres have the same voice, octave and duty; their tables may differ.
    pub fn sounds_like(&self, other: &Self) -> bool {
        (self.voice, self.octave, self.duty) == (other.voice, other.octave, other.duty)
    }
}

/// Timbre of all notes, and its crossfade.
#[derive(Debug, Clone)]
pub struct Timbres {
    sample_rate: f64,
    /// Settings on which the last target depends; see `timbre_key`.
    aimed: (Voice, Duty, f32, f32, f32),
    pub arrangement: Arrangement,
    from: Timbre,
    to: Timbre,
    /// Next target, if it differs from `to`.
    next: Option<Timbre>,
    /// Weight of `to` in the crossfade, 0..1.
    share: Ramp<f32>,
    /// Change of `share` in a block.
    step: f32,
}

impl Timbres {
    pub fn new(settings: &Settings, sample_rate: f64) -> Self {
        let timbre = Timbre::of(settings, sample_rate);
        Self {
            sample_rate,
            aimed: Self::timbre_key(settings),
            arrangement: Arrangement::of(settings),
            from: timbre.clone(),
            to: timbre,
            next: None,
            share: Ramp::rest(1.0),
            step: (BLOCK as f64 / (FADE * sample_rate)) as f32,
        }
    }

    /// Returns the settings on which a timbre depends.
    fn timbre_key(settings: &Settings) -> (Voice, Duty, f32, f32, f32) {
        (settings.voice, settings.duty, settings.octave, settings.tuning, settings.transpose)
    }

    /// Sets target and arrangement. If only `tuning` or `transpose` changes, there is no crossfade.
    pub fn aim(&mut self, settings: &Settings) {
        self.arrangement = Arrangement::of(settings);
        // Selecting the tables takes time, and most changes do not need it.
        if Self::timbre_key(settings) == self.aimed {
            return;
        }
        self.aimed = Self::timbre_key(settings);
        self.next = Some(Timbre::of(settings, self.sample_rate));
    }

    /// Ends the crossfade at the last target.
    pub fn arrive(&mut self) {
        if let Some(next) = self.next.take() {
            self.to = next;
        }
        (self.from, self.share) = (self.to.clone(), Ramp::rest(1.0));
    }

    /// Begins a block: moves the crossfade, or starts one to the next target.
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

    /// Returns the sounding timbres and their weights.
    pub fn sounding(&self) -> impl Iterator<Item = (&Timbre, Ramp<f32>)> {
        let from = (&self.from, self.share.map(|share| 1.0 - share));
        [from, (&self.to, self.share)].into_iter().filter(|(_, share)| !share.is(0.0))
    }

    /// Returns the weight of the voice Soft.
    pub fn soft(&self) -> Ramp<f32> {
        let share = |timbre: &Timbre| f32::from(u8::from(timbre.voice == Voice::Soft));
        let (from, to) = (share(&self.from), share(&self.to));
        self.share.map(|share| from + share * (to - from))
    }

    pub fn chip(&self) -> Option<&Timbre> {
        self.sounding().map(|(timbre, _)| timbre).find(|timbre| timbre.voice == Voice::Chip)
    }

    /// Returns the RMS of the waveform for a note with a power of 1.
    pub fn rms(&self, drive_position: f32) -> f32 {
        let waveforms = Waveforms::shared();
        let rms_of = |timbre: &Timbre| match timbre.voice {
            Voice::SoftClean => (0..SHAPES)
                .map(|shape| shape_weight(shape, drive_position) * waveforms.driven(shape).1 as f32)
                .sum(),
            _ => waveforms.rms as f32,
        };
        let (from, to) = (rms_of(&self.from), rms_of(&self.to));
        Ramp::between(from, to).at(self.share.to)
    }

    /// Whether a voice other than Soft sounds.
    pub fn oscillates(&self) -> bool {
        !self.soft().is(1.0)
    }
}
