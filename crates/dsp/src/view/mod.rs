//! State of the bands for displays and files. [`Snapshot`] is a copy of the filter's state, cheap enough for the audio thread.
//! [`Bands`] has the levels, states and waveforms that another thread computes from a snapshot.
//!
//! Waveforms are computed, not recorded: from the phase and amplitude of each resonator, a display draws the last periods. The
//! audio thread copies only a few hundred numbers.

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

/// State of a band's note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BandState {
    /// Below the gate (threshold or floor), not played by the listener's decision, or excluded by mask, scale or keys.
    #[default]
    Inactive,
    /// Between gate and ceiling: sounds at its own level.
    Sounding,
    /// Above the ceiling: sounds at the level of the ceiling.
    Saturated,
}

impl BandState {
    /// Returns the display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inactive => "Not played",
            Self::Sounding => "Sounding",
            Self::Saturated => "At ceiling",
        }
    }
}

/// State of one band at one time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Band {
    /// Tracked power after gate and ceiling, relative to full scale.
    pub power: f32,
    /// Ratio of `power` to the total power of the input.
    pub ratio: f32,
    /// State of the note: inactive, sounding, or at the ceiling.
    pub state: BandState,
    /// Whether mask, scale and keys allow the band to sound.
    pub enabled: bool,
    /// Angular frequency of the tone in radians per second.
    pub angular_frequency: f32,
    /// Two outputs of the resonator: now, and a quarter of a period ago.
    pub phasor: [f32; 2],
    /// Gain into the soft clip.
    pub drive: f32,
    /// Guard that is added to the RMS in the denominator of the drive, which keeps the drive finite in silence.
    pub guard: f32,
    /// Waveform that sounds for the note.
    pub voice: Voice,
    /// Octaves from the detected note to the waveform that sounds, -2..2.
    pub octave: f32,
}

/// State of all bands at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bands {
    /// Bands: the 48 from A3 on, then the 29 from E1 on.
    pub bands: [Band; TONES],
    /// Tracked power of the input, 1 at full scale.
    pub total_power: f32,
    /// Enabled bands whose notes are played; `None` while the listener is off.
    pub played: Option<BandMask>,
    /// Gain that brings the input to the nominal level, as a factor; 1 without `auto`.
    pub gain: f32,
    /// Gain that makes the wet signal as loud as the dry one, as a factor; 1 without `auto`.
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

/// Offset of the total power, which keeps `ratio` small in silence, where both powers are near zero.
const POWER_GUARD: f32 = 1e-6;

impl Band {
    /// Returns the band's level in dB relative to the input's total power; negative infinity for silence.
    pub fn level_db(&self) -> f32 {
        10.0 * libm::log10f(self.ratio)
    }

    /// Fills `points` with the last `periods` of the band's output, scaled to a peak of 1. For a whole number of periods,
    /// the points start where the tone rises through zero, so that a display stands still. Without power, all points are 0.
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

    /// Returns the band's output `seconds` ago.
    ///
    /// Over the few milliseconds that are displayed, a resonator that rings for a second is practically a steady oscillation. Its
    /// current phase and amplitude are enough to compute its recent past, so no samples are stored.
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

/// Copy of the state of a filter's bands, with the constants that [`Snapshot::read`] needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Bank of the left channel, or of all channels.
    pub first: BankSnapshot,
    /// Bank of the right channel, if there is one.
    pub second: Option<BankSnapshot>,
    /// Coefficients of the bands' frequencies and phases.
    pub tones: Tones,
    /// Gain into the soft clip.
    pub drive: f32,
    /// Relative gate: minimum power of a band, as a ratio to total power.
    pub threshold: f32,
    /// Relative limit: maximum power of a band, as a ratio to total power.
    pub ceiling: f32,
    /// Absolute gate: minimum power of a band.
    pub floor: f32,
    /// Notes that are played; `None` while the listener is off.
    pub played: Option<BandMask>,
    /// Bands whose keys are held; they sound regardless of the listener.
    pub held: BandMask,
    /// Bands that mask, scale and keys allow to sound.
    pub enabled: BandMask,
    /// Gain that brings the input to the nominal level, as a factor; 1 without `auto`.
    pub gain: f32,
    /// Gain that makes the wet signal as loud as the dry one, as a factor; 1 without `auto`.
    pub makeup: f32,
    /// Waveform that sounds for the notes.
    pub voice: Voice,
    /// Octaves from a detected note to the waveform that sounds, -2..2.
    pub octave: f32,
    /// Waveform of the lead of the voice Chip.
    pub duty: Duty,
    /// Bands of the bass and the lead of the voice Chip; `None` while bass or lead is silent.
    pub parts: [Option<usize>; 2],
    /// Estimated key of the music; see [`ToneFilter::found_key`](crate::ToneFilter::found_key).
    pub key: Option<FoundKey>,
    /// Estimated frequency of A4 in Hz; see [`ToneFilter::found_tuning`](crate::ToneFilter::found_tuning).
    pub tuning: Option<f64>,
    /// Estimated tempo in beats per minute; see [`ToneFilter::found_tempo`](crate::ToneFilter::found_tempo).
    pub tempo: Option<f64>,
    /// Certainty of the tempo, 0..1; see [`ToneFilter::tempo_certainty`](crate::ToneFilter::tempo_certainty).
    pub tempo_certainty: f32,
}

/// Copy of the state of a bank: each band's two integrators and tracked power, and the tracked power of the input.
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
    /// Bank at rest.
    pub const REST: Self =
        Self { lo: [0.0; TONES], bp: [0.0; TONES], power: [0.0; TONES], total_power: 0.0 };
}

impl Default for Snapshot {
    /// Creates the snapshot of a filter that has had no input.
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
            tempo: None,
            tempo_certainty: 0.0,
        }
    }
}

impl Snapshot {
    /// Creates a snapshot of the banks of `synthesis`, with the notes that are `played` and the bands that are `held` by keys.
    /// Key, tuning and tempo are `None`.
    pub(crate) fn new(
        synthesis: &Synthesis,
        controls: &Resolved,
        played: Option<BandMask>,
        held: BandMask,
        makeup: f32,
    ) -> Self {
        let (params, settings) = (&synthesis.params, &controls.settings);
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
            gain: params.gains.to,
            makeup,
            voice: settings.voice,
            octave: settings.octave,
            duty: settings.duty,
            parts: synthesis.first_voices().chip_parts(),
            ..Self::default()
        }
    }

    /// Computes levels, states and phases of the bands. With two banks, each band is taken from the bank in which it is stronger.
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

    /// Returns the waveform of the tone; with the voice Chip, it depends on whether the tone is bass or lead.
    fn waveform(&self, tone: usize) -> Voice {
        let [bass, lead] = self.parts;
        match Some(tone) {
            _ if self.voice != Voice::Chip => self.voice,
            note if note == bass => Voice::Chip,
            note if note == lead => self.duty.voice(),
            _ => Voice::Square,
        }
    }

    /// Returns the tone's oscillation now and a quarter of a period ago, computed from the two integrators. When `bp = A cos(p)`,
    /// the loop holds `lo = A (2 sin(w/2) / fall) sin(p - w/2)`, so `A sin(p) = lo fall / sin(w) + bp tan(w/2)`.
    fn phasor(&self, bank: &BankSnapshot, tone: usize) -> [f32; 2] {
        let (lo, bp) = (bank.lo[tone], bank.bp[tone]);
        [bp, lo * self.tones.lo_weight[tone] + bp * self.tones.bp_weight[tone]]
    }
}
