//! Arrangement for the sound chip: the part and the volume of each note.

use crate::{TONES, semitone, timbre::Arrangement};

/// Volumes of the notes in each part: lead, others and bass.
pub(crate) type Volumes = [[f64; TONES]; 3];

pub(crate) const NONE: Volumes = [[0.0; TONES]; 3];
pub(crate) const LEAD: usize = 0;
pub(crate) const OTHERS: usize = 1;
pub(crate) const BASS: usize = 2;

#[derive(Debug, Clone)]
pub(crate) struct Arranger {
    /// Volume of each note without its envelope.
    volumes: [f64; TONES],
    /// Ticks since each note began.
    ages: [f64; TONES],
    lead: Option<usize>,
    /// Semitones from A3 up to the last lead.
    lead_pitch: Option<f64>,
    ticks: usize,
}

impl Arranger {
    pub fn new() -> Self {
        let (volumes, ages) = ([0.0; TONES], [0.0; TONES]);
        Self { volumes, ages, lead: None, lead_pitch: None, ticks: 0 }
    }

    /// Resets the ages of the notes that are silent in a block, so that they can begin anew.
    pub fn follow(&mut self, amplitudes: &[f64; TONES]) {
        for (age, amplitude) in self.ages.iter_mut().zip(amplitudes) {
            if *amplitude == 0.0 {
                *age = 0.0;
            }
        }
    }

    /// Returns the volumes in the next tick. An amplitude of `unit` is the volume 15.
    pub fn tick(&mut self, how: &Arrangement, amplitudes: &[f64; TONES], unit: f64) -> Volumes {
        for (tone, amplitude) in amplitudes.iter().enumerate() {
            let exact = (15.0 * amplitude / unit.max(1e-38)).min(15.0);
            if (exact - self.volumes[tone]).abs() > 0.75 {
                self.volumes[tone] = exact.round();
            }
        }
        let mut sounding: Vec<usize> =
            (0..TONES).filter(|tone| self.volumes[*tone] > 0.0).collect();
        sounding.sort_by(|a, b| semitone(*a).total_cmp(&semitone(*b)));
        let lowest = sounding.first().copied();
        let bass = lowest.filter(|tone| semitone(*tone) < how.bass_below);

        // The lead is loud, high and near the last lead. The current lead has an advantage of 3 dB.
        let score = |tone: usize| {
            let distance =
                self.lead_pitch.map_or(0.0, |last| (semitone(tone) - last).abs().min(12.0));
            20.0 * amplitudes[tone].log10() + semitone(tone) - 0.5 * distance
                + if self.lead == Some(tone) { 3.0 } else { 0.0 }
        };
        let above = sounding.iter().copied().filter(|tone| Some(*tone) != bass);
        let lead = above.max_by(|a, b| score(*a).total_cmp(&score(*b)));
        self.lead = lead;
        self.lead_pitch = lead.map(semitone).or(self.lead_pitch);

        // With an arpeggio, the weakest notes take turns in the last voice.
        let mut silent = Vec::new();
        if let Some(ticks) = how.arpeggio_ticks.filter(|_| sounding.len() > how.voices) {
            let mut others = sounding.clone();
            others.retain(|tone| Some(*tone) != bass && Some(*tone) != lead);
            others.sort_by(|a, b| amplitudes[*b].total_cmp(&amplitudes[*a]));
            let order: Vec<usize> = bass.into_iter().chain(lead).chain(others).collect();
            silent = order[how.voices - 1..].to_vec();
            silent.sort_by(|a, b| semitone(*a).total_cmp(&semitone(*b)));
            silent.remove(self.ticks / ticks % silent.len());
        }
        self.ticks += 1;
        for (age, volume) in self.ages.iter_mut().zip(self.volumes) {
            *age = if volume > 0.0 { *age } else { 0.0 };
        }

        let mut parts = NONE;
        for tone in sounding {
            let volume = self.volume(how, tone);
            let (part, volume) = match Some(tone) {
                note if note == bass => (BASS, 15.0),
                note if note == lead => (LEAD, volume),
                _ => (OTHERS, volume),
            };
            parts[part][tone] = if silent.contains(&tone) { 0.0 } else { volume };
            self.ages[tone] += 1.0;
        }
        parts
    }

    /// Returns a note's volume: it rises in the attack, and falls to a quarter in the decay. All operands are whole numbers or
    /// quarters, and the division comes last, so halves are exact, and round up.
    fn volume(&self, how: &Arrangement, tone: usize) -> f64 {
        let (volume, after) = (self.volumes[tone], self.ages[tone] - how.attack);
        let exact = match how.decay {
            _ if after < 0.0 => (self.ages[tone] + 1.0) * volume / (how.attack + 1.0),
            0.0 => volume,
            decay => (decay - 0.75 * after.min(decay)) * volume / decay,
        };
        exact.round().max(1.0)
    }
}
