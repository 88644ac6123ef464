//! Timbre: a voice in an octave, with the tables that its notes read.

use super::waveform::Waveforms;
use crate::{
    notes::{PUBLISHED, frequency_above_a3, semitone},
    settings::{Duty, Settings, Voice},
};

/// Table in which a waveform has all its harmonics, for each semitone from E1 up, if there is one.
pub type TableLevels = [Option<u8>; PITCHES];

/// Number of pitches at which notes sound: E1 to G9, the highest key.
pub const PITCHES: usize = 100;

/// A voice in an octave, with the tables that its notes read.
#[derive(Debug, Clone)]
pub struct Timbre {
    /// Waveform.
    pub voice: Voice,
    /// Octaves from the detected note to the one that sounds.
    pub octave: i32,
    /// Tables with all harmonics below half the sample rate, and with the harmonics below a quarter of it.
    pub levels: [TableLevels; 2],
    /// Waveform of the chip's lead.
    pub duty: Duty,
}

impl Timbre {
    /// Timbre of `settings`, for `sample_rate` in Hz.
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

    /// Whether only the tables differ.
    pub fn sounds_like(&self, other: &Self) -> bool {
        (self.voice, self.octave, self.duty) == (other.voice, other.octave, other.duty)
    }
}
