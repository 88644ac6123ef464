//! What the filter hears, for editors and files: a copy of what the bands hold, which an audio thread takes in
//! no time, and the readable picture that is made of it where there is time.

use super::{
    bank::kernel::{RMS_GUARD, State},
    lanes::Lanes,
    notes::TONES,
    settings::{BandMask, Voice},
    voice::roles,
};

/// What became of a band's note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BandState {
    /// Weaker than the gate (the threshold or the floor), or not played: not heard.
    #[default]
    Muted,
    /// Between the gate and the ceiling: heard at its own level.
    Sounding,
    /// Stronger than the ceiling: held back.
    Saturated,
}

impl BandState {
    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Muted => "Not played",
            Self::Sounding => "Sounding",
            Self::Saturated => "Held back",
        }
    }
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
    /// Keeps the drive finite in silence.
    pub guard: f32,
    /// What sounds for the note, and how many octaves above it.
    pub voice: Voice,
    /// See `voice`.
    pub octave: f32,
}

/// All bands at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bands {
    /// The 48 bands, A3 first.
    pub bands: [Band; TONES],
    /// Tracked power of the input.
    pub total_power: f32,
    /// The notes that are played; nothing while nobody listens for them.
    pub played: Option<BandMask>,
    /// What brings the input to the level that the constants are made for, as a factor; 1 without `auto`.
    pub gain: f32,
    /// What makes the wet signal as loud as the dry one, as a factor; 1 without `auto`.
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

/// Keeps `ratio` from telling of notes in silence, where both powers are next to nothing.
const POWER_GUARD: f32 = 1e-6;

impl Band {
    /// The band's level in dB of the input's total power; negative infinity for silence.
    pub fn level_db(&self) -> f32 {
        10.0 * self.ratio.log10()
    }

    /// The band's output `seconds` ago.
    ///
    /// A resonator that rings for a second is, over the few milliseconds that one looks at, a plain
    /// oscillation; its phase and size now tell all of its recent past, so none of it is stored.
    pub fn wave(&self, seconds: f32) -> f32 {
        let angle = self.angular_frequency * seconds;
        if self.voice != Voice::Soft {
            let turns = (self.phasor[1].atan2(self.phasor[0]) - angle) / std::f32::consts::TAU;
            return self.power.sqrt() * self.voice.shape(turns * self.octave.exp2());
        }
        let (sine, cosine) = angle.sin_cos();
        let driven = self.drive * (self.phasor[0] * cosine + self.phasor[1] * sine);
        let rms = self.power.sqrt();
        rms * driven / (rms + self.guard + driven.abs())
    }
}

/// The memory of a filter's bands, and what it takes to read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// What the bank of all channels or of the left one hears.
    pub first: BankSnapshot,
    /// What the bank of the right channel hears, if there is one.
    pub second: Option<BankSnapshot>,
    /// What the bands are tuned to.
    pub tones: Tones,
    /// Gain into the soft clip.
    pub drive: f32,
    /// Relative gate, as a ratio to total power.
    pub threshold: f32,
    /// Relative limit, as a ratio to total power.
    pub ceiling: f32,
    /// Absolute gate, as power.
    pub floor: f32,
    /// The notes that are played; nothing while nobody listens for them.
    pub played: Option<BandMask>,
    /// What brings the input to the level that the constants are made for, as a factor; 1 without `auto`.
    pub gain: f32,
    /// What makes the wet signal as loud as the dry one, as a factor; 1 without `auto`.
    pub makeup: f32,
    /// What sounds for a note.
    pub voice: Voice,
    /// How many octaves above it.
    pub octave: f32,
    /// How many bands lie below C5, where the chip has its bass.
    pub low: usize,
}

/// The memory of a bank.
#[derive(Debug, Clone, PartialEq)]
pub struct BankSnapshot {
    /// That of its bands.
    pub state: State,
    /// Tracked power of the input, 1 at full scale.
    pub total_power: f32,
}

/// What a picture of the bands needs to know of their resonators.
#[derive(Debug, Clone, PartialEq)]
pub struct Tones {
    /// Angle of each tone's oscillation, radians a second.
    pub angular_frequency: Lanes,
    /// What [`State::lo`] weighs in the oscillation a quarter of a period ago.
    pub lo_weight: Lanes,
    /// What [`State::bp`] weighs there.
    pub bp_weight: Lanes,
}

impl Tones {
    /// Tuned to nothing.
    pub const ZERO: Self =
        Self { angular_frequency: Lanes::ZERO, lo_weight: Lanes::ZERO, bp_weight: Lanes::ZERO };
}

impl Default for Snapshot {
    /// A filter that has heard nothing.
    fn default() -> Self {
        Self {
            first: BankSnapshot { state: State::ZERO, total_power: 0.0 },
            second: None,
            tones: Tones::ZERO,
            drive: 0.0,
            threshold: 0.0,
            ceiling: 0.0,
            floor: 1.0,
            played: None,
            gain: 1.0,
            makeup: 1.0,
            voice: Voice::Soft,
            octave: 0.0,
            low: 0,
        }
    }
}

impl Snapshot {
    /// What the bands hear. With two banks, each band of the one in which it is stronger.
    pub fn read(&self) -> Bands {
        let mut heard = self.read_bank(&self.first);
        if let Some(second) = &self.second {
            let second = self.read_bank(second);
            heard.total_power = heard.total_power.max(second.total_power);
            for (heard, other) in heard.bands.iter_mut().zip(second.bands) {
                if other.power > heard.power {
                    *heard = other;
                }
            }
        }
        heard
    }

    fn read_bank(&self, bank: &BankSnapshot) -> Bands {
        let total_power = bank.total_power;
        let gate = (self.threshold * total_power).max(self.floor);
        let ceiling = self.ceiling * total_power;
        let (played, gain, makeup) = (self.played, self.gain, self.makeup);
        let mut bands: [Band; TONES] = std::array::from_fn(|tone| {
            let (phasor, power) = (self.phasor(&bank.state, tone), bank.state.power.0[tone]);
            let resonance = (phasor[0] * phasor[0] + phasor[1] * phasor[1]) / 2.0;
            let is_played = played.is_none_or(|played| played.contains(tone));
            let state = if resonance < gate || !is_played {
                BandState::Muted
            } else if resonance < ceiling {
                BandState::Sounding
            } else {
                BandState::Saturated
            };
            let ratio = power / (total_power + POWER_GUARD / (gain * gain));
            let angular_frequency = self.tones.angular_frequency.0[tone];
            let (drive, guard) = (self.drive, RMS_GUARD / gain);
            let (voice, octave) = (self.voice, self.octave);
            Band { power, ratio, state, angular_frequency, phasor, drive, guard, voice, octave }
        });
        if self.voice == Voice::Chip {
            self.assign_roles(&mut bands);
        }
        Bands { bands, total_power, played, gain, makeup }
    }

    /// Gives each band the waveform that it has from the chip.
    fn assign_roles(&self, bands: &mut [Band; TONES]) {
        let strength = |band: &Band| if band.state == BandState::Muted { 0.0 } else { band.power };
        let [bass, lead] = roles(&bands.each_ref().map(strength), self.low);
        for (tone, band) in bands.iter_mut().enumerate() {
            band.voice = match tone {
                _ if Some(tone) == bass => Voice::Chip,
                _ if Some(tone) == lead => Voice::Pulse25,
                _ => Voice::Square,
            };
        }
    }

    /// The tone's oscillation now and a quarter of a period ago, from the two integrators: when
    /// `bp = A cos(p)`, the loop holds `lo = A (2 sin(w/2) / fall) sin(p - w/2)`, so
    /// `A sin(p) = lo fall / sin(w) + bp tan(w/2)`.
    fn phasor(&self, state: &State, tone: usize) -> [f32; 2] {
        let (lo, bp) = (state.lo.0[tone], state.bp.0[tone]);
        [bp, lo * self.tones.lo_weight.0[tone] + bp * self.tones.bp_weight.0[tone]]
    }
}
