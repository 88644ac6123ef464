//! What the filter heard: a readable picture of the 48 bands.

use super::{kernel::RMS_GUARD, notes::TONES};

/// What became of a band's note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BandState {
    /// Weaker than the gate (the threshold or the floor): not heard.
    #[default]
    Muted,
    /// Between the gate and the ceiling: heard at its own level.
    Sounding,
    /// Stronger than the ceiling: held back.
    Saturated,
}

/// One band at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Band {
    /// Tracked power after the gates, 1 at full scale.
    pub power: f32,
    /// `power` against the total power of the input.
    pub ratio: f32,
    /// What became of the note.
    pub state: BandState,
    /// Angle of the tone's oscillation, radians a second.
    pub angular_frequency: f32,
    /// The resonator's output now, and a quarter of a period ago.
    pub phasor: [f32; 2],
    /// Gain into the soft clip.
    pub drive: f32,
}

/// All bands at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bands {
    /// The 48 bands, A3 first.
    pub bands: [Band; TONES],
    /// Tracked power of the input.
    pub total_power: f32,
}

impl Default for Bands {
    fn default() -> Self {
        Self { bands: [Band::default(); TONES], total_power: 0.0 }
    }
}

/// Keeps `ratio` from telling of notes in silence, where both powers are next to nothing.
const POWER_GUARD: f32 = 1e-6;

impl Band {
    /// A band whose resonator is at `phasor`, before a gate and a ceiling given as power.
    pub(super) fn new(
        phasor: [f32; 2],
        power: f32,
        total_power: f32,
        gate: f32,
        ceiling: f32,
    ) -> Self {
        let resonance = (phasor[0] * phasor[0] + phasor[1] * phasor[1]) / 2.0;
        let state = if resonance < gate {
            BandState::Muted
        } else if resonance < ceiling {
            BandState::Sounding
        } else {
            BandState::Saturated
        };
        Self { power, ratio: power / (total_power + POWER_GUARD), state, phasor, ..Self::default() }
    }

    /// The band's level in dB of the input's total power; negative infinity for silence.
    pub fn level_db(&self) -> f32 {
        10.0 * self.ratio.log10()
    }

    /// The band's driven output `seconds` ago.
    ///
    /// A resonator that rings for a second is, over the few milliseconds that one looks at, a plain
    /// oscillation; its phase and size now tell all of its recent past, so none of it is stored.
    pub fn wave(&self, seconds: f32) -> f32 {
        let (sine, cosine) = (self.angular_frequency * seconds).sin_cos();
        let driven = self.drive * (self.phasor[0] * cosine + self.phasor[1] * sine);
        let rms = self.power.sqrt();
        rms * driven / (rms + RMS_GUARD + driven.abs())
    }
}
