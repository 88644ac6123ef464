//! Timbres: voice, octave and pitches of the waveforms, and the crossfade from one to another.

use crate::{BLOCK, Sound, TONES, Voice, waveform::harmonics};

/// Seconds of a crossfade.
const FADE: f64 = 0.01;

/// Pitches at which notes sound, from E1 up.
const PITCHES: usize = 100;

/// Sound of the notes.
#[derive(Debug, Clone)]
pub(crate) struct Timbre {
    pub voice: Voice,
    pub octave: f64,
    pub duty: f64,
    /// Numbers of harmonics at each pitch: below half the sample rate, and below a quarter of it.
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

    /// Harmonics of a note that is at most so many semitones above A3: of all, or of those below a quarter of the sample rate.
    pub fn harmonics(&self, highest: f64, low: bool) -> usize {
        let pitch = (highest + 29.0).ceil().clamp(0.0, PITCHES as f64 - 1.0);
        self.counts[usize::from(low)][pitch as usize]
    }

    fn sounds_like(&self, other: &Self) -> bool {
        (self.voice, self.octave, self.duty) == (other.voice, other.octave, other.duty)
    }
}

/// Settings of the chip's parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrangement {
    /// Voices that an arpeggio leaves, and ticks of each of its notes.
    pub voices: usize,
    pub turn: Option<usize>,
    /// Ticks.
    pub attack: f64,
    pub decay: f64,
    /// Semitones above A3 from which on a note is no bass.
    pub bass_below: f64,
}

impl Arrangement {
    fn of(sound: &Sound) -> Self {
        Self {
            voices: sound.voices as usize,
            turn: sound.turn,
            attack: sound.attack,
            decay: sound.decay,
            bass_below: 15.0 - sound.transpose,
        }
    }
}

/// The timbre on its way.
#[derive(Debug, Clone)]
pub(crate) struct Timbres {
    sample_rate: f64,
    pub arrangement: Arrangement,
    from: Timbre,
    to: Timbre,
    /// The timbre that follows when `to` is reached.
    next: Timbre,
    /// Share of `to` at the start and at the end of the block.
    share: [f64; 2],
}

impl Timbres {
    /// At rest at `sound`.
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

    /// Sets out for `sound`, from the next block on.
    pub fn aim(&mut self, sound: &Sound) {
        self.arrangement = Arrangement::of(sound);
        self.next = Timbre::of(sound, self.sample_rate);
    }

    /// Moves on by a block.
    pub fn step(&mut self) {
        self.share[0] = self.share[1];
        if self.next.sounds_like(&self.to) {
            // Another pitch of the same timbre counts at once.
            self.to = self.next.clone();
        } else if self.share[0] == 1.0 {
            self.from = std::mem::replace(&mut self.to, self.next.clone());
            self.share[0] = 0.0;
        }
        self.share[1] = (self.share[0] + BLOCK as f64 / (FADE * self.sample_rate)).min(1.0);
    }

    /// The timbres that sound in the block, with their shares at its start and at its end.
    pub fn sounding(&self) -> Vec<(&Timbre, [f64; 2])> {
        let from = (&self.from, self.share.map(|share| 1.0 - share));
        let both = [from, (&self.to, self.share)];
        both.into_iter().filter(|(_, shares)| *shares != [0.0; 2]).collect()
    }

    /// Share of the resonators themselves at the start and at the end of the block.
    pub fn soft(&self) -> [f64; 2] {
        let sounding = self.sounding();
        let soft = sounding.iter().filter(|(timbre, _)| timbre.voice == Voice::Soft);
        let shares: Vec<[f64; 2]> = soft.map(|(_, shares)| *shares).collect();
        [0, 1].map(|end| shares.iter().map(|shares| shares[end]).sum())
    }

    /// A value of each timbre, mixed by their shares at the end of the block.
    pub fn mixed(&self, mut of: impl FnMut(&Timbre) -> f64) -> f64 {
        let [from, to] = [of(&self.from), of(&self.to)];
        from + self.share[1] * (to - from)
    }
}

const _: () = assert!(PITCHES > TONES);
