//! Arrangement of the notes for the chip: at each tick, each note gets a part and a volume.

use crate::{
    lanes::{LANES, Lanes},
    notes::{TONES, by_pitch, semitone},
    settings::{Arp, Settings},
};

/// Maximum volume of a note: the registers have four bits.
pub const LOUDEST: f32 = 15.0;
/// Index of the part that plays the melody.
pub const LEAD: usize = 0;
/// Index of the part that plays all other notes.
pub const OTHERS: usize = 1;
/// Index of the part that plays the lowest note.
pub const BASS: usize = 2;
/// Bonus in dB for each semitone of the pitch of a note. The note with the highest sum of level, bonuses and penalties is the
/// lead.
const PITCH_BONUS: f32 = 1.0;
/// Penalty in dB for each semitone between a note and the last lead.
const DISTANCE_PENALTY: f32 = 0.5;
/// Distance in semitones beyond which the penalty stays the same.
const FARTHEST: i32 = 12;
/// Bonus in dB for the note that leads already.
const ADVANTAGE: f32 = 3.0;
/// Difference in dB between an amplitude and its double.
const OCTAVE: f32 = 6.020_6;

/// Difference from the exact volume beyond which a held volume changes. Must exceed 0.5, or the volume would flicker between
/// neighbours.
const HYSTERESIS: f32 = 0.75;
/// Volume after the decay, as a factor.
const DECAYED: f32 = 0.25;

/// Settings of the arrangement.
#[derive(Debug, Clone, Copy)]
pub struct Arrangement {
    /// Maximum number of notes at a time, with an arpeggio. Further notes share the last voice in turns.
    voices: usize,
    arp: Arp,
    /// Duration in ticks.
    attack: f32,
    /// Duration in ticks; 0 is off.
    decay: f32,
    /// Semitones from A3 to the first band at or above C5. The lowest note is the bass if it is below that band.
    low: i32,
}

impl Arrangement {
    pub fn of(settings: &Settings) -> Self {
        let &Settings { voices, arp, attack, decay, transpose, .. } = settings;
        let low = (15.0 - transpose).ceil() as i32;
        let (attack, decay) = (attack.round(), decay.round());
        Self { voices: voices.round() as usize, arp, attack, decay, low }
    }

    /// Returns the volume of a note that began `age` ticks ago, for a maximum of `volume`.
    ///
    /// Ages and volumes are whole numbers, so halves are frequent. A single division keeps them exact, and they are rounded up.
    fn volume(&self, age: u32, volume: f32) -> f32 {
        let age = age as f32;
        let exact = if age < self.attack {
            (age + 1.0) * volume / (self.attack + 1.0)
        } else if self.decay > 0.0 {
            let fallen = (1.0 - DECAYED) * (age - self.attack).min(self.decay);
            (self.decay - fallen) * volume / self.decay
        } else {
            volume
        };
        (exact + 0.5).floor().max(1.0)
    }
}

#[derive(Debug, Clone)]
pub struct Arranger {
    /// Volume of each note, 0..=15, before its envelope; see [`HYSTERESIS`].
    volumes: Lanes,
    /// Ticks since each note began.
    ages: [u32; LANES],
    pub lead: Option<usize>,
    /// Semitones from A3 to the last lead.
    lead_pitch: Option<i32>,
    pub bass: Option<usize>,
    ticks: u32,
}

impl Arranger {
    pub const fn new() -> Self {
        Self {
            volumes: Lanes::ZERO,
            ages: [0; LANES],
            lead: None,
            lead_pitch: None,
            bass: None,
            ticks: 0,
        }
    }

    /// Resets the ages of the notes that have ended: their `amplitudes` are 0.
    pub fn follow(&mut self, amplitudes: &Lanes) {
        for (age, amplitude) in self.ages.iter_mut().zip(amplitudes.0) {
            *age = if amplitude > 0.0 { *age } else { 0 };
        }
    }

    /// Advances by a tick, and chooses bass and lead. Returns the volumes of the notes in each part. `unit` is the amplitude of
    /// the maximum volume.
    pub fn tick(&mut self, how: &Arrangement, amplitudes: &Lanes, unit: f32) -> [Lanes; 3] {
        let unit = unit.max(f32::MIN_POSITIVE);
        for (held, amplitude) in self.volumes.0.iter_mut().zip(amplitudes.0) {
            let exact = LOUDEST.min(LOUDEST * amplitude / unit);
            if (exact - *held).abs() > HYSTERESIS {
                *held = (exact + 0.5).floor();
            }
        }
        let volumes = self.volumes.0;
        let sounds = |tone: &usize| volumes[*tone] > 0.0;
        self.bass = by_pitch().find(sounds).filter(|&tone| semitone(tone) < how.low);
        let bass = self.bass;
        self.choose_lead(amplitudes, |tone| sounds(tone) && Some(*tone) != bass);

        let mut parts = [Lanes::ZERO; 3];
        let waits = self.waiting(how, amplitudes);
        for tone in (0..TONES).filter(|tone| sounds(tone) && !waits[*tone]) {
            let volume = how.volume(self.ages[tone], volumes[tone]);
            match Some(tone) {
                bass if bass == self.bass => parts[BASS].0[tone] = LOUDEST,
                lead if lead == self.lead => parts[LEAD].0[tone] = volume,
                _ => parts[OTHERS].0[tone] = volume,
            }
        }
        for (age, volume) in self.ages.iter_mut().zip(volumes) {
            *age = if volume > 0.0 { age.saturating_add(1) } else { 0 };
        }
        self.ticks = self.ticks.wrapping_add(1);
        parts
    }

    /// Chooses the lead: a melody is loud, high and connected.
    fn choose_lead(&mut self, amplitudes: &Lanes, sounds: impl Fn(&usize) -> bool) {
        // Sentinel: no lead.
        let last = self.lead.unwrap_or(TONES);
        let score = |tone: usize| {
            let pitch = semitone(tone);
            let distance = self.lead_pitch.map_or(0, |last| (pitch - last).abs().min(FARTHEST));
            OCTAVE * libm::log2f(amplitudes.0[tone]) + PITCH_BONUS * pitch as f32
                - DISTANCE_PENALTY * distance as f32
                + if tone == last { ADVANTAGE } else { 0.0 }
        };
        let scored = by_pitch().filter(sounds).map(|tone| (tone, score(tone)));
        // Of equal scores, the higher note wins.
        let lead = scored.max_by(|a, b| a.1.total_cmp(&b.1));
        self.lead = lead.map(|(tone, _)| tone);
        self.lead_pitch = self.lead.map(semitone).or(self.lead_pitch);
    }

    /// Returns the notes that are silent in this tick, because another note has its turn in the last voice.
    fn waiting(&self, how: &Arrangement, amplitudes: &Lanes) -> [bool; TONES] {
        let mut waits = [false; TONES];
        let Some(ticks) = how.arp.ticks() else { return waits };
        // Bass, lead and the strongest other notes have a voice each; all further notes share the last voice.
        let mut sharing = [0; TONES];
        let mut count = 0;
        for tone in by_pitch().filter(|&tone| self.volumes.0[tone] > 0.0) {
            sharing[count] = tone;
            count += 1;
        }
        let sharing = &mut sharing[..count];
        if count <= how.voices {
            return waits;
        }
        let rank = |tone: usize| match Some(tone) {
            bass if bass == self.bass => f32::INFINITY,
            lead if lead == self.lead => f32::MAX,
            _ => amplitudes.0[tone],
        };
        sharing.sort_unstable_by(|a, b| rank(*b).total_cmp(&rank(*a)).then(a.cmp(b)));
        let sharing = &mut sharing[how.voices - 1..];
        sharing.sort_unstable_by_key(|tone| semitone(*tone));
        let turn = (self.ticks / ticks) as usize % sharing.len();
        for (index, tone) in sharing.iter().enumerate() {
            waits[*tone] = index != turn;
        }
        waits
    }
}
