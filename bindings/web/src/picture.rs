//! Picture of the bands: numbers for a page to draw.

use tone_filter_dsp::{
    ToneFilter,
    notes::{PITCH_CLASSES, TONES, by_pitch, semitone},
};

/// Number of points of a waveform.
const POINTS: usize = 96;

/// Length of a band's record: power, level, state and waveform.
const RECORD: usize = 3 + POINTS;

/// Power in dB relative to full scale up to which a band has no waveform: the page would draw it with a height of 0.
const FAINTEST: f32 = -80.0;

/// Lower limit of levels and powers in dB, also for silence.
const SILENCE: f32 = -200.0;

/// State of a band that may not sound.
const CLOSED: f32 = 3.0;

/// Records of all bands, the lowest first.
pub struct Picture(pub [[f32; RECORD]; TONES]);

impl Default for Picture {
    fn default() -> Self {
        Self([[0.0; RECORD]; TONES])
    }
}

impl Picture {
    /// Computes the records from the current state of `filter` and returns their address.
    pub fn take(&mut self, filter: &ToneFilter) -> *const f32 {
        let bands = filter.bands();
        for (tone, record) in by_pitch().zip(&mut self.0) {
            let band = &bands.bands[tone];
            let ([power, level, state], wave) = record.split_first_chunk_mut().expect("a record");
            *power = (10.0 * (bands.gain * bands.gain * band.power).log10()).max(SILENCE);
            *level = band.level_db().max(SILENCE);
            *state = if band.enabled { f32::from(band.state as u8) } else { CLOSED };
            wave.fill(0.0);
            if *power > FAINTEST {
                // One more period per octave, so that higher notes look higher and stay legible.
                let octave = (semitone(tone).max(0) / PITCH_CLASSES.len() as i32) as f32;
                band.trace(2.0 + octave, wave);
            }
        }
        self.0.as_flattened().as_ptr()
    }
}
