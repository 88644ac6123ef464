//! Timbres: voice, octave and duty of the notes, and the crossfade from one timbre to another.

use crate::{BLOCK, Sound, TONES, Voice, waveform::harmonics};

/// Duration of a crossfade in seconds.
const FADE: f64 = 0.01;

/// Number of pitches at which notes sound, from E1 up.
const PITCHES: usize = 100;

#[derive(Debug, Clone)]
pub(crate) struct Timbre {
    pub voice: Voice,
    pub octave: f64,
    pub duty: f64,
    /// Number of harmonics at each pitch: below half the sample rate, and below a quarter of it.
    counts: [[usize; PITCHES]; 2],
}

impl Timbre {
    fn of(sound: &Sound, sample_rate: f64) -> Self {
        let octave = if sound.voice == Voice::Soft { 0.0 } else { sound.octave.round() };
        let count = |pitch: usize, rate: f64| {
            harmonics(octave.exp2() * sound.frequency_above_a3(pitch as f64 - 29.0), rate)
        };
        let counts = [sample_rate, sample_rate / 2.0]
            .map(|rate| std::array::from_fn(|pitch| count(pitch, rate)));
        Self { voice: sound.voice, octave, duty: sound.duty, counts }
    }

    /// Returns the number of harmonics of a note at most `highest` semitones above A3. They are below half the sample rate; with
    /// `low`, below a quarter of it.
    pub fn harmonics(&self, highest: f64, low: bool) -> usize {
        let pitch = (highest + 29.0).ceil().clamp(0.0, PITCHES as f64 - 1.0);
        self.counts[usize::from(low)][pitch as usize]
    }

    fn sounds_like(&self, other: &Self) -> bool {
        (self.voice, self.octave, self.duty) == (other.voice, other.octave, other.duty)
    }
}

pub(crate) struct Arrangement {
    /// Maximum number of notes at a time, if there is an arpeggio.
    pub voices: usize,
    /// Number of ticks of each note of the arpeggio; `None` without one.
    pub arpeggio_ticks: Option<usize>,
    /// Number of ticks in which a note reaches its volume.
    pub attack: f64,
    /// Number of ticks in which the volume then falls to a quarter; 0 for a constant volume.
    pub decay: f64,
    /// Upper limit of the bass in semitones above A3: the lowest note is the bass only if it is below.
    pub bass_below: f64,
}

impl Arrangement {
    fn of(sound: &Sound) -> Self {
        Self {
            voices: sound.voices as usize,
            arpeggio_ticks: sound.arpeggio_ticks,
            attack: sound.attack,
            decay: sound.decay,
            bass_below: 15.0 - sound.transpose,
        }
    }
}

/// Crossfade from one timbre to another.
pub(crate) struct Timbres {
    sample_rate: f64,
    pub arrangement: Arrangement,
    from: Timbre,
    to: Timbre,
    /// Next timbre after `to`.
    next: Timbre,
    /// Crossfade weight of `to` at the start and at the end of the block.
    share: [f64; 2],
}

impl Timbres {
    pub fn new(sound: &Sound, sample_rate: f64) -> Self {
        let timbre = Timbre::of(sound, sample_rate);
        Self {
            sample_rate,
            arrangement: Arrangement::of(sound),
            from: timbre.clone(),
            to: timbre.clone(),
            next: timbre,
            share: [1.0; 2],
        }
    }

    /// Sets the next timbre, from the next block on.
    pub fn aim(&mut self, sound: &Sound) {
        self.arrangement = Arrangement::of(sound);
        self.next = Timbre::of(sound, self.sample_rate);
    }

    /// Moves the crossfade on by a block.
    pub fn step(&mut self) {
        self.share[0] = self.share[1];
        if self.next.sounds_like(&self.to) {
            // New pitches of the same timbre take effect at once.
            self.to = self.next.clone();
        } else if self.share[0] == 1.0 {
            self.from = std::mem::replace(&mut self.to, self.next.clone());
            self.share[0] = 0.0;
        }
        self.share[1] = (self.share[0] + BLOCK as f64 / (FADE * self.sample_rate)).min(1.0);
    }

    /// Returns the timbres that sound in the block, with their crossfade weights at its start and at its end.
    pub fn sounding(&self) -> Vec<(&Timbre, [f64; 2])> {
        let from = (&self.from, self.share.map(|share| 1.0 - share));
        let both = [from, (&self.to, self.share)];
        both.into_iter().filter(|(_, shares)| *shares != [0.0; 2]).collect()
    }

    /// Returns the crossfade weight of [`Voice::Soft`] at the start and at the end of the block.
    pub fn soft(&self) -> [f64; 2] {
        let sounding = self.sounding();
        let soft = sounding.iter().filter(|(timbre, _)| timbre.voice == Voice::Soft);
        let shares: Vec<[f64; 2]> = soft.map(|(_, shares)| *shares).collect();
        [0, 1].map(|end| shares.iter().map(|shares| shares[end]).sum())
    }

    /// Returns a value of both timbres, mixed by their crossfade weights at the end of the block.
    pub fn mixed(&self, mut value: impl FnMut(&Timbre) -> f64) -> f64 {
        let [from, to] = [value(&self.from), value(&self.to)];
        from + self.share[1] * (to - from)
    }
}

const _: () = assert!(PITCHES > TONES);
