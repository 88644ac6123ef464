//! The state of the bands for displays and files: [`Snapshot`], a copy of the filter's state that is cheap enough for
//! the audio thread, and [`Bands`], the levels, states and waveforms that are computed from it on another thread.
//!
//! Waveforms are computed, not recorded: a snapshot has each resonator's phase and amplitude, from which the display draws the
//! last periods. The audio thread copies a few hundred numbers, and only while an editor is open.

pub mod roll;

use crate::{
    analysis::{FoundKey, Resolved},
    bank::{
        Bank, Tones,
        kernel::{RMS_GUARD, State},
    },
    lanes::Lanes,
    notes::TONES,
    settings::{BandMask, Duty, Voice},
    synthesis::Synthesis,
};
use std::f32::consts::TAU;

/// The state of a band's note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BandState {
    /// Below the gate (the threshold or the floor), not played by the listener's decision, or left out by mask, scale or
    /// keys.
    #[default]
    Inactive,
    /// Between the gate and the ceiling: sounds at its own level.
    Sounding,
    /// Above the ceiling: sounds at the level of the ceiling.
    Saturated,
}

impl BandState {
    /// Its display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inactive => "Not played",
            Self::Sounding => "Sounding",
            Self::Saturated => "At ceiling",
        }
    }
}

/// One band at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Band {
    /// Tracked power after the gates, 1 at full scale.
    pub power: f32,
    /// `power` relative to the total power of the input.
    pub ratio: f32,
    /// The state of the note.
    pub state: BandState,
    /// Whether mask, scale and keys let it sound.
    pub enabled: bool,
    /// Angular frequency of the tone, radians per second.
    pub angular_frequency: f32,
    /// The resonator's output now, and a quarter of a period ago.
    pub phasor: [f32; 2],
    /// Gain into the soft clip.
    pub drive: f32,
    /// Added to the effective value, which keeps the drive finite in silence.
    pub guard: f32,
    /// The waveform that sounds for the note.
    pub voice: Voice,
    /// Octaves from the note to that waveform, -2..2.
    pub octave: f32,
}

/// All bands at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bands {
    /// The bands: the 48 from A3 on, then the 29 from E1 on.
    pub bands: [Band; TONES],
    /// Tracked power of the input.
    pub total_power: f32,
    /// The notes that are played, of bands that are enabled; `None` while the listener is off.
    pub played: Option<BandMask>,
    /// The gain that brings the input to the nominal level, as a factor; 1 without `auto`.
    pub gain: f32,
    /// The gain that makes the wet signal as loud as the dry one, as a factor; 1 without `auto`.
    pub makeup: f32,
}

impl Default for Bands {
    fn default() -> Self {
        Self {
            bands: [Band::default(); TONES],
            total_power: 0.0,
            played: None,
            gain: 1.0,
            makeup: 1.0,
        }
    }
}

/// Added to the total power, so that `ratio` is small in silence, where both powers are near zero.
const POWER_GUARD: f32 = 1e-6;

impl Band {
    /// The band's level in dB of the input's total power; negative infinity for silence.
    pub fn level_db(&self) -> f32 {
        10.0 * libm::log10f(self.ratio)
    }

    /// Fills `points` with the last `periods` of the band's output, from a rising zero crossing on, so that a display
    /// stands still; 1 is their peak. Without power, all are 0.
    pub fn trace(&self, periods: f32, points: &mut [f32]) {
        points.fill(0.0);
        if self.power <= 0.0 {
            return;
        }
        let [now, before] = self.phasor;
        let zero = libm::atan2f(before, now) + 1.25 * TAU;
        let last = points.len().saturating_sub(1).max(1) as f32;
        for (point, y) in points.iter_mut().enumerate() {
            let angle = zero + TAU * periods * (1.0 - point as f32 / last);
            *y = self.wave(angle / self.angular_frequency);
        }
        let peak = points.iter().fold(f32::MIN_POSITIVE, |peak, y| peak.max(y.abs()));
        points.iter_mut().for_each(|y| *y /= peak);
    }

    /// The band's output `seconds` ago.
    ///
    /// Over the few milliseconds that are displayed, a resonator that rings for a second is a plain oscillation. Its
    /// current phase and amplitude give its recent past, so no samples are stored.
    pub fn wave(&self, seconds: f32) -> f32 {
        let angle = self.angular_frequency * seconds;
        let [now, before] = self.phasor;
        let octave = if self.voice == Voice::Soft { 1.0 } else { libm::exp2f(self.octave) };
        let turns = octave * (libm::atan2f(before, now) - angle) / TAU;
        if !self.voice.is_driven() {
            return self.power.sqrt() * self.voice.shape(turns);
        }
        let driven = self.drive * libm::hypotf(now, before) * libm::cosf(TAU * turns);
        let rms = self.power.sqrt();
        rms * driven / (rms + self.guard + driven.abs())
    }
}

/// A copy of the state of a filter's bands, with the constants for reading it.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The bank of all channels or of the left one.
    pub first: BankSnapshot,
    /// The bank of the right channel, if there is one.
    pub second: Option<BankSnapshot>,
    /// The tuning of the bands.
    pub tones: Tones,
    /// Gain into the soft clip.
    pub drive: f32,
    /// Relative gate, as a ratio to total power.
    pub threshold: f32,
    /// Relative limit, as a ratio to total power.
    pub ceiling: f32,
    /// Absolute gate, as power.
    pub floor: f32,
    /// The notes that are played; `None` while the listener is off.
    pub played: Option<BandMask>,
    /// The bands whose keys are held, which sound whatever the listener decides.
    pub held: BandMask,
    /// The bands that mask, scale and keys let sound.
    pub enabled: BandMask,
    /// The gain that brings the input to the nominal level, as a factor; 1 without `auto`.
    pub gain: f32,
    /// The gain that makes the wet signal as loud as the dry one, as a factor; 1 without `auto`.
    pub makeup: f32,
    /// The waveform that sounds for a note.
    pub voice: Voice,
    /// Octaves from the note to that waveform, -2..2.
    pub octave: f32,
    /// The lead's waveform of the voice Chip.
    pub duty: Duty,
    /// The bands that are the bass and the lead of the voice Chip.
    pub parts: [Option<usize>; 2],
    /// The key of the music, if it is looked for and found.
    pub key: Option<FoundKey>,
    /// The frequency of A4 in the music in Hz, if it is looked for and found.
    pub tuning: Option<f64>,
}

/// A copy of the state of a bank: of each band, the two integrators of its resonator and its tracked power.
#[derive(Debug, Clone, PartialEq)]
pub struct BankSnapshot {
    /// First integrators, in units that [`Tones::lo_weight`] converts.
    pub lo: [f32; TONES],
    /// Second integrators: the outputs of the resonators.
    pub bp: [f32; TONES],
    /// Tracked powers, 1 at full scale.
    pub power: [f32; TONES],
    /// Tracked power of the input, 1 at full scale.
    pub total_power: f32,
}

impl BankSnapshot {
    /// A bank at rest.
    pub const REST: Self =
        Self { lo: [0.0; TONES], bp: [0.0; TONES], power: [0.0; TONES], total_power: 0.0 };
}

impl Default for Snapshot {
    /// A filter without input so far.
    fn default() -> Self {
        Self {
            first: BankSnapshot::REST,
            second: None,
            tones: Tones::ZERO,
            drive: 0.0,
            threshold: 0.0,
            ceiling: 0.0,
            floor: 1.0,
            played: None,
            held: BandMask::NONE,
            enabled: BandMask::ALL,
            gain: 1.0,
            makeup: 1.0,
            voice: Voice::Soft,
            octave: 0.0,
            duty: Duty::Quarter,
            parts: [None; 2],
            key: None,
            tuning: None,
        }
    }
}

impl Snapshot {
    /// Snapshot of the banks of `synthesis`, with the notes that are `played` and the bands that are `held` by keys.
    pub(crate) fn new(
        synthesis: &Synthesis,
        settings: &Resolved,
        played: Option<BandMask>,
        held: BandMask,
        makeup: f32,
    ) -> Self {
        let params = &synthesis.params;
        let bank = |bank: &Bank| {
            let State { lo, bp, power, .. } = bank.state(params);
            let [lo, bp, power] = [lo, bp, power].map(Lanes::tones);
            BankSnapshot { lo, bp, power, total_power: bank.total_power() }
        };
        let mut banks = synthesis.banks().map(bank);
        Self {
            first: banks.next().unwrap_or(BankSnapshot::REST),
            second: banks.next(),
            tones: params.tones.clone(),
            drive: params.coefficients.drive,
            threshold: params.coefficients.threshold,
            ceiling: params.coefficients.ceiling,
            floor: params.coefficients.floor,
            played,
            held,
            enabled: settings.bands_with_keys(held),
            gain: params.gain(),
            makeup,
            voice: settings.voice,
            octave: settings.octave,
            duty: settings.duty,
            parts: synthesis.chip_parts(),
            key: None,
            tuning: None,
        }
    }

    /// The bands' levels, states and phases. With two banks, each band is that of the bank in which it is stronger.
    pub fn read(&self) -> Bands {
        let mut bands = self.read_bank(&self.first);
        if let Some(second) = &self.second {
            let second = self.read_bank(second);
            bands.total_power = bands.total_power.max(second.total_power);
            for (band, other) in bands.bands.iter_mut().zip(second.bands) {
                if other.power > band.power {
                    *band = other;
                }
            }
        }
        bands
    }

    fn read_bank(&self, bank: &BankSnapshot) -> Bands {
        let total_power = bank.total_power;
        let gate = (self.threshold * total_power).max(self.floor);
        let ceiling = self.ceiling * total_power;
        let (gain, makeup) = (self.gain, self.makeup);
        let played = self.played.map(|played| played.intersection(self.enabled));
        let bands: [Band; TONES] = std::array::from_fn(|tone| {
            let (phasor, power) = (self.phasor(bank, tone), bank.power[tone]);
            let resonance = (phasor[0] * phasor[0] + phasor[1] * phasor[1]) / 2.0;
            let enabled = self.enabled.contains(tone);
            let is_played =
                played.is_none_or(|played| played.contains(tone) || self.held.contains(tone));
            let state = if resonance < gate || !is_played || !enabled {
                BandState::Inactive
            } else if resonance < ceiling {
                BandState::Sounding
            } else {
                BandState::Saturated
            };
            let ratio = power / (total_power + POWER_GUARD / (gain * gain));
            let angular_frequency = self.tones.angular_frequency[tone];
            let (drive, guard) = (self.drive, RMS_GUARD / gain);
            let (voice, octave) = (self.waveform(tone), self.octave);
            Band {
                power,
                ratio,
                state,
                enabled,
                angular_frequency,
                phasor,
                drive,
                guard,
                voice,
                octave,
            }
        });
        Bands { bands, total_power, played, gain, makeup }
    }

    /// The waveform of the tone, which the voice Chip gives it by its part.
    fn waveform(&self, tone: usize) -> Voice {
        let [bass, lead] = self.parts;
        match Some(tone) {
            _ if self.voice != Voice::Chip => self.voice,
            own if own == bass => Voice::Chip,
            own if own == lead => self.duty.voice(),
            _ => Voice::Square,
        }
    }

    /// The tone's oscillation now and a quarter of a period ago, from the two integrators: when
    /// `bp = A cos(p)`, the loop holds `lo = A (2 sin(w/2) / fall) sin(p - w/2)`, so
    /// `A sin(p) = lo fall / sin(w) + bp tan(w/2)`.
    fn phasor(&self, bank: &BankSnapshot, tone: usize) -> [f32; 2] {
        let (lo, bp) = (bank.lo[tone], bank.bp[tone]);
        [bp, lo * self.tones.lo_weight[tone] + bp * self.tones.bp_weight[tone]]
    }
}
