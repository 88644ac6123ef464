//! Timbre: a voice and an octave, with the tables that its notes read.

use super::waveform::Waveforms;
use crate::{
    notes::{PUBLISHED, frequency_above_a3, semitone},
    settings::{Duty, Settings, Voice},
};

/// Index of the table of a waveform for each semitone from E1 up; `None` where the note is too high.
pub type TableLevels = [Option<u8>; PITCHES];

/// Number of pitches at which notes sound: from E1 to G9, the highest MIDI key.
pub const PITCHES: usize = 100;

/// Voice and octave, with the tables that the notes read.
#[derive(Debug, Clone)]
pub struct Timbre {
    pub voice: Voice,
    /// Octaves from the detected note to the note that sounds.
    pub octave: i32,
    /// Tables with the harmonics below half the sample rate, and below a quarter of it.
    pub levels: [TableLevels; 2],
    /// Duty of the chip's lead.
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
